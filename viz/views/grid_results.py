"""The grid of small runs, read once for all visitors."""

from __future__ import annotations

import streamlit as st

from model.catalogue import checkpoints_folder
from model.training.grid import FOLDER, Grid, read_grid


@st.cache_resource(max_entries=2, show_spinner=False)
def load(folder: str) -> Grid:
    """Read the grid of a folder of checkpoints; all visitors share it, nobody writes into it."""
    return read_grid(checkpoints_folder() / FOLDER)
