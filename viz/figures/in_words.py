"""The twin of a figure in words, for who cannot see it: what stands out in every row, line or head."""

from __future__ import annotations

import html
from itertools import groupby

import plotly.graph_objects as go

from viz.figures import labels
from viz.figures.numbers import numbers
from viz.language import say

NAMED_AT_MOST = 8  # keys that one sentence lists


def in_words(figure: go.Figure) -> list[str]:
    """Say what a figure shows.

    Args:
        figure: of a function of viz.figures.

    Returns:
        Sentences in the order of the figure: of a map one a row, of heads one a head, of lines one a line.

    Raises:
        ValueError: for a figure without numbers.

    Example:
        >>> import numpy as np
        >>> from viz.figures import attention_heatmap
        >>> in_words(attention_heatmap(np.array([[0.75, 0.25]], np.float32), ["Hund"], ["dog", "the"]))
        ['“Hund” (query 0): “dog” (key 0) = 0.75, then “the” (key 1) = 0.25.']
    """
    header, rows = numbers(figure)
    meta = figure.layout.meta or {}
    if meta.get("figure") == "head_board":
        by_layer = groupby(rows, key=lambda cell: cell[0])
        return [_board_row(layer, [written for *_, written in cells]) for layer, cells in by_layer]
    if header[0] == "row":
        return [_row(list(cells), header, meta) for _, cells in groupby(rows, key=lambda cell: cell[0])]
    if header[0] == "head":
        by_head = sorted(rows, key=lambda line: (meta["head_names"].index(line[0]), -line[-1]))
        return [_lines_of_head(str(name), list(lines)) for name, lines in groupby(by_head, key=lambda line: line[0])]
    if header[0] in ("layer", "map"):
        width = 2 if header[0] == "layer" else 1
        return [_map(list(cells), header, width) for _, cells in groupby(rows, key=lambda cell: cell[:width])]
    return [_line(str(name), list(points)) for name, points in groupby(rows, key=lambda point: point[0])]


def _board_row(layer: int, texts: list[str]) -> str:
    """What is written on all heads of a layer."""
    return f"{labels.layer_label(layer)}: {', '.join(f'{labels.head_label(i)} {t}' for i, t in enumerate(texts))}."


def _row(cells: list[list], header: list[str], meta: dict) -> str:
    """A row of one map."""
    asks = _named(cells[0][1], header[1], cells[0][0])
    if meta.get("figure") == "mask_heatmap":
        allowed = [_named(cell[3], header[3], cell[2]) for cell in cells if cell[4]]
        if not allowed:
            return say("{query} may read 0 of {total}: nothing.", query=asks, total=len(cells))
        counts = {"n": len(allowed), "total": len(cells)}
        return say("{query} may read {n} of {total}: {keys}.", query=asks, keys=_listed(allowed), **counts)
    known = sorted((cell for cell in cells if cell[4] is not None), key=lambda cell: -cell[4])
    if not known:
        return say("{name}: blank.", name=asks)
    said = [f"{_named(cell[3], header[3], cell[2])} = {cell[4]:.3g}" for cell in known]
    if known[-1][4] < 0:  # of numbers with a sign both ends count
        return say("{name}: largest {high}, smallest {low}.", name=asks, high=said[0], low=said[-1])
    return _first_two(asks, said)


def _map(cells: list[list], header: list[str], width: int) -> str:
    """The largest cell of one of several maps."""
    if width == 2:
        where = f"{labels.layer_label(cells[0][0])}, {labels.head_label(cells[0][1])}"
    else:
        where = say("map {n}", n=cells[0][0])
    known = [cell for cell in cells if cell[-1] is not None]
    if not known:
        return say("{name}: blank.", name=where)
    *_, row, column, value = max(known, key=lambda cell: cell[-1])
    return say(
        "{name}: largest {value} {number:.3g}, at {row} and {column}.",
        name=where,
        value=say(header[-1]),
        number=value,
        row=_named("", header[-3], row),
        column=_named("", header[-2], column),
    )


def _lines_of_head(name: str, lines: list[list]) -> str:
    """The strongest lines of a head, strongest first."""
    said = [
        say("{query} reads {key} {weight:.3g}", query=_named(q, "query", i), key=_named(k, "key", j), weight=weight)
        for _, i, q, j, k, weight in lines
    ]
    return f"{name}: {_listed(said)}."


def _line(name: str, points: list[list]) -> str:
    """A line, or the points that belong together."""
    known = [point for point in points if point[2] is not None and not isinstance(point[2], str)]
    if not known:
        return f"{name}: {', '.join(_point(point) for point in points[:NAMED_AT_MOST])}."
    if len(known) == 1:
        return f"{name}: {_point(known[0])}."
    low, high = min(known, key=lambda point: point[2]), max(known, key=lambda point: point[2])
    ends = {"low": _point(low), "high": _point(high)}
    return say("{name}: {n} points, lowest {low}, highest {high}.", name=name, n=len(known), **ends)


def _first_two(name: str, said: list[str]) -> str:
    """The largest of something, and the next where there is one."""
    if len(said) == 1:
        return f"{name}: {said[0]}."
    return say("{name}: {first}, then {second}.", name=name, first=said[0], second=said[1])


def _listed(said: list[str]) -> str:
    return ", ".join(said[:NAMED_AT_MOST]) + (", …" if len(said) > NAMED_AT_MOST else "")


def _point(point: list) -> str:
    _, x, y, text = point
    at = say("{y} at {x}", y=_short(y), x=_short(x))
    return f"{at} ({text})" if text else at


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else html.unescape(str(value))


def _named(name: str, what: str, number: int) -> str:
    place = f"{say(what)} {number}"
    return f"{_quoted(name)} ({place})" if name else place


def _quoted(token: str) -> str:
    return labels.in_quotes(labels.visible(token))
