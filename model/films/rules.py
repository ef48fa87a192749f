"""Rules that tell what a head does, as cells of its map: the score of a head is the weight that it puts on them.

`previous`: the token before (previous-token heads). `induction`: the token after an earlier occurrence of the one that
is read (Olsson et al. 2022). `source`: where the symbol that is to be written stands in what was given.
"""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from model.films.batches import Batch

RULES = ("previous", "induction", "source")
Masses = dict[str, np.ndarray]


def kind_of(rule: str, has_encoder: bool) -> str:
    """The kind of attention that a rule is about."""
    return "cross" if rule == "source" and has_encoder else "decoder_self"


def previous_cells(length: int) -> np.ndarray:
    """The cells (T, T) of the token before."""
    return np.eye(length, k=-1, dtype=bool)


def induction_cells(ids: Sequence[int]) -> np.ndarray:
    """The cells (T, T) of tokens after an earlier occurrence of the one that is read."""
    tokens = np.asarray(ids)
    places = np.arange(len(tokens))
    earlier = (tokens[:, None] == tokens) & (places[:, None] > places)
    following = np.zeros_like(earlier)
    following[:, 1:] = earlier[:, :-1]
    np.fill_diagonal(following, False)  # right after it the query itself
    return following


def cells_of(rule: str, batch: Batch) -> np.ndarray:
    """The cells of a rule in the maps of a batch, bool (B, T, S)."""
    rows, length = batch.read.shape
    n_keys = length if batch.source is None or rule != "source" else batch.source.size(1)
    cells = np.zeros((rows, length, n_keys), bool)
    for row, (ids, count) in enumerate(zip(batch.read.tolist(), batch.lengths)):
        if rule == "previous":
            cells[row, :count, :count] = previous_cells(count)
        elif rule == "induction":
            cells[row, :count, :count] = induction_cells(ids[:count])
        else:
            for query, keys in batch.origins[row]:
                cells[row, query, list(keys)] = True
    return cells


def head_scores(weights: Sequence[Tensor], cells: np.ndarray) -> np.ndarray:
    """The mean weight on cells (B, T, S), over the rows that have some, of L layers (B, H, T, S): float32 (L, H)."""
    count = max(1, int(cells.any(axis=-1).sum()))
    sums = [np.einsum("bhts,bts->h", layer.numpy(), cells.astype(np.float32)) for layer in weights]
    return (np.stack(sums) / count).astype(np.float32)
