"""Clouds of points over one pair of axes."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, labels
from viz.figures.figure import QUIET, Figure, build_figure
from viz.figures.labels import Say, english, message
from viz.figures.tables import Points

HEIGHT = 320
SYMBOLS = "circle", "diamond", "square"
SIZE = 6  # pixels of a point


def scatter(
    clouds: Mapping[str, np.ndarray],
    *,
    x_axis: str = message("value"),
    y_axis: str = message("value"),
    diagonal: bool = False,
    places: Mapping[str, Sequence[Sequence[int]]] = {},
    texts: Mapping[str, Sequence[str]] = {},
    say: Say = english,
) -> Figure:
    """Draw named clouds of points.

    Args:
        clouds: name to float (2, n), x and y, in the order of the legend; data[k] are the points of the k-th.
        diagonal: draw the line on which x and y are equal.
        places, texts: by cloud for each point the numbers that a click on it gives, and a text for its hover box.
    """
    checked = {name: checks.as_float("cloud", cloud, "2n") for name, cloud in clouds.items()}
    across, up = (labels.escape(say(axis)) for axis in (x_axis, y_axis))
    hover = f"%{{fullData.name}}<br>{across} %{{x:.4g}}<br>{up} %{{y:.4g}}<extra></extra>"
    traces: list[go.Scatter] = []
    for k, (name, (x, y)) in enumerate(checked.items()):
        marker = {"size": SIZE, "symbol": SYMBOLS[k % len(SYMBOLS)], "color": theme.line(k)["color"], "opacity": 0.7}
        trace = go.Scatter(x=x, y=y, mode="markers", name=labels.escape(name), marker=marker)
        if name in places:
            trace.customdata = [list(numbers) for numbers in places[name]]
        if name in texts:
            trace.text = [labels.escape(text) for text in texts[name]]
        trace.hovertemplate = f"%{{text}}<br>{hover}" if name in texts else hover
        traces.append(trace.update(showlegend=len(checked) > 1))
    x, y = np.concatenate(list(checked.values()), axis=1)
    if diagonal:
        ends = np.array([min(x.min(), y.min()), max(x.max(), y.max())], np.float32)
        line = {"color": theme.LINES[-1], "width": 1}
        traces.append(go.Scatter(x=ends, y=ends, mode="lines", line=line, **QUIET))
    return build_figure(
        traces,
        HEIGHT,
        say,
        left=2 * theme.TICK_SIZE + theme.AXIS_HEIGHT,
        top=theme.LEGEND_HEIGHT,
        xaxis={"title": across, "range": _range(x), "automargin": False},
        yaxis={"title": up, "range": _range(y), "automargin": False},
        description=say(
            "{n} points: {y} over {x}, from {low:.3g} to {high:.3g}.",
            n=len(x),
            x=say(x_axis),
            y=say(y_axis),
            low=y.min(),
            high=y.max(),
        ),
        table=Points([(name, x, y) for name, (x, y) in checked.items()]),
    )


def _range(numbers: np.ndarray) -> list[float]:
    room = 0.04 * float(numbers.max() - numbers.min()) or 0.5
    return [float(numbers.min()) - room, float(numbers.max()) + room]
