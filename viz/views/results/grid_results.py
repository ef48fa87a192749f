"""The grids of small runs, read once for all visitors: what their runs are called, and figures of them."""

from collections.abc import Collection, Sequence

import numpy as np
import streamlit as st

from model.storage.checkpoint import checkpoints_folder
from model.training.sweeps.grid import FOLDER, PEAKS, WARMUPS, Grid, GridCell, lines_of, read_grid
from viz.figures import loss_board, run_curves
from viz.text import words
from viz.text.language import message, say
from viz.views.snippets import Plot, program, snippet

READ = f"""
from model.storage.checkpoint import checkpoints_folder
from model.training.sweeps.grid import read_grid

grid = read_grid(checkpoints_folder() / {FOLDER!r})
"""
BOARD = """
import numpy as np
from model.training.sweeps.grid import GridCell
from viz.figures import loss_board

losses = np.array([
    [grid.runs[GridCell(norm, peak, warmup)].final for norm in $norms for warmup in $warmups]
    for peak in $peaks
])
figure = loss_board(losses, $rows, $columns, limit=$limit, selected=$selected)
figure.show()
"""
CURVES = """
from model.training.sweeps.grid import GridCell, lines_of
from viz.figures import run_curves

cells = $cells
rates, losses = lines_of({name: grid.runs[cell] for name, cell in cells.items()})
figure = run_curves(rates, losses, limit=$limit, step=$step)
figure.show()
"""
_read = st.cache_resource(max_entries=2, show_spinner=False)(read_grid)


def load(folder: str = FOLDER) -> Grid:
    """A grid that is there; errors as in `read_grid`."""
    return _read(checkpoints_folder() / folder)


def name_of(cell: GridCell) -> str:
    """A cell in words: its peak, its warmup and what else makes it another one."""
    text = message("{norm}, peak {peak}, warmup {warmup}")
    name = say(text, norm=say(words.NORMS[cell.norm]), peak=_spoken(cell.peak), warmup=cell.warmup)
    extras = [say("constant")] * (cell.schedule == "constant") + [say("seed {seed}", seed=cell.seed)] * (cell.seed > 1)
    return ", ".join([name, *extras])


def _spoken(peak: float) -> str:
    return say("{peak:g}", peak=peak)


def table(norms: Sequence[str]) -> list[list[GridCell]]:
    """The runs of a board: peaks in rows, the highest first; norms and their warmups in columns."""
    return [[GridCell(norm, peak, warmup) for norm in norms for warmup in WARMUPS] for peak in PEAKS[::-1]]


def board(norms: Sequence[str], picked: Collection[GridCell]) -> Plot:
    """The losses at the end, with a frame round some; a KeyError where a run is not there yet."""
    grid = load()
    cells = table(norms)
    losses = np.array([[grid.runs[cell].final for cell in row] for row in cells])
    rows = [_spoken(row[0].peak) for row in cells]
    columns = [f"{say(words.NORMS[cell.norm])} " * (len(norms) > 1) + str(cell.warmup) for cell in cells[0]]
    selected = [(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell in picked]
    figure = loss_board(losses, rows, columns, limit=grid.entropy, selected=selected, say=say)
    axes = {"norms": norms, "warmups": WARMUPS, "peaks": PEAKS[::-1], "rows": rows, "columns": columns}
    code = snippet(BOARD, **axes, limit=grid.entropy, selected=selected)
    return Plot(say("Validation loss at the end"), grid.about["command"], figure, program(READ, code))


def curves(cells: Collection[GridCell], step: float | None = None) -> Plot:
    """The learning rates and losses of some runs over the steps, with a mark at a step."""
    grid = load()
    cells_by_name = {name_of(cell): cell for cell in cells}
    rates, losses = lines_of({name: grid.runs[cell] for name, cell in cells_by_name.items()})
    figure = run_curves(rates, losses, limit=grid.entropy_smoothed, step=step, say=say)
    code = snippet(CURVES, cells=cells_by_name, limit=grid.entropy_smoothed, step=step)
    return Plot(say("Learning rate and loss"), " · ".join(cells_by_name), figure, program(READ, code))
