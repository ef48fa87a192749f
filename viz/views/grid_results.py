"""The grids of small runs, read once for all visitors: what their runs are called, and figures of them."""

from collections.abc import Collection, Sequence

import numpy as np
import streamlit as st

from model.checkpoint import checkpoints_folder
from model.training.grid import FOLDER, PEAKS, WARMUPS, Grid, GridCell, lines_of, read_grid
from viz.figures import loss_board, run_curves
from viz.text import words
from viz.text.language import message, say
from viz.views.made import Plot, Recipe, made

READ = f"grid = read_grid(checkpoints_folder() / {FOLDER!r})"
_read = st.cache_resource(read_grid, max_entries=2, show_spinner=False)


def load(folder: str = FOLDER) -> Grid:
    """A grid that is there; errors as of `read_grid`."""
    return _read(checkpoints_folder() / folder)


def name_of(cell: GridCell) -> str:
    text = message("{norm}, peak {peak}, warmup {warmup}")
    name = say(text, norm=say(words.NORMS[cell.norm]), peak=_spoken(cell.peak), warmup=cell.warmup)
    others = [say("constant")] * (cell.schedule == "constant") + [say("seed {seed}", seed=cell.seed)] * (cell.seed > 1)
    return ", ".join([name, *others])


def _spoken(peak: float) -> str:
    return say("{peak:g}", peak=peak)


def table(norms: Sequence[str]) -> list[list[GridCell]]:
    """The runs of a board: peaks in rows, the highest first; norms and their warmups in columns."""
    return [[GridCell(norm, peak, warmup) for norm in norms for warmup in WARMUPS] for peak in PEAKS[::-1]]


def board(norms: Sequence[str], picked: Collection[GridCell]) -> Plot:
    """The losses at the end, with a frame round some; a KeyError where a run is not there yet."""
    grid, cells = load(), table(norms)
    losses = np.array([[grid.runs[cell].final for cell in row] for row in cells])
    final = "grid.runs[GridCell(norm, peak, warmup)].final"
    code = f"np.array([[{final} for norm in {norms} for warmup in {WARMUPS}] for peak in {PEAKS[::-1]}])"
    names = [f"{say(words.NORMS[cell.norm])} " * (len(norms) > 1) + str(cell.warmup) for cell in cells[0]]
    return Recipe(grid.about["command"], (READ,)).plot(
        say("Validation loss at the end"),
        loss_board,
        made(losses, code),
        [_spoken(row[0].peak) for row in cells],
        names,
        limit=grid.entropy,
        selected=[(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell in picked],
    )


def curves(cells: Collection[GridCell], step: float | None = None) -> Plot:
    grid, chosen = load(), {name_of(cell): cell for cell in cells}
    line = f"rates, losses = lines_of({{name: grid.runs[cell] for name, cell in {chosen!r}.items()}})"
    lines = lines_of({name: grid.runs[cell] for name, cell in chosen.items()})
    return Recipe(" · ".join(chosen), (READ, line)).plot(
        say("Learning rate and loss"),
        run_curves,
        *map(made, lines, ("rates", "losses")),
        limit=grid.entropy_smoothed,
        step=step,
    )


def toggled(cells: list[GridCell], cell: GridCell, most: int) -> list[GridCell]:
    """Some runs with one more, in place of the first where there are too many; without it, if it was there."""
    rest = [one for one in cells if one != cell]
    return rest if cell in cells else [*rest, cell][-most:]
