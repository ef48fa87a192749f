"""Masks: who may attend whom."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap

_MAY, _BLOCKED = "may attend", "is blocked from"


def mask_heatmap(
    mask: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    query_axis: str = "query (asks)",
    key_axis: str = "key (is read)",
    title: str = "",
) -> go.Figure:
    """Draw a mask in two colours: whether each query may attend each key.

    Args:
        mask: bool (T, S), True = may attend.
        queries: T tokens, drawn top to bottom.
        keys: S tokens, drawn left to right.
        query_axis, key_axis: what the rows and the columns are.
        title: text above the map.

    Returns:
        go.Figure; data[0].z is the mask as uint8 (T, S), 1 = may attend.

    Raises:
        ValueError: for wrong shapes or sizes and for another type than bool.
    """
    mask = checks.as_mask("mask", mask)
    queries, keys = checks.as_labels(queries, keys, mask.shape)
    return heatmap.token_heatmap(
        mask.astype(np.uint8),
        queries,
        keys,
        hover="query %{customdata[0]}<br>%{customdata[2]}<br>key %{customdata[1]}",
        meta={
            "figure": "mask_heatmap",
            "description": (
                "Rows ask, columns are read: which key tokens each query token may attend "
                f"({int(mask.sum())} of {mask.size} cells)."
            ),
            "value": "mask",
            "range": [0, 1],
        },
        title=title,
        query_axis=query_axis,
        key_axis=key_axis,
        cell_texts=np.where(mask, np.array(_MAY, dtype=object), np.array(_BLOCKED, dtype=object)),
        colorscale=theme.MASK_SCALE,
        zmin=0,
        zmax=1,
        colorbar=theme.color_bar(
            "", tickvals=[0.25, 0.75], ticktext=list(theme.MASK_WORDS), tickangle=-90, len=1, ticks=""
        ),
    )
