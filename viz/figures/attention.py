"""Attention weights: one head large, or every head at a glance."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.montage import Montage

_HOVER = "query %{customdata[0]}<br>key %{customdata[1]}<br>weight "


def attention_heatmap(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    query_axis: str = "query (asks)",
    key_axis: str = "key (is read)",
    title: str = "",
    mask: np.ndarray | None = None,
    predicted: Sequence[str] | None = None,
    scale_to_max: bool = False,
) -> go.Figure:
    """Draw the attention weights of one head: who asks in rows, who is read in columns.

    Args:
        weights: float (T, S), probabilities after softmax.
        queries: T tokens, drawn top to bottom.
        keys: S tokens, drawn left to right.
        query_axis, key_axis: what the rows and the columns are.
        title: text above the map.
        mask: bool (T, S), True = may attend; the other cells are hatched and their hover text says so.
        predicted: T tokens, where each query is a step that predicted one; the hover text names it.
        scale_to_max: let the colours end at the largest weight instead of 1; the colour bar then says so.

    Returns:
        go.Figure; data[0].z is the weights, float32 (T, S), all of them.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN, and values outside [0, 1].
    """
    weights = checks.as_probabilities("weights", weights, "TS")
    queries, keys = checks.as_labels(queries, keys, weights.shape)
    blocked = None if mask is None else ~checks.as_mask("mask", mask, weights.shape)
    some_blocked = blocked is not None and bool(blocked.any())
    top, colors = _weight_colors(weights, scale_to_max)
    description = "Rows ask, columns are read: how much each query token attends to each key token, from 0 to 1."
    if some_blocked:
        description += " Hatched cells are not allowed by the mask."
    return heatmap.token_heatmap(
        weights,
        queries,
        keys,
        hover=_HOVER + ("%{customdata[2]}" if some_blocked else "%{z:.3f}"),
        meta={"figure": "attention_heatmap", "description": description, "value": "weight", "range": [0.0, top]},
        title=title,
        query_axis=query_axis,
        key_axis=key_axis,
        blocked=blocked,
        cell_texts=heatmap.value_texts(weights, blocked, ".3f") if some_blocked else None,
        predicted=None if predicted is None else checks.as_tokens("predicted", predicted, len(queries), "rows"),
        **colors,
    )


def head_overview(
    weights: np.ndarray,
    *,
    selected: tuple[int, int] | None = None,
    title: str = "",
    n_columns: int | None = None,
    scale_to_max: bool = False,
) -> go.Figure:
    """Draw every head of every layer as one montage: layers in rows, heads in columns, each tile a small attention map.

    One invisible marker a head, in the middle of its tile, takes the clicks (customdata = [layer, head]). Wherever the
    pointer is, the nearest marker answers (hoverdistance -1), and tiles are equal, so a click anywhere in a tile
    selects that tile's head. Zooming is off: there is one drag less to mistake a click for.

    Args:
        weights: float (L, H, T, S), probabilities after softmax; rows of a tile are queries, columns are keys.
        selected: (layer, head) to draw an outline round, counted from 0.
        title: text above the montage.
        n_columns: tiles in a row, for narrow pages; with less than H the heads of a layer continue in the next row.
        scale_to_max: let the colours end at the largest weight of all heads instead of 1; the colour bar then says so.

    Returns:
        go.Figure; data[0] is the montage (float32, NaN between tiles), data[1] the L * H markers.

    Raises:
        ValueError: for wrong shapes or types, NaN, values outside [0, 1], and a selected head that does not exist.
    """
    weights = checks.as_probabilities("weights", weights, "LHTS")
    n_layers, n_heads, n_queries, n_keys = weights.shape
    if n_columns is not None:
        checks.index("n_columns", n_columns, n_heads + 1, least=1)
    montage = Montage(n_layers, n_heads, n_queries, n_keys, n_columns or n_heads)
    top, colors = _weight_colors(weights, scale_to_max)
    tiles = go.Heatmap(z=montage.assemble(weights), hoverinfo="skip", **colors)
    figure = go.Figure(
        [tiles, _head_markers(montage, weights)],
        layout=theme.layout(
            montage.n_rows * theme.TILE_HEIGHT,
            title=labels.escape(title),
            left=theme.GLYPH_WIDTH
            * max(labels.text_width(line) for text in montage.row_labels() for line in text.split("<br>")),
            top=theme.TICK_SIZE + theme.MARGIN,
        ),
    )
    figure.update_layout(
        **montage.axes(),
        clickmode="event+select",
        hovermode="closest",
        hoverdistance=-1,
        dragmode=False,
        meta=_overview_meta(montage, top),
    )
    if selected is not None:
        figure.add_shape(_outline(montage, selected))
    return figure


def _overview_meta(montage: Montage, top: float) -> dict:
    """Return what the overview says about itself."""
    return {
        "figure": "head_overview",
        "description": (
            f"Every head at a glance: rows are layers (0 to {montage.n_layers - 1}), "
            f"columns are heads (0 to {montage.n_heads - 1}); "
            "in each tile rows ask and columns are read. Click a tile to open its head."
        ),
        "rows": "layer",
        "columns": "head",
        "n_rows": montage.n_layers,
        "n_columns": montage.n_heads,
        "tile": {"rows": "query", "columns": "key", "n_rows": montage.n_queries, "n_columns": montage.n_keys},
        "value": "weight",
        "range": [0.0, top],
    }


def _weight_colors(weights: np.ndarray, scale_to_max: bool) -> tuple[float, dict]:
    """Return the end of the colour range and the colour settings of a map of weights."""
    top = float(weights.max()) if scale_to_max and weights.max() > 0 else 1.0
    title = f"weight<br>(largest<br>{top:.3g})" if scale_to_max else "weight"
    return top, {"colorscale": theme.SEQUENTIAL, "zmin": 0.0, "zmax": top, "colorbar": theme.color_bar(title)}


def _head_markers(montage: Montage, weights: np.ndarray) -> go.Scatter:
    """Place one invisible marker in the middle of each tile, with the head's address in customdata."""
    heads = [(layer, head) for layer in range(montage.n_layers) for head in range(montage.n_heads)]
    xs, ys = zip(*(montage.center(layer, head) for layer, head in heads), strict=True)
    invisible = {"marker": {"opacity": 0}}
    return go.Scatter(
        x=np.array(xs, dtype=np.float32),
        y=np.array(ys, dtype=np.float32),
        # Lists on purpose: rows of an array reach Streamlit as {"0": layer, "1": head}.
        customdata=[list(pair) for pair in heads],
        text=[
            f"{labels.layer_label(layer)}, {labels.head_label(head)}<br>largest weight {weights[layer, head].max():.3f}"
            for layer, head in heads
        ],
        hovertemplate="%{text}<br>click to open<extra></extra>",
        mode="markers",
        marker={"size": theme.TILE_MARKER, "symbol": "square", "opacity": 0},
        selected=invisible,
        unselected=invisible,
        showlegend=False,
        name="heads",
    )


def _outline(montage: Montage, selected: tuple[int, int]) -> dict:
    """Build the frame round the selected head; it lies in the gap and hides no cell."""
    if isinstance(selected, (str, int)) or len(selected) != 2:
        raise ValueError(f"selected is {selected!r}; allowed is a pair (layer, head).")
    layer = checks.index("the selected layer", selected[0], montage.n_layers)
    head = checks.index("the selected head", selected[1], montage.n_heads)
    rows, columns = montage.tile(layer, head)
    pad_y, pad_x = montage.row_gap / 4, montage.column_gap / 4
    return {
        "type": "rect",
        "x0": columns.start - 0.5 - pad_x,
        "x1": columns.stop - 0.5 + pad_x,
        "y0": rows.start - 0.5 - pad_y,
        "y1": rows.stop - 0.5 + pad_y,
        "line": {"color": theme.SELECTED, "width": theme.SELECTED_WIDTH},
        "name": "selected",
    }
