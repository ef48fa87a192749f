"""Lines over steps, positions, dimensions or distances; bars per word; measured deviations per claim."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import BARE, QUIET, Drawn, clickable, figure, polylines
from viz.figures.labels import Say, english, message
from viz.figures.tables import Points

CURVES_HEIGHT, RUNS_HEIGHT, WAVES_HEIGHT, BARS_HEIGHT = 320, 390, 260, 200
CLAIM_HEIGHT = 44  # pixels: a name, and the dots below it
MARKERS_UP_TO = 12  # points; of a longer line the points are not drawn
LEGEND_LETTERS = 110  # that fit in one row of the legend
# What is drawn of a claim: symbol, size and colour.
PARTS = {
    message("measured"): ("circle", 11, theme.LINES[0]),
    message("allowed"): ("line-ns-open", 20, theme.LINES[1]),
    message("with the mask off"): ("diamond-open", 11, theme.LINES[3]),
}
Line = tuple[str, np.ndarray, np.ndarray]  # name, x and y
_NAME = "%{fullData.name}<br>"  # of the line that is pointed at


def curves(
    lines: Mapping[str, np.ndarray],
    *,
    x_axis: str = message("training step"),
    y_axis: str = message("value"),
    log_x: bool = False,
    log_y: bool = False,
    marks: Sequence[tuple[str, float, float, str]] = (),
    say: Say = english,
) -> Drawn:
    """Draw lines of named points over one pair of axes.

    Args:
        lines: name to float (2, n), x and y, in the order of the legend; above 0 where the axis is logarithmic.
        marks: (name of a line, x, y, text) of points to mark, such as a peak.
    """
    checked, x_axis, y_axis = _checked(lines), say(x_axis), say(y_axis)
    names, xs, ys = zip(*checked)
    xs, ys, points, traces = np.concatenate(xs), np.concatenate(ys), list(checked), _curves(checked, x_axis, y_axis)
    for name, *place, text in marks:
        x, y = np.array(place, np.float32)[:, None]
        points.append((f"{name} ◆", x, y, [text]))
        marker = {"color": theme.line(names.index(name))["color"], "size": 9, "symbol": "diamond"}
        mark = go.Scatter(x=x, y=y, mode="markers", marker=marker, text=[labels.escape(text)], showlegend=False)
        traces.append(mark.update(hovertemplate="%{text}<extra></extra>"))
    words = {"x": x_axis, "y": y_axis, "low": ys.min(), "high": ys.max(), "n": len(names)}
    return figure(
        traces,
        CURVES_HEIGHT,
        say,
        **_margins(names),
        xaxis=_axis(x_axis, xs, log_x),
        yaxis=_axis(y_axis, ys, log_y),
        description=say("{y} over {x}, from {low:.3g} to {high:.3g} (curves: {n}).", **words),
        table=Points(points),
    )


def run_curves(
    rates: Mapping[str, np.ndarray],
    losses: Mapping[str, np.ndarray],
    *,
    limit: float,
    step: float | None = None,
    say: Say = english,
) -> Drawn:
    """Draw learning rate and training loss of R runs in two panels over one axis of steps.

    Args:
        rates, losses: name to float (2, n), step and value. data[k] is the rate, data[R + k] the loss of a run.
        limit: a loss in nats, drawn as a line: the entropy of word frequencies, smoothed as the labels are.
        step: that is marked in both panels.
    """
    steps, quantities = say("training step"), (say("learning rate"), say("training loss"))
    traces, points, known = [], [], []
    for panel, (quantity, given) in enumerate(zip(quantities, (rates, losses))):
        lines = _checked(given)
        for k, trace in enumerate(_curves(lines, steps, quantity)):
            traces.append(trace.update(yaxis=f"y{panel + 1}", showlegend=not panel, legendgroup=str(k)))
        points += [(f"{name}, {quantity}", *line) for name, *line in lines]
        known += map(np.concatenate, list(zip(*lines))[1:])
    marks = [{"xref": "paper", "x0": 0, "x1": 1, "yref": "y2", "y0": limit, "y1": limit}]
    if step is not None:
        marks.append({"x0": step, "x1": step, "yref": "paper", "y0": 0, "y1": 1})
    line = {"type": "line", "line": {"color": theme.LINES[-1], "width": 1, "dash": "dot"}}
    note = {"text": labels.escape(say("entropy of word frequencies, smoothed")), "showarrow": False}
    corner = {"xref": "paper", "x": 1, "xanchor": "right", "yref": "y2", "y": limit, "yanchor": "bottom"}
    ends = ", ".join(f"{name} {loss[-1]:.2f}" for name, _, loss in lines)
    return figure(
        traces,
        RUNS_HEIGHT,
        say,
        **_margins(rates),
        xaxis=_axis(steps, known[0]) | {"anchor": "y2"},
        yaxis=_axis(quantities[0], known[1]) | {"domain": (0.68, 1.0)},
        yaxis2=_axis(quantities[1], np.append(known[3], limit)) | {"domain": (0.0, 0.6)},
        shapes=[line | mark for mark in marks],
        annotations=[note | corner],
        description=say("Learning rate and loss of {n} runs; losses at the end: {ends}.", n=len(rates), ends=ends),
        table=Points(points),
    )


def positional_waves(table: np.ndarray, dimensions: Sequence[int], *, say: Say = english) -> Drawn:
    """Draw some dimensions, each once, of a positional encoding (T, D) as lines over the positions."""
    table = checks.as_float("table", table, "TD")
    chosen = list(dimensions)
    limit = 1.08 * max(1.0, float(np.abs(table[:, chosen]).max()))  # a little more than that, so that no crest is cut
    words = dict(zip(("n_positions", "n_dimensions"), table.shape), chosen=", ".join(map(str, chosen)))
    return _numbered(
        table[:, chosen].T,
        [say("dimension {dimension}", dimension=dimension) for dimension in chosen],
        f"{labels.told(say, ('position', '%{x:d}'))}<br>{_NAME}{labels.told(say, ('value', '%{y:.3f}'))}",
        message("position"),
        {"title": say("value"), "range": [-limit, limit]},
        say(
            "One line per dimension: its value at each of {n_positions} positions (dimensions {chosen} of "
            "{n_dimensions}).",
            **words,
        ),
        say,
        left=theme.TICK_SIZE,
        in_a_row=5,
    )


def offset_lines(similarity: np.ndarray, names: Sequence[str], *, say: Say = english) -> Drawn:
    """Draw, for each of K named encodings, the mean dot product (K, T) of positions 0, 1, ... T - 1 apart."""
    similarity = checks.as_float("similarity", similarity, "KT")
    n = len(similarity)
    return _numbered(
        similarity,
        checks.as_tokens("names", names, n),
        _NAME + say("{offset} apart<br>mean dot product {product}", offset="%{x:d}", product="%{y:.3f}"),
        message("offset (positions apart)"),
        {"title": say("mean dot product")},
        say("One line for each of {n} encodings: the similarity of positions by their distance.", n=n),
        say,
    )


def wavelength_lines(wavelengths: np.ndarray, names: Sequence[str], *, say: Say = english) -> Drawn:
    """Draw, for each of K named encodings, how many positions each dimension needs for one wave (K, D), above 0."""
    wavelengths = checks.as_float("wavelengths", wavelengths, "KD")
    n, words = len(wavelengths), {"dimension": "%{x:d}", "wavelength": "%{y:.4g}"}
    return _numbered(
        wavelengths,
        checks.as_tokens("names", names, n),
        _NAME + say("dimension {dimension}<br>wavelength: {wavelength} positions", **words),
        message("dimension"),
        {"title": say("wavelength (positions)"), "type": "log"},
        say("One line for each of {n} encodings: the wavelength of every dimension, in positions.", n=n),
        say,
    )


def _numbered(
    values: np.ndarray,
    names: list[str],
    hover: str,
    x_axis: str,
    yaxis: dict,
    description: str,
    say: Say,
    *,
    left: int = 3 * theme.TICK_SIZE,
    in_a_row: int = 2,
) -> Drawn:
    """Draw K named lines (K, N) over 0 to N - 1."""
    x = np.arange(values.shape[1], dtype=np.int32)
    lines = [(name, x, row) for name, row in zip(names, values)]
    return figure(
        _lines(lines, hover, theme.MAX_TICKS),
        WAVES_HEIGHT,
        say,
        left=left + theme.AXIS_HEIGHT,
        top=theme.LEGEND_HEIGHT * -(-len(names) // in_a_row),
        xaxis=heatmap.side(len(x), x_axis, say),
        yaxis=yaxis | {"automargin": False},
        description=description,
        table=Points(lines),
    )


def _checked(lines: Mapping[str, np.ndarray]) -> list[Line]:
    return [(name, *checks.as_float("line", line, "2n")) for name, line in lines.items()]


def _curves(lines: list[Line], x_axis: str, y_axis: str) -> list[go.Scatter]:
    hover = f"{_NAME}{labels.escape(x_axis)} %{{x:,.6g}}<br>{labels.escape(y_axis)} %{{y:.4g}}"
    return _lines(lines, hover, MARKERS_UP_TO)


def _lines(lines: list[Line], hover: str, markers_up_to: int) -> list[go.Scatter]:
    return [
        go.Scatter(
            x=x.copy(),
            y=y.copy(),
            mode="lines+markers" if len(x) <= markers_up_to else "lines",
            line=theme.line(k),
            name=labels.escape(name),
            hovertemplate=f"{hover}<extra></extra>",
            showlegend=True,
        )
        for k, (name, x, y) in enumerate(lines)
    ]


def _margins(names: Iterable[str]) -> dict[str, int]:
    rows = 1 + sum(len(name) + 8 for name in names) // LEGEND_LETTERS
    return {"left": 2 * theme.TICK_SIZE + theme.AXIS_HEIGHT, "top": theme.LEGEND_HEIGHT * rows}


def _axis(title: str, numbers: np.ndarray, log: bool = False) -> dict:
    """An axis with a fixed range round the numbers."""
    low, high = float(numbers.min()), float(numbers.max())
    if log:
        low, high = float(np.log10(low)), float(np.log10(high))
    elif 0 < low < high / 4:
        low = 0.0
    room = 0.04 * (high - low) or 0.5
    shared = {"title": labels.escape(title), "zeroline": False, "automargin": False}
    if log:
        step = 1 if high - low > 2 else "D2" if high - low > 1 else "D1"
        scale = {"type": "log", "exponentformat": "power", "dtick": step, "range": [low - room, high + room]}
    else:
        exponents = "e" if high < 0.01 else "none"
        scale = {"type": "linear", "exponentformat": exponents, "range": [low and low - room, high + room]}
    return shared | scale


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
    tokens = checks.as_tokens("tokens", tokens, len(values))
    highest, said, title = float(values.sum(axis=1).max()), say(value), labels.escape(say(value))
    x, columns = np.arange(len(values), dtype=np.int32), [column.copy() for column in values.T]
    hover = {
        "text": labels.hover_texts(tokens, say),
        "hovertemplate": f"%{{text}}<br>{title} %{{y:.3g}}<extra></extra>",
    }
    traces = [go.Bar(x=x, y=y, marker_color=theme.line(k)["color"], **hover) for k, y in enumerate(columns)]
    return figure(
        [trace.update(textposition="none", showlegend=False) for trace in traces],
        BARS_HEIGHT,
        say,
        left=theme.TICK_SIZE + theme.AXIS_HEIGHT,
        bottom=theme.LEANING * labels.tick_width(tokens) + theme.AXIS_HEIGHT,
        barmode="stack",
        xaxis=heatmap.side(tokens, token_axis, say),
        yaxis={"title": title, "range": [0, 1.08 * float(top or highest or 1)], "automargin": False},
        description=say(
            "One bar for each of {n} words: {value}, from 0 to {highest:.3g}.", n=len(x), value=said, highest=highest
        ),
        table=Points([(str(k), x, y, tokens) for k, y in enumerate(columns)]),
    )


def deviations(values: np.ndarray, names: Sequence[str], *, say: Say = english) -> Drawn:
    """Draw how far from its limit each of N claims is, on a logarithmic axis that begins with 0.

    A click on a dot selects its row (customdata = [row]).

    Args:
        values: float (N, 3), from 0 up: what was measured, what is allowed, and what is measured while the mask that
            the claim rests on is off; -inf where there is no such number. data[k].x is the k-th column.
    """
    values = checks.as_float("values", values, "NK", masked=True)
    values[np.isneginf(values)] = np.nan
    n = len(values)
    names = checks.as_tokens("names", names, n)
    above = np.log10(values[values > 0])
    low, high = (int(np.floor(above.min())), int(np.ceil(above.max()))) if above.size else (-1, 0)
    zero = 10.0 ** (low - 1)
    places, rows = np.where(values == 0, zero, values).astype(np.float32), np.arange(n, dtype=np.float32)
    traces = [
        go.Scatter(
            x=places[:, k],
            y=rows,
            customdata=[[row] for row in range(n)],
            mode="markers",
            marker={"symbol": symbol, "size": size, "color": color, "line": {"width": 2, "color": color}},
            name=labels.escape(say(part)),
            cliponaxis=False,
            **clickable(labels.told(say, (part, "%{x:.2g}")), say),
        )
        for k, (part, (symbol, size, color)) in enumerate(PARTS.items())
    ]
    margins = polylines(places.T[:2], [rows, rows])  # from the dot to its limit
    numbers = ("" if np.isnan(one) else say("{x:.1e}", x=one) if one else "0" for one in values[:, 0])
    titles = go.Scatter(
        x=np.full(n, zero, np.float32),
        y=rows - np.float32(0.42),
        text=[f"<b>{labels.escape(name)}</b>  {number}" for name, number in zip(names, numbers)],
        mode="text",
        textposition="middle right",
        cliponaxis=False,
        **QUIET,
    )
    line = {"color": theme.LINES[0], "width": theme.LINE_WIDTH}
    ticks = range(low, high + 1, max(1, round((high - low) / 6)))
    return figure(
        [*traces, go.Scatter(**margins, mode="lines", line=line, **QUIET), titles],
        n * CLAIM_HEIGHT,
        say,
        top=theme.LEGEND_HEIGHT,
        xaxis={
            "type": "log",
            "range": [low - 1.2, high + 0.2],
            "title": labels.escape(say("deviation")),
            "tickvals": [zero, *(10.0**one for one in ticks)],
            "ticktext": ["0", *(f"10<sup>{one}</sup>" for one in ticks)],
            "zeroline": False,
            "fixedrange": True,
        },
        yaxis=BARE | {"range": [n - 0.5, -0.75], "fixedrange": True},
        dragmode=False,
        description=say("Each of {n} rows is a claim: a dot for what was measured, a stroke for what is allowed.", n=n),
        table=Points([(say(part), values[:, k], rows, names) for k, part in enumerate(PARTS)]),
    )
