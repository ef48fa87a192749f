"""Numbers of any kind: as a map of numbered columns, or one bar per word."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn, figure
from viz.figures.tables import Points
from viz.figures.wording import Say, english, message

BARS_HEIGHT = 200


def values_heatmap(
    values: np.ndarray,
    tokens: Sequence[str],
    *,
    value: str = message("value"),
    row_axis: str = message("token"),
    column_axis: str = message("dimension"),
    limit: float | None = None,
    most_labels: int = theme.MAX_NUMBERS,
    say: Say = english,
) -> Drawn:
    """Draw numbers (T, D) about zero: tokens in rows, numbered columns.

    Args:
        limit: where the colours end on both sides of 0, so that two maps can be compared; that of the values otherwise.
        most_labels: how many columns have their number written at most; fewer where it stands in a narrow place.
    """
    values = checks.as_float("values", values, "TD")
    row, column, number = (labels.escape(say(one)) for one in (row_axis, column_axis, value))
    return heatmap.grid(
        values,
        tokens,
        None,
        say,
        hover=f"{row} %{{y}}<br>{column} %{{x:d}}<br>{number} %{{z:.3f}}",
        description=say(
            "Rows are {n} tokens, columns are numbered from 0 to {last}: {value}, orange above 0, blue below.",
            n=len(values),
            last=values.shape[1] - 1,
            value=say(value),
        ),
        titles=(row_axis, column_axis),
        value=value,
        most=most_labels,
        **heatmap.centred(values if limit is None else np.array([limit]), number),
    )


def positional_heatmap(
    table: np.ndarray,
    tokens: Sequence[str] | None = None,
    *,
    value: str = message("value"),
    say: Say = english,
) -> Drawn:
    """Draw a positional encoding (T, D), or the difference of two: positions in rows, dimensions in columns.

    The colours run from -1 to 1, further where it does; rows carry their numbers where there are no tokens.
    """
    table = checks.as_float("table", table, "TD")
    n_positions, n_dimensions = table.shape
    said = labels.escape(say(value))
    places = {"position": "%{y:d}" if tokens is None else "%{y}", "dimension": "%{x:d}"}
    return heatmap.grid(
        table,
        tokens,
        None,
        say,
        hover=say(
            "position {position}<br>dimension {dimension}<br>{value} {number}", **places, value=said, number="%{z:.3f}"
        ),
        description=say(
            "Rows are positions, columns are dimensions: the {value} at each of {n_positions} positions, "
            "{n_dimensions} numbers each.",
            value=said,
            n_positions=n_positions,
            n_dimensions=n_dimensions,
        ),
        titles=(message("position"), message("dimension")),
        value=value,
        **heatmap.centred(table, said, least=1.0),
    )


def similarity_heatmap(products: np.ndarray, *, say: Say = english) -> Drawn:
    """Draw how similar every position is to every other one: dot products of their encodings, float (T, T)."""
    products = checks.as_float("products", products, "TS")
    n = len(products)
    words = {"row": "%{y:d}", "column": "%{x:d}", "product": "%{z:.3f}"}
    return heatmap.grid(
        products,
        None,
        None,
        say,
        hover=say("position {row}<br>position {column}<br>dot product {product}", **words),
        description=say("Rows and columns are positions: the dot product of the encodings of any two of {n}.", n=n),
        titles=("position", "position"),
        value=message("dot product"),
        **heatmap.centred(products, say("dot product")),
    )


def aligned_rows(drawn: Drawn, places: Sequence[int], n_rows: int, *, say: Say = english) -> Drawn:
    """Move the rows of a map (changed in place) apart, so that rows of other systems' maps have places between them.

    Args:
        drawn: a map with named rows, without hatched cells.
        places: for each of its rows the row it goes to, in growing order; the others of `n_rows` stay blank (NaN).
    """
    trace, table, layout = drawn.data[0], drawn.table, drawn.layout
    values = np.full((n_rows, trace.z.shape[1]), np.nan, dtype=np.float32)
    values[places] = trace.z
    trace.update(z=values, hoverongaps=False)
    names = dict(zip(places, table.row_names, strict=True))
    drawn.table = replace(table, values=values, row_names=[names.get(row, "") for row in range(n_rows)])
    if n_rows > len(places):
        drawn.description += " " + say("Blank rows are words that only another system has.")
    layout.height += theme.plot_height(n_rows) - theme.plot_height(len(places))
    for axis in (layout.yaxis, layout.yaxis2):
        axis.range = [n_rows - 0.5, -0.5]
        axis.tickvals = [places[row] for row in axis.tickvals]
    return drawn


def bars(
    values: np.ndarray,
    tokens: Sequence[str],
    *,
    value: str = message("value"),
    token_axis: str = message("word"),
    top: float | None = None,
    say: Say = english,
) -> Drawn:
    """Draw one bar per word from 0 up, of K stacked parts (T, K); data[k].y is the k-th column.

    `top` is where the axis ends, so that two figures can be compared; just above the highest bar otherwise.
    """
    values = checks.as_float("values", values, "TK")
    n_words, n_bars = values.shape
    tokens = checks.as_tokens("tokens", tokens, n_words)
    highest = float(values.sum(axis=1).max())
    end = float(top or highest or 1)
    said = labels.escape(say(value))
    shared = {
        "x": np.arange(n_words, dtype=np.int32),
        "text": labels.hover_texts(tokens, say),
        "textposition": "none",
        "hovertemplate": f"%{{text}}<br>{said} %{{y:.3g}}<extra></extra>",
        "showlegend": False,
    }
    return figure(
        [go.Bar(y=values[:, k].copy(), marker={"color": theme.line(k)["color"]}, **shared) for k in range(n_bars)],
        BARS_HEIGHT,
        say,
        left=theme.TICK_SIZE + theme.AXIS_HEIGHT,
        bottom=theme.LEANING * labels.tick_width(tokens) + theme.AXIS_HEIGHT,
        barmode="stack",
        xaxis=heatmap.side(tokens, token_axis, say),
        yaxis={"title": {"text": said}, "range": [0, 1.08 * end], "automargin": False},
        description=say(
            "One bar for each of {n} words: {value}, from 0 to {highest:.3g}.",
            n=n_words,
            value=say(value),
            highest=highest,
        ),
        table=Points([(str(k), range(n_words), values[:, k], tokens) for k in range(n_bars)]),
    )
