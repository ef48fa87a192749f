"""In which order an index reads texts: those that are read together, and those that have edges."""

from collections.abc import Iterator

import numpy as np

from model.measures.corpus import edges
from model.measures.corpus.sources import Source
from model.measures.corpus.store import TextStore

CHUNK = 2048  # texts that are put in order of their lengths together
MOST_ROWS, MOST_CELLS = 64, 100_000  # texts that are read together, and cells of one of their maps, pads counted


class Batches:
    """The places of texts that are read together, of about one length; chunk by chunk of their order.

    Args:
        longest: int (texts,), how many tokens the longer side of each text has.
        order: int (texts,), the places of the texts.
    """

    def __init__(self, longest: np.ndarray, order: np.ndarray) -> None:
        chunks = (order[start : start + CHUNK] for start in range(0, len(order), CHUNK))
        self._order = np.concatenate([chunk[np.lexsort((chunk, longest[chunk]))] for chunk in chunks])
        self._bounds = np.fromiter(_bounds(longest[self._order]), dtype=np.int32)

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> np.ndarray:
        return self._order[self._bounds[number] : self._bounds[number + 1]]

    def n_before(self, number: int) -> int:
        """How many texts are in the batches before one."""
        return int(self._bounds[number])


def _bounds(lengths: np.ndarray) -> Iterator[int]:
    """Where the batches begin, and where the last one ends, of texts whose lengths ascend in each chunk."""
    start = 0
    yield start
    for place, length in enumerate(lengths.tolist()):
        size = place - start
        is_full = size == MOST_ROWS or (size and (size + 1) * length**2 > MOST_CELLS)
        if is_full or (size and place % CHUNK == 0):
            start = place
            yield start
    yield len(lengths)


def with_edges(store: TextStore, order: np.ndarray, source: Source) -> np.ndarray:
    """The places of the texts whose edges are kept: the first of a random order, int."""
    n_rows = {line: store.n_tokens(line) for line in ("source", "target", "predicted")}
    longest = store.longest
    total = 0
    places = []
    for place in order.tolist():
        if longest[place] < edges.NONE:
            for kind, layers in source.layers.items():
                total += len(layers) * source.n_heads[kind] * int(n_rows[edges.LINES[kind][0]][place])
            if total > edges.MOST_EDGES:
                break
            places.append(place)
    return np.array(places, dtype=np.int64)
