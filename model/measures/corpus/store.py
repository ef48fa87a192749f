"""The texts of a corpus and their ids in a temporary file, so that memory does not depend on how many there are."""

import hashlib
import json
import weakref
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import Any

import numpy as np

from model.analysis.token_facts import TokenTable
from model.measures.corpus.sources import Row, Source

IN_MEMORY = 4_000_000  # bytes, up to which no file is needed


def readable(source: Source, texts: Iterable[Any]) -> Iterator[tuple[int, Any, Row]]:
    """The number, the part that is read and the ids of each text that can be read and has two tokens or more on a side.

    Raises:
        ValueError: at the end, if there is none.
    """
    is_empty = True
    for number, text in enumerate(texts):
        text = source.cut(text)
        try:
            row = source.row(text)
        except ValueError:  # empty, or too long
            continue
        if row.length > 1:
            is_empty = False
            yield number, text, row
    if is_empty:
        raise ValueError("no line of the file is a text that the model can read")


class TokenCounts:
    """How often each token occurs in texts, in the order in which they come."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._counts = Counter[str]()

    def add(self, row: Row) -> None:
        """Count the tokens of a text."""
        self._counts.update(self._source.names("source", row.source))
        self._counts.update(self._source.names("target", row.target))
        self._counts.update(self._source.names("target", row.predicted[-1:]))  # the others are in the target

    def table(self) -> TokenTable:
        """The tokens with their counts."""
        return TokenTable(list(self._counts), np.array(list(self._counts.values()), dtype=np.float64))


class TextStore:
    """The texts that a model can read, by their places: 0 is the first of them.

    Memory holds 16 bytes of each: where it stands in the file, and how many tokens it has.

    Args:
        source: what reads them.
        texts: read once, one after another.

    Raises:
        ValueError: if the model can read none of them.

    Attributes:
        table: the tokens of all texts.
        n_given: how many texts there were, those that the model cannot read too.
        digest: says whether two stores were given the same texts.
    """

    def __init__(self, source: Source, texts: Iterable[Any]) -> None:
        self._file = SpooledTemporaryFile(IN_MEMORY)
        weakref.finalize(self, self._file.close)
        self._starts = array("q")
        self._n_source, self._n_target = array("i"), array("i")
        self.n_given = 0
        self._hash = hashlib.sha256()
        counts = TokenCounts(source)
        for _, text, row in readable(source, self._given(texts)):
            counts.add(row)
            self._starts.append(self._file.tell())
            self._n_source.append(len(row.source))
            self._n_target.append(len(row.target))
            self._file.write(json.dumps([text, row.source, row.target, row.predicted]).encode() + b"\n")
        self.table = counts.table()
        self.digest = self._hash.hexdigest()

    def _given(self, texts: Iterable[Any]) -> Iterator[Any]:
        for text in texts:
            self.n_given += 1
            self._hash.update(json.dumps(text).encode())
            yield text

    def __len__(self) -> int:
        return len(self._starts)

    def n_tokens(self, line: str) -> np.ndarray:
        """How many tokens the "source", "target" or "predicted" line of each text has, int (texts,)."""
        return np.frombuffer(self._n_source if line == "source" else self._n_target, dtype=np.intc)

    @property
    def longest(self) -> np.ndarray:
        """How many tokens the longer side of each text has, int (texts,)."""
        return np.maximum(self.n_tokens("source"), self.n_tokens("target"))

    def _entry(self, place: int) -> list[Any]:
        self._file.seek(self._starts[place])
        return json.loads(self._file.readline())

    def text(self, place: int) -> Any:
        """A text as the model reads it; of a translator a pair."""
        text = self._entry(place)[0]
        return tuple(text) if isinstance(text, list) else text

    def rows(self, places: np.ndarray) -> list[Row]:
        """The ids of texts, by their places, int (n,)."""
        return [Row(*self._entry(place)[1:]) for place in places.tolist()]
