"""The numbers of a figure as a table: a row a cell of a map, or a point of a line."""

from __future__ import annotations

import csv
import html
import io
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures.montage import Montage
from viz.language import message

Table = tuple[list[str], list[list[Any]]]


def numbers(figure: go.Figure) -> Table:
    """Read the numbers back from a figure.

    Args:
        figure: of a function of viz.figures.

    Returns:
        The names of the columns, and the rows. What is left blank in the figure is None.

    Raises:
        ValueError: for a figure without numbers.
    """
    meta = figure.layout.meta or {}
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    if meta.get("figure") == "head_overview":
        return _of_montage(figure)
    if meta.get("figure") == "attention_lines":
        return _of_lines(meta)
    if meta.get("figure") == "head_board":
        return _of_board(maps[0], meta)
    if len(maps) == 1:
        return _of_map(np.asarray(maps[0].z), meta)
    if maps:
        return _of_panels(maps)
    points = [trace for trace in figure.data if trace.hoverinfo != "skip" and trace.y is not None]
    if not points:
        raise ValueError("this figure has no numbers")
    return _of_points(points, meta.get("row_names"))


def as_csv(table: Table) -> bytes:
    """The table as a file of comma-separated values, UTF-8; texts as of `no_formula`."""
    text = io.StringIO()
    writer = csv.writer(text)  # "\r\n" at the ends of lines, so that either of them inside a text is quoted
    writer.writerows([no_formula(cell) for cell in row] for row in (table[0], *table[1]))
    return text.getvalue().encode("utf-8", "replace")


def no_formula(cell: Any) -> Any:
    """A cell, with an apostrophe before a text that spreadsheets would take for a formula.

    Example:
        >>> no_formula("=1+1"), no_formula("a cat"), no_formula(-0.5)
        ("'=1+1", 'a cat', -0.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(tuple("=+-@\t\r")) else cell


def _of_map(values: np.ndarray, meta: dict) -> Table:
    """A row a cell: place and name of its row and column, and the number."""
    rows, columns = meta.get("rows", "row"), meta.get("columns", "column")
    names = [meta.get(key) or [""] * n for key, n in zip(("row_names", "column_names"), values.shape, strict=True)]
    header = ["row", rows, "column", columns, meta.get("value", "value")]
    cells = [[i, names[0][i], j, names[1][j], _number(values[i, j])] for i, j in np.ndindex(*values.shape)]
    return header, cells


def _of_board(board: go.Heatmap, meta: dict) -> Table:
    """A row a head: its number, where the board has numbers, and what is written on it."""
    cells = [
        [layer, head, _number(number) if meta["has_numbers"] else None, html.unescape(board.text[layer][head])]
        for (layer, head), number in np.ndenumerate(np.asarray(board.z))
    ]
    return ["layer", "head", meta["value"], "written"], cells


def _of_montage(figure: go.Figure) -> Table:
    """A row a cell of every head; a cell that stands for several weights is named by the first and the last of them."""
    meta = figure.layout.meta
    tile = meta["tile"]
    sizes = (meta["n_rows"], meta["n_columns"], tile["n_rows"], tile["n_columns"], meta["tiles_in_a_row"])
    montage = Montage(*sizes, (), ())
    cells = np.asarray(figure.data[0].z)
    block, *ends = meta["blocks"]

    def named(place: int, end: int) -> int | str:
        first, last = place * block, min(place * block + block, end) - 1
        return first if first == last else f"{first}–{last}"

    queries, keys = ([named(place, end) for place in range(n)] for n, end in zip(sizes[2:4], ends, strict=True))
    rows = [
        [layer, head, queries[i], keys[j], _number(value)]
        for layer, head in np.ndindex(*sizes[:2])
        for (i, j), value in np.ndenumerate(cells[montage.tile(layer, head)])
    ]
    return ["layer", "head", tile["rows"], tile["columns"], meta["value"]], rows


def _of_lines(meta: dict) -> Table:
    """A row a line from who asks to who is read."""
    heads, queries, keys = meta["head_names"], meta["row_names"], meta["column_names"]
    rows = [[heads[head], i, queries[i], j, keys[j], weight] for head, i, j, weight in zip(*meta["lines"], strict=True)]
    return ["head", "row", "query", "column", "key", "weight"], rows


def _of_panels(maps: list[go.Heatmap]) -> Table:
    """A row a cell of several maps."""
    rows = [
        [number, i, j, _number(value)]
        for number, trace in enumerate(maps)
        for (i, j), value in np.ndenumerate(np.asarray(trace.z))
    ]
    return ["map", message("row"), message("column"), message("value")], rows


def _of_points(traces: list, names: list[str] | None) -> Table:
    """A row a point of every line, and what is written at it."""
    rows = []
    for number, trace in enumerate(traces):
        xs, ys = np.asarray(trace.x), np.asarray(trace.y)
        texts = [trace.text] * len(ys) if isinstance(trace.text, str) or trace.text is None else list(trace.text)
        for place, (x, y, text) in enumerate(zip(xs, ys, texts, strict=True)):
            said = names[place] if names and len(names) == len(ys) else html.unescape(text or "").replace("<br>", ", ")
            rows.append([html.unescape(trace.name or str(number)), _number(x), _number(y), said])
    return ["line", "x", "y", "name"], rows


def _number(value: Any) -> Any:
    """A number as Python writes it, whole numbers without a point; None where there is none."""
    if isinstance(value, (np.floating, float)):
        return None if np.isnan(value) else float(np.format_float_positional(value, trim="-"))
    return value.item() if isinstance(value, np.generic) else value
