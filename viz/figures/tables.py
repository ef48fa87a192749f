"""What a figure shows as a table, and as sentences for who cannot see it: the arrays that it was drawn from."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from viz.figures import labels
from viz.figures.labels import Say, english

NAMED_AT_MOST = 8  # keys that one sentence lists
Row = list  # of numbers, texts, and None where nothing is drawn


def no_formula(cell: object) -> object:
    """A cell, with an apostrophe before a text that spreadsheets would take for a formula.

    >>> no_formula("=1+1"), no_formula("a cat"), no_formula(-0.5)
    ("'=1+1", 'a cat', -0.5)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(tuple("=+-@\t\r")) else cell


class Table:
    """What was drawn: `header` names the columns in English, `rows` gives them, and `in_words` says what stands out:
    of a map in every row, of heads in every head, of lines in every line."""

    def csv(self) -> bytes:
        """A file of comma-separated values, UTF-8."""
        text = io.StringIO()
        rows = ([no_formula(cell) for cell in row] for row in (self.header, *self.rows()))
        csv.writer(text).writerows(rows)  # "\r\n" at the ends of lines, so that either inside a text is quoted
        return text.getvalue().encode("utf-8", "replace")


@dataclass
class Cells(Table):
    """A map, a row per cell: values (T, S), NaN where blank, and what rows, columns and numbers are, in English.

    >>> cells = Cells(np.array([[0.75, 0.25]]), ("query", "key"), ["Hund"], ["dog", "the"], "weight")
    >>> cells.in_words()
    ['“Hund” (query 0): “dog” (key 0) = 0.75, then “the” (key 1) = 0.25.']
    >>> cells.header, next(cells.rows())
    (['row', 'query', 'column', 'key', 'weight'], [0, 'Hund', 0, 'dog', 0.75])
    """

    values: np.ndarray
    axes: tuple[str, str]
    row_names: Sequence[str] | None
    column_names: Sequence[str] | None
    value: str

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
        known = [(_named(name, self.axes[1], j, say), x) for _, _, j, name, x in cells if x is not None]
        if self.values.dtype == bool:
            allowed = [key for key, x in known if x]
            if not allowed:
                return say("{query} may attend to nothing.", query=query)
            said = ", ".join(allowed[:NAMED_AT_MOST]) + (", …" if len(allowed) > NAMED_AT_MOST else "")
            counts = {"n": len(allowed), "total": len(cells)}
            return say("{query} may attend to {n} of {total}: {keys}.", query=query, keys=said, **counts)
        if not known:
            return say("{name}: blank.", name=query)
        known.sort(key=lambda cell: -cell[1])
        said = [say("{key} = {x:.3g}", key=key, x=x) for key, x in known]
        if known[-1][1] < 0:  # of numbers with a sign both ends count
            return say("{name}: largest {high}, smallest {low}.", name=query, high=said[0], low=said[-1])
        if len(said) == 1:
            return f"{query}: {said[0]}."
        return say("{name}: {first}, then {second}.", name=query, first=said[0], second=said[1])


@dataclass
class Board(Table):
    """A cell per head: numbers (R, C), what they are in English, names of the heads, and what is written on them."""

    numbers: np.ndarray
    names: Sequence[Sequence[str]]
    texts: Sequence[Sequence[str]]
    value: str

    @property
    def header(self) -> list[str]:
        return ["head", self.value, "written"]

    def rows(self) -> Iterator[Row]:
        for (i, j), number in np.ndenumerate(self.numbers):
            yield [self.names[i][j], _number(number), self.texts[i][j]]

    def in_words(self, say: Say = english) -> list[str]:
        rows = (zip(*row) for row in zip(self.names, self.texts))
        return [f"{'; '.join(': '.join(filter(None, one)) for one in row)}." for row in rows]


@dataclass
class Tiles(Table):
    """A row per cell of every head: weights (L, H, T, S), NaN where a cell is blank."""

    weights: np.ndarray
    header = ["layer", "head", "query", "key", "weight"]

    def rows(self) -> Iterator[Row]:
        for place, weight in np.ndenumerate(self.weights):
            yield [*place, _number(weight)]

    def in_words(self, say: Say = english) -> list[str]:
        return [self._head(layer, head, say) for layer, head in np.ndindex(self.weights.shape[:2])]

    def _head(self, layer: int, head: int, say: Say) -> str:
        name = f"{labels.layer_label(layer, say)}, {labels.head_label(head, say)}"
        weights = self.weights[layer, head]
        if np.isnan(weights).all():
            return say("{name}: blank.", name=name)
        row, column = np.unravel_index(np.nanargmax(weights), weights.shape)
        words = {"value": say("weight"), "number": weights[row, column]}
        words |= {"row": _named("", "query", row, say), "column": _named("", "key", column, say)}
        return say("{name}: largest {value} {number:.3g}, at {row} and {column}.", name=name, **words)


@dataclass
class Points(Table):
    """A row per point of every line: of each line its name, x (N,), y (N,), and maybe N texts at the points."""

    lines: Sequence[tuple]
    header = ["line", "x", "y", "name"]

    def rows(self) -> Iterator[Row]:
        for name, xs, ys, *texts in self.lines:
            for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
                yield [name, _number(x), _number(y), texts[0][place] if texts else ""]

    def in_words(self, say: Say = english) -> list[str]:
        return [self._line(name, list(points), say) for name, points in groupby(self.rows(), key=lambda row: row[0])]

    def _line(self, name: str, points: list[Row], say: Say) -> str:
        if len(points) == 1:
            return f"{name}: {_point(points[0], say)}."
        low, high = (_point(end(points, key=lambda point: point[2]), say) for end in (min, max))
        return say("{name}: {n} points, lowest {low}, highest {high}.", name=name, n=len(points), low=low, high=high)


def _number(value: object) -> int | float | None:
    """A number as Python writes it, whole numbers without a point; None where there is none."""
    if isinstance(value, (np.floating, float)):
        return None if np.isnan(value) else float(str(value))  # with the digits of a float32, no more
    return int(value)


def _point(point: Row, say: Say) -> str:
    x, y = (say("{x:.4g}", x=value) if isinstance(value, float) else value for value in point[1:3])
    at = say("{y} at {x}", y=y, x=x)
    return f"{at} ({point[3]})" if point[3] else at


def _named(name: str, what: str, number: int, say: Say) -> str:
    place = f"{say(what)} {number}"
    return f"{labels.in_quotes(labels.visible(name), say)} ({place})" if name else place
