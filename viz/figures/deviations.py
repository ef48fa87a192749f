"""Measured deviations against what is allowed, a row per claim."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, labels
from viz.figures.drawn import Drawn, clickable, figure
from viz.figures.tables import Points
from viz.figures.wording import Say, english, message

ROW_HEIGHT = 44  # pixels: a name, and the dots below it
# What is drawn: symbol, size and colour.
PARTS = {
    message("measured"): ("circle", 11, theme.LINES[0]),
    message("allowed"): ("line-ns-open", 20, theme.LINES[1]),
    message("with the mask off"): ("diamond-open", 11, theme.LINES[3]),
}
_QUIET = {"hoverinfo": "skip", "showlegend": False}
_BARE = {"showgrid": False, "zeroline": False, "fixedrange": True}


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
    places = np.where(values == 0, zero, values).astype(np.float32)
    rows = np.arange(n, dtype=np.float32)
    numbers = ["" if np.isnan(one) else say("{x:.1e}", x=one) if one else "0" for one in values[:, 0]]
    traces = [
        go.Scatter(
            x=places[:, k],
            y=rows,
            customdata=[[row] for row in range(n)],
            mode="markers",
            marker={"symbol": symbol, "size": size, "color": color, "line": {"width": 2, "color": color}},
            name=labels.escape(say(part)),
            cliponaxis=False,
            **clickable(f"{labels.escape(say(part))} %{{x:.2g}}", say),
        )
        for k, (part, (symbol, size, color)) in enumerate(PARTS.items())
    ]
    margins = go.Scatter(  # from the dot to its limit
        x=np.stack([places[:, 0], places[:, 1], np.full(n, np.nan, np.float32)], 1).ravel(),
        y=rows.repeat(3),
        mode="lines",
        line={"color": theme.LINES[0], "width": theme.LINE_WIDTH},
        **_QUIET,
    )
    titles = go.Scatter(
        x=np.full(n, zero, np.float32),
        y=rows - np.float32(0.42),
        text=[f"<b>{labels.escape(name)}</b>  {number}" for name, number in zip(names, numbers, strict=True)],
        mode="text",
        textposition="middle right",
        cliponaxis=False,
        **_QUIET,
    )
    ticks = list(range(low, high + 1, max(1, round((high - low) / 6))))
    return figure(
        [*traces, margins, titles],
        n * ROW_HEIGHT,
        say,
        top=theme.LEGEND_HEIGHT,
        bottom=theme.AXIS_HEIGHT,
        xaxis={
            "type": "log",
            "range": [low - 1.2, high + 0.2],
            "title": {"text": labels.escape(say("deviation"))},
            "tickvals": [zero, *(10.0**one for one in ticks)],
            "ticktext": ["0", *(f"10<sup>{one}</sup>" for one in ticks)],
            "zeroline": False,
            "fixedrange": True,
        },
        yaxis={"range": [n - 0.5, -0.75], "showticklabels": False, **_BARE},
        hovermode="closest",
        dragmode=False,
        description=say("Each of {n} rows is a claim: a dot for what was measured, a stroke for what is allowed.", n=n),
        table=Points([(say(part), values[:, k], rows, names) for k, part in enumerate(PARTS)]),
    )
