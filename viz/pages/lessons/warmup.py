"""Peak times warmup: what the learning rate of the first steps does to a run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import streamlit as st

from model.catalogue import checkpoints_folder
from model.training.grid import NORMS, PEAKS, WARMUPS, Grid, GridCell, lines_of
from viz.figures import Drawn, curves, loss_board, run_curves
from viz.pages.lessons.card import HEIGHT, Card, Figures, Story
from viz.text import words
from viz.text.language import message, say
from viz.views import grid_results

PICKED = "lesson-runs"  # in the session: cells that were clicked
MOST = 3
CORNERS = tuple(
    GridCell("post", peak, warmup) for peak in (PEAKS[1], PEAKS[-1]) for warmup in (WARMUPS[0], WARMUPS[-1])
)
GOOD, BAD, DECENT = GridCell("post", 0.005, 400), GridCell("post", 0.1, 400), GridCell("post", 0.005, 1)
PRE = GridCell("pre", 0.1, 400)


def _grid() -> Grid:
    return grid_results.load(str(checkpoints_folder()))


def _end(cell: GridCell) -> float:
    return _grid().runs[cell].final


def _lines(cells: Iterable[GridCell]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    return lines_of({grid_results.name_of(cell): _grid().runs[cell] for cell in cells})


def _curves(cells: Iterable[GridCell], height: int) -> tuple[Drawn, int]:
    return run_curves(*_lines(cells), limit=_grid().entropy_smoothed, say=say), height


def _schedules(cells: tuple[GridCell, ...]) -> tuple[Drawn, int]:
    rates, _ = _lines(cells)
    return curves(rates, y_axis=message("learning rate"), log_y=True, say=say), HEIGHT


def _table(norms: tuple[str, ...]) -> list[list[GridCell]]:
    return [[GridCell(norm, peak, warmup) for norm in norms for warmup in WARMUPS] for peak in reversed(PEAKS)]


def _board(norms: tuple[str, ...], picked: tuple[GridCell, ...] | list[GridCell], height: int) -> tuple[Drawn, int]:
    cells = _table(norms)
    figure = loss_board(
        np.array([[_end(cell) for cell in row] for row in cells]),
        [f"{row[0].peak:g}" for row in cells],
        [f"{say(words.NORMS[cell.norm])} {cell.warmup}" if len(norms) > 1 else str(cell.warmup) for cell in cells[0]],
        limit=_grid().entropy,
        selected=[(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell in picked],
        say=say,
    )
    return figure, height


def pick(row: int, column: int) -> None:
    """Compare a run whose cell was clicked, or no longer."""
    cells = _table(NORMS[:1])
    if row < len(cells) and column < len(cells[0]):
        cell, kept = cells[row][column], st.session_state.get(PICKED, [GOOD, BAD])
        rest = [one for one in kept if one != cell]
        st.session_state[PICKED] = rest if cell in kept else [*rest, cell][-MOST:]


def _first(answered: bool) -> list[tuple[Drawn, int]]:
    if not answered:
        return [_schedules(CORNERS)]
    return [_board(("post",), _table(("post",))[0], HEIGHT)]


def _fails() -> dict[str, object]:
    highest = [_end(cell) for cell in _table(("post",))[0]]
    return {"low": min(highest), "peak": f"{PEAKS[-1]:g}", "entropy": _grid().entropy, "good": _end(DECENT)} | {
        "other": f"{DECENT.peak:g}"
    }


def _second(answered: bool) -> list[tuple[Drawn, int]]:
    picked = st.session_state.get(PICKED, [GOOD, BAD])
    board = _board(("post",), picked, HEIGHT // 2 - 85)
    return [board, _curves(picked or [BAD], HEIGHT // 2 + 75)] if answered else [board]


def _floor() -> dict[str, object]:
    return {"entropy": _grid().entropy, "bad": _end(BAD), "good": _end(GOOD)}


def _texts(cell: GridCell) -> str:
    return list(_grid().runs[cell].texts.values())[-1][0]


def _wrote() -> dict[str, object]:
    return {"peak": f"{DECENT.peak:g}", "some": _end(DECENT), "warm": _texts(GOOD), "good": _end(GOOD)}


def _third(answered: bool) -> list[tuple[Drawn, int]]:
    if answered:
        return [_curves((DECENT, GOOD), HEIGHT)]
    return [_schedules((DECENT, GOOD))]


def _fourth(answered: bool) -> list[tuple[Drawn, int]]:
    return [_board(NORMS if answered else ("post",), [PRE] if answered else [], HEIGHT)]


def _norms() -> dict[str, object]:
    pre, post = ([_end(cell) for cell in _table((norm,))[0]] for norm in ("pre", "post"))
    return {"low": min(pre), "high": max(pre), "post": min(post), "entropy": _grid().entropy}


STORY = Story(
    name=message("Peak × warmup"),
    line=message("How high the learning rate may go, and how slowly it has to get there."),
    minutes=5,
    cards=(
        Card(
            look=message(
                "Small post-norm translators, trained for 1,000 steps on image captions. Only the learning rate "
                "differs: four peaks, each reached after 1, 20, 100 or 400 steps of warmup. Four of the 16 curves are "
                "drawn."
            ),
            question=message("Which runs learn nothing?"),
            guesses=(
                message("All without warmup"),
                message("All with the highest peak"),
                message("Only the highest peak without warmup"),
            ),
            right=1,
            answer=message(
                "All with the peak {peak}, whatever their warmup: they end at {low:.2f} or above. What word "
                "frequencies alone give is {entropy:.2f}. Without any warmup a peak of {other} learns ({good:.2f})."
            ),
            numbers=_fails,
            picture=Figures(_first, "training"),
        ),
        Card(
            look=message(
                "The loss at the end of all 16 runs: peaks in rows, warmups in columns; dark has learned nothing. "
                "Once you have guessed, click cells to draw their rate and loss."
            ),
            question=message("What does a failed run still know?"),
            guesses=(
                message("Nothing at all"),
                message("How often each word occurs"),
                message("Short sentences, but no long ones"),
            ),
            right=1,
            answer=message(
                "How often each word occurs: that alone gives a loss of {entropy:.2f}, on the training loss with its "
                "label smoothing the flat line. The failed run ends at {bad:.2f}, the one that learns at {good:.2f}."
            ),
            numbers=_floor,
            picture=Figures(_second, "training", on_click=pick),
        ),
        Card(
            look=message(
                "The same peak of 0.005, without warmup and with 400 steps. One of the two translates “A man in a "
                "blue shirt is playing the guitar.” as “Ein Mann in einem Hemd in einem Hemd in einem Hemd …”"
            ),
            question=message("Which of the two wrote that?"),
            guesses=(message("Without warmup"), message("With 400 steps of warmup")),
            right=0,
            answer=message(
                "Without warmup; it learns, but ends at {some:.2f} instead of {good:.2f}. With warmup the model "
                "writes “{warm}” Warmup helps here; it is not what decides whether this run learns at all."
            ),
            numbers=_wrote,
            picture=Figures(_third, "training"),
        ),
        Card(
            look=message(
                "All this was post-norm, as in the paper: the norm follows each sublayer. Pre-norm puts it before. "
                "The top row, the highest peak, has failed with every warmup."
            ),
            question=message("Does pre-norm learn with that peak?"),
            guesses=(message("Yes, somewhat"), message("No, it fails as well"), message("Only with warmup")),
            right=0,
            answer=message(
                "Somewhat: {low:.2f} to {high:.2f}, below {entropy:.2f}; post-norm ended at {post:.2f} or above. In "
                "the paper's formula a shorter warmup also means a higher peak; only a grid tells the two apart. Each "
                "cell is one run with one seed."
            ),
            numbers=_norms,
            picture=Figures(_fourth, "training"),
        ),
    ),
    sources="Vaswani et al. 2017, 5.3 · Xiong et al. 2020",
)
