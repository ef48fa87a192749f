"""Dropout with random numbers drawn four at a time: on a CPU drawing them took a sixth of a training step."""

from __future__ import annotations

import torch
from torch import Tensor, nn

_STEPS = 2**16  # probabilities are whole numbers of these: 0.1 becomes 0.100006


class Dropout(nn.Dropout):
    """Zeroes each number with probability p in training and scales the rest (Srivastava et al. 2014).

    Each word of 64 random bits decides on four numbers, 16 bits each. What is kept is scaled by the probability that
    was really drawn with, so the mean is exact.

    Example:
        >>> x = torch.ones(1000)
        >>> dropped = Dropout(0.25)(x)
        >>> dropped.unique().tolist() == [0.0, torch.tensor(1 / 0.75).item()]
        True
        >>> Dropout(0.25).eval()(x) is x
        True
    """

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        dropped = round(self.p * _STEPS)
        if x.device.type != "cpu" or not 0 < dropped < _STEPS:  # elsewhere the library has a fused kernel
            return super().forward(x)
        words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
        bits = words.view(torch.int16)[: x.numel()].view(x.shape)  # even over -2^15 ... 2^15 - 1
        kept = (bits >= dropped - _STEPS // 2).to(x.dtype)
        return x * kept.mul_(_STEPS / (_STEPS - dropped))
