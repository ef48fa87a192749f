"""Peak times warmup: what the learning rate of the first steps does to a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from model.catalogue import checkpoints_folder
from model.training.grid import NORMS, PEAKS, WARMUPS, Grid, GridCell, lines_of
from viz.figures import Drawn, curves, loss_board, run_curves
from viz.pages.lessons.card import HEIGHT, Figures, Story, card
from viz.text import words
from viz.text.language import message, say
from viz.views import grid_results

PICKED = "lesson-runs"  # in the session: cells that were clicked
MOST = 3
POST = ("post",)
CORNERS = [GridCell("post", peak, warmup) for peak in (PEAKS[1], PEAKS[-1]) for warmup in (WARMUPS[0], WARMUPS[-1])]
GOOD, BAD, DECENT = GridCell("post", 0.005, 400), GridCell("post", 0.1, 400), GridCell("post", 0.005, 1)


def _grid() -> Grid:
    return grid_results.load(str(checkpoints_folder()))


def _end(cell: GridCell) -> float:
    return _grid().runs[cell].final


def _lines(cells: Sequence[GridCell]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    return lines_of({grid_results.name_of(cell): _grid().runs[cell] for cell in cells})


def _curves(cells: Sequence[GridCell]) -> Drawn:
    return run_curves(*_lines(cells), limit=_grid().entropy_smoothed, say=say)


def _schedules(cells: Sequence[GridCell]) -> Drawn:
    return curves(_lines(cells)[0], y_axis=message("learning rate"), log_y=True, say=say)


def _table(norms: Sequence[str]) -> list[list[GridCell]]:
    return [[GridCell(norm, peak, warmup) for norm in norms for warmup in WARMUPS] for peak in reversed(PEAKS)]


def _highest(norm: str = "post") -> list[float]:
    return list(map(_end, _table([norm])[0]))


def _board(norms: Sequence[str], picked: Sequence[GridCell]) -> Drawn:
    cells = _table(norms)
    return loss_board(
        np.array([list(map(_end, row)) for row in cells]),
        [f"{row[0].peak:g}" for row in cells],
        [f"{say(words.NORMS[cell.norm])} {cell.warmup}" if len(norms) > 1 else str(cell.warmup) for cell in cells[0]],
        limit=_grid().entropy,
        selected=[(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell in picked],
        say=say,
    )


def pick(row: int, column: int) -> None:
    """Compare a run whose cell was clicked, or no longer."""
    cells = _table(POST)
    if row < len(cells) and column < len(cells[0]):
        cell, kept = cells[row][column], st.session_state.get(PICKED, [GOOD, BAD])
        rest = [one for one in kept if one != cell]
        st.session_state[PICKED] = rest if cell in kept else [*rest, cell][-MOST:]


def _first(answered: bool) -> Drawn:
    return _board(POST, _table(POST)[0]) if answered else _schedules(CORNERS)


def _second(answered: bool) -> list[tuple[Drawn, int]]:
    picked = st.session_state.get(PICKED, [GOOD, BAD])
    board = _board(POST, picked), HEIGHT // 2 - 85
    return [board, (_curves(picked or [BAD]), HEIGHT // 2 + 75)] if answered else [board]


def _third(answered: bool) -> Drawn:
    return (_curves if answered else _schedules)((DECENT, GOOD))


def _fourth(answered: bool) -> Drawn:
    return _board(NORMS, [GridCell("pre", 0.1, 400)]) if answered else _board(POST, [])


STORY = Story(
    name="Peak × warmup",
    line="How high the learning rate may go, and how slowly it has to get there.",
    minutes=5,
    sources="Vaswani et al. 2017, 5.3 · Xiong et al. 2020",
)


@card(
    STORY,
    look="Small post-norm translators, trained for 1,000 steps on image captions. Only the learning rate differs: four "
    "peaks, each reached after 1, 20, 100 or 400 steps of warmup. Four of the 16 curves are drawn.",
    question="Which runs learn nothing?",
    guesses=("All without warmup", "All with the highest peak", "Only the highest peak without warmup"),
    right=1,
    answer="All with the peak {peak}, whatever their warmup: they end at {low:.2f} or above. What word frequencies "
    "alone give is {entropy:.2f}. Without any warmup a peak of {other} learns ({good:.2f}).",
    picture=Figures(_first, "training"),
)
def fails() -> dict:
    ends = {"low": min(_highest()), "entropy": _grid().entropy, "good": _end(DECENT)}
    return ends | {"peak": f"{PEAKS[-1]:g}", "other": f"{DECENT.peak:g}"}


@card(
    STORY,
    look="The loss at the end of all 16 runs: peaks in rows, warmups in columns; dark has learned nothing. Once you "
    "have guessed, click cells to draw their rate and loss.",
    question="What does a failed run still know?",
    guesses=("Nothing at all", "How often each word occurs", "Short sentences, but no long ones"),
    right=1,
    answer="How often each word occurs: that alone gives a loss of {entropy:.2f}, on the training loss with its label "
    "smoothing the flat line. The failed run ends at {bad:.2f}, the one that learns at {good:.2f}.",
    picture=Figures(_second, "training", on_click=pick),
)
def floor() -> dict:
    return {"entropy": _grid().entropy, "bad": _end(BAD), "good": _end(GOOD)}


@card(
    STORY,
    look="The same peak of 0.005, without warmup and with 400 steps. One of the two translates “A man in a blue shirt "
    "is playing the guitar.” as “Ein Mann in einem Hemd in einem Hemd in einem Hemd …”",
    question="Which of the two wrote that?",
    guesses=("Without warmup", "With 400 steps of warmup"),
    right=0,
    answer="Without warmup; it learns, but ends at {some:.2f} instead of {good:.2f}. With warmup the model writes "
    "“{warm}” Warmup helps here; it is not what decides whether this run learns at all.",
    picture=Figures(_third, "training"),
)
def wrote() -> dict:
    warm = list(_grid().runs[GOOD].texts.values())[-1][0]
    return {"some": _end(DECENT), "warm": warm, "good": _end(GOOD)}


@card(
    STORY,
    look="All this was post-norm, as in the paper: the norm follows each sublayer. Pre-norm puts it before. The top "
    "row, the highest peak, has failed with every warmup.",
    question="Does pre-norm learn with that peak?",
    guesses=("Yes, somewhat", "No, it fails as well", "Only with warmup"),
    right=0,
    answer="Somewhat: {low:.2f} to {high:.2f}, below {entropy:.2f}; post-norm ended at {post:.2f} or above. In the "
    "paper's formula a shorter warmup also means a higher peak; only a grid tells the two apart. Each cell is one run "
    "with one seed.",
    picture=Figures(_fourth, "training"),
)
def norms() -> dict:
    pre, post = _highest("pre"), _highest()
    return {"low": min(pre), "high": max(pre), "post": min(post), "entropy": _grid().entropy}
