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
    """The same waves with all sines first, then all cosines, as in the MarianMT of transformers.

    It equals `sinusoidal` up to a permutation of the columns. tensor2tensor and Marian itself divide the exponent by
    d_model / 2 - 1 instead of d_model / 2, so their wavelengths differ.

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


def literal_loop(n_positions: int, d_model: int) -> Tensor:
    """A slip that is easy to make when the formula is written as a loop: the step of 2 is taken and doubled again.

    for i in 0, 2, 4, ...: sin(pos / 10000^(2i/d_model)) in column i and cos(pos / 10000^(2(i+1)/d_model)) in column
    i + 1. Frequencies fall twice as fast as the paper's, and sine and cosine of a pair have different ones.

    Args:
        n_positions: number of rows, from position 0.
        d_model: number of columns, even.

    Returns:
        (n_positions, d_model) float64.

    Raises:
        ValueError: if d_model is odd.
    """
    positions = torch.arange(n_positions, dtype=torch.float64)
    angles = positions[:, None] * frequencies("literal_loop", d_model)  # (T, D)
    return torch.stack([angles[:, 0::2].sin(), angles[:, 1::2].cos()], dim=-1).flatten(1)  # (T, D)


# What a model can be built with.
TABLES: dict[str, Callable[[int, int], Tensor]] = {
    "sinusoidal": sinusoidal,
    "sinusoidal_concatenated": sinusoidal_concatenated,
    "none": none,
}


# What can be looked at: the slip beside them.
VARIANTS: dict[str, Callable[[int, int], Tensor]] = TABLES | {"literal_loop": literal_loop}


def frequencies(name: str, d_model: int) -> Tensor:
    """How fast the wave in each column turns, in radians a position; its wavelength is 2 pi divided by that.

    Args:
        name: of VARIANTS.
        d_model: D, number of columns, even.

    Returns:
        (D,) float64; 0 in all columns where there are no waves ("none").

    Raises:
        ValueError: if the name is another one, or d_model is odd.

    Example:
        >>> frequencies("sinusoidal", 4).tolist()
        [1.0, 1.0, 0.01, 0.01]
    """
    if name not in VARIANTS:
        raise ValueError(f"the positional encoding is one of {', '.join(VARIANTS)}, got {name!r}")
    if name == "none":
        return torch.zeros(d_model, dtype=torch.float64)
    if d_model % 2:
        raise ValueError(f"d_model must be even to pair sine and cosine, got {d_model}")
    columns = torch.arange(d_model)
    doubled = {
        "sinusoidal": columns - columns % 2,  # 2i, for the columns 2i and 2i + 1
        "sinusoidal_concatenated": 2 * (columns % (d_model // 2)),
        "literal_loop": 2 * columns,
    }[name]
    return 10000.0 ** (-doubled.double() / d_model)


def shifted(table: Tensor, name: str, offset: int) -> Tensor:
    """The encodings of positions further on, from the encodings alone: every pair of sine and cosine is turned.

    The paper (section 3.5) chose sinusoids because PE(pos + k) is a linear function of PE(pos).

    Args:
        table: (..., D) float64, rows of `TABLES[name]`, from whatever position.
        name: of TABLES.
        offset: k, by how many positions.

    Returns:
        (..., D) float64, the rows k positions later.

    Example:
        >>> torch.allclose(shifted(sinusoidal(4, 6), "sinusoidal", 2), sinusoidal(6, 6)[2:])
        True
    """
    if name == "none":
        return table
    d_model = table.size(-1)
    sines, cosines = {
        "sinusoidal": (slice(0, None, 2), slice(1, None, 2)),
        "sinusoidal_concatenated": (slice(0, d_model // 2), slice(d_model // 2, None)),
    }[name]
    angles = offset * frequencies(name, d_model)[sines]  # (D/2)
    sine, cosine = table[..., sines], table[..., cosines]
    turned = table.clone()
    turned[..., sines] = sine * angles.cos() + cosine * angles.sin()
    turned[..., cosines] = cosine * angles.cos() - sine * angles.sin()
    return turned


def _angles(n_positions: int, d_model: int) -> Tensor:
    """(T, D/2) float64: pos / 10000^(2i/d_model), one column a wave."""
    positions = torch.arange(n_positions, dtype=torch.float64)
    return positions[:, None] * frequencies("sinusoidal", d_model)[::2]
