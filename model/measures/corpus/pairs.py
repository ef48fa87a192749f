"""The pairs of tokens that a head joins: the query and the key that most is written from, with counts."""

import numpy as np

MOST = 1000  # pairs of each head that are counted at once
ROUND = 1_000_000  # rows after which pairs are forgotten
WAITING = 200_000  # rows that are added up at once


class PairCounts:
    """For every head of a kind how many rows join a pair of tokens, and how much they write.

    Memory is bounded: of more than MOST pairs of a head those with the least are forgotten from time to time, and begin
    from 0 when they come again, so that what is said is a lower bound (lossy counting, Manku and Motwani 2002).

    Args:
        n_heads: in all layers.
        n_tokens: of the corpus's table.
    """

    def __init__(self, n_heads: int, n_tokens: int) -> None:
        self._n_heads = n_heads
        self._n_tokens = n_tokens
        self.codes = np.zeros(0, dtype=np.int64)  # head, query and key as one number, in order
        self.counts = np.zeros(0, dtype=np.int64)
        self.written = np.zeros(0)
        self.n_rows = np.zeros((), dtype=np.int64)  # since pairs were forgotten
        self._waiting_codes = np.empty(WAITING, dtype=np.int64)
        self._waiting_written = np.empty(WAITING, dtype=np.float32)
        self._n_waiting = 0

    def arrays(self) -> dict[str, np.ndarray]:
        """All that was counted, by name."""
        self._add_up()
        return {"codes": self.codes, "counts": self.counts, "written": self.written, "n_rows": self.n_rows}

    def add(self, heads: np.ndarray, queries: np.ndarray, keys: np.ndarray, written: np.ndarray) -> None:
        """Count rows, each array (n,): the number of the head, the tokens by number, and what is written, float32."""
        codes = (heads.astype(np.int64) * self._n_tokens + queries) * self._n_tokens + keys
        for start in range(0, len(codes), WAITING):
            self._wait(codes[start : start + WAITING], written[start : start + WAITING])
        self.n_rows = self.n_rows + len(codes)
        if self.n_rows >= ROUND:
            self._add_up()
            self._forget()
            self.n_rows = np.zeros((), dtype=np.int64)

    def of_head(self, head: int, most: int) -> list[tuple[int, int, int, float]]:
        """The pairs from which a head writes most: query and key by number, how many rows, and how much in all."""
        self._add_up()
        size = self._n_tokens**2
        low, high = np.searchsorted(self.codes, [head * size, (head + 1) * size])
        best = low + np.argsort(-self.written[low:high], kind="stable")[:most]
        pairs = []
        for place in best:
            query, key = divmod(int(self.codes[place] - head * size), self._n_tokens)
            pairs.append((query, key, int(self.counts[place]), float(self.written[place])))
        return pairs

    def _wait(self, codes: np.ndarray, written: np.ndarray) -> None:
        """Keep at most WAITING rows for when they are added up."""
        if self._n_waiting + len(codes) > WAITING:
            self._add_up()
        rows = slice(self._n_waiting, self._n_waiting + len(codes))
        self._waiting_codes[rows], self._waiting_written[rows] = codes, written
        self._n_waiting += len(codes)

    def _add_up(self) -> None:
        n = self._n_waiting
        if not n:
            return
        self._n_waiting = 0
        codes, place = np.unique(np.concatenate([self.codes, self._waiting_codes[:n]]), return_inverse=True)
        counts = np.concatenate([self.counts, np.ones(n, dtype=np.int64)])
        self.counts = np.bincount(place, weights=counts, minlength=len(codes)).astype(np.int64)
        written = np.concatenate([self.written, self._waiting_written[:n]])
        self.written = np.bincount(place, weights=written, minlength=len(codes))
        self.codes = codes

    def _forget(self) -> None:
        """Keep the MOST pairs of each head from which it writes most."""
        heads = self.codes // self._n_tokens**2
        order = np.lexsort((-self.written, heads))
        starts = np.searchsorted(heads[order], np.arange(self._n_heads))
        rank = np.arange(len(order)) - starts[heads[order]]
        kept = np.sort(order[rank < MOST])
        self.codes, self.counts, self.written = self.codes[kept], self.counts[kept], self.written[kept]
