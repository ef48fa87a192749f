"""What each step since 2017 is worth, as data: the sentences and the figure of the app, in the language of here."""

from typing import Any

import numpy as np

from viz.pages.training import since
from viz.ui.plot import plot
from viz.views.results import board_results
from viz.views.snippets import Plot

LEAST = 300  # pixels of the figure


def told() -> dict[str, Any]:
    """The answer, what is small below it, what the dots are, how far an unfinished board is, and the figure."""
    board = board_results.load()
    progress = board_results.progress(board)
    if not board.runs:
        return {"answer": progress, "below": "", "about": "", "progress": "", "figure": None}
    return {
        "answer": board_results.answer(board),
        "below": since.worth(board),
        "about": since.about(board),
        "progress": progress,
        "figure": plot.payload(board_results.picture(board).figure, fills=(LEAST, 0, 1.0)) | {"stamp": "since"},
    }


def plots() -> dict[str, Plot]:
    """The figure, by name."""
    board = board_results.load()
    return {"since": board_results.picture(board)} if board.runs else {}


def tile_pixels() -> np.ndarray | None:
    """The tile of the section."""
    return since.tile_pixels()
