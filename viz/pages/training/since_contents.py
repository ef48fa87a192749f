"""What each step since 2017 is worth, as data: the sentences and the figure of the app, in the language of here."""

from typing import Any

import numpy as np

from viz.pages.training import since
from viz.ui.plot import plot
from viz.views.results import board_results

LEAST = 300  # pixels of the figure


def told() -> dict[str, Any]:
    """The answer, what is small below it, what the dots are, and the figure."""
    board = board_results.load()
    return {
        "answer": board_results.answer(board),
        "below": since.worth(board),
        "about": since.about(board),
        "figure": plot.payload(board_results.picture(board).figure, fills=(LEAST, 0, 1.0)) | {"stamp": "since"},
    }


def tile_pixels() -> np.ndarray | None:
    """The tile of the section."""
    return since.tile_pixels()
