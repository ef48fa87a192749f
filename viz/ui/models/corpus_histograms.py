"""Histograms of what a head does over thousands of texts, with marks where the rows of the visitor's own text fall."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from model.interventions.edits import Head
from viz.figures import bars
from viz.stage.payload import head_card
from viz.text.language import message, say
from viz.ui import frame
from viz.ui.models import corpus_rows
from viz.views.results.corpus_results import Corpus
from viz.views.snippets import Origin, Plot, program, snippet

HERE = message("your sentence")
EVERY = 4  # bins of shares, of which one is named
LEAST = 170  # pixels of a picture in a low window
HISTOGRAM = """
import numpy as np
from viz.figures import bars

figure = bars(
    np.array($values)[:, None],
    $bins,
    value=$value,
    token_axis=$token_axis,
    marks=$marks,
    mark_name=$mark_name,
    label_every=$label_every,
)
figure.show()
"""


def show(corpus: Corpus, head: Head, here: Any, origin: Origin) -> None:
    """Histograms of how active rows are, of distance, largest weight and spread; the visitor's own rows are marked."""
    numbers, tokens = corpus_rows.of_own_text(corpus, head, here)
    titles = {}
    plots = {}
    for name, histogram in head_card.histograms(corpus, head, numbers).items():
        axis = histogram.axis
        look: dict[str, Any] = {
            "value": histogram.value,
            "token_axis": axis,
            "marks": marks_of(histogram.here, tokens),
            "mark_name": HERE,
            "label_every": EVERY if name in ("largest", "spread") else 1,
        }
        figure = bars(np.array(histogram.shares)[:, None], histogram.bins, **look, say=say)
        code = snippet(HISTOGRAM, values=histogram.shares, bins=histogram.bins, **look)
        plots[f"corpus-{name}"] = Plot(say(axis), origin.note, figure, program(code))
        titles[f"corpus-{name}"] = (say(axis), "")
    names = list(plots)
    for pair, share in ((names[:2], 0.5), (names[2:], 1.0)):
        pictures = {name: plots[name] for name in pair}
        frame.pictures(pictures, titles=titles, is_map=False, share=share, least=LEAST)
    if numbers is not None:
        frame.note(say("▼ Where the {n} rows of your sentence fall; point at one for its tokens.", n=len(tokens)))


def marks_of(bins: np.ndarray, tokens: Sequence[str]) -> dict[int, str]:
    """By bin the tokens whose rows fall into it."""
    return {int(number): ", ".join(np.array(tokens, dtype=object)[bins == number]) for number in np.unique(bins)}
