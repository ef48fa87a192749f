"""Positional encodings: the whole table, or some of its dimensions as waves."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.differences import centred_colors
from viz.figures.drawn import Drawn
from viz.figures.tables import Cells, Points
from viz.figures.wording import Say, english, message, separated


def positional_heatmap(
    table: np.ndarray,
    tokens: Sequence[str] | None = None,
    *,
    title: str = "",
    value: str = message("value"),
    say: Say = english,
) -> Drawn:
    """Draw a table of positional encodings: positions in rows, dimensions in columns.

    Args:
        table: float (T, D), an encoding or the difference of two.
        tokens: T tokens that stand at these positions; without them rows carry their numbers.
        title: text above the map.
        value: what a number is, for the colour bar and the hover text, in English.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the table, float32 (T, D). The colours run from -1 to 1, further where the values do.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity.
    """
    table = checks.as_float("table", table, "TD")
    n_positions, n_dimensions = table.shape
    tokens = None if tokens is None else checks.as_tokens("tokens", tokens, n_positions, "rows")
    named = labels.escape(say(value))
    _, colors = centred_colors(table, named, least=1.0)
    cells = go.Heatmap(
        z=table,
        hovertemplate=say(
            "position {position}<br>dimension {dimension}<br>{value} {number}",
            position="%{y:d}" if tokens is None else "%{y}",
            dimension="%{x:d}",
            value=named,
            number="%{z:.3f}",
        )
        + "<extra></extra>",
        **colors,
    )
    axes = {
        "xaxis": heatmap.number_axis(n_dimensions, message("dimension"), say),
        "yaxis": _position_axis(n_positions, tokens, say, downwards=True),
    }
    rows = None if tokens is None else labels.hover_texts(tokens, say)
    return Drawn(
        [cells, heatmap.TICKS],
        theme.layout(
            theme.plot_height(n_positions),
            separated(say),
            title=labels.escape(title),
            left=labels.tick_width(tokens or [str(n_positions)]) + theme.AXIS_TITLE_HEIGHT,
            bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            **heatmap.name_cells(cells, axes, rows),
        ),
        description=say(
            "Rows are positions, columns are dimensions: the {value} at each of {n_positions} positions, "
            "{n_dimensions} numbers each.",
            value=named,
            n_positions=n_positions,
            n_dimensions=n_dimensions,
        ),
        table=Cells(table, ("position", "dimension"), tokens, value=value),
    )


def positional_waves(
    table: np.ndarray,
    dimensions: Sequence[int],
    tokens: Sequence[str] | None = None,
    *,
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw some dimensions of a positional encoding as lines over the positions.

    Args:
        table: float (T, D).
        dimensions: which columns of the table, counted from 0, each once; their order is the legend's.
        tokens: T tokens that stand at these positions, for the axis and the hover text.
        title: text above the lines.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure, of one line per dimension; data[k].y is float32 (T,).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity, and dimensions that are missing, doubled or
            outside.
    """
    table = checks.as_float("table", table, "TD")
    n_positions, n_dimensions = table.shape
    chosen = [checks.index(f"dimensions[{k}]", dimension, n_dimensions) for k, dimension in enumerate(dimensions)]
    if not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(
            f"dimensions is {list(dimensions)}; allowed is at least one, each once, from 0 to {n_dimensions - 1}."
        )
    tokens = None if tokens is None else checks.as_tokens("tokens", tokens, n_positions, "rows")
    hover = [str(position) for position in range(n_positions)] if tokens is None else labels.hover_texts(tokens, say)
    lines = [_wave(table[:, dimension].copy(), dimension, k, hover, say) for k, dimension in enumerate(chosen)]
    limit = max(1.0, float(np.abs(table[:, chosen]).max()))
    label_height = theme.TICK_SIZE + (0 if tokens is None else theme.LEANING * labels.tick_width(tokens))
    return Drawn(
        lines,
        theme.layout(
            theme.WAVES_HEIGHT,
            separated(say),
            title=labels.escape(title),
            left=theme.TICK_SIZE * 2 + theme.AXIS_TITLE_HEIGHT,
            top=theme.LEGEND_HEIGHT * -(-len(chosen) // 5),
            bottom=label_height + theme.AXIS_TITLE_HEIGHT,
            xaxis=_position_axis(n_positions, tokens, say),
            # a little more than the range, so that crests are not cut
            yaxis={"title": {"text": say("value")}, "range": [-1.08 * limit, 1.08 * limit], "automargin": False},
        ),
        description=say(
            "One line per dimension: its value at each of {n_positions} positions (dimensions {chosen} of "
            "{n_dimensions}).",
            n_positions=n_positions,
            chosen=", ".join(map(str, chosen)),
            n_dimensions=n_dimensions,
        ),
        table=Points([(line.name, line.x, line.y, tokens) for line in lines]),
    )


def _wave(values: np.ndarray, dimension: int, k: int, hover: list[str], say: Say) -> go.Scatter:
    """Draw one dimension (T,) as the k-th line."""
    return go.Scatter(
        x=np.arange(len(values), dtype=np.int32),
        y=values,
        mode="lines+markers" if len(values) <= theme.MAX_TICKS else "lines",
        line={
            "color": theme.LINES[k % len(theme.LINES)],
            "dash": theme.DASHES[k % len(theme.DASHES)],
            "width": theme.LINE_WIDTH,
        },
        name=say("dimension {dimension}", dimension=dimension),
        text=hover,
        hovertemplate=say(
            "position {position}<br>dimension {dimension}<br>{value} {number}",
            position="%{text}",
            dimension=dimension,
            value=say("value"),
            number="%{y:.3f}",
        )
        + "<extra></extra>",
        showlegend=True,
    )


def _position_axis(n: int, tokens: list[str] | None, say: Say, *, downwards: bool = False) -> dict:
    """Build the axis of positions, labelled with tokens where there are some."""
    if tokens is None:
        return heatmap.number_axis(n, message("position"), say, downwards=downwards)
    return heatmap.token_axis(tokens, message("position"), say, downwards=downwards)
