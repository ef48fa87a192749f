"""The rows of maps that an index keeps of every head: drawn at random, or the most active; a fixed number of each."""

from dataclasses import dataclass

import numpy as np

KEYS = 4  # of a row, those that most was written from
ARRAYS = ("order", "text", "row", "activity", "keys", "weights")


@dataclass(frozen=True)
class RowValues:
    """What is known of the rows of one layer in a batch, each array (B, H, T) or as it says."""

    texts: np.ndarray  # int (B,), the numbers of the texts
    activity: np.ndarray
    weights: np.ndarray  # (B, H, T, S)
    written: np.ndarray  # (B, H, T, S), the length of what is written from each key

    def largest_keys(self, at: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Of n rows, as indices (text, head, row), the keys most is written from, and their weights, each (n, KEYS)."""
        written = self.written[at]  # (n, S)
        keys = np.zeros((len(written), KEYS), dtype=np.int64)
        largest = np.argsort(-written, axis=1, kind="stable")[:, :KEYS]
        keys[:, : largest.shape[1]] = largest
        weights = np.take_along_axis(self.weights[at], keys, axis=1)
        weights[:, largest.shape[1] :] = 0  # a text that is shorter has fewer keys
        return keys, weights


class KeptRows:
    """For every head of a kind the rows with the smallest of some key: a random number, or minus the activity.

    With random numbers each row that was seen is as probable to be kept as any other (reservoir sampling, Vitter 1985).
    Rows that are offered wait until there are as many of them as are kept: all heads then choose at once.

    Args:
        n_layers, n_heads: of the model.
        most: rows of each head.
    """

    def __init__(self, n_layers: int, n_heads: int, most: int) -> None:
        shape = (n_layers, n_heads, most)
        self.order = np.full(shape, np.inf)  # the key by which rows are kept
        self.text = np.full(shape, -1, dtype=np.int32)
        self.row = np.zeros(shape, dtype=np.int16)
        self.activity = np.zeros(shape, dtype=np.float32)
        self.keys = np.zeros((*shape, KEYS), dtype=np.int16)
        self.weights = np.zeros((*shape, KEYS), dtype=np.float32)
        self._waiting: list[dict[str, np.ndarray]] = []
        self._n_waiting = 0

    def arrays(self) -> dict[str, np.ndarray]:
        """All that is kept, by name."""
        self._choose()
        return {name: getattr(self, name) for name in ARRAYS}

    def add(self, layer: int, order: np.ndarray, values: RowValues) -> None:
        """Offer the rows of a layer, with a key (B, H, T) for each; infinite: never kept."""
        bound = self.order[layer].max(axis=1)  # (H,)
        texts, heads, rows = np.nonzero(order < bound[:, None])
        if not len(texts):
            return
        at = texts, heads, rows
        keys, weights = values.largest_keys(at)
        n_heads = self.order.shape[1]
        self._waiting.append(
            {
                "head": layer * n_heads + heads,
                "order": order[at],
                "text": values.texts[texts],
                "row": rows,
                "activity": values.activity[at],
                "keys": keys,
                "weights": weights,
            }
        )
        self._n_waiting += len(texts)
        if self._n_waiting >= self.order.size:
            self._choose()

    def _choose(self) -> None:
        """Keep the best of what each head has and of what waits; of equal ones those that came first."""
        if not self._waiting:
            return
        n_layers, n_heads, most = self.order.shape
        heads = [np.repeat(np.arange(n_layers * n_heads), most), *(rows["head"] for rows in self._waiting)]
        head = np.concatenate(heads)
        best = np.lexsort((self._joined("order"), head))
        n_rows = np.bincount(head, minlength=n_layers * n_heads)
        starts = np.cumsum(n_rows) - n_rows
        kept = best[starts[:, None] + np.arange(most)]  # (L * H, most)
        for name in ARRAYS:
            array = getattr(self, name)
            array[:] = self._joined(name)[kept].reshape(array.shape)
        self._waiting = []
        self._n_waiting = 0

    def _joined(self, name: str) -> np.ndarray:
        """What the rows have under a name, those that are kept and after them those that wait."""
        array = getattr(self, name)
        return np.concatenate([array.reshape(-1, *array.shape[3:]), *(rows[name] for rows in self._waiting)])

    def of_head(self, layer: int, head: int, lowest: float, highest: float, most: int) -> list[list]:
        """Up to `most` rows with an activity from `lowest` to below `highest`, of different texts, in the kept order.

        Each is [text, row, activity, [key, weight], ...] with the keys that have a weight.
        """
        self._choose()
        result: list[list] = []
        texts: set[int] = set()
        for place in np.argsort(self.order[layer, head], kind="stable"):
            text, activity = int(self.text[layer, head, place]), float(self.activity[layer, head, place])
            if len(result) == most:
                break
            if text < 0 or text in texts or not lowest <= activity < highest:
                continue
            texts.add(text)
            keys = zip(self.keys[layer, head, place].tolist(), self.weights[layer, head, place].tolist())
            cells = [[key, round(weight, 3)] for key, weight in keys if weight >= 0.0005]
            result.append([text, int(self.row[layer, head, place]), float(f"{activity:.3g}"), *cells])
        return result

    def of_one_text(self, layer: int, head: int) -> dict[int, float]:
        """The activity of each row that is kept, by its number, where all are of one text."""
        self._choose()
        is_kept = self.text[layer, head] >= 0
        return dict(zip(self.row[layer, head][is_kept].tolist(), self.activity[layer, head][is_kept].tolist()))
