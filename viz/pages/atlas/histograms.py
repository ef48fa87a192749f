"""Histograms of what a head does over thousands of texts, as figures that a visitor keeps."""

from typing import Any

import numpy as np

from model.interventions.edits import Head
from viz.figures import bars
from viz.pages.atlas import own_text
from viz.stage.payload import head_card
from viz.text.language import say
from viz.views.results.corpus_results import Corpus
from viz.views.snippets import Origin, Plot, program, snippet

EVERY = 4  # bins of shares, of which one is named
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


def plots(corpus: Corpus, head: Head, text: Any, origin: Origin) -> dict[str, Plot]:
    """How active rows are, distance, largest weight and spread, "corpus-NAME"; the rows of a text are marked."""
    numbers, tokens = own_text.rows_of(corpus, head, text)
    drawn = {}
    for name, histogram in head_card.histograms(corpus, head, numbers).items():
        look: dict[str, Any] = {
            "value": histogram.value,
            "token_axis": histogram.axis,
            "marks": own_text.marks_of(histogram.here, tokens),
            "mark_name": own_text.HERE,
            "label_every": EVERY if name in ("largest", "spread") else 1,
        }
        figure = bars(np.array(histogram.shares)[:, None], histogram.bins, **look, say=say)
        code = snippet(HISTOGRAM, values=histogram.shares, bins=histogram.bins, **look)
        drawn[f"corpus-{name}"] = Plot(say(histogram.axis), origin.note, figure, program(code))
    return drawn
