"""Positional encodings: of n_positions and an even d_model (else a ValueError) a table (n_positions, d_model), float64.

In float32 the dot product of two positions is a function of their offset only to about 3e-4.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def sinusoidal(n_positions: int, d_model: int) -> Tensor:
    """Sine on even and cosine on odd dimensions (Vaswani et al. 2017, section 3.5).

    PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(pos / 10000^(2i/d_model)).

    Example:
        >>> sinusoidal(1, 4).tolist()
        [[0.0, 1.0, 0.0, 1.0]]
    """
    return _waves("sinusoidal", n_positions, d_model)


def sinusoidal_concatenated(n_positions: int, d_model: int) -> Tensor:
    """The waves of `sinusoidal`, all sines first, then all cosines, as in the MarianMT of transformers.

    tensor2tensor and Marian itself divide the exponent by d_model / 2 - 1 instead of d_model / 2: other wavelengths.

    Example:
        >>> sinusoidal_concatenated(1, 4).tolist()
        [[0.0, 0.0, 1.0, 1.0]]
    """
    return _waves("sinusoidal_concatenated", n_positions, d_model)


def none(n_positions: int, d_model: int) -> Tensor:
    """Zeros: the encoder cannot tell word orders apart."""
    return torch.zeros(n_positions, d_model, dtype=torch.float64)


def literal_loop(n_positions: int, d_model: int) -> Tensor:
    """A slip that is easy to make in a loop over i = 0, 2, 4, ...: the step of 2 is taken and doubled again.

    sin(pos / 10000^(2i/d_model)) in column i, cos(pos / 10000^(2(i+1)/d_model)) in column i + 1: frequencies fall twice
    as fast as the paper's, and sine and cosine of a pair have different ones.
    """
    return _waves("literal_loop", n_positions, d_model)


TABLES: dict[str, Callable[[int, int], Tensor]] = {  # what a model can be built with
    "sinusoidal": sinusoidal,
    "sinusoidal_concatenated": sinusoidal_concatenated,
    "none": none,
}
VARIANTS = TABLES | {"literal_loop": literal_loop}  # what can be looked at: the slip beside them


def frequencies(name: str, d_model: int) -> Tensor:
    """How fast each column's wave turns, (D,) float64 in radians per position, by a name of VARIANTS.

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
    """The encodings (..., D) float64 of positions `offset` further on, from the encodings alone, by a name of TABLES.

    Every pair of sine and cosine is turned: PE(pos + k) is a linear function of PE(pos) (the paper, section 3.5).

    Example:
        >>> torch.allclose(shifted(sinusoidal(4, 6), "sinusoidal", 2), sinusoidal(6, 6)[2:])
        True
    """
    if name == "none":
        return table
    sines, cosines = _columns(name, table.size(-1))
    angles = offset * frequencies(name, table.size(-1))[sines]  # (D/2)
    sine, cosine = table[..., sines], table[..., cosines]
    turned = table.clone()
    turned[..., sines] = sine * angles.cos() + cosine * angles.sin()
    turned[..., cosines] = cosine * angles.cos() - sine * angles.sin()
    return turned


def _waves(name: str, n_positions: int, d_model: int) -> Tensor:
    positions = torch.arange(n_positions, dtype=torch.float64)
    table = positions[:, None] * frequencies(name, d_model)  # (T, D), angles
    sines, cosines = _columns(name, d_model)
    table[:, sines], table[:, cosines] = table[:, sines].sin(), table[:, cosines].cos()
    return table


def _columns(name: str, d_model: int) -> tuple[slice, slice]:
    if name == "sinusoidal_concatenated":
        return slice(0, d_model // 2), slice(d_model // 2, None)
    return slice(0, None, 2), slice(1, None, 2)
