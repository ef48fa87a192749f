"""What makes the cells of a map clickable and marks some of them: traces that lie over a heatmap."""

import re
from collections.abc import Iterable

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import labels

MARKER_SIZE = 6  # pixels; small, because overlapping markers would make it chance which of them answers
_FIELD = re.compile(r"%\{(?:customdata\[(?P<column>\d)\]|(?P<z>z)(?::(?P<form>[^}]*))?)\}")


def make_clickable(figure: go.Figure, action: str) -> None:
    """Put one invisible marker on every cell of a map; clicks on the map itself would reach nobody.

    Wherever the pointer is, the nearest marker answers (hoverdistance -1), and cells are equal, so a click anywhere in
    a cell selects that cell. The marker says what the map's hover text said. Zooming is off.

    Args:
        figure: of a function for maps of tokens; it is changed.
        action: what a click does, added to the hover text; plain, as it is shown.
    """
    cells = figure.data[0]
    rows, columns = (index.ravel() for index in np.indices(np.shape(cells.z)))
    invisible = {"marker": {"opacity": 0}}
    figure.add_scatter(
        x=columns.astype(np.float32),
        y=rows.astype(np.float32),
        # Lists on purpose: rows of an array reach Streamlit as {"0": row, "1": column}.
        customdata=np.stack([rows, columns], axis=1).tolist(),
        text=[_hover(cells, row, column) for row, column in zip(rows, columns, strict=True)],
        **hover("%{text}", action),
        mode="markers",
        marker={"size": MARKER_SIZE, "symbol": "square", "opacity": 0},
        selected=invisible,
        unselected=invisible,
        showlegend=False,
        name="cells",
    )
    cells.hoverinfo, cells.hovertemplate = "skip", None
    figure.update_xaxes(fixedrange=True)
    figure.update_yaxes(fixedrange=True)
    figure.update_layout(clickmode="event+select", hovermode="closest", hoverdistance=-1, dragmode=False)


def hover(template: str, action: str) -> dict:
    """The hover text of markers that take clicks.

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


def _hover(cells: go.Heatmap, row: int, column: int) -> str:
    """Fill the hover template of a map for one cell, as the browser would."""

    def field(match: re.Match) -> str:
        if match["z"]:
            return format(float(cells.z[row][column]), match["form"] or "g")
        return str(cells.customdata[row][column][int(match["column"])])

    return _FIELD.sub(field, cells.hovertemplate.replace("<extra></extra>", ""))
