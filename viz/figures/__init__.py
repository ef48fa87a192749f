"""Figures as pure functions: arrays and labels in, one plotly Figure out.

Nothing here shows, caches, or knows of models, pages and languages: what a figure says, it says through the `say` that
it is given. In every map of tokens rows are queries (position 0 on top) and columns are keys;
positions are the coordinates and tokens only their labels. A figure gives along its `description`, a sentence for a
caption or a screen reader, and its `table`.
"""

from viz.figures.aligned import aligned_rows
from viz.figures.attention import attention_heatmap, head_overview
from viz.figures.board import head_board, head_map
from viz.figures.candidates import candidates_heatmap
from viz.figures.curves import curves, run_curves
from viz.figures.deviations import deviations
from viz.figures.differences import difference_heatmap
from viz.figures.drawn import Drawn
from viz.figures.lines import attention_lines
from viz.figures.losses import loss_board
from viz.figures.masks import mask_heatmap
from viz.figures.positional import positional_heatmap, positional_waves
from viz.figures.similarity import offset_lines, similarity_heatmap, wavelength_lines
from viz.figures.tree import search_tree
from viz.figures.values import bars, values_heatmap

__all__ = [
    "aligned_rows",
    "attention_heatmap",
    "attention_lines",
    "bars",
    "candidates_heatmap",
    "curves",
    "deviations",
    "Drawn",
    "difference_heatmap",
    "head_board",
    "head_map",
    "head_overview",
    "loss_board",
    "mask_heatmap",
    "offset_lines",
    "positional_heatmap",
    "positional_waves",
    "run_curves",
    "search_tree",
    "similarity_heatmap",
    "values_heatmap",
    "wavelength_lines",
]
