"""Named lines: over steps (learning rates, losses), positions, dimensions or distances."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn, figure
from viz.figures.tables import Points
from viz.figures.wording import Say, english, message

CURVES_HEIGHT = 320
RUNS_HEIGHT = 390
WAVES_HEIGHT = 260
RATES, LOSSES = (0.68, 1.0), (0.0, 0.6)  # parts of the height, of two panels over one axis of steps
MARK_SIZE = 9
MARK_LINE = {"color": theme.LINES[-1], "width": 1, "dash": "dot"}
MARKERS_UP_TO = 12  # points; of a longer line the points are not drawn
SMALL = 0.01  # an axis that ends below it has numbers with exponents
ENTROPY = message("entropy of word frequencies, smoothed")
LEGEND_LETTERS = 110  # that fit in one row of the legend


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
        marks: (name of a line, x, y, text) of points to mark, such as a peak; drawn after the lines.
    """
    drawn = {name: checks.as_float("line", line, "2n") for name, line in lines.items()}
    everything = np.concatenate(list(drawn.values()), axis=1)
    axes = say(x_axis), say(y_axis)
    said = {"x": axes[0], "y": axes[1], "low": everything[1].min(), "high": everything[1].max()}
    traces = [_curve(name, line, k, axes) for k, (name, line) in enumerate(drawn.items())]
    traces += [
        go.Scatter(
            x=np.array([x], dtype=np.float32),
            y=np.array([y], dtype=np.float32),
            mode="markers",
            marker={"color": theme.line(list(drawn).index(name))["color"], "size": MARK_SIZE, "symbol": "diamond"},
            text=[labels.escape(text)],
            hovertemplate="%{text}<extra></extra>",
            showlegend=False,
        )
        for name, x, y, text in marks
    ]
    return figure(
        traces,
        CURVES_HEIGHT,
        say,
        **_margins(drawn),
        xaxis=_axis(axes[0], everything[0], log_x),
        yaxis=_axis(axes[1], everything[1], log_y),
        description=say("{y} over {x}, from {low:.3g} to {high:.3g} (curves: {n}).", n=len(drawn), **said),
        table=Points(
            [(name, *line, None) for name, line in drawn.items()]
            + [(f"{name} ◆", [np.float32(x)], [np.float32(y)], [text]) for name, x, y, text in marks]
        ),
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
    quantities, steps = (say("learning rate"), say("training loss")), say("training step")
    panels = [{name: checks.as_float("line", line, "2n") for name, line in some.items()} for some in (rates, losses)]
    known = [np.concatenate([*lines.values()], axis=1) for lines in panels]
    traces, points = [], []
    for panel, (quantity, lines) in enumerate(zip(quantities, panels, strict=True)):
        for k, (name, line) in enumerate(lines.items()):
            trace = _curve(name, line, k, (steps, quantity))
            traces.append(trace.update(yaxis=f"y{panel + 1}", showlegend=not panel, legendgroup=str(k)))
            points.append((f"{name}, {quantity}", *line, None))
    note = {"xref": "paper", "yref": "y2", "y": limit, "text": labels.escape(say(ENTROPY)), "showarrow": False}
    marks = [{"xref": "paper", "x0": 0, "x1": 1, "yref": "y2", "y0": limit, "y1": limit}]
    if step is not None:
        marks.append({"x0": step, "x1": step, "yref": "paper", "y0": 0, "y1": 1})
    ends = ", ".join(f"{name} {line[1, -1]:.2f}" for name, line in panels[1].items())
    return figure(
        traces,
        RUNS_HEIGHT,
        say,
        **_margins(rates),
        xaxis=_axis(steps, known[0][0]) | {"anchor": "y2"},
        yaxis=_axis(quantities[0], known[0][1]) | {"domain": RATES},
        yaxis2=_axis(quantities[1], np.append(known[1][1], limit)) | {"domain": LOSSES},
        shapes=[{"type": "line", "line": MARK_LINE} | mark for mark in marks],
        annotations=[note | {"x": 1, "xanchor": "right", "yanchor": "bottom"}],
        description=say("Learning rate and loss of {n} runs; losses at the end: {ends}.", n=len(rates), ends=ends),
        table=Points(points),
    )


def positional_waves(table: np.ndarray, dimensions: Sequence[int], *, say: Say = english) -> Drawn:
    """Draw some dimensions, each once, of a positional encoding (T, D) as lines over the positions."""
    table = checks.as_float("table", table, "TD")
    n_positions, n_dimensions = table.shape
    chosen = list(dimensions)
    limit = 1.08 * max(1.0, float(np.abs(table[:, chosen]).max()))  # a little more than that, so that no crest is cut
    words = {"position": "%{x:d}", "value": say("value"), "number": "%{y:.3f}"}
    hover = "position {position}<br>dimension {dimension}<br>{value} {number}"
    return _numbered(
        table[:, chosen].T,
        [say("dimension {dimension}", dimension=dimension) for dimension in chosen],
        [say(hover, dimension=dimension, **words) for dimension in chosen],
        say,
        left=theme.TICK_SIZE,
        in_a_row=5,
        x_axis=message("position"),
        yaxis={"title": {"text": say("value")}, "range": [-limit, limit]},
        description=say(
            "One line per dimension: its value at each of {n_positions} positions (dimensions {chosen} of "
            "{n_dimensions}).",
            n_positions=n_positions,
            chosen=", ".join(map(str, chosen)),
            n_dimensions=n_dimensions,
        ),
    )


def offset_lines(similarity: np.ndarray, names: Sequence[str], *, say: Say = english) -> Drawn:
    """Draw, for each of K named encodings, the mean dot product (K, T) of positions 0, 1, ... T - 1 apart."""
    similarity = checks.as_float("similarity", similarity, "KT")
    hover = say("{offset} apart<br>mean dot product {product}", offset="%{x:d}", product="%{y:.3f}")
    return _numbered(
        similarity,
        checks.as_tokens("names", names, len(similarity)),
        hover,
        say,
        x_axis=message("offset (positions apart)"),
        yaxis={"title": {"text": say("mean dot product")}},
        description=say(
            "One line for each of {n} encodings: the similarity of positions by their distance.", n=len(similarity)
        ),
    )


def wavelength_lines(wavelengths: np.ndarray, names: Sequence[str], *, say: Say = english) -> Drawn:
    """Draw, for each of K named encodings, how many positions each dimension needs for one wave (K, D), above 0."""
    wavelengths = checks.as_float("wavelengths", wavelengths, "KD")
    words = {"dimension": "%{x:d}", "wavelength": "%{y:.4g}"}
    return _numbered(
        wavelengths,
        checks.as_tokens("names", names, len(wavelengths)),
        say("dimension {dimension}<br>wavelength: {wavelength} positions", **words),
        say,
        x_axis=message("dimension"),
        yaxis={"title": {"text": say("wavelength (positions)")}, "type": "log"},
        description=say(
            "One line for each of {n} encodings: the wavelength of every dimension, in positions.", n=len(wavelengths)
        ),
    )


def _numbered(
    values: np.ndarray,
    names: list[str],
    hover: str | list[str],
    say: Say,
    *,
    x_axis: str,
    yaxis: dict,
    description: str,
    left: int = 3 * theme.TICK_SIZE,
    in_a_row: int = 2,
) -> Drawn:
    """Draw K named lines (K, N) over 0 to N - 1; their hover texts, or one for all that the name stands before."""
    x = np.arange(values.shape[1], dtype=np.int32)
    hovers = [f"{labels.escape(name)}<br>{hover}" for name in names] if isinstance(hover, str) else hover
    parts = zip(values, names, hovers, strict=True)
    return figure(
        [_line(x, row, name, k, text, theme.MAX_TICKS) for k, (row, name, text) in enumerate(parts)],
        WAVES_HEIGHT,
        say,
        left=left + theme.AXIS_HEIGHT,
        top=theme.LEGEND_HEIGHT * -(-len(names) // in_a_row),
        bottom=theme.AXIS_HEIGHT,
        xaxis=heatmap.side(len(x), x_axis, say),
        yaxis=yaxis | {"automargin": False},
        description=description,
        table=Points([(name, x, row, None) for name, row in zip(names, values, strict=True)]),
    )


def _line(x: np.ndarray, y: np.ndarray, name: str, k: int, hover: str, markers_up_to: int) -> go.Scatter:
    return go.Scatter(
        x=x.copy(),
        y=y.copy(),
        mode="lines+markers" if len(x) <= markers_up_to else "lines",
        line=theme.line(k),
        name=labels.escape(name),
        hovertemplate=f"{hover}<extra></extra>",
        showlegend=True,
    )


def _curve(name: str, line: np.ndarray, k: int, axes: tuple[str, str]) -> go.Scatter:
    x, y = map(labels.escape, axes)
    return _line(*line, name, k, f"{labels.escape(name)}<br>{x} %{{x:,.6g}}<br>{y} %{{y:.4g}}", MARKERS_UP_TO)


def _margins(names: Iterable[str]) -> dict[str, int]:
    return {
        "left": 2 * theme.TICK_SIZE + theme.AXIS_HEIGHT,
        "top": theme.LEGEND_HEIGHT * (1 + sum(len(name) + 8 for name in names) // LEGEND_LETTERS),
        "bottom": theme.AXIS_HEIGHT,
    }


def _axis(title: str, numbers: np.ndarray, log: bool = False) -> dict:
    """Build an axis with a fixed range round the numbers."""
    low, high = float(numbers.min()), float(numbers.max())
    if log:
        low, high = np.log10(low), np.log10(high)
    elif low > 0 and low < high / 4:
        low = 0.0
    room = 0.04 * (high - low) or 0.5
    return {
        "title": {"text": labels.escape(title)},
        "type": "log" if log else "linear",
        "range": [float(low - room if log or low != 0 else 0.0), float(high + room)],
        "zeroline": False,
        "automargin": False,
        "exponentformat": "power" if log else "e" if high < SMALL else "none",
    } | ({"dtick": 1 if high - low > 2 else "D2" if high - low > 1 else "D1"} if log else {})
