"""The rows of maps that an index keeps of every head: drawn at random, or the most active; a fixed number of each."""

from dataclasses import dataclass

import numpy as np

KEYS = 4  # of a row, those that most was written from


@dataclass(frozen=True)
class RowValues:
    """What is known of the rows of one layer in a batch, each array (B, H, T) or as it says."""

    texts: np.ndarray  # int (B,), the numbers of the texts
    activity: np.ndarray
    weights: np.ndarray  # (B, H, T, S)
    written: np.ndarray  # (B, H, T, S), the length of what is written from each key


class KeptRows:
    """For every head of a kind the rows with the smallest of some key: a random number, or minus the activity.

    With random numbers each row that was seen is as probable to be kept as any other (reservoir sampling, Vitter 1985).

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

    def arrays(self) -> dict[str, np.ndarray]:
        """All that is kept, by name."""
        return dict(vars(self))

    def add(self, layer: int, order: np.ndarray, values: RowValues) -> None:
        """Offer the rows of a layer, with a key (B, H, T) for each; infinite: never kept."""
        bound = self.order[layer].max(axis=1)  # (H,)
        heads = np.flatnonzero((order < bound[:, None]).any(axis=(0, 2)))
        for head in heads:
            texts, rows = np.nonzero(order[:, head] < bound[head])
            self._add_to(layer, int(head), texts, rows, order[texts, head, rows], values)

    def _add_to(
        self, layer: int, head: int, texts: np.ndarray, rows: np.ndarray, order: np.ndarray, values: RowValues
    ) -> None:
        """Keep the best of what one head has and of these rows of the batch."""
        most = self.order.shape[2]
        best = np.argsort(order, kind="stable")[:most]
        texts, rows, order = texts[best], rows[best], order[best]
        written = values.written[texts, head, rows]  # (n, S)
        keys = np.zeros((len(rows), KEYS), dtype=np.int64)
        largest = np.argsort(-written, axis=1, kind="stable")[:, :KEYS]
        keys[:, : largest.shape[1]] = largest
        weights = np.take_along_axis(values.weights[texts, head, rows], keys, axis=1)
        weights[:, largest.shape[1] :] = 0  # a text that is shorter has fewer keys
        new = {"order": order, "text": values.texts[texts], "row": rows, "keys": keys, "weights": weights}
        new["activity"] = values.activity[texts, head, rows]
        joined = np.argsort(np.concatenate([self.order[layer, head], order]), kind="stable")[:most]
        for name, value in new.items():
            array = getattr(self, name)
            array[layer, head] = np.concatenate([array[layer, head], value])[joined]

    def of_head(self, layer: int, head: int, lowest: float, highest: float, most: int) -> list[list]:
        """Up to `most` rows with an activity from `lowest` to below `highest`, of different texts, in the kept order.

        Each is [text, row, activity, [key, weight], ...] with the keys that have a weight.
        """
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
        is_kept = self.text[layer, head] >= 0
        return dict(zip(self.row[layer, head][is_kept].tolist(), self.activity[layer, head][is_kept].tolist()))
