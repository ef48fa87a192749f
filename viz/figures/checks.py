"""Checks of what a figure is given; every error (ValueError) says what came and what is allowed.

`name` is what an argument is called there, and `axes` has one letter per axis, as in "TS".
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def as_float(name: str, values: ArrayLike, axes: str, *, masked: bool = False) -> np.ndarray:
    """Copy finite numbers to float32; if `masked`, they may be -inf, too."""
    array = _array(name, values, axes, "fiu", "are real numbers").astype(np.float32)
    wrong = ~np.isfinite(array) & ~(np.isneginf(array) & masked)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        allowed = "finite numbers" + " and -inf (masked)" * masked
        raise ValueError(f"{name} is {array[place]} at {place} ({int(wrong.sum())} such cells); allowed are {allowed}.")
    return array


def as_probabilities(name: str, values: ArrayLike, axes: str) -> np.ndarray:
    """The values as float array of these axes, within [0, 1]; a ValueError names what is not."""
    array = as_float(name, values, axes)
    low, high = float(array.min()), float(array.max())
    if low < -1e-3 or high > 1 + 1e-3:  # as far as a softmax of low precision goes
        allowed = "probabilities from 0 to 1 (after softmax)"
        raise ValueError(f"{name} has values from {low:.6g} to {high:.6g}; allowed are {allowed}.")
    return array


def as_mask(name: str, values: ArrayLike, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """Copy a mask (T, S), True = may attend: bool, as 0/1 leaves open which blocks."""
    array = _array(name, values, "TS", "b", "is bool, where True means may attend")
    if shape not in (None, array.shape):
        raise ValueError(f"{name} has shape {array.shape}; allowed is {shape}, one cell for each query and key.")
    return array


def as_tokens(name: str, tokens: Sequence[object], n: int) -> list[str]:
    """Copy n labels to a list of strings; a ValueError says what is not a string."""
    if isinstance(tokens, str):
        raise ValueError(f"{name} is the string {tokens[:40]!r}; allowed is a list of {n} tokens.")
    if len(tokens) != n:
        raise ValueError(f"{name} has {len(tokens)} labels for {n} entries of the array; allowed is one for each.")
    labels: list[str] = []
    for position, token in enumerate(tokens):
        if not isinstance(token, str):
            raise ValueError(f"{name}[{position}] is {token!r} of type {type(token).__name__}; allowed are strings.")
        labels.append(token)
    return labels


def _array(name: str, values: ArrayLike, axes: str, kinds: str, allowed: str) -> np.ndarray:
    array: np.ndarray = np.array(values)
    if array.dtype.kind not in kinds:
        raise ValueError(f"{name} has type {array.dtype}; allowed {allowed}.")
    if array.ndim != len(axes) or 0 in array.shape:
        allowed = f"{len(axes)} axes ({', '.join(axes)}), each with at least one entry"
        raise ValueError(f"{name} has {array.ndim} axes (shape {array.shape}); allowed are {allowed}.")
    return array
