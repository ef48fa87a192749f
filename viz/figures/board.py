"""All heads of a kind as single cells, and as points that lie near each other where heads look alike."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, clicks, heatmap, labels
from viz.figures.differences import centred_colors
from viz.figures.drawn import Drawn
from viz.figures.tables import Board, Points
from viz.figures.wording import NUMBER, Say, english, message

CELLS = message("One cell per head: row = layer, column = head.")
ROW_HEIGHT = 46  # pixels: room for a number in every cell
MAP_HEIGHT = 380
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")


def head_board(
    values: np.ndarray | None,
    texts: Sequence[Sequence[str]] | None = None,
    *,
    value: str = message("value"),
    colors: bool = True,
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw one number a head, or only a word: layers in rows, heads in columns, colours symmetric about 0.

    Args:
        values: float (L, H); None where there are only texts.
        texts: L times H texts to write into the cells; the numbers where there are none.
        value: what a number is, in English.
        colors: whether a colour bar stands beside it.
        title: text above the board.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the values, float32 (L, H), zeros where there are none.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity, and neither values nor texts.
    """
    if values is None and not texts:
        raise ValueError("a board needs values or texts.")
    has_numbers = values is not None
    values = checks.as_float("values", values if has_numbers else np.zeros((len(texts), len(texts[0]))), "LH")
    n_layers, n_heads = values.shape
    written = texts if texts is not None else [[f"{number:+.3g}" for number in row] for row in values]
    if len(written) != n_layers:
        raise ValueError(f"texts has {len(written)} rows; allowed are {n_layers}, one a layer.")
    told = [checks.as_tokens("texts", row, n_heads, "columns") for row in written]
    written = [list(map(labels.escape, row)) for row in told]
    _, scale = centred_colors(values, labels.escape(say(value)))
    layers = [labels.layer_label(i, say) for i in range(n_layers)]
    heads = [labels.head_label(i, say) for i in range(n_heads)]
    number = f"{labels.escape(say(value))} %{{z:+.4g}}<br>" if has_numbers else ""
    board = go.Heatmap(
        z=values,
        text=written,
        hovertemplate=f"%{{y}}, %{{x}}<br>{number}%{{text}}<extra></extra>",
        xgap=theme.CELL_GAP,
        ygap=theme.CELL_GAP,
        showscale=colors,
        **scale,
    )
    axes = {
        "xaxis": heatmap.axis(list(map(str, range(n_heads))), labels.number_step(n_heads), message("head"), say),
        "yaxis": heatmap.axis(layers, labels.tick_step(n_layers), "", say, downwards=True),
    }
    return Drawn(
        [board, heatmap.cell_texts(board, written)],
        theme.layout(
            n_layers * ROW_HEIGHT,
            say(NUMBER),
            title=labels.escape(title),
            left=labels.tick_width(layers) + theme.MARGIN,
            bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            **heatmap.name_cells(board, axes, layers, heads),
        ),
        description=_description(value, say) if has_numbers else say(CELLS),
        table=Board(values if has_numbers else None, told, value),
    )


def _description(value: str, say: Say) -> str:
    return say(
        "One cell per head: row = layer, column = head; {value}, orange above 0, blue below.",
        value=say(value),
    )


def head_map(
    points: np.ndarray,
    n_heads: int,
    *,
    selected: tuple[int, int] | None = None,
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw heads as points of a plane, a colour and a sign a layer; near points are heads that look alike.

    A click on a point selects its head (customdata = [layer, head]).

    Args:
        points: float (N, 2), the heads of the first layer first.
        n_heads: heads in a layer, a divisor of N.
        selected: (layer, head) to draw a ring round.
        title: text above the map.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; one trace of points a layer.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity, and a selected head that does not exist.
    """
    points = checks.as_float("points", points, "ND")
    if points.shape[1] != 2 or n_heads < 1 or len(points) % n_heads:
        raise ValueError(f"points has shape {points.shape}; allowed are (layers * {n_heads}, 2).")
    limit = float(np.abs(points).max()) * 1.15 or 1.0
    n_layers = len(points) // n_heads
    layers = points.reshape(n_layers, n_heads, 2)
    traces = [_points(layer, places, say) for layer, places in enumerate(layers)]
    if selected is not None:
        layer = checks.index("the selected layer", selected[0], n_layers)
        head = checks.index("the selected head", selected[1], n_heads)
        traces.append(_ring(layers[layer, head]))
    axis = {"range": [-limit, limit], "showticklabels": False, "showgrid": False, "zeroline": False, "fixedrange": True}
    return Drawn(
        traces,
        theme.layout(
            MAP_HEIGHT,
            say(NUMBER),
            title=labels.escape(title),
            top=theme.LEGEND_HEIGHT,
            xaxis=axis,
            yaxis={**axis, "scaleanchor": "x"},
            hovermode="closest",
            dragmode=False,
        ),
        description=say("Each point is a head, numbered in its layer; near points are heads that look alike."),
        table=Points([(trace.name, trace.x, trace.y, trace.text) for trace in traces[:n_layers]]),
    )


def _points(layer: int, places: np.ndarray, say: Say) -> go.Scatter:
    name = labels.layer_label(layer, say)
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
        **clicks.hover(f"{name}, {say('head {n}', n='%{text}')}", say("click to open")),
        name=name,
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
