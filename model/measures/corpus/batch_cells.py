"""The cells of a batch of maps that are the same for every head: which rules hold, how far apart, which rows count."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from model.analysis.rules import Cells, Rule, combinations

# The bins of key position minus query position, each from its first to the next one's first; the outer ones are open.
DISTANCES = (-64, -32, -16, -8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 9, 17, 33)


class BatchCells:
    """What is counted of each head is one product of its weights with these arrays; T queries, S keys, C combinations.

    Rows count that may attend to several keys; the others have no choice.
    """

    def __init__(self, cells: Cells, rules: Mapping[str, Rule]) -> None:
        mask = cells.mask
        n_allowed = mask.sum(axis=2)  # (B, T)
        self.cells = cells
        self.is_row = cells.queries.is_token & (n_allowed > 1)  # bool (B, T)
        codes = combinations(cells, rules)  # (B, T, S)
        is_counted = mask & self.is_row[:, :, None]
        self.codes = np.unique(codes[is_counted])  # (C,)
        place = np.searchsorted(self.codes, codes).clip(max=max(len(self.codes) - 1, 0))
        by_code = np.zeros((*codes.shape, len(self.codes)), dtype=np.float32)
        if len(self.codes):
            np.put_along_axis(by_code, place[..., None], is_counted[..., None].astype(np.float32), axis=-1)
        self.by_code = torch.from_numpy(by_code.reshape(len(codes), -1, len(self.codes)))  # (B, T * S, C)
        self.unexplained = torch.from_numpy(is_counted & (codes == 0)).float()[:, None]  # (B, 1, T, S)
        self.rows = torch.from_numpy(self.is_row)[:, None]  # bool (B, 1, T)
        self.log_allowed = torch.from_numpy(np.log(np.maximum(n_allowed, 2)))[:, None].float()  # (B, 1, T)
        bins = np.searchsorted(DISTANCES, cells.offsets, side="right") - 1
        bins = np.maximum(bins, 0)
        self.by_distance = torch.from_numpy(np.eye(len(DISTANCES), dtype=np.float32)[bins.ravel()])  # (T * S, D)
        even = is_counted / np.maximum(n_allowed, 1)[:, :, None]
        self.even = np.einsum("bx,bxc->bc", even.reshape(len(even), -1), self.by_code.numpy())  # (B, C)

    def fits(self, mask: Tensor) -> bool:
        """Whether another layer has the same mask (B, 1, T, S)."""
        return np.array_equal(mask[:, 0].cpu().numpy(), self.cells.mask)
