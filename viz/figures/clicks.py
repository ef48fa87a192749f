"""What says that the cells of a map can be clicked, and marks some of them."""

from collections.abc import Iterable

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import labels


def make_clickable(figure: go.Figure, action: str) -> None:
    """Have a map say what a click on a cell does; zooming is off, so that no drag is mistaken for a click.

    Args:
        figure: of a function for maps of tokens; it is changed.
        action: what a click does, added to the hover text; plain, as it is shown.
    """
    cells = figure.data[0]
    cells.update(hover(cells.hovertemplate.removesuffix("<extra></extra>"), action))
    figure.update_xaxes(fixedrange=True)
    figure.update_yaxes(fixedrange=True)
    figure.layout.dragmode = False


def hover(template: str, action: str) -> dict:
    """The hover text of what takes clicks.

    Args:
        template: what they say, for Plotly.
        action: what a click does; plain, as it is shown.

    Returns:
        Settings of a trace. Its `meta` keeps the line that says what a click does: files leave it out.
    """
    line = f"<br>{labels.escape(action)}"
    return {"hovertemplate": f"{template}{line}<extra></extra>", "meta": {"click": line}}


def outline(figure: go.Figure, cells: Iterable[tuple[int, int]], name: str, *, dotted: bool = False) -> None:
    """Draw frames round some cells of a map, with an entry in the legend; nothing where there are none.

    Args:
        figure: of a function for maps of tokens; it is changed.
        cells: (row, column) of each.
        name: what they have in common; plain, as it is shown.
        dotted: for a second kind of frame.
    """
    cells = list(cells)
    if not cells:
        return
    first_legend = not any(trace.showlegend for trace in figure.data[1:])
    x = [column + side for _, column in cells for side in (-0.5, 0.5, 0.5, -0.5, -0.5, np.nan)]
    y = [row + side for row, _ in cells for side in (-0.5, -0.5, 0.5, 0.5, -0.5, np.nan)]
    figure.add_scatter(
        x=np.array(x, np.float32),
        y=np.array(y, np.float32),
        mode="lines",
        line={
            "color": theme.SELECTED,
            "width": theme.SELECTED_WIDTH,
            "dash": "dot" if dotted else "solid",
        },
        hoverinfo="skip",
        name=labels.escape(name),
        showlegend=True,
    )
    if first_legend:
        _make_room(figure)


def stand_level(figures: Iterable[go.Figure]) -> None:
    """Leave the room of a legend over every figure of a row as soon as one has a legend; they are changed."""
    figures = list(figures)
    with_legend = [any(trace.showlegend for trace in figure.data[1:]) for figure in figures]
    for figure, has_one in zip(figures, with_legend, strict=True):
        if any(with_legend) and not has_one:
            _make_room(figure)


def _make_room(figure: go.Figure) -> None:
    figure.layout.margin.t += theme.LEGEND_HEIGHT
    figure.layout.height += theme.LEGEND_HEIGHT
