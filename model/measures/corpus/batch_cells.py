"""The cells of a batch of maps that are the same for every head: which rules hold, how far apart, which rows count."""

import math
from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from model.analysis.rules import Cells, Rule, combinations
from model.measures.corpus.combinations import GROUPS

# The bins of key position minus query position, each from its first to the next one's first; the outer ones are open.
DISTANCES = (-64, -32, -16, -8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 9, 17, 33)


class BatchCells:
    """Where each cell of B maps, of T queries and S keys, is counted: the same for all H heads of the layers of a kind.

    Rows count that may attend to several keys; the others have no choice.

    Args:
        cells: those of the maps.
        rules: of the kind of attention.
        groups: int (B,), the group of each text.
        n_heads: of a layer.

    `codes` (C,) are the combinations of rules that hold in some cell that counts.
    """

    def __init__(self, cells: Cells, rules: Mapping[str, Rule], groups: np.ndarray, n_heads: int) -> None:
        mask = cells.mask
        n_allowed = mask.sum(axis=2)  # (B, T)
        self.cells = cells
        self.is_row = cells.queries.is_token & (n_allowed > 1)  # bool (B, T)
        codes = combinations(cells, rules)  # (B, T, S)
        is_counted = mask & self.is_row[:, :, None]
        self.codes = np.unique(codes[is_counted])  # (C,)
        place = np.searchsorted(self.codes, codes).clip(max=max(len(self.codes) - 1, 0))
        first = place * n_heads * GROUPS + groups[:, None, None]  # (B, T, S), where those of the first head are added
        self._bins = (first[:, None] + GROUPS * np.arange(n_heads)[:, None, None]).ravel()  # (B * H * T * S,)
        self._n_heads = n_heads
        self.unexplained = torch.from_numpy(is_counted & (codes == 0)).float()[:, None]  # (B, 1, T, S)
        self.rows = torch.from_numpy(self.is_row)[:, None]  # bool (B, 1, T)
        self.log_allowed = torch.from_numpy(np.log(np.maximum(n_allowed, 2)))[:, None].float()  # (B, 1, T)
        bins = np.searchsorted(DISTANCES, cells.offsets, side="right") - 1
        bins = np.maximum(bins, 0)
        self.by_distance = torch.from_numpy(np.eye(len(DISTANCES), dtype=np.float32)[bins.ravel()])  # (T * S, D)
        even = is_counted / np.maximum(n_allowed, 1)[:, :, None]
        self.even = self._sums(first.ravel(), even)[:, 0]  # (C, GROUPS), of a head that looks evenly at all that it may

    def sums(self, masses: np.ndarray) -> np.ndarray:
        """Masses (B, H, T, S), 0 where they do not count, added up by combination, head and group: (C, H, GROUPS)."""
        return self._sums(self._bins, masses)

    def _sums(self, bins: np.ndarray, masses: np.ndarray) -> np.ndarray:
        shape = (len(self.codes), self._n_heads, GROUPS)
        if not len(self.codes):
            return np.zeros(shape)
        return np.bincount(bins, masses.ravel(), minlength=math.prod(shape)).reshape(shape)

    def fits(self, mask: Tensor) -> bool:
        """Whether another layer has the same mask (B, 1, T, S)."""
        return np.array_equal(mask[:, 0].cpu().numpy(), self.cells.mask)
