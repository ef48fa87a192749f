"""The base of all maps: axes of tokens or of numbers, names in hover boxes, hatched cells, texts in cells."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from viz import theme
from viz.figures import checks, labels
from viz.figures.drawn import Drawn, figure
from viz.figures.tables import Cells
from viz.figures.wording import Say, message

NOT_ALLOWED = message("not allowed (masked)")
WRITTEN = "written into the cells"  # name of the trace whose texts have colours of their own
_NOWHERE = np.array([np.nan], np.float32)
TICKS = go.Scatter(x=_NOWHERE, y=_NOWHERE, hoverinfo="skip", showlegend=False, name="ticks")
HATCH = {
    "mode": "lines",
    "line": {"width": 0},
    "fill": "toself",
    "fillcolor": theme.HATCH_FILL,
    "fillpattern": {
        "shape": theme.HATCH_SHAPE,
        "size": theme.HATCH_SIZE,
        "bgcolor": theme.HATCH_FILL,
        "fgcolor": theme.HATCH_LINE,
        "solidity": 0.2,
    },
    "hoverinfo": "skip",
}
_BARE = {"tickmode": "array", "showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}


def axis(texts: Sequence[str], step: int, title: str, *, downwards: bool = False, **more) -> dict:
    """Build an axis whose coordinates are the positions 0..n-1, every step-th with its label (escaped); 0 is on top
    if it goes downwards."""
    n = len(texts)
    ends = [-0.5, n - 0.5]
    return {
        "title": {"text": labels.escape(title)},
        "tickmode": "array",
        "tickvals": list(range(0, n, step)),
        "ticktext": list(texts[::step]),
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


def side(
    entries: Sequence[str] | int, title: str, say: Say, *, downwards: bool = False, most: int = theme.MAX_NUMBERS
) -> dict:
    """Build the axis of these tokens, or of so many numbers from 0, at most `most` of them labelled."""
    title = say(title)
    if isinstance(entries, int):
        step = labels.number_step(entries, most)
        return axis([str(i) for i in range(entries)], step, title, downwards=downwards, tickangle=0)
    step = labels.tick_step(len(entries))
    if step > 1:
        title = say("{title} · 1 of {n} labelled", title=title, n=step)
    texts = [labels.tick_text(token) for token in entries]
    return axis(texts, step, title, downwards=downwards, tickangle=0 if downwards else -45)


def grid(
    values: np.ndarray,
    rows: Sequence[str] | None,
    columns: Sequence[str] | None,
    say: Say,
    *,
    hover: str,
    description: str,
    titles: tuple[str, str],
    names: tuple[str, str] | None = None,
    value: str,
    blocked: np.ndarray | None = None,
    notes: Sequence[str] | None = None,
    most: int = theme.MAX_NUMBERS,
    **heatmap,
) -> Drawn:
    """Draw a map of rows (top to bottom) by columns (left to right), the first trace of the figure.

    The hover box names rows and columns in full. Labels in `customdata` would travel once per cell; these are the
    ticks of axes that nobody sees, on which the map stands. The axes with the ticks, cut and thinned, lie over them.

    Args:
        values: float32, or bool for a mask, (T, S).
        rows, columns: T and S tokens; None for numbers from 0.
        hover: template, in which `%{y}` is the row and `%{x}` the column.
        titles: of the axes.
        names: what rows and columns are called in the table; as `titles` otherwise.
        blocked: bool (T, S), cells to hatch.
        notes: T escaped texts after the names of the rows in the hover box.
        most: numbers on the axis of the columns.
        heatmap: colours and further settings of go.Heatmap.
    """
    given = zip("yx", (rows, columns), ("queries", "keys"), values.shape, strict=True)
    named = {side: checks.as_tokens(name, one, n) for side, one, name, n in given if one is not None}
    texts = {side: labels.hover_texts(one, say) for side, one in named.items()}
    if notes is not None:
        texts["y"] = [row + note for row, note in zip(texts["y"], notes, strict=True)]
    gap = theme.CELL_GAP if "x" in named and max(values.shape) <= theme.CELL_GAP_UP_TO else 0
    cells = go.Heatmap(
        z=values.astype(np.uint8) if values.dtype == bool else values,
        hovertemplate=hover + "<extra></extra>",
        xgap=gap,
        ygap=gap,
        **heatmap,
    )
    axes = {
        "xaxis": side(named.get("x", values.shape[1]), titles[1], say, most=most),
        "yaxis": side(named.get("y", len(values)), titles[0], say, downwards=True),
    }
    for name, one in texts.items():
        cells[f"{name}axis"] = f"{name}2"
        own = {"tickvals": list(range(len(one))), "ticktext": one, "range": axes[f"{name}axis"]["range"]}
        axes[f"{name}axis"]["overlaying"] = f"{name}2"
        axes[f"{name}axis2"] = _BARE | own | {"matches": name}
    over, hatched = TICKS, blocked is not None and bool(blocked.any())
    if hatched:
        xs, ys = hatched_boxes(blocked)
        over = go.Scatter(x=xs, y=ys, **HATCH, name=say(NOT_ALLOWED), showlegend=True)
    return figure(
        [cells, over],
        theme.plot_height(len(values)),
        say,
        left=labels.tick_width(named.get("y", [str(len(values))])) + theme.AXIS_TITLE_HEIGHT,
        top=theme.LEGEND_HEIGHT if hatched else 0,
        bottom=(theme.LEANING * labels.tick_width(named["x"]) if "x" in named else 0) + theme.AXIS_HEIGHT,
        **axes,
        description=description,
        table=Cells(values, names or titles, named.get("y"), named.get("x"), value),
    )


def centred(values: np.ndarray, title: str, least: float = 0.0) -> dict:
    """Colours of go.Heatmap that are symmetric about 0 and reach all values and `least`, 1 where all are 0."""
    limit = max(float(np.abs(values).max(initial=0.0)), least) or 1.0
    ends = {"zmin": -limit, "zmax": limit, "zmid": 0.0}
    return {"colorscale": theme.DIVERGING, "colorbar": theme.color_bar(title)} | ends


def weight_colors(weights: np.ndarray, scale_to_max: bool, value: str, say: Say) -> dict:
    """Colours from 0 to 1, or to the largest weight: the colour bar then says so."""
    top = float(weights.max()) if scale_to_max and weights.max() > 0 else 1.0
    title = labels.escape(say(value))
    if scale_to_max:
        title = say("{value}<br>(largest<br>{top:.3g})", value=title, top=top)
    return {"colorscale": theme.SEQUENTIAL, "zmin": 0.0, "zmax": top, "colorbar": theme.color_bar(title)}


def noted(values: np.ndarray, *notes: tuple[np.ndarray, str]) -> np.ndarray:
    """What the hover box adds to each cell (T, S), given cells (bool) and their escaped note."""
    texts = np.full(values.shape, "", dtype=object)
    for cells, note in notes:
        texts[cells] += f", {note}"
    return texts


def hatched_boxes(blocked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The outlines (x, y), float32 with NaN between them, of a box for each run of masked cells in a row of (T, S)."""
    # +1 where a run of masked cells starts, -1 just after it ends
    edges = np.diff(np.pad(blocked.astype(np.int8), ((0, 0), (1, 1))))
    (row, left), (_, right), gap = np.nonzero(edges == 1), np.nonzero(edges == -1), np.full((edges == 1).sum(), np.nan)
    xs = np.stack([left - 0.5, right - 0.5, right - 0.5, left - 0.5, left - 0.5, gap], axis=1)
    ys = np.stack([row - 0.5, row - 0.5, row + 0.5, row + 0.5, row - 0.5, gap], axis=1)
    return xs.ravel().astype(np.float32), ys.ravel().astype(np.float32)


def frame(row: int, column: int) -> dict:
    """The outline of a cell that is chosen, as a shape of a layout whose axes count the cells."""
    edges = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", "line": {"color": theme.SELECTED, "width": theme.SELECTED_WIDTH}, **edges}


def cell_texts(cells: go.Heatmap, texts: Sequence[Sequence[str]], size: int = theme.TICK_SIZE) -> go.Scatter:
    """Write escaped texts (T, S) into the cells of a map, black or white, whichever stands out more.

    That is by 4.5 at least (WCAG 2.2, 1.4.3); Plotly's own choice falls to 3.4 on the greens of the scale.
    """
    values = np.asarray(cells.z)
    ink = np.where(luminance(colors_of(cells)) > np.sqrt(1.05 * 0.05) - 0.05, "#000", "#fff")
    rows, columns = (index.ravel().astype(np.float32) for index in np.indices(values.shape))
    return go.Scatter(
        x=columns,
        y=rows,
        text=[text for row in texts for text in row],
        mode="text",
        textfont={"size": size, "color": ink.ravel().tolist()},
        hoverinfo="skip",
        showlegend=False,
        name=WRITTEN,
    )


def colors_of(cells: go.Heatmap) -> np.ndarray:
    """The colours of the cells of a map with zmin and zmax, (T, S, 3), sRGB from 0 to 1; without a number the first."""
    shares = (np.asarray(cells.z, dtype=np.float64) - cells.zmin) / (cells.zmax - cells.zmin)
    shares = np.nan_to_num(np.clip(1 - shares if cells.reversescale else shares, 0, 1))
    places, names = zip(*cells.colorscale, strict=True)
    channels = np.array([hex_to_rgb(name) for name in names]).T / 255
    return np.stack([np.interp(shares, places, channel) for channel in channels], axis=-1)


def luminance(colors: np.ndarray) -> np.ndarray:
    """Relative luminance of sRGB colours (..., 3), as WCAG 2.2 defines it: (...), from 0 (black) to 1 (white)."""
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    return linear @ np.array([0.2126, 0.7152, 0.0722])
