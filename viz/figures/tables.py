"""What a figure shows as a table, and as sentences for readers who cannot see it: the arrays that it was drawn from."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, SupportsInt, cast

import numpy as np

from viz.figures import labels
from viz.figures.labels import Say, english

NAMED_AT_MOST = 8  # keys that one sentence lists
Row = list[Any]  # of numbers, texts, and None where nothing is drawn
Line = tuple[str, np.ndarray, np.ndarray]  # name, x (N,) and y (N,)
LineWithTexts = tuple[str, np.ndarray, np.ndarray, Sequence[str]]  # and N texts at the points


class Table:
    """What was drawn: `header` names the columns in English, `rows` gives them, and `in_words` says what stands out
    in each map row, head or line: the rows that begin with the same `names`."""

    names = 1

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        raise NotImplementedError

    def rows(self) -> Iterator[Row]:
        """The rows, each a tuple of cells."""
        raise NotImplementedError

    def sentence(self, rows: list[Row], say: Say) -> str:
        """Say in a sentence what stands out in rows of the same `names`."""
        raise NotImplementedError

    def csv(self) -> bytes:
        """A file of comma-separated values, UTF-8."""
        text = io.StringIO()
        rows = ([_no_formula(cell) for cell in row] for row in (self.header, *self.rows()))
        csv.writer(text).writerows(rows)  # "\r\n" at the ends of lines, so that either inside a text is quoted
        return text.getvalue().encode("utf-8", "replace")

    def in_words(self, say: Say = english) -> list[str]:
        """The table as sentences, for readers who do not see the figure."""
        return [self.sentence(list(rows), say) for _, rows in groupby(self.rows(), lambda row: row[: self.names])]


@dataclass
class Cells(Table):
    """A map, a row per cell: values (T, S), NaN where blank, and what rows, columns and numbers are, in English."""

    values: np.ndarray
    axes: tuple[str, str]
    row_names: Sequence[str] | None
    column_names: Sequence[str] | None
    value: str

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return ["row", self.axes[0], "column", self.axes[1], self.value]

    def rows(self) -> Iterator[Row]:
        """The rows, each a tuple of cells."""
        names, columns = self.row_names, self.column_names
        for (i, j), value in np.ndenumerate(self.values):
            yield [i, names[i] if names else "", j, columns[j] if columns else "", _number(value)]

    def sentence(self, rows: list[Row], say: Say) -> str:
        """One sentence of the rows that belong together."""
        query = _named(rows[0][1], self.axes[0], rows[0][0], say)
        cells = [(_named(name, self.axes[1], j, say), x) for _, _, j, name, x in rows if x is not None]
        if self.values.dtype == bool:
            allowed = [key for key, x in cells if x]
            if not allowed:
                return say("{query} may attend to nothing.", query=query)
            keys = ", ".join(allowed[:NAMED_AT_MOST]) + ", …" * (len(allowed) > NAMED_AT_MOST)
            counts = {"n": len(allowed), "total": len(rows)}
            return say("{query} may attend to {n} of {total}: {keys}.", query=query, keys=keys, **counts)
        if not cells:
            return say("{name}: blank.", name=query)
        cells.sort(key=lambda cell: -cell[1])
        first, *rest = (say("{key} = {x:.3g}", key=key, x=x) for key, x in cells)
        if not rest:
            return f"{query}: {first}."
        if cells[-1][1] < 0:  # of numbers with a sign both ends count
            return say("{name}: largest {high}, smallest {low}.", name=query, high=first, low=rest[-1])
        return say("{name}: {first}, then {second}.", name=query, first=first, second=rest[0])


@dataclass
class Board(Table):
    """A cell per head: numbers (R, C), names of the heads, texts in the cells, and in English what the numbers are.

    `column_axis` says in English what `columns` are, "" where the rows say it; `selected` is the cell in an outline.
    """

    numbers: np.ndarray
    heads: Sequence[Sequence[str]]
    texts: Sequence[Sequence[str]]
    value: str
    row_names: Sequence[str]
    column_names: Sequence[str]
    column_axis: str
    selected: tuple[int, int] | None

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return ["head", self.value, "written"]

    def rows(self) -> Iterator[Row]:
        """The rows, each a tuple of cells."""
        for (i, j), number in np.ndenumerate(self.numbers):
            yield [self.heads[i][j], _number(number), self.texts[i][j]]

    def in_words(self, say: Say = english) -> list[str]:
        """A line for each row of heads."""
        rows = (zip(*row) for row in zip(self.heads, self.texts))
        return [f"{'; '.join(': '.join(filter(None, cell)) for cell in row)}." for row in rows]


@dataclass
class Points(Table):
    """A row per point of every line."""

    lines: Sequence[Line | LineWithTexts]

    @property
    def header(self) -> list[str]:
        """The names of the columns."""
        return ["line", "x", "y", "name"]

    def rows(self) -> Iterator[Row]:
        """The rows, each a tuple of cells."""
        for name, xs, ys, *texts in self.lines:
            for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
                yield [name, _number(x), _number(y), texts[0][place] if texts else ""]

    def sentence(self, rows: list[Row], say: Say) -> str:
        """One sentence of the rows that belong together."""
        name = rows[0][0]
        if len(rows) == 1:
            return f"{name}: {_point(rows[0], say)}."
        low, high = (_point(end(rows, key=lambda row: row[2]), say) for end in (min, max))
        return say("{name}: {n} points, lowest {low}, highest {high}.", name=name, n=len(rows), low=low, high=high)


def _no_formula(cell: object) -> object:
    """An apostrophe before what spreadsheets would take for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(tuple("=+-@\t\r")) else cell


def _number(value: SupportsInt) -> int | float | None:
    """A number as Python writes it; None for NaN."""
    if isinstance(value, float | np.floating):
        number = float(str(cast(object, value)))  # with the digits of a float32, no more
        return None if math.isnan(number) else number
    return int(value)


def _point(row: Row, say: Say) -> str:
    x, y = (say("{x:.4g}", x=value) if isinstance(value, float) else value for value in row[1:3])
    at = say("{y} at {x}", y=y, x=x)
    return f"{at} ({row[3]})" if row[3] else at


def _named(name: str, axis: str, number: int, say: Say) -> str:
    place = f"{say(axis)} {number}"
    return f"{labels.in_quotes(labels.visible(name), say)} ({place})" if name else place
