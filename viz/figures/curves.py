"""Curves over steps: learning rates, losses, gradient norms."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, labels
from viz.figures.drawn import Drawn
from viz.figures.tables import Points
from viz.figures.wording import Say, english, message, separated

CURVES_HEIGHT = 320
RUNS_HEIGHT = 390
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
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw lines of named points over one pair of axes.

    Args:
        lines: name to float (2, n): x in the first row, y in the second; their order is the legend's.
        x_axis, y_axis: what x and y are, in English.
        log_x, log_y: whether an axis is logarithmic.
        marks: (name of a line, x, y, text) of points to mark, such as a peak.
        title: text above the lines.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[k].x and data[k].y are the k-th line, float32 (n,); after the lines come the marks.

    Raises:
        ValueError: for no lines, wrong shapes, sizes or types, NaN and infinity, numbers that are not above 0 on a
            logarithmic axis, and marks of unknown lines.
    """
    if not lines:
        raise ValueError("there are no lines to draw; allowed is at least one.")
    drawn = {name: _checked(name, line, log_x, log_y) for name, line in lines.items()}
    unknown = [name for name, *_ in marks if name not in drawn]
    if unknown:
        raise ValueError(f"a mark names the line {unknown[0]!r}; allowed are {', '.join(map(repr, drawn))}.")
    styles = {name: _style(k) for k, name in enumerate(drawn)}
    everything = np.concatenate(list(drawn.values()), axis=1)
    low, high = float(everything[1].min()), float(everything[1].max())
    axes = say(x_axis), say(y_axis)
    said = {"x": axes[0], "y": axes[1], "low": low, "high": high}
    return Drawn(
        [_line(name, line, styles[name], axes) for name, line in drawn.items()]
        + [_mark(mark, styles[mark[0]]) for mark in marks],
        theme.layout(
            CURVES_HEIGHT,
            separated(say),
            title=labels.escape(title),
            **_margins(drawn),
            xaxis=_axis(axes[0], everything[0], log_x),
            yaxis=_axis(axes[1], everything[1], log_y),
        ),
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
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw learning rate and training loss of runs in two panels over one axis of steps.

    Args:
        rates, losses: name of a run to float (2, n): step and value; the same runs in both.
        limit: a loss in nats, drawn as a line: the entropy of word frequencies, smoothed as the labels are.
        step: that is marked in both panels.
        title: text above the panels.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[k] is the rate and data[R + k] the loss of the k-th of R runs.

    Raises:
        ValueError: as `curves`, and for other runs in `losses` than in `rates`.
    """
    if list(rates) != list(losses) or not rates:
        raise ValueError(f"rates are of {list(rates)}, losses of {list(losses)}; allowed are the same runs.")
    quantities, shown = (message("learning rate"), message("training loss")), []
    for lines in (rates, losses):
        shown.append({name: _checked(name, line, False, False) for name, line in lines.items()})
    steps, known = say(message("training step")), [np.concatenate([*lines.values()], axis=1) for lines in shown]
    heights = known[0][1], np.append(known[1][1], limit)
    traces = []
    for panel, (quantity, lines) in enumerate(zip(quantities, shown, strict=True)):
        for k, (name, line) in enumerate(lines.items()):
            trace = _line(name, line, _style(k), (steps, say(quantity)))
            traces.append(trace.update(yaxis=f"y{panel + 1}", showlegend=not panel, legendgroup=str(k)))
    note = {"xref": "paper", "yref": "y2", "y": limit, "text": labels.escape(say(ENTROPY)), "showarrow": False}
    marks = [{"xref": "paper", "x0": 0, "x1": 1, "yref": "y2", "y0": limit, "y1": limit}]
    if step is not None:
        marks.append({"x0": step, "x1": step, "yref": "paper", "y0": 0, "y1": 1})
    ends = ", ".join(f"{name} {line[1, -1]:.2f}" for name, line in shown[1].items())
    return Drawn(
        traces,
        theme.layout(
            RUNS_HEIGHT,
            separated(say),
            title=labels.escape(title),
            **_margins(rates),
            xaxis=_axis(steps, known[0][0], False) | {"anchor": "y2"},
            yaxis=_axis(say(quantities[0]), heights[0], False) | {"domain": RATES},
            yaxis2=_axis(say(quantities[1]), heights[1], False) | {"domain": LOSSES},
            shapes=[{"type": "line", "line": MARK_LINE} | mark for mark in marks],
            annotations=[note | {"x": 1, "xanchor": "right", "yanchor": "bottom"}],
        ),
        description=say("Learning rate and loss of {n} runs; losses at the end: {ends}.", n=len(rates), ends=ends),
        table=Points(
            [
                (f"{name}, {say(quantity)}", *line, None)
                for quantity, lines in zip(quantities, shown, strict=True)
                for name, line in lines.items()
            ]
        ),
    )


def _margins(names: Iterable[str]) -> dict[str, int]:
    """The pixels that axes and a legend of these names need."""
    return {
        "left": theme.TICK_SIZE * 3 + theme.AXIS_TITLE_HEIGHT,
        "top": theme.LEGEND_HEIGHT * (1 + sum(len(name) + 8 for name in names) // LEGEND_LETTERS),
        "bottom": theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
    }


def _checked(name: str, line: np.ndarray, log_x: bool, log_y: bool) -> np.ndarray:
    """Return the line as float32 (2, n)."""
    line = checks.as_float("line", line, "2n")
    if len(line) != 2:
        raise ValueError(f"the line {name!r} has {len(line)} rows; allowed are 2, x and y.")
    for row, log, axis in zip(line, (log_x, log_y), "xy", strict=True):
        if log and row.min() <= 0:
            raise ValueError(f"the line {name!r} has {axis} {row.min():g}; on a logarithmic axis all must be above 0.")
    return line


def _style(k: int) -> dict:
    """Return colour and dash of the k-th line; both differ, for those who cannot tell the colours apart."""
    return {
        "color": theme.LINES[k % len(theme.LINES)],
        "dash": theme.DASHES[k % len(theme.DASHES)],
        "width": theme.LINE_WIDTH,
    }


def _line(name: str, line: np.ndarray, style: dict, axes: tuple[str, str]) -> go.Scatter:
    """Draw one line (2, n)."""
    x, y = map(labels.escape, axes)
    return go.Scatter(
        x=line[0].copy(),
        y=line[1].copy(),
        mode="lines+markers" if line.shape[1] <= MARKERS_UP_TO else "lines",
        line=style,
        name=labels.escape(name),
        hovertemplate=f"{labels.escape(name)}<br>{x} %{{x:,.6g}}<br>{y} %{{y:.4g}}<extra></extra>",
        showlegend=True,
    )


def _mark(mark: tuple[str, float, float, str], style: dict) -> go.Scatter:
    """Mark a point, with its text in the hover text."""
    _, x, y, text = mark
    return go.Scatter(
        x=np.array([x], dtype=np.float32),
        y=np.array([y], dtype=np.float32),
        mode="markers",
        marker={"color": style["color"], "size": MARK_SIZE, "symbol": "diamond"},
        text=[labels.escape(text)],
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


def _axis(title: str, numbers: np.ndarray, log: bool) -> dict:
    """Build an axis with a fixed range round the numbers."""
    low, high = float(numbers.min()), float(numbers.max())
    if log:
        low, high = np.log10(low), np.log10(high)
    elif low > 0 and low < high / 4:
        low = 0.0
    room = 0.04 * (high - low) or 0.5
    ends = [float(low - room if log or low != 0 else 0.0), float(high + room)]
    return {
        "title": {"text": labels.escape(title)},
        "type": "log" if log else "linear",
        "range": ends,
        "zeroline": False,
        "automargin": False,
        "exponentformat": "power" if log else "e" if high < SMALL else "none",
    } | ({"dtick": 1 if high - low > 2 else "D2" if high - low > 1 else "D1"} if log else {})
