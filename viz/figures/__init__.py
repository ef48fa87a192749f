"""Figures as pure functions: arrays and labels in, one plotly Figure out.

In every map rows are queries (position 0 on top) and columns are keys; positions are the coordinates and tokens only
their labels. Of every figure function:

- Numbers are copied to float32; a map is data[0].z, a line data[k].y. What does not fit is a ValueError.
- What an axis, a number (`value`) or a column is, is given in English; `say` puts all words into the reader's language.
- A `mask` is bool (T, S), True = may attend; `selected` is what gets a frame or a ring, a cell by its row and column.
- The figure gives along its `description` for a screen reader, and its `table`.
"""

from viz.figures.curves import (
    bars,
    changes_by_seed,
    curves,
    deviations,
    encoding_panels,
    offset_lines,
    run_curves,
    wavelength_lines,
)
from viz.figures.figure import Figure
from viz.figures.heads import head_board, head_map
from viz.figures.maps import (
    attention_heatmap,
    candidates_heatmap,
    difference_heatmap,
    loss_board,
    mask_heatmap,
    positional_heatmap,
    similarity_heatmap,
    values_heatmap,
    written_heatmap,
)
from viz.figures.patches import stream_patches
from viz.figures.scatter import scatter
from viz.figures.tree import search_tree

__all__ = [
    "attention_heatmap",
    "bars",
    "candidates_heatmap",
    "changes_by_seed",
    "curves",
    "deviations",
    "Figure",
    "encoding_panels",
    "difference_heatmap",
    "head_board",
    "head_map",
    "loss_board",
    "mask_heatmap",
    "offset_lines",
    "positional_heatmap",
    "run_curves",
    "scatter",
    "search_tree",
    "similarity_heatmap",
    "stream_patches",
    "values_heatmap",
    "wavelength_lines",
    "written_heatmap",
]
