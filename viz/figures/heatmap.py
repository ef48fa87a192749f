"""What the heatmaps share: token axes, names in hover boxes, the hatched cells."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from viz import theme
from viz.figures import labels
from viz.figures.drawn import Drawn
from viz.figures.tables import Cells
from viz.figures.wording import Say, english, message, separated

NOT_ALLOWED = message("not allowed (masked)")
NOT_DRAWN = message("not drawn (below the threshold)")
WRITTEN = "written into the cells"  # name of the trace whose texts have colours of their own
_INKS = ("#000", "#fff")
_NOWHERE = np.array([np.nan], np.float32)
TICKS = go.Scatter(x=_NOWHERE, y=_NOWHERE, hoverinfo="skip", showlegend=False, name="ticks")
_BARE = {"tickmode": "array", "showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}


def axis(
    tick_texts: Sequence[str], step: int, title: str, say: Say = english, *, downwards: bool = False, **more
) -> dict:
    """Build an axis whose coordinates are the positions 0..n-1, labelled at every step-th one.

    Args:
        tick_texts: n escaped labels.
        step: distance between two labelled positions.
        title: title of the axis, in English, not escaped.
        say: as for figures.
        downwards: position 0 on top, for rows.
        more: further settings of the axis.

    Returns:
        dict for layout.xaxis or layout.yaxis, with a fixed range.
    """
    n = len(tick_texts)
    ends = [-0.5, n - 0.5]
    return {
        "title": {"text": labels.escape(say(title))},
        "tickmode": "array",
        "tickvals": list(range(0, n, step)),
        "ticktext": list(tick_texts[::step]),
        "ticklabelstandoff": theme.TICK_STANDOFF,
        "tickfont": {"size": theme.TICK_SIZE},
        "range": ends[::-1] if downwards else ends,
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": False,
        # Else Plotly measures every label against the edges of the figure: 40 ms a redraw, and there is room for them.
        "ticklabeloverflow": "allow",
        **more,
    }


def token_axis(tokens: Sequence[str], title: str, say: Say = english, *, downwards: bool = False) -> dict:
    """Build the axis of these tokens: positions are the coordinates, so equal tokens keep rows of their own."""
    step = labels.tick_step(len(tokens))
    if step > 1:
        title = say("{title} · 1 of {n} labelled", title=say(title), n=step)
    return axis(
        [labels.tick_text(token) for token in tokens],
        step,
        title,
        say,
        downwards=downwards,
        tickangle=0 if downwards else -45,
    )


def number_axis(
    n: int, title: str, say: Say = english, *, downwards: bool = False, most: int = theme.MAX_NUMBERS
) -> dict:
    """Build an axis that counts from 0 to n - 1, with labels for `most` of them at most."""
    return axis([str(i) for i in range(n)], labels.number_step(n, most), title, say, downwards=downwards, tickangle=0)


def name_cells(
    cells: go.Heatmap, axes: dict[str, dict], rows: Sequence[str] | None = None, columns: Sequence[str] | None = None
) -> dict[str, dict]:
    """Let the hover box of a map name rows and columns: there `%{y}` and `%{x}` in its template are names.

    Labels in `customdata` would travel once per cell. These are on axes that nobody sees, on which the map stands; the
    axes with the ticks, whose labels are cut and thinned, lie over them. A figure needs a trace on those, too: `TICKS`.

    Args:
        cells: the map; it is changed.
        axes: "xaxis" and "yaxis", with their ticks.
        rows, columns: T and S escaped texts; None where `%{y}` or `%{x}` stays a number.

    Returns:
        The axes for the layout.
    """
    all_axes = dict(axes)
    for side, names in (("x", columns), ("y", rows)):
        if names is None:
            continue
        cells[f"{side}axis"] = f"{side}2"
        all_axes[f"{side}axis"] = axes[f"{side}axis"] | {"overlaying": f"{side}2"}
        all_axes[f"{side}axis2"] = _BARE | {
            "tickvals": list(range(len(names))),
            "ticktext": list(names),
            "range": axes[f"{side}axis"]["range"],
            "matches": side,
        }
    return all_axes


def noted(values: np.ndarray, *notes: tuple[np.ndarray, str]) -> np.ndarray:
    """What the hover box adds to the number of each cell.

    Args:
        values: (T, S).
        notes: bool (T, S) and what is said of these cells, escaped.

    Returns:
        object array (T, S) of str, empty where nothing is said.
    """
    texts = np.full(values.shape, "", dtype=object)
    for cells, note in notes:
        texts[cells] += f", {note}"
    return texts


def hatched_boxes(blocked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The outlines (x, y), float32 with NaN between them, of a box for each run of masked cells in a row of (T, S)."""
    xs: list[float] = []
    ys: list[float] = []
    for row, cells in enumerate(blocked):
        # +1 where a run of masked cells starts, -1 just after it ends
        edges = np.diff(np.concatenate([[0], cells.astype(np.int8), [0]]))
        for start, stop in zip(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1), strict=True):
            left, right, top, bottom = start - 0.5, stop - 0.5, row - 0.5, row + 0.5
            xs += [left, right, right, left, left, np.nan]
            ys += [top, top, bottom, bottom, top, np.nan]
    return np.array(xs, dtype=np.float32), np.array(ys, dtype=np.float32)


def hatching(blocked: np.ndarray, say: Say = english, name: str = NOT_ALLOWED) -> go.Scatter:
    """Draw hatched boxes over the cells that are masked, with an entry in the legend.

    Args:
        blocked: bool (T, S), True = masked.
        say: as for figures.
        name: of what is hatched, in English, escaped.

    Returns:
        A filled trace of one box for each run of masked cells in a row.
    """
    xs, ys = hatched_boxes(blocked)
    return go.Scatter(
        x=xs,
        y=ys,
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=theme.HATCH_FILL,
        fillpattern={
            "shape": theme.HATCH_SHAPE,
            "size": theme.HATCH_SIZE,
            "bgcolor": theme.HATCH_FILL,
            "fgcolor": theme.HATCH_LINE,
            "solidity": 0.2,
        },
        hoverinfo="skip",
        name=say(name),
        showlegend=True,
    )


def frame(row: int, column: int) -> dict:
    """The outline of a cell that is chosen, as a shape of a layout whose axes count the cells."""
    edges = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "line": {"color": theme.SELECTED, "width": theme.SELECTED_WIDTH}, **edges}


def cell_texts(cells: go.Heatmap, texts: Sequence[Sequence[str]]) -> go.Scatter:
    """Write into the cells of a map, black or white, whichever stands out more: by 4.5 at least (WCAG 2.2, 1.4.3).

    Plotly's own choice falls to 3.4 on the greens in the middle of the scale.

    Args:
        cells: the map, with its colours in hexadecimal and zmin and zmax.
        texts: T times S escaped texts.

    Returns:
        A trace that nothing points at and no click reaches.
    """
    values = np.asarray(cells.z, dtype=np.float64)
    ink = np.where(luminance(colors_of(cells)) > np.sqrt(1.05 * 0.05) - 0.05, *_INKS)
    rows, columns = (index.ravel().astype(np.float32) for index in np.indices(values.shape))
    return go.Scatter(
        x=columns,
        y=rows,
        text=[text for row in texts for text in row],
        mode="text",
        textfont={"size": theme.TICK_SIZE, "color": ink.ravel().tolist()},
        hoverinfo="skip",
        showlegend=False,
        name=WRITTEN,
    )


def colors_of(cells: go.Heatmap) -> np.ndarray:
    """The colours of the cells of a map.

    Args:
        cells: the map, with its colours in hexadecimal and zmin and zmax.

    Returns:
        (T, S, 3), sRGB from 0 to 1; a cell without a number has the first colour.
    """
    shares = (np.asarray(cells.z, dtype=np.float64) - cells.zmin) / (cells.zmax - cells.zmin)
    shares = np.nan_to_num(np.clip(1 - shares if cells.reversescale else shares, 0, 1))
    places, names = zip(*cells.colorscale, strict=True)
    channels = np.array([hex_to_rgb(name) for name in names]).T / 255
    return np.stack([np.interp(shares, places, channel) for channel in channels], axis=-1)


def luminance(colors: np.ndarray) -> np.ndarray:
    """Relative luminance of sRGB colours (..., 3), as WCAG 2.2 defines it: (...), from 0 (black) to 1 (white)."""
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])


def token_heatmap(
    values: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    say: Say,
    *,
    hover: str,
    description: str,
    value: str,
    columns: str = message("key"),
    title: str = "",
    query_axis: str,
    key_axis: str,
    blocked: np.ndarray | None = None,
    cell_texts: np.ndarray | None = None,
    row_notes: Sequence[str] | None = None,
    **heatmap,
) -> Drawn:
    """Draw a map of queries (rows, top to bottom) by keys (columns, left to right).

    Args:
        values: float32, or bool for a mask, (T, S).
        queries, keys: T and S tokens.
        say: as for figures.
        hover: hover template, in which `%{y}` is the query and `%{x}` the key.
        description: what the figure says about itself.
        value, columns: what a number and a column is, in English.
        title: text above the map, not escaped.
        query_axis, key_axis: titles of the axes, in English, not escaped.
        blocked: bool (T, S), cells to hatch.
        cell_texts: str (T, S) for `%{customdata}`.
        row_notes: T escaped texts to add to the queries in the hover box.
        heatmap: colour settings of go.Heatmap.

    Returns:
        The figure; its first trace is the map.
    """
    n_rows, n_columns = values.shape
    gap = theme.CELL_GAP if max(values.shape) <= theme.CELL_GAP_UP_TO else 0
    rows = labels.hover_texts(queries, say)
    if row_notes is not None:
        rows = [row + note for row, note in zip(rows, row_notes, strict=True)]
    cells = go.Heatmap(
        z=values.astype(np.uint8) if values.dtype == bool else values,
        customdata=cell_texts,
        hovertemplate=hover + "<extra></extra>",
        xgap=gap,
        ygap=gap,
        **heatmap,
    )
    axes = {"xaxis": token_axis(keys, key_axis, say), "yaxis": token_axis(queries, query_axis, say, downwards=True)}
    hatched = blocked is not None and bool(blocked.any())
    return Drawn(
        [cells, hatching(blocked, say) if hatched else TICKS],
        theme.layout(
            theme.plot_height(n_rows),
            separated(say),
            title=labels.escape(title),
            left=labels.tick_width(queries) + theme.AXIS_TITLE_HEIGHT,
            top=theme.LEGEND_HEIGHT if hatched else 0,
            bottom=theme.LEANING * labels.tick_width(keys) + theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            **name_cells(cells, axes, rows, labels.hover_texts(keys, say)),
        ),
        description=description,
        table=Cells(values, (message("query"), columns), queries, keys, value),
    )
