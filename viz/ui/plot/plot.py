"""One component for every figure of the pages: bytes go to the browser, and `plot.js` has Plotly draw them."""

from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from viz.figures import Figure
from viz.figures.figure import WIDTH
from viz.figures.tables import Board, Cells
from viz.stage import assets
from viz.stage.payload import packing
from viz.text.language import current, message, say

COMPONENT = "headlight_plot"
_ZOOMED = message("Double-click to zoom back out")  # which Plotly says by itself
_MISSING = message("The drawing library could not be loaded. Please reload the page.")


@cache
def _mounted(name: str, module: str):
    return assets.component(name, module)


def plot(
    figure: Figure,
    key: str,
    *,
    on_click: Callable[..., None] | None = None,
    column_width: int | None = None,
    fills: tuple[int, int, float] | None = None,
) -> None:
    """Show a figure.

    Args:
        on_click: called with the customdata of the clicked point, else with row and column.
        column_width: pixels that a column needs, where it needs more than its label.
        fills: then it is as high as what is left of the window: at least the first number of pixels, with the
            second one left free below it; of the rest it takes the third number as a share.
    """
    message = payload(figure, clicks=on_click is not None, column_width=column_width, fills=fills)

    def clicked() -> None:
        numbers = _clicked(st.session_state[key].get("clicked"))
        if on_click is not None and numbers:
            on_click(*numbers)

    _mounted(COMPONENT, "plot/plot.js")(key=key, data=packing.pack(message), on_clicked_change=clicked)


def payload(
    figure: Figure,
    *,
    clicks: bool = False,
    column_width: int | None = None,
    fills: tuple[int, int, float] | None = None,
) -> dict[str, Any]:
    """What plot.js is told of a figure (`PlotMessage`): whether clicks count, and the rest as for `plot`."""
    cells = figure.table
    table = None
    if isinstance(cells, Cells) and cells.row_names and cells.column_names:  # the browser shows one of a map
        corner = " / ".join(map(say, cells.axes))
        table = {"rows": cells.row_names, "columns": cells.column_names, "corner": corner}
    axis, margin = figure.layout.xaxis, figure.layout.margin
    labels = len(axis.tickvals or ()) * (column_width or (11 if axis.tickangle else 20))
    has_bar = any(trace["type"] == "heatmap" and trace["showscale"] is not False for trace in figure.data)
    parts = _parts(figure)
    parts["layout"].pop("template", None)  # the page says how things look
    return parts | {
        "alt": figure.description,
        "least": round(labels + margin.l + margin.r + 70 * has_bar),  # below which labels of columns would overlap
        "table": table,
        "board": _board(cells) if isinstance(cells, Board) else None,
        "clicks": clicks,
        "fills": fills,
        "language": current(),
        "words": {"table": say("Table"), "missing": say(_MISSING), "zoomed": {_ZOOMED: say(_ZOOMED)}},
    }


def pictures(figure: Figure, name: str, key: str) -> None:
    """Show the buttons for a PNG and an SVG of a figure, which the browser draws."""
    message = picture_payload(figure, name)
    _mounted("headlight_pictures", "plot/pictures.js")(key=key, data=packing.pack(message), width="content")


def picture_payload(figure: Figure, name: str) -> dict[str, Any]:
    """What pictures.js is told of a figure that becomes a file of a name (`PictureMessage`)."""
    failed = say("No picture could be made: {reason}.")
    words = {"drawing": say("Computing …"), "failed": failed, "missing": say(_MISSING)}
    return _parts(figure) | {"name": name, "width": figure.layout.width or WIDTH, "words": words}


def _parts(figure: Figure) -> dict[str, Any]:
    return {"data": [trace.to_plotly_json() for trace in figure.data], "layout": figure.layout.to_plotly_json()}


def _board(board: Board) -> dict[str, Any]:
    """What the browser needs beside the cells to draw heads as on the stage (viz/web/plot/heads.js)."""
    return {
        "rows": board.row_names,
        "columns": board.column_names,
        "corner": board.column_axis and f"{say(board.column_axis)} →",
        "names": board.heads,
        "texts": board.texts,
        "value": say(board.value),
        "selected": board.selected,
    }


def _clicked(point: Any) -> list[int]:
    """The numbers of what was clicked; none for what no browser of ours sends."""
    if not isinstance(point, dict):
        return []
    data = point.get("customdata")
    place = data if isinstance(data, list) and all(type(n) is int for n in data) else [point.get("y"), point.get("x")]
    numbers = [n for n in place if type(n) is int and n >= 0]
    return numbers if len(numbers) == len(place) else []
