"""Rules that tell what a head does, as cells of its map: the score of a head is the weight that it puts on them.

`previous`: the token before (previous-token heads). `induction`: the token after an earlier occurrence of the one that
is read (Olsson et al. 2022). `source`: where the symbol that is to be written stands in what was given.
"""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from model.analysis import rules
from model.films.batches import Batch

_BY_TOKENS = {"previous": rules.place_before, "induction": rules.induction}
RULES = (*_BY_TOKENS, "source")
Masses = dict[str, np.ndarray]


def kind_of(rule: str, has_encoder: bool) -> str:
    """The kind of attention that a rule is about."""
    return "cross" if rule == "source" and has_encoder else "decoder_self"


def cells_of_text(rule: str, ids: Sequence[int]) -> np.ndarray:
    """The cells of "previous" or "induction" in the maps of a decoder that read T ids, bool (T, T)."""
    cells = rules.Cells.of_decoder(ids)
    return (_BY_TOKENS[rule](cells) & cells.mask)[0]


def cells_of(rule: str, batch: Batch) -> np.ndarray:
    """The cells of a rule in the maps of a batch, bool (B, T, S)."""
    rows, length = batch.read.shape
    n_keys = length if batch.source is None or rule != "source" else batch.source.size(1)
    cells = np.zeros((rows, length, n_keys), bool)
    for row, (ids, count) in enumerate(zip(batch.read.tolist(), batch.lengths)):
        if rule in _BY_TOKENS:
            cells[row, :count, :count] = cells_of_text(rule, ids[:count])
        else:
            for query, keys in batch.origins[row]:
                cells[row, query, list(keys)] = True
    return cells


def head_scores(weights: Sequence[Tensor], cells: np.ndarray) -> np.ndarray:
    """The mean weight on cells (B, T, S), over the rows that have some, of L layers (B, H, T, S): float32 (L, H)."""
    count = max(1, int(cells.any(axis=-1).sum()))
    sums = [np.einsum("bhts,bts->h", layer.numpy(), cells.astype(np.float32)) for layer in weights]
    return (np.stack(sums) / count).astype(np.float32)
