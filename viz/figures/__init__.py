"""Figures as pure functions: arrays and labels in, one plotly Figure out.

Nothing here shows, caches, or knows of models and pages. In every map of tokens rows are queries (who asks, position 0
on top) and columns are keys (who is read); positions are the coordinates and tokens only their labels.
describe(figure) is the sentence for a caption or a screen reader.
"""

from viz.figures.attention import attention_heatmap, head_overview
from viz.figures.candidates import candidates_heatmap
from viz.figures.curves import curves
from viz.figures.heatmap import describe
from viz.figures.masks import mask_heatmap
from viz.figures.positional import positional_heatmap, positional_waves
from viz.figures.scores import difference_heatmap, scores_heatmap
from viz.figures.values import bars, values_heatmap

__all__ = [
    "attention_heatmap",
    "bars",
    "candidates_heatmap",
    "curves",
    "describe",
    "difference_heatmap",
    "head_overview",
    "mask_heatmap",
    "positional_heatmap",
    "positional_waves",
    "scores_heatmap",
    "values_heatmap",
]
