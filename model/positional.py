"""Positional encodings as plain table functions: (n_positions, d_model) -> table.

Tables are computed in float64: in float32 the dot product of two positions is a function of their offset only
to about 3e-4.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def sinusoidal(n_positions: int, d_model: int) -> Tensor:
    """Sine on even and cosine on odd dimensions (Vaswani et al. 2017, section 3.5).

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model)).

    Args:
        n_positions: number of rows, from position 0.
        d_model: number of columns, even.

    Returns:
        (n_positions, d_model) float64.

    Raises:
        ValueError: if d_model is odd.

    Example:
        >>> sinusoidal(1, 4).tolist()
        [[0.0, 1.0, 0.0, 1.0]]
    """
    angles = _angles(n_positions, d_model)  # (T, D/2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)  # (T, D)


def sinusoidal_concatenated(n_positions: int, d_model: int) -> Tensor:
    """The same waves with all sines first, then all cosines (tensor2tensor, Marian).

    It equals `sinusoidal` up to a permutation of the columns.

    Args:
        n_positions: number of rows, from position 0.
        d_model: number of columns, even.

    Returns:
        (n_positions, d_model) float64.

    Raises:
        ValueError: if d_model is odd.

    Example:
        >>> sinusoidal_concatenated(1, 4).tolist()
        [[0.0, 0.0, 1.0, 1.0]]
    """
    angles = _angles(n_positions, d_model)  # (T, D/2)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)  # (T, D)


def none(n_positions: int, d_model: int) -> Tensor:
    """No positions at all: the encoder cannot tell word orders apart.

    Args:
        n_positions: number of rows.
        d_model: number of columns.

    Returns:
        (n_positions, d_model) float64 zeros.
    """
    return torch.zeros(n_positions, d_model, dtype=torch.float64)


TABLES: dict[str, Callable[[int, int], Tensor]] = {
    "sinusoidal": sinusoidal,
    "sinusoidal_concatenated": sinusoidal_concatenated,
    "none": none,
}


def _angles(n_positions: int, d_model: int) -> Tensor:
    """(T, D/2) float64: pos / 10000^(2i/d_model), one column a wave."""
    if d_model % 2:
        raise ValueError(f"d_model must be even to pair sine and cosine, got {d_model}")
    positions = torch.arange(n_positions, dtype=torch.float64)
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64) / d_model  # 2i / d_model
    return positions[:, None] / 10000.0**exponents
