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
    """Draw numbers about zero: tokens in rows, numbered columns.

    Args:
        values: float (T, D).
        tokens: T tokens.
        limit: where the colours end on both sides of 0, so that two maps can be compared; that of the values otherwise.
        most_labels: how many columns have their number written at most; fewer where it stands in a narrow place.
    """
    values = checks.as_float("values", values, "TD")
    tokens = checks.as_tokens("tokens", tokens, len(values), "rows")
    if limit is not None and not 0 < limit < np.inf:
        raise ValueError(f"limit is {limit!r}; allowed are numbers above 0.")
    row, column, number = (labels.escape(say(one)) for one in (row_axis, column_axis, value))
    return heatmap.grid(
        values,
        tokens,
        values.shape[1],
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
    """Draw a table of positional encodings: positions in rows, dimensions in columns.

    Args:
        table: float (T, D), an encoding or the difference of two. The colours run from -1 to 1, further where it does.
        tokens: T tokens that stand at these positions; without them rows carry their numbers.
    """
    table = checks.as_float("table", table, "TD")
    n_positions, n_dimensions = table.shape
    rows = n_positions if tokens is None else checks.as_tokens("tokens", tokens, n_positions, "rows")
    said = labels.escape(say(value))
    places = {"position": "%{y:d}" if tokens is None else "%{y}", "dimension": "%{x:d}"}
    return heatmap.grid(
        table,
        rows,
        n_dimensions,
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
    if products.shape != (n, n):
        raise ValueError(f"products has shape {products.shape}; allowed is one row and one column for each position.")
    words = {"row": "%{y:d}", "column": "%{x:d}", "product": "%{z:.3f}"}
    return heatmap.grid(
        products,
        n,
        n,
        say,
        hover=say("position {row}<br>position {column}<br>dot product {product}", **words),
        description=say("Rows and columns are positions: the dot product of the encodings of any two of {n}.", n=n),
        titles=("position", "position"),
        value=message("dot product"),
        **heatmap.centred(products, say("dot product")),
    )


def aligned_rows(drawn: Drawn, places: Sequence[int], n_rows: int, *, say: Say = english) -> Drawn:
    """Move the rows of a map apart, so that rows of other systems' maps have their places between them.

    Args:
        drawn: a map with named rows, without hatched cells; it is changed.
        places: for each of its rows the row it goes to, in growing order.
        n_rows: how many rows there are in all; those that no row goes to stay blank (NaN) and have no name.
    """
    if len(drawn.data) != 2 or drawn.data[1].name != heatmap.TICKS.name:
        raise ValueError(f"the figure has {len(drawn.data)} traces; allowed is one map with named rows.")
    trace, table, layout = drawn.data[0], drawn.table, drawn.layout
    places = [checks.index("a place", place, n_rows) for place in places]
    if len(places) != len(trace.z) or any(a >= b for a, b in zip(places, places[1:])):
        raise ValueError(f"places are {places}; allowed are {len(trace.z)} rows in growing order, one for each row.")
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
    """Draw one bar per word, from 0 up.

    Args:
        values: float (T, K), K bars a word, which are stacked; all 0 or more. data[k].y is the k-th column.
        tokens: T words, drawn left to right.
        top: where the axis ends, so that two figures can be compared; just above the highest bar otherwise.
    """
    values = checks.as_float("values", values, "TK")
    if values.min() < 0:
        raise ValueError(f"values has {values.min():g}; a bar stands on 0, allowed are numbers from 0 up.")
    n_words, n_bars = values.shape
    tokens = checks.as_tokens("tokens", tokens, n_words, "rows")
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
