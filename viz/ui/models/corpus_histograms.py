"""Histograms of what a head does over thousands of texts, with marks where the rows of the visitor's own text fall."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.interventions.edits import Head
from model.measures.corpus import activity
from model.measures.corpus.row_numbers import RowNumbers
from viz.figures import bars
from viz.text.language import message, messages, say
from viz.ui import frame
from viz.ui.models import corpus_rows
from viz.views.results.corpus_results import Corpus
from viz.views.snippets import Origin, Plot, program, snippet

HERE = message("your sentence")
EVERY = 4  # bins of shares, of which one is named
LEAST = 170  # pixels of a picture in a low window
DISTRIBUTIONS = messages(
    activity="How much it writes, by the stream",
    distance="Distance, key minus query",
    largest="Largest weight of a row",
    spread="Spread of a row (1: even)",
)
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
    for name, histogram in histograms_of(corpus, head, numbers).items():
        axis = DISTRIBUTIONS[name]
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


@dataclass(frozen=True)
class Histogram:
    """Shares of the bins of one number of a head, and the bins in which the visitor's own rows are, int (rows,)."""

    shares: list[float]
    bins: list[str]
    value: str  # what is counted
    here: np.ndarray


def histograms_of(corpus: Corpus, head: Head, numbers: RowNumbers | None) -> dict[str, Histogram]:
    """The histograms of a head by name; `numbers`: of the visitor's own rows."""
    bins = corpus.report["bins"]
    rows = message("share of rows")
    axis = bins["activity"]
    none = np.zeros(0, dtype=np.int64)
    counts = np.array(corpus.of_head("activity", head), dtype=float)
    wider = activity.PER_DECADE // axis["per_decade"]
    here = activity.bins_of(numbers.activity) // wider if numbers else none
    used = np.flatnonzero(counts)
    reach = np.arange(min([*used, *here], default=0), max([*used, *here], default=0) + 1)
    names = [say("{x:.2g}", x=10 ** (axis["from"] + place / axis["per_decade"])) for place in reach]
    shares = np.array(as_shares(counts))[reach].tolist()
    result = {"activity": Histogram(shares, names, rows, here - reach[0])}
    starts = bins["distance"]
    distances = corpus.report["kinds"][head.kind]["distance"]["written"][head.layer][head.head]
    labels = [f"≤ {starts[1] - 1}"]
    labels += [distance_label(start, end) for start, end in zip(starts[1:], [*starts[2:], None])]
    here = (np.searchsorted(starts, numbers.distance, side="right") - 1).clip(min=0) if numbers else none
    result["distance"] = Histogram(distances, labels, message("share written"), here)
    for name in ("largest", "spread"):
        counts = np.array(corpus.of_head(name, head), dtype=float)
        labels = [say("{x:.2g}", x=place / len(counts)) for place in range(len(counts))]
        here = (getattr(numbers, name) * len(counts)).astype(int).clip(0, len(counts) - 1) if numbers else none
        result[name] = Histogram(as_shares(counts), labels, rows, here)
    return result


def as_shares(counts: np.ndarray) -> list[float]:
    """Counts as shares of their sum."""
    return np.round(counts / max(counts.sum(), 1), 4).tolist()


def distance_label(start: int, end: int | None) -> str:
    """What a bin of distances is called; the last is open."""
    if end is None:
        return f"≥ {start}"
    return str(start) if end == start + 1 else f"{start}…{end - 1}"
