"""Heads as single cells of a board, and as points of a plane."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, clicks, heatmap, labels
from viz.figures.differences import centred_colors
from viz.figures.drawn import Drawn
from viz.figures.tables import Board, Points
from viz.figures.wording import Say, english, message, separated

ROW_HEIGHT = 34  # pixels: room for a number in every cell
MAP_HEIGHT = 380
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")


def head_board(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    texts: Sequence[Sequence[str]] | None = None,
    names: Sequence[Sequence[str]] | None = None,
    value: str = message("value"),
    signed: bool = False,
    low_is_good: bool = False,
    selected: tuple[int, int] | None = None,
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw one number per head: what is large is bright, or numbers about 0 in two colours.

    Args:
        values: float (R, C).
        rows, columns: R and C names.
        texts: R times C texts to write into the cells; the numbers where there are none.
        names: R times C names for the hover box; row and column where there are none.
        value: what a number is, in English.
        signed: let the colours be symmetric about 0.
        low_is_good: let small numbers have the bright colours; of numbers that are not signed.
        selected: (row, column) to draw a frame round.
        title: text above the board.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the values, float32 (R, C).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity, and a selected cell that does not exist.
    """
    values = checks.as_float("values", values, "RC")
    n_rows, n_columns = values.shape
    rows = checks.as_tokens("rows", rows, n_rows, "rows")
    columns = checks.as_tokens("columns", columns, n_columns, "columns")
    written = _grid("texts", texts or [[say("{x:.3g}", x=number) for number in row] for row in values], values.shape)
    named = _grid("names", names or [[f"{row}, {column}" for column in columns] for row in rows], values.shape)
    scale = {"zmin": min(0.0, float(values.min())), "zmax": float(values.max()), "colorscale": theme.SEQUENTIAL}
    if scale["zmin"] == scale["zmax"]:
        scale["zmax"] = 1.0
    if signed:
        _, scale = centred_colors(values, "")
    board = go.Heatmap(
        z=values,
        text=[list(map(labels.escape, row)) for row in named],
        hovertemplate=f"%{{text}}<br>{labels.escape(say(value))} %{{z:.4g}}<extra></extra>",
        xgap=theme.CELL_GAP,
        ygap=theme.CELL_GAP,
        showscale=False,
        reversescale=low_is_good and not signed,
        **scale,
    )
    frame = []
    if selected is not None:
        row = checks.index("the selected row", selected[0], n_rows)
        column = checks.index("the selected column", selected[1], n_columns)
        frame.append(heatmap.frame(row, column) | {"name": "selected"})
    return Drawn(
        [board, heatmap.cell_texts(board, [list(map(labels.escape, row)) for row in written])],
        theme.layout(
            n_rows * ROW_HEIGHT,
            separated(say),
            title=labels.escape(title),
            left=labels.tick_width(rows),
            bottom=theme.TICK_SIZE,
            xaxis=heatmap.axis([labels.tick_text(name) for name in columns], labels.number_step(n_columns), "", say)
            | {"tickangle": 0, "fixedrange": True},
            yaxis=heatmap.axis([labels.tick_text(name) for name in rows], labels.tick_step(n_rows), "", say)
            | {"range": [n_rows - 0.5, -0.5], "fixedrange": True},
            dragmode=False,
            shapes=frame,
        ),
        description=say(
            "One cell per head: {value}, {colors}.",
            value=say(value),
            colors=say(_COLORS["signed" if signed else "low" if low_is_good else "high"]),
        ),
        table=Board(values, named, written, value),
    )


_COLORS = {
    "signed": message("orange above 0, blue below"),
    "low": message("bright where it is small"),
    "high": message("bright where it is large"),
}


def _grid(name: str, texts: Sequence[Sequence[str]], shape: tuple[int, int]) -> list[list[str]]:
    if len(texts) != shape[0]:
        raise ValueError(f"{name} has {len(texts)} rows; allowed are {shape[0]}.")
    return [checks.as_tokens(name, row, shape[1], "columns") for row in texts]


def head_map(
    points: np.ndarray,
    places: Sequence[tuple[int, ...]],
    groups: Sequence[str],
    *,
    axes: tuple[str, str] | None = None,
    selected: tuple[int, ...] | None = None,
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw heads as points, a colour and a sign per group: by two numbers, or near each other where they are alike.

    A click on a point selects its head (customdata = its place).

    Args:
        points: float (N, 2).
        places: N times the numbers of a head, the last two its layer and its head.
        groups: N times the name of the group that a head belongs to.
        axes: what x and y are, in English; None where only distances mean something.
        selected: the place of the head to draw a ring round.
        title: text above the map.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; one trace of points per group.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity, and a selected head that does not exist.
    """
    points, places = checks.as_float("points", points, "ND"), [tuple(map(int, place)) for place in places]
    if points.shape[1] != 2 or len(places) != len(points):
        raise ValueError(f"points has shape {points.shape}; allowed is ({len(places)}, 2).")
    groups = checks.as_tokens("groups", groups, len(points), "points")
    traces = [
        _points(i, name, [at for at, group in enumerate(groups) if group == name], points, places, say)
        for i, name in enumerate(dict.fromkeys(groups))
    ]
    ring = []
    if selected is not None:
        if tuple(selected) not in places:
            raise ValueError(f"the selected head is {tuple(selected)}; it is not among the places.")
        ring.append(_ring(points[places.index(tuple(selected))]))
    limit = float(np.abs(points).max()) * 1.15 or 1.0
    bare = {"range": [-limit, limit], "showticklabels": False, "showgrid": False, "zeroline": False, "fixedrange": True}
    x, y = (bare, bare | {"scaleanchor": "x"}) if axes is None else ({"title": {"text": say(axis)}} for axis in axes)
    margin = {} if axes is None else {"left": 4 * theme.TICK_SIZE, "bottom": theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT}
    return Drawn(
        traces + ring,
        theme.layout(
            MAP_HEIGHT,
            separated(say),
            title=labels.escape(title),
            top=theme.LEGEND_HEIGHT,
            xaxis=x,
            yaxis=y,
            hovermode="closest",
            dragmode=False,
            **margin,
        ),
        description=say("Each point is a head, numbered in its layer; near points are heads that look alike.")
        if axes is None
        else say("Each point is a head: {x} from left to right, {y} upwards.", x=say(axes[0]), y=say(axes[1])),
        table=Points([(trace.name, trace.x, trace.y, trace.text) for trace in traces]),
    )


def _points(
    i: int, name: str, at: list[int], points: np.ndarray, places: list[tuple[int, ...]], say: Say
) -> go.Scatter:
    return go.Scatter(
        x=points[at, 0].copy(),
        y=points[at, 1].copy(),
        customdata=[list(places[one]) for one in at],
        text=[f"{places[one][-2]}.{places[one][-1]}" for one in at],
        textposition="top center",
        mode="markers+text",
        marker={
            "size": 11,
            "color": theme.LINES[i % len(theme.LINES)],
            "symbol": SYMBOLS[(i + i // len(theme.LINES)) % len(SYMBOLS)],  # 49 groups before one looks like another
        },
        **clicks.hover(f"{labels.escape(name)} %{{text}}<br>%{{x:.3g}}, %{{y:.3g}}", say("click to open")),
        name=labels.escape(name),
    )


def _ring(place: np.ndarray) -> go.Scatter:
    return go.Scatter(
        x=place[:1].copy(),
        y=place[1:].copy(),
        mode="markers",
        marker={
            "size": 20,
            "symbol": "circle-open",
            "color": theme.SELECTED,
            "line": {"width": theme.SELECTED_WIDTH},
        },
        hoverinfo="skip",
        showlegend=False,
        name="selected",
    )
