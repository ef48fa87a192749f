"""What an index reads, in which order: the texts as ids, those that are read together, and those that have edges."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from model.analysis.token_facts import TokenTable
from model.measures.corpus import edges
from model.measures.corpus.sources import Row, Source

CHUNK = 2048  # texts that are put in order of their lengths together
MOST_ROWS, MOST_CELLS = 64, 100_000  # texts that are read together, and cells of one of their maps, pads counted


def rows_of(source: Source, texts: Sequence[Any]) -> tuple[np.ndarray, list[Row]]:
    """The numbers and the ids of the texts that can be read and have two tokens or more on a side."""
    numbers, rows = [], []
    for number, text in enumerate(texts):
        try:
            row = source.row(text)
        except ValueError:  # empty, or too long
            continue
        if row.length > 1:
            numbers.append(number)
            rows.append(row)
    if not rows:
        raise ValueError("no line of the file is a text that the model can read")
    return np.array(numbers), rows


def table_of(source: Source, rows: Sequence[Row]) -> TokenTable:
    """The tokens of all texts with their counts, in the order in which they come."""
    counts = Counter[str]()
    for row in rows:
        counts.update(source.names("source", row.source))
        counts.update(source.names("target", row.target))
        counts.update(source.names("target", row.predicted[-1:]))  # the others are in the target, one step later
    return TokenTable(list(counts), np.array(list(counts.values()), dtype=np.float64))


def batches(rows: Sequence[Row], order: np.ndarray) -> Iterator[list[int]]:
    """The places of rows that are read together, of about one length; chunk by chunk of their order."""
    for start in range(0, len(order), CHUNK):
        chunk = sorted(order[start : start + CHUNK].tolist(), key=lambda place: (rows[place].length, place))
        batch: list[int] = []
        for place in chunk:
            longest = rows[place].length  # the last is the longest
            if len(batch) == MOST_ROWS or (batch and (len(batch) + 1) * longest**2 > MOST_CELLS):
                yield batch
                batch = []
            batch.append(place)
        yield batch


def with_edges(rows: Sequence[Row], order: np.ndarray, source: Source) -> np.ndarray:
    """The places of the texts whose edges are kept: the first of a random order, int."""
    n_heads = {kind: len(layers) * source.n_heads[kind] for kind, layers in source.layers.items()}
    total = 0
    places = []
    for place in order.tolist():
        row = rows[place]
        if row.length < edges.NONE:
            total += sum(n * len(getattr(row, edges.LINES[kind][0])) for kind, n in n_heads.items())
            if total > edges.MOST_EDGES:
                break
            places.append(place)
    return np.array(places, dtype=np.int64)
