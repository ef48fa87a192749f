"""The grid of small runs, read once for all visitors: what its runs are called."""

import streamlit as st

from model.catalogue import checkpoints_folder
from model.training.grid import FOLDER, Grid, GridCell, read_grid
from viz.text import words
from viz.text.language import say


@st.cache_resource(max_entries=2, show_spinner=False)
def load(folder: str) -> Grid:
    """Read the grid of a folder of checkpoints; all visitors share it, nobody writes into it."""
    return read_grid(checkpoints_folder() / FOLDER)


def name_of(cell: GridCell) -> str:
    """What a run is called."""
    named = {"norm": say(words.NORMS[cell.norm]), "peak": f"{cell.peak:g}", "warmup": cell.warmup}
    return say("{norm}, peak {peak}, warmup {warmup}", **named)
