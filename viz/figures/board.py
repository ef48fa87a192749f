"""All heads of a kind as single cells, and as points that lie near each other where heads look alike."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, clicks, heatmap, labels
from viz.figures.scores import centred_colors
from viz.language import message, say

OFF = message("switched off")
CELLS = message("A cell a head: rows are layers, columns heads.")
ROW_HEIGHT = 46  # pixels: room for a number in every cell
MAP_HEIGHT = 380
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")


def head_board(
    values: np.ndarray | None,
    texts: Sequence[Sequence[str]] | None = None,
    *,
    off: np.ndarray | None = None,
    value: str = message("value"),
    colors: bool = True,
    title: str = "",
) -> go.Figure:
    """Draw one number a head, or only a word: layers in rows, heads in columns, colours symmetric about 0.

    Args:
        values: float (L, H); None where there are only texts.
        texts: L times H texts to write into the cells; the numbers where there are none.
        off: bool (L, H), True = switched off: hatched.
        value: what a number is, in English.
        colors: whether a colour bar stands beside it.
        title: text above the board.

    Returns:
        go.Figure; data[0].z is the values, float32 (L, H), zeros where there are none.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity, and neither values nor texts.
    """
    if values is None and not texts:
        raise ValueError("a board needs values or texts.")
    has_numbers = values is not None
    values = checks.as_float("values", values if has_numbers else np.zeros((len(texts), len(texts[0]))), "LH")
    n_layers, n_heads = values.shape
    hatched = np.zeros(values.shape, bool) if off is None else checks.as_mask("off", off, values.shape)
    written = texts if texts is not None else [[f"{number:+.3g}" for number in row] for row in values]
    if len(written) != n_layers:
        raise ValueError(f"texts has {len(written)} rows; allowed are {n_layers}, one a layer.")
    written = [[labels.escape(text) for text in checks.as_tokens("texts", row, n_heads, "columns")] for row in written]
    limit, scale = centred_colors(values, labels.escape(say(value)))
    layers, heads = ([name(i) for i in range(n)] for name, n in ((labels.layer_label, n_layers), (_number, n_heads)))
    number = f"{labels.escape(say(value))} %{{z:+.4g}}<br>" if has_numbers else ""
    board = go.Heatmap(
        z=values,
        customdata=heatmap.hover_cells(layers, [labels.head_label(i) for i in range(n_heads)], _object(written)),
        text=written,
        hovertemplate=f"%{{customdata[0]}}, %{{customdata[1]}}<br>{number}%{{customdata[2]}}<extra></extra>",
        xgap=theme.CELL_GAP,
        ygap=theme.CELL_GAP,
        showscale=colors,
        **scale,
    )
    any_off = bool(hatched.any())
    return go.Figure(
        [board, *([heatmap.hatching(hatched, OFF)] if any_off else []), heatmap.cell_texts(board, written, hatched)],
        layout=theme.layout(
            n_layers * ROW_HEIGHT,
            title=labels.escape(title),
            left=labels.tick_width(layers) + theme.MARGIN,
            top=theme.LEGEND_HEIGHT if any_off else 0,
            bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            xaxis=heatmap.axis(heads, labels.number_step(n_heads), message("head")),
            yaxis=heatmap.axis(layers, labels.tick_step(n_layers), "", downwards=True),
            meta={
                "figure": "head_board",
                "description": _description(value) if has_numbers else say(CELLS),
                "rows": message("layer"),
                "columns": message("head"),
                "n_rows": n_layers,
                "n_columns": n_heads,
                "value": value,
                "range": [-limit, limit],
                "has_numbers": has_numbers,
            },
        ),
    )


def _description(value: str) -> str:
    return say(
        "A cell a head: rows are layers, columns heads; {value}, orange above 0, blue below.",
        value=say(value),
    )


def head_map(
    points: np.ndarray, n_heads: int, *, selected: tuple[int, int] | None = None, title: str = ""
) -> go.Figure:
    """Draw heads as points of a plane, a colour and a sign a layer; near points are heads that look alike.

    A click on a point selects its head (customdata = [layer, head]).

    Args:
        points: float (N, 2), the heads of the first layer first.
        n_heads: heads in a layer, a divisor of N.
        selected: (layer, head) to draw a ring round.
        title: text above the map.

    Returns:
        go.Figure; one trace of points a layer.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity, and a selected head that does not exist.
    """
    points = checks.as_float("points", points, "ND")
    if points.shape[1] != 2 or n_heads < 1 or len(points) % n_heads:
        raise ValueError(f"points has shape {points.shape}; allowed are (layers * {n_heads}, 2).")
    limit = float(np.abs(points).max()) * 1.15 or 1.0
    n_layers = len(points) // n_heads
    layers = points.reshape(n_layers, n_heads, 2)
    traces = [_points(layer, places) for layer, places in enumerate(layers)]
    if selected is not None:
        layer = checks.index("the selected layer", selected[0], n_layers)
        head = checks.index("the selected head", selected[1], n_heads)
        traces.append(_ring(layers[layer, head]))
    axis = {"range": [-limit, limit], "showticklabels": False, "showgrid": False, "zeroline": False, "fixedrange": True}
    return go.Figure(
        traces,
        layout=theme.layout(
            MAP_HEIGHT,
            title=labels.escape(title),
            top=theme.LEGEND_HEIGHT,
            xaxis=axis,
            yaxis={**axis, "scaleanchor": "x"},
            hovermode="closest",
            dragmode=False,
            meta={
                "figure": "head_map",
                "description": say(
                    "Each point is a head, numbered in its layer; near points are heads that look alike."
                ),
                "rows": "head",
                "columns": "coordinate",
                "n_rows": len(points),
                "n_columns": 2,
                "value": "coordinate",
                "range": [-limit, limit],
            },
        ),
    )


def _points(layer: int, places: np.ndarray) -> go.Scatter:
    color = theme.LINES[layer % len(theme.LINES)]
    symbol = SYMBOLS[(layer + layer // len(theme.LINES)) % len(SYMBOLS)]  # 49 layers before one looks like another
    return go.Scatter(
        x=places[:, 0].copy(),
        y=places[:, 1].copy(),
        customdata=[[layer, head] for head in range(len(places))],
        text=[str(head) for head in range(len(places))],
        textposition="top center",
        mode="markers+text",
        marker={"size": 11, "symbol": symbol, "color": color},
        **clicks.hover(f"{labels.layer_label(layer)}, {say('head {n}', n='%{text}')}", say("click to open")),
        name=labels.layer_label(layer),
    )


def _ring(place: np.ndarray) -> go.Scatter:
    return go.Scatter(
        x=place[:1].copy(),
        y=place[1:].copy(),
        mode="markers",
        marker={
            "size": 20,
            "symbol": "circle-open",
            "color": theme.SELECTED,
            "line": {"width": theme.SELECTED_WIDTH},
        },
        hoverinfo="skip",
        showlegend=False,
        name="selected",
    )


def _number(i: int) -> str:
    return str(i)


def _object(texts: Sequence[Sequence[str]]) -> np.ndarray:
    return np.array([list(row) for row in texts], dtype=object)
