"""What a figure shows as a table, and as sentences for who cannot see it: the arrays that it was drawn from."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from viz.figures import labels
from viz.figures.wording import Say, english

NAMED_AT_MOST = 8  # keys that one sentence lists
Row = list  # of numbers, texts, and None where nothing is drawn


def no_formula(cell: object) -> object:
    """A cell, with an apostrophe before a text that spreadsheets would take for a formula.

    Example:
        >>> no_formula("=1+1"), no_formula("a cat"), no_formula(-0.5)
        ("'=1+1", 'a cat', -0.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(tuple("=+-@\t\r")) else cell


class Table:
    """What was drawn.

    Attributes:
        header: the names of the columns, in English.
    """

    header: list[str]

    def rows(self) -> Iterator[Row]:
        """The rows in the order of the figure."""
        raise NotImplementedError

    def in_words(self, say: Say = english) -> list[str]:
        """What stands out, in sentences: of a map in every row, of heads in every head, of lines in every line."""
        raise NotImplementedError

    def csv(self) -> bytes:
        """A file of comma-separated values, UTF-8."""
        text = io.StringIO()
        writer = csv.writer(text)  # "\r\n" at the ends of lines, so that either of them inside a text is quoted
        writer.writerows([no_formula(cell) for cell in row] for row in (self.header, *self.rows()))
        return text.getvalue().encode("utf-8", "replace")


@dataclass
class Cells(Table):
    """A map, a row per cell.

    Args:
        values: (T, S), NaN where a cell is blank; of bools a mask.
        axes: what a row and a column is, in English.
        row_names, column_names: T and S names; numbers alone where there are none.
        value: what a number is, in English.

    Example:
        >>> cells = Cells(np.array([[0.75, 0.25]]), ("query", "key"), ["Hund"], ["dog", "the"], "weight")
        >>> cells.in_words()
        ['“Hund” (query 0): “dog” (key 0) = 0.75, then “the” (key 1) = 0.25.']
        >>> cells.header, next(cells.rows())
        (['row', 'query', 'column', 'key', 'weight'], [0, 'Hund', 0, 'dog', 0.75])
    """

    values: np.ndarray
    axes: tuple[str, str]
    row_names: Sequence[str] | None = None
    column_names: Sequence[str] | None = None
    value: str = "value"

    @property
    def header(self) -> list[str]:
        return ["row", self.axes[0], "column", self.axes[1], self.value]

    def rows(self) -> Iterator[Row]:
        names, others = self.row_names, self.column_names
        for (i, j), value in np.ndenumerate(self.values):
            yield [i, names[i] if names else "", j, others[j] if others else "", _number(value)]

    def in_words(self, say: Say = english) -> list[str]:
        return [self._row(list(cells), say) for _, cells in groupby(self.rows(), key=lambda cell: cell[0])]

    def _row(self, cells: list[Row], say: Say) -> str:
        query = _named(cells[0][1], self.axes[0], cells[0][0], say)

        def key(cell: Row) -> str:
            return _named(cell[3], self.axes[1], cell[2], say)

        if self.values.dtype == bool:
            allowed = [key(cell) for cell in cells if cell[4]]
            if not allowed:
                return say("{query} may attend to nothing.", query=query, total=len(cells))
            counts = {"n": len(allowed), "total": len(cells)}
            return say("{query} may attend to {n} of {total}: {keys}.", query=query, keys=_listed(allowed), **counts)
        known = sorted((cell for cell in cells if cell[4] is not None), key=lambda cell: -cell[4])
        if not known:
            return say("{name}: blank.", name=query)
        said = [say("{key} = {x:.3g}", key=key(cell), x=cell[4]) for cell in known]
        if known[-1][4] < 0:  # of numbers with a sign both ends count
            return say("{name}: largest {high}, smallest {low}.", name=query, high=said[0], low=said[-1])
        if len(said) == 1:
            return f"{query}: {said[0]}."
        return say("{name}: {first}, then {second}.", name=query, first=said[0], second=said[1])


@dataclass
class Board(Table):
    """A cell per head.

    Args:
        numbers: (R, C).
        names: R times C, of the heads.
        texts: R times C, what is written on them.
        value: what a number is, in English.
    """

    numbers: np.ndarray
    names: Sequence[Sequence[str]]
    texts: Sequence[Sequence[str]]
    value: str

    @property
    def header(self) -> list[str]:
        return ["head", self.value, "written"]

    def rows(self) -> Iterator[Row]:
        for names, numbers, texts in zip(self.names, self.numbers, self.texts):
            yield from ([name, _number(number), text] for name, number, text in zip(names, numbers, texts))

    def in_words(self, say: Say = english) -> list[str]:
        rows = (zip(*row) for row in zip(self.names, self.texts))
        return [f"{'; '.join(': '.join(filter(None, one)) for one in row)}." for row in rows]


@dataclass
class Tiles(Table):
    """A row per cell of every head; a cell that stands for several weights is named by the first and the last of them.

    Args:
        weights: (L, H, T, S), NaN where a cell is blank.
        sizes: queries and keys, of which a cell has `block` by `block`.
        block: 1 where every weight has its cell.
        value: what a number is, in English.
    """

    weights: np.ndarray
    sizes: tuple[int, int]
    block: int
    value: str

    @property
    def header(self) -> list[str]:
        return ["layer", "head", "query", "key", self.value]

    def rows(self) -> Iterator[Row]:
        queries, keys = ([self._name(place, end) for place in range(-(-end // self.block))] for end in self.sizes)
        for (layer, head, i, j), weight in np.ndenumerate(self.weights):
            yield [layer, head, queries[i], keys[j], _number(weight)]

    def _name(self, place: int, end: int) -> int | str:
        first, last = place * self.block, min((place + 1) * self.block, end) - 1
        return first if first == last else f"{first}–{last}"

    def in_words(self, say: Say = english) -> list[str]:
        return [self._head(list(cells), say) for _, cells in groupby(self.rows(), key=lambda cell: cell[:2])]

    def _head(self, cells: list[Row], say: Say) -> str:
        where = f"{labels.layer_label(cells[0][0], say)}, {labels.head_label(cells[0][1], say)}"
        known = [cell for cell in cells if cell[-1] is not None]
        if not known:
            return say("{name}: blank.", name=where)
        *_, query, key, weight = max(known, key=lambda cell: cell[-1])
        return say(
            "{name}: largest {value} {number:.3g}, at {row} and {column}.",
            name=where,
            value=say(self.value),
            number=weight,
            row=_named("", "query", query, say),
            column=_named("", "key", key, say),
        )


@dataclass
class Links(Table):
    """One row per line, from query to key.

    Args:
        heads, queries, keys: their names.
        lines: (N, 4) of numbers of head, query and key, and the weight.
    """

    heads: Sequence[str]
    queries: Sequence[str]
    keys: Sequence[str]
    lines: Sequence[tuple[int, int, int, float]]
    header = ["head", "row", "query", "column", "key", "weight"]

    def rows(self) -> Iterator[Row]:
        for head, i, j, weight in self.lines:
            yield [self.heads[head], i, self.queries[i], j, self.keys[j], float(f"{weight:.4g}")]

    def in_words(self, say: Say = english) -> list[str]:
        strongest = sorted(self.lines, key=lambda line: (line[0], -line[3]))
        return [
            f"{self.heads[head]}: {_listed([self._line(line, say) for line in lines])}."
            for head, lines in groupby(strongest, key=lambda line: line[0])
        ]

    def _line(self, line: tuple[int, int, int, float], say: Say) -> str:
        _, i, j, weight = line
        query, key = _named(self.queries[i], "query", i, say), _named(self.keys[j], "key", j, say)
        return say("{query} attends to {key} {weight:.3g}", query=query, key=key, weight=weight)


@dataclass
class Points(Table):
    """A row a point of every line, and what is written at it.

    Args:
        lines: of each its name, x (N,), y (N,), and N texts or none.
    """

    lines: Sequence[tuple[str, Iterable[float], Iterable[float], Sequence[str] | None]]
    header = ["line", "x", "y", "name"]

    def rows(self) -> Iterator[Row]:
        for name, xs, ys, texts in self.lines:
            for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
                yield [name, _number(x), _number(y), texts[place] if texts else ""]

    def in_words(self, say: Say = english) -> list[str]:
        return [self._line(name, list(points), say) for name, points in groupby(self.rows(), key=lambda row: row[0])]

    def _line(self, name: str, points: list[Row], say: Say) -> str:
        if len(points) == 1:
            return f"{name}: {_point(points[0], say)}."
        low, high = min(points, key=lambda point: point[2]), max(points, key=lambda point: point[2])
        ends = {"low": _point(low, say), "high": _point(high, say)}
        return say("{name}: {n} points, lowest {low}, highest {high}.", name=name, n=len(points), **ends)


def _number(value: object) -> object:
    """A number as Python writes it, whole numbers without a point; None where there is none."""
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (np.floating, float)):
        return None if np.isnan(value) else float(np.format_float_positional(value, trim="-"))
    return value.item() if isinstance(value, np.generic) else value


def _listed(said: list[str]) -> str:
    return ", ".join(said[:NAMED_AT_MOST]) + (", …" if len(said) > NAMED_AT_MOST else "")


def _point(point: Row, say: Say) -> str:
    x, y = (say("{x:.4g}", x=value) if isinstance(value, float) else value for value in point[1:3])
    at = say("{y} at {x}", y=y, x=x)
    return f"{at} ({point[3]})" if point[3] else at


def _named(name: str, what: str, number: object, say: Say) -> str:
    place = f"{say(what)} {number}"
    return f"{labels.in_quotes(labels.visible(name), say)} ({place})" if name else place
