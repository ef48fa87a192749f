"""What the heatmaps share: token axes, hover texts, the hatched cells, the one-line description."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from viz import theme
from viz.figures import labels
from viz.language import message, say

NOT_ALLOWED = message("not allowed (masked)")
NOT_DRAWN = message("not drawn (below the threshold)")
WRITTEN = "written into the cells"  # name of the trace whose texts have colours of their own
_INKS = ("#000", "#fff")


def describe(figure: go.Figure) -> str:
    """Return the sentence that says what a figure of this package shows (for captions and screen readers).

    Args:
        figure: a figure made by a function of viz.figures.

    Returns:
        One plain sentence, not escaped.
    """
    return figure.layout.meta["description"]


def axis(tick_texts: Sequence[str], step: int, title: str, *, downwards: bool = False, **more) -> dict:
    """Build an axis whose coordinates are the positions 0..n-1, labelled at every step-th one.

    Args:
        tick_texts: n escaped labels.
        step: distance between two labelled positions.
        title: title of the axis, in English, not escaped.
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


def token_axis(tokens: Sequence[str], title: str, *, downwards: bool = False) -> dict:
    """Build the axis of these tokens: positions are the coordinates, so equal tokens keep rows of their own."""
    step = labels.tick_step(len(tokens))
    if step > 1:
        title = say("{title} · every {nth} labelled", title=say(title), nth=labels.ordinal(step))
    return axis(
        [labels.tick_text(token) for token in tokens],
        step,
        title,
        downwards=downwards,
        tickangle=0 if downwards else -45,
    )


def number_axis(n: int, title: str, *, downwards: bool = False, most: int = theme.MAX_NUMBERS) -> dict:
    """Build an axis that counts from 0 to n - 1, with so many labels at most."""
    return axis([str(i) for i in range(n)], labels.number_step(n, most), title, downwards=downwards, tickangle=0)


def hover_cells(rows: Sequence[str], columns: Sequence[str], *more: np.ndarray) -> np.ndarray:
    """Lay out what the hover template reads: customdata[0] the row, [1] the column, [2] and on what else is given.

    Args:
        rows: T hover texts.
        columns: S hover texts.
        more: str arrays (T, S).

    Returns:
        object array (T, S, 2 + len(more)).
    """
    shape = (len(rows), len(columns))
    cells = [
        np.broadcast_to(np.array(rows, dtype=object)[:, None], shape),
        np.broadcast_to(np.array(columns, dtype=object)[None], shape),
    ]
    return np.stack([*cells, *more], axis=-1)


def value_texts(values: np.ndarray, blocked: np.ndarray, form: str) -> np.ndarray:
    """Write the values of a map that has masked cells, which say so and still name a value that is not zero.

    Args:
        values: float (T, S).
        blocked: bool (T, S), True = masked.
        form: format of a value, e.g. ".3f".

    Returns:
        object array (T, S) of str.
    """
    texts = np.empty(values.shape, dtype=object)
    not_allowed = say(NOT_ALLOWED)
    for place, value in np.ndenumerate(values):
        number = format(value, form)
        nothing = value == 0 or not np.isfinite(value)
        texts[place] = number if not blocked[place] else not_allowed if nothing else f"{number}, {not_allowed}"
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


def hatching(blocked: np.ndarray, name: str = NOT_ALLOWED) -> go.Scatter:
    """Draw hatched boxes over the cells that are masked, with an entry in the legend.

    Args:
        blocked: bool (T, S), True = masked.
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


def cell_texts(cells: go.Heatmap, texts: Sequence[Sequence[str]], hatched: np.ndarray | None = None) -> go.Scatter:
    """Write into the cells of a map, black or white, whichever stands out more: by 4.5 at least (WCAG 2.2, 1.4.3).

    Plotly's own choice falls to 3.4 on the greens in the middle of the scale.

    Args:
        cells: the map, with its colours in hexadecimal and zmin and zmax.
        texts: T times S escaped texts.
        hatched: bool (T, S), cells that are hatched, whatever their number.

    Returns:
        A trace that nothing points at and no click reaches.
    """
    values = np.asarray(cells.z, dtype=np.float64)
    ink = np.where(luminance(colors_of(cells)) > np.sqrt(1.05 * 0.05) - 0.05, *_INKS)
    if hatched is not None:
        ink = np.where(hatched, _INKS[0], ink)
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


def frame_row(figure: go.Figure, row: int) -> None:
    """Put a frame round one row of a map of tokens, in place."""
    frame = {
        "type": "rect",
        "xref": "x domain",
        "x0": 0,
        "x1": 1,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "line": {"color": theme.SELECTED, "width": theme.SELECTED_WIDTH},
        "name": "selected",
    }
    figure.layout.shapes = [*figure.layout.shapes, frame]


def token_heatmap(
    values: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    hover: str,
    meta: dict,
    title: str = "",
    query_axis: str,
    key_axis: str,
    blocked: np.ndarray | None = None,
    cell_texts: np.ndarray | None = None,
    row_notes: Sequence[str] | None = None,
    **heatmap,
) -> go.Figure:
    """Draw a map of queries (rows, top to bottom) by keys (columns, left to right).

    Args:
        values: float32 or uint8 (T, S).
        queries, keys: T and S tokens.
        hover: hover template over customdata, see hover_cells.
        meta: what the figure says about itself, with a "description".
        title: text above the map, not escaped.
        query_axis, key_axis: titles of the axes, in English, not escaped.
        blocked: bool (T, S), cells to hatch.
        cell_texts: str (T, S) for customdata[2].
        row_notes: T escaped texts to add to the queries in customdata[0].
        heatmap: colour settings of go.Heatmap.

    Returns:
        go.Figure whose first trace is the map.
    """
    n_rows, n_columns = values.shape
    gap = theme.CELL_GAP if max(values.shape) <= theme.CELL_GAP_UP_TO else 0
    texts = () if cell_texts is None else (cell_texts,)
    rows = labels.hover_texts(queries)
    if row_notes is not None:
        rows = [row + note for row, note in zip(rows, row_notes, strict=True)]
    customdata = hover_cells(rows, labels.hover_texts(keys), *texts)
    trace = go.Heatmap(
        z=values, customdata=customdata, hovertemplate=hover + "<extra></extra>", xgap=gap, ygap=gap, **heatmap
    )
    hatched = blocked is not None and bool(blocked.any())
    return go.Figure(
        [trace, hatching(blocked)] if hatched else [trace],
        layout=theme.layout(
            theme.plot_height(n_rows),
            title=labels.escape(title),
            left=labels.tick_width(queries) + theme.AXIS_TITLE_HEIGHT,
            top=theme.LEGEND_HEIGHT if hatched else 0,
            bottom=theme.LEANING * labels.tick_width(keys) + theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            xaxis=token_axis(keys, key_axis),
            yaxis=token_axis(queries, query_axis, downwards=True),
            meta={
                "rows": message("query"),
                "columns": message("key"),
                "n_rows": n_rows,
                "n_columns": n_columns,
                "row_names": list(queries),
                "column_names": list(keys),
                **meta,
            },
        ),
    )
