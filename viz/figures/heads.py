"""Heads: a number of each on a board, and as points of a plane."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, labels
from viz.figures.figure import BARE, QUIET, Figure, build_figure, dots
from viz.figures.labels import Say, english, message
from viz.figures.maps import written_heatmap, written_numbers
from viz.figures.tables import Board, Points
from viz.theme import Settings

MAP_HEIGHT = 380
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")


def head_board(
    values: np.ndarray,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    *,
    column_axis: str = message("head"),
    texts: Sequence[Sequence[str]] | None = None,
    names: Sequence[Sequence[str]] | None = None,
    value: str = message("value"),
    signed: bool = False,
    low_is_good: bool = False,
    selected: tuple[int, int] | None = None,
    say: Say = english,
) -> Figure:
    """Draw one number per head (R, C), layers in rows unless `rows` and `columns` name something else.

    Pages show it as the board of the stage, on which heads are chosen (viz/web/plot/heads.js).

    Args:
        texts, names: R times C texts for the cells instead of the numbers, and for the hover box.
        signed: make the colours symmetric about 0.
        low_is_good: make small numbers bright, unless they are signed.
    """
    values = checks.as_float("values", values, "RC")
    rows = rows or [say("layer {n}", n=layer) for layer in range(len(values))]
    columns = columns or list(map(str, range(values.shape[1])))
    names = names or [[f"{row}, {say(column_axis)} {column}" for column in columns] for row in rows]
    figure = written_heatmap(
        values,
        rows,
        columns,
        row_axis="",
        column_axis=column_axis,
        texts=texts,
        value=value,
        signed=signed,
        low_is_good=low_is_good,
        selected=selected,
        say=say,
    )
    hover = "%{text}<br>" + labels.hover_lines(say, (value, "%{z:.4g}")) + "<extra></extra>"
    figure.data[0].update(text=[list(map(labels.escape, row)) for row in names], hovertemplate=hover)
    legend = say("bright where it is small") if low_is_good else say("bright where it is large")
    if signed:
        legend = say("orange above 0, blue below")
    figure.description = say("One cell per head: {value}, {colors}.", value=say(value), colors=legend)
    texts = texts or written_numbers(values, say)
    figure.table = Board(values, names, texts, value, list(rows), list(columns), column_axis, selected)
    return figure


def head_map(
    points: np.ndarray,
    places: Sequence[tuple[int, ...]],
    groups: Sequence[str],
    *,
    axes: tuple[str, str] | None = None,
    selected: tuple[int, ...] | None = None,
    say: Say = english,
) -> Figure:
    """Draw heads as points (N, 2), by two numbers, or near each other where they are alike.

    Args:
        places: N times the numbers of a head, the last two its layer and its head (customdata).
        groups: N names; each group has a trace with a colour and a sign.
        axes: what x and y are; None where only distances mean something.
    """
    points = checks.as_float("points", points, "ND")
    heads = [list(map(int, place)) for place in places]
    group_of_head = np.array(checks.as_tokens("groups", groups, len(points)), dtype=object)
    traces: list[go.Scatter] = []
    for i, name in enumerate(dict.fromkeys(group_of_head)):
        members = np.flatnonzero(group_of_head == name)
        symbol = SYMBOLS[(i + i // len(theme.LINES)) % len(SYMBOLS)]  # 49 groups before one looks like another
        look = (symbol, 9, theme.line(i)["color"])
        hover = "%{fullData.name} %{text}<br>%{x:.3~g} · %{y:.3~g}"
        x, y = points[members].T
        trace = dots(x, y, [heads[member] for member in members], name, look, hover, mode="markers+text")
        text = ["{}.{}".format(*heads[member][-2:]) for member in members]
        traces.append(trace.update(text=text, textposition="top center"))
    table = Points([(trace.name, trace.x, trace.y, trace.text) for trace in traces])
    if selected is not None:
        x, y = points[[heads.index(list(selected))]].T
        ring = {"size": 20, "symbol": "circle-open", "color": theme.SELECTED["color"], "line": theme.SELECTED}
        traces.append(go.Scatter(x=x, y=y, mode="markers", marker=ring, **QUIET, name="selected"))
    if axes is None:
        limit = float(np.abs(points).max()) * 1.15 or 1.0
        x = BARE | {"range": [-limit, limit], "fixedrange": True}
        layout: Settings = {"xaxis": x, "yaxis": x | {"scaleanchor": "x"}, "bottom": 0}
        description = say("Each point is a head, numbered in its layer; near points are heads that look alike.")
    else:
        across, up = map(say, axes)
        layout = {"xaxis_title_text": across, "yaxis_title_text": up, "left": 4 * theme.TICK_SIZE}
        description = say("Each point is a head: {x} from left to right, {y} upwards.", x=across, y=up)
    layout |= {"top": theme.LEGEND_HEIGHT, "dragmode": False}
    return build_figure(traces, MAP_HEIGHT, say, **layout, description=description, table=table)
