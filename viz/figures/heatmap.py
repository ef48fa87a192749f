"""The base of all maps: axes of tokens or of numbers, names in hover boxes, hatched cells, texts in cells."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.colors import hex_to_rgb

from viz import theme
from viz.figures import checks, labels
from viz.figures.figure import BARE, QUIET, Figure, build_figure, polylines
from viz.figures.labels import Say, message
from viz.figures.tables import Cells
from viz.theme import Settings

NOT_ALLOWED = message("not allowed (masked)")
WRITTEN_ROW = 34  # pixels of a row: room for a number in every cell
WRITTEN = "written into the cells"  # name of the trace whose texts have colours of their own
PROBABILITIES: Settings = {"colorscale": theme.SEQUENTIAL, "zmin": 0.0, "zmax": 1.0}
Texts = np.ndarray | Sequence[Sequence[str]]  # (T, S), escaped
_NOWHERE = np.array([np.nan], np.float32)
TICKS = go.Scatter(x=_NOWHERE, y=_NOWHERE, **QUIET, name="ticks")


def axis(texts: Sequence[str], title: str = "", *, step: int = 0, downwards: bool = False, **settings: Any) -> Settings:
    """An axis whose coordinates are positions, from 0, every step-th with its label (escaped)."""
    step = step or labels.tick_step(len(texts))
    ends = [-0.5, len(texts) - 0.5]
    return {
        "title": {"text": labels.escape(title)},
        "tickvals": list(range(0, len(texts), step)),
        "ticktext": list(texts[::step]),
        "ticks": "",  # beside a heatmap Plotly would draw marks
        "ticklabelstandoff": 4,
        "tickfont": {"size": theme.TICK_SIZE},
        "range": ends[::-1] if downwards else ends,
        "showgrid": False,
        "zeroline": False,
        "automargin": False,
        "ticklabeloverflow": "allow",  # else Plotly measures every label: 40 ms a redraw
        **settings,
    }


def side(
    entries: Sequence[str] | int, title: str, say: Say, *, downwards: bool = False, most: int = theme.MAX_NUMBERS
) -> Settings:
    """The axis of tokens, or of numbers from 0 up to a count, at most `most` of them labelled."""
    title = say(title)
    if isinstance(entries, int):
        if entries > 100 and not downwards:  # numbers of three digits stand side by side, also in a narrow picture
            most = min(most, 8)
        step = labels.tick_step(entries, most)
        numbers = list(map(str, range(entries)))
        return axis(numbers, title, step=step, downwards=downwards, tickangle=0)
    if (step := labels.tick_step(len(entries))) > 1:
        title = say("{title} · 1 of {n} labelled", title=title, n=step)
    leaning = 0 if downwards or labels.tick_width(entries) < theme.UPRIGHT else -45
    return axis(list(map(labels.tick_text, entries)), title, downwards=downwards, tickangle=leaning)


def grid(
    values: np.ndarray,
    tokens: Mapping[str, Sequence[str] | None],
    say: Say,
    value: str,
    titles: tuple[str, str],
    *,
    names: tuple[str, str] | None = None,
    number: str = "%{z:.3f}",
    hover: str = "",
    blocked: np.ndarray | None = None,
    notes: Sequence[str] | None = None,
    texts: Texts | None = None,
    framed: Sequence[tuple[int, int]] = (),
    most: int = theme.MAX_NUMBERS,
    **heatmap: Any,
) -> Figure:
    """Draw a map, the first trace of the figure.

    The map stands on axes that nobody sees, whose ticks are the names in the hover box: in `customdata` they would
    travel once per cell. The axes with the ticks, cut and thinned, lie over them.

    Args:
        values: float32, or bool for a mask, (T, S).
        tokens: of rows and columns, by the name of the argument; numbers from 0 where there are none.
        names: what rows and columns are called in table and hover box, if not as in the titles.
        number, hover: what the hover box says of a cell, and all that it says, if not row, column and number.
        blocked: bool (T, S), cells to hatch.
        notes: T escaped texts after the names of the rows in the hover box.
        texts: (T, S), escaped, in the cells, which are then higher and not zoomed.
        framed: (row, column) of cells in an outline.
    """
    axis_titles, hover_names = _names_of_sides(tokens, values.shape, notes, say)
    names = names or titles
    if not hover:
        y, x = ("%{" + (side if side in axis_titles else f"{side}:d") + "}" for side in "yx")
        hover = labels.hover_lines(say, (names[0], y), (names[1], x), (value, number))
    cells = go.Heatmap(
        z=values.astype(np.uint8) if values.dtype == bool else values,
        hovertemplate=hover + "<extra></extra>",
        **(theme.cell_gaps(*values.shape) if "x" in axis_titles else {}),
        **{"colorbar": theme.color_bar(labels.escape(say(value)))} | heatmap,
    )
    rows, columns = axis_titles.get("y"), axis_titles.get("x")
    axes: dict[str, Any] = {
        "xaxis": side(columns or values.shape[1], titles[1], say, most=most),
        "yaxis": side(rows or len(values), titles[0], say, downwards=True),
    }
    _lay_over(axes, cells, hover_names)
    traces = [cells, TICKS]
    top = 0
    words = dict(zip(("row", "column", "value"), map(say, (*titles, value))), low=cells.zmin, high=cells.zmax)
    description = say("Row = {row}, column = {column}: {value}, colours from {low:.3g} to {high:.3g}.", **words)
    if blocked is not None and blocked.any():
        top = theme.LEGEND_HEIGHT
        traces[1] = go.Scatter(**hatched_boxes(blocked), **theme.HATCH, name=say(NOT_ALLOWED), showlegend=True)
        description += " " + say("Hatched cells are not allowed by the mask.")
    height = theme.plot_height(len(values))
    if texts is not None:
        traces.append(cell_texts(cells, texts))
        height = WRITTEN_ROW * len(values)
        axes["dragmode"] = False
    return build_figure(
        traces,
        height,
        say,
        left=labels.tick_width(rows or [str(len(values))]) + theme.AXIS_TITLE_HEIGHT,
        top=top,
        bottom=(theme.LEANING * labels.tick_width(columns) if columns else 0) + theme.AXIS_HEIGHT,
        **axes,
        shapes=[frame(*cell) for cell in framed],
        description=description,
        table=Cells(values, names, rows, columns, value),
    )


def _names_of_sides(
    tokens: Mapping[str, Sequence[str] | None], shape: tuple[int, ...], notes: Sequence[str] | None, say: Say
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The labels of rows ("y") and columns ("x") where there are any, and their names in hover boxes."""
    axis_titles: dict[str, list[str]] = {}
    for side_name, (argument, entries), size in zip("yx", tokens.items(), shape):
        if entries is not None:
            axis_titles[side_name] = labels.spell_bytes(checks.as_tokens(argument, entries, size))
    hover_names = {side_name: labels.hover_texts(entries, say) for side_name, entries in axis_titles.items()}
    if notes is not None:
        hover_names["y"] = [row + note for row, note in zip(hover_names["y"], notes, strict=True)]
    return axis_titles, hover_names


def _lay_over(axes: dict[str, Any], cells: go.Heatmap, hover_names: Mapping[str, Sequence[str]]) -> None:
    """Put cells on axes that nobody sees, whose ticks are the names in hover boxes, below those with the labels."""
    for name, entries in hover_names.items():
        over = axes[f"{name}axis"]
        over["overlaying"] = cells[f"{name}axis"] = f"{name}2"
        ticks = {"tickvals": list(range(len(entries))), "ticktext": entries}
        axes[f"{name}axis2"] = BARE | ticks | {"range": over["range"], "matches": name}


def centred(values: np.ndarray, least: float = 0.0) -> Settings:
    """Colours of values of any shape, symmetric about 0, that reach all of them and `least`; 1 where all are 0."""
    limit = max(float(np.abs(values).max()), least) or 1.0
    return {"colorscale": theme.DIVERGING, "zmin": -limit, "zmax": limit, "zmid": 0.0}


def hatched_boxes(blocked: np.ndarray) -> dict[str, np.ndarray]:
    """The outline of each run of masked cells in a row of (T, S)."""
    edges = np.diff(np.pad(blocked.astype(np.int8), ((0, 0), (1, 1))))  # 1 where a run starts, -1 just after its end
    row, left = np.argwhere(edges == 1).T - 0.5
    _, right = np.argwhere(edges == -1).T - 0.5
    return polylines([left, right, right, left, left], [row, row, row + 1, row + 1, row])


def frame(row: int, column: int, room: float = 0.5) -> Settings:
    """The outline of a cell, as a shape of a layout whose axes count the cells."""
    edges = {"x0": column - room, "x1": column + room, "y0": row - room, "y1": row + room}
    return {"type": "rect", "line": theme.SELECTED, **edges}


def cell_texts(cells: go.Heatmap, texts: Texts) -> go.Scatter:
    """Write texts (T, S) into the cells of a map, black or white, whichever stands out more.

    That is by 4.5 at least (WCAG 2.2, 1.4.3, where relative luminance is defined); Plotly's own choice falls to 3.4.
    """
    colors = colors_of(cells)
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    ink = np.where(luminance > np.sqrt(1.05 * 0.05) - 0.05, "#000", "#fff")
    y, x = (index.ravel().astype(np.float32) for index in np.indices(ink.shape))
    font = {"size": theme.TICK_SIZE, "color": ink.ravel().tolist()}
    # Where a text is empty Plotly takes its element away, and writes nothing there when the figure gets another one.
    text = [text or "\u00a0" for row in texts for text in row]
    return go.Scatter(x=x, y=y, text=text, mode="text", textfont=font, **QUIET, name=WRITTEN)


def colors_of(cells: go.Heatmap) -> np.ndarray:
    """The colours of the cells of a map, (T, S, 3), sRGB from 0 to 1."""
    z, low, high = (np.asarray(numbers, dtype=np.float64) for numbers in (cells.z, cells.zmin, cells.zmax))
    shares = (z - low) / (high - low)
    shares = np.nan_to_num(np.clip(1 - shares if cells.reversescale else shares, 0, 1))
    places, names = np.array(cells.colorscale, dtype=object).T
    channels: np.ndarray = np.array([hex_to_rgb(name) for name in names]).T / 255
    layers: list[np.ndarray] = [np.interp(shares, places.astype(np.float64), channel) for channel in channels]
    return np.stack(layers, axis=-1)
