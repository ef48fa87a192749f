"""What a figure function returns."""

from collections.abc import Sequence

import plotly.graph_objects as go

from viz import theme
from viz.figures import labels
from viz.figures.tables import Table
from viz.figures.wording import Say, separators

LEGEND = {
    "orientation": "h",
    "x": 1,
    "xanchor": "right",
    "y": 1,
    "yanchor": "bottom",
    "itemclick": False,
    "itemdoubleclick": False,
}


class Drawn(go.Figure):
    """A plotly Figure with its `description` (plain) and its `table`."""

    description = ""
    table: Table | None = None

    def __init__(self, *drawn, description: str = "", table: Table | None = None) -> None:
        super().__init__(*drawn)
        self.description, self.table = description, table


def figure(
    traces: Sequence[go.Figure],
    height: float,
    say: Say,
    *,
    description: str,
    table: Table,
    left: float = 0,
    top: float = 0,
    bottom: float = 0,
    **layout,
) -> Drawn:
    """Build a figure with what all share: transparent, without any text colour, margins set by hand.

    Plotly's own fitting of margins to labels is slow and makes the page jump; and `update_layout` takes as long as all
    the rest of a figure. Height is that of the plot itself, and the sides what labels need there, in pixels.
    """
    margin = {side: theme.MARGIN + round(pixels) for side, pixels in zip("lrtb", (left, 0, top, bottom))}
    shared = go.Layout(
        separators=separators(say),
        paper_bgcolor=theme.TRANSPARENT,
        plot_bgcolor=theme.TRANSPARENT,
        margin=margin,
        height=height + margin["t"] + margin["b"],
        legend=LEGEND,
        **layout,
    )
    return Drawn(traces, shared, description=description, table=table)


def clickable(hover: str, say: Say) -> dict:
    """The hover text, in a trace, of what a click opens: files leave out the line that is in its `meta`."""
    line = f"<br>{labels.escape(say('click to open'))}"
    return {"hovertemplate": f"{hover}{line}<extra></extra>", "meta": {"click": line}}
