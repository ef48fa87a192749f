"""What a figure function returns, and how it leaves the app."""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseTraceType

from viz import theme
from viz.figures import labels
from viz.figures.labels import Say
from viz.figures.tables import Table
from viz.theme import Settings

WIDTH = 900  # pixels of an exported figure
QUIET: Settings = {"hoverinfo": "skip", "showlegend": False}  # settings of a trace that takes no part in pointing
# Of an axis that places things.
BARE: Settings = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
LEGEND: Settings = {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"}


class Figure(go.Figure):
    """A plotly Figure with its `description` (plain) and its `table`."""

    description = ""
    table: Table | None = None

    def __init__(
        self,
        data: go.Figure | Sequence[BaseTraceType] = (),
        layout: go.Layout | None = None,
        *,
        description: str = "",
        table: Table | None = None,
    ) -> None:
        super().__init__(data, layout)
        self.description, self.table = description, table

    def copy(self) -> "Figure":
        """Copy the figure with its description and table, so that the copy can be changed."""
        return Figure(self, description=self.description, table=self.table)


def build_figure(
    traces: Sequence[BaseTraceType],
    height: float,
    say: Say,
    *,
    description: str,
    table: Table,
    left: float = 0,
    top: float = 0,
    bottom: float = theme.AXIS_HEIGHT,
    **layout: Any,
) -> Figure:
    """Build a figure with what all share; height is that of the plot, the sides what labels need, in pixels.

    Plotly's own fitting of margins to labels is slow and makes the page jump.
    """
    margin = {side: theme.MARGIN + round(pixels) for side, pixels in zip("lrtb", (left, 0, top, bottom))}
    legend = LEGEND | {"itemclick": False, "itemdoubleclick": False}
    shared = clear(say) | {"margin": margin, "height": height + margin["t"] + margin["b"], "legend": legend}
    return Figure(traces, go.Layout(shared | layout), description=description, table=table)


def clear(say: Say) -> Settings:
    """What every layout has: no background, and numbers as a language writes them."""
    return {
        "paper_bgcolor": theme.TRANSPARENT,
        "plot_bgcolor": theme.TRANSPARENT,
        "separators": labels.number_marks(say),
    }


def dots(
    x: np.ndarray,
    y: np.ndarray,
    places: list[list[int]],
    name: str,
    look: tuple[str, int, str],
    hover: str,
    **settings: Any,
) -> go.Scatter:
    """N points of one kind at x (N,) and y (N,), of which a click gives the numbers in `places`.

    A look is symbol, size and colour.
    """
    marker = dict(zip(("symbol", "size", "color"), look), line={"width": 2, "color": look[2]})
    trace = go.Scatter(x=x.astype(np.float32), y=y.astype(np.float32), customdata=places, marker=marker, **settings)
    return trace.update(name=labels.escape(name), hovertemplate=hover + "<extra></extra>", cliponaxis=False)


def polylines(x: Sequence[np.ndarray], y: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """N lines as one, NaN between them, given x (N,) and y (N,) of their first points, second ..."""
    return {"x": _joined_by_gaps(x), "y": _joined_by_gaps(y)}


def _joined_by_gaps(corners: Sequence[np.ndarray]) -> np.ndarray:
    """One coordinate of N lines, one after the other with NaN behind each, given those of their corners, (N,) each."""
    gap = np.full_like(corners[0], np.nan, dtype=np.float32)
    return np.stack([*corners, gap], 1).ravel().astype(np.float32)


def titled(figure: Figure, title: str, note: str) -> Figure:
    """Copy a figure for a file: a title and a note (plain, cut to three lines) inside, dark on white."""
    copy = figure.copy()
    lines = textwrap.wrap(note, width=110, max_lines=3, placeholder=" …") or [""]
    small = [f'<span style="font-size:12px">{labels.escape(line)}</span>' for line in lines]
    height = 48 + 18 * len(lines)
    layout = copy.layout
    layout.template = "plotly_white"
    layout.paper_bgcolor = layout.plot_bgcolor = "white"
    top_left = {"x": 0, "xref": "container", "y": 1, "yref": "container", "yanchor": "top", "pad": {"t": 22, "l": 12}}
    layout.title = {"text": "<br>".join([f"<b>{labels.escape(title)}</b>", *small]), "font": {"size": 16}} | top_left
    layout.margin.t += height
    layout.margin.r = max(layout.margin.r, 24)
    layout.height += height
    return copy
