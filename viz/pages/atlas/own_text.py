"""What a head does in the visitor's own text: its rows on the distributions and tenths of thousands of texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.interventions.edits import Head
from model.measures.corpus.row_numbers import RowNumbers
from viz.stage.payload import head_card
from viz.stage.payload.head_rows import plain
from viz.text.language import message, messages, say
from viz.views.results import corpus_results
from viz.views.results.corpus_results import Corpus
from viz.views.results.indexed_heads import tenth_of

WORDS = messages(
    tenths="Your sentence, each token with the tenth that its row falls in: {words}",
    marked="▼ Where the {n} rows of your sentence fall; point at one for its tokens.",
)
HERE = message("your sentence")


def rows_of(corpus: Corpus, head: Head, text: Any) -> tuple[RowNumbers | None, list[str]]:
    """What a head does in the rows of a text as an index has it, and their tokens; None where it cannot be read."""
    if not text:
        return None, []
    try:
        numbers = corpus_results.rows_here(corpus.model, text, head)
        queries, _ = corpus.lines(text, head.kind)
    except ValueError:  # too long to be read with its translation
        return None, []
    return (numbers, [plain(queries[row]) for row in numbers.rows]) if len(numbers.rows) else (None, [])


def payload(corpus: Corpus, head: Head, text: Any) -> dict[str, Any]:
    """By histogram the tokens in each bin, and what is said of the rows: nothing where the text cannot be read."""
    numbers, tokens = rows_of(corpus, head, text)
    if numbers is None:
        return {"marks": {}, "tenths": "", "marked": ""}
    drawn = head_card.histograms(corpus, head, numbers)
    tenths = [tenth_of(corpus, head, value) for value in numbers.activity]
    listed = " · ".join(f"{token} {tenth}" for token, tenth in zip(tokens, tenths))
    return {
        "marks": {
            name: [marks_of(histogram.here, tokens).get(place, "") for place in range(len(histogram.bins))]
            for name, histogram in drawn.items()
        },
        "tenths": say(WORDS["tenths"], words=listed),
        "marked": say(WORDS["marked"], n=len(tokens)),
    }


def marks_of(bins: np.ndarray, tokens: Sequence[str]) -> dict[int, str]:
    """By bin the tokens whose rows fall into it."""
    return {int(number): ", ".join(np.array(tokens, dtype=object)[bins == number]) for number in np.unique(bins)}
