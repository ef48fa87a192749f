"""Two recordings compared: which tokens belong together, and how their attention differs.

Shape letters: T queries (rows), S keys (columns), R and C the rows and columns that belong together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model.analysis import comparison

Pairs = list[tuple[int, int]]


def pairs(a: Sequence[str], b: Sequence[str]) -> Pairs:
    """Pair the tokens of two sentences by the cheapest edits: equal ones, and those that replace each other.

    Args:
        a, b: the tokens.

    Returns:
        Places in a and in b, in order; tokens that were inserted or left out have no partner and are not here.

    Example:
        >>> pairs(["a", "red", "car"], ["a", "car", "!"])
        [(0, 0), (2, 1)]
    """
    return [(i, j) for i, j in comparison.align([a, b]) if i is not None and j is not None]


def of_pairs(weights: np.ndarray, rows: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    """The cells of some rows and columns.

    Args:
        weights: (..., T, S).
        rows, columns: R and C places.

    Returns:
        (..., R, C).
    """
    return weights[..., list(rows), :][..., list(columns)]


def difference(a: np.ndarray, b: np.ndarray, rows: Pairs, columns: Pairs) -> np.ndarray:
    """How much more each query of the first reads each key than its partner in the second.

    Args:
        a: (..., T, S) attention weights.
        b: (..., T', S'), with the same axes before the last two.
        rows, columns: R and C pairs of places.

    Returns:
        (..., R, C), a minus b where both exist.
    """
    first, second = zip(*rows, strict=True), zip(*columns, strict=True)
    (rows_a, rows_b), (columns_a, columns_b) = first, second
    return of_pairs(a, rows_a, columns_a) - of_pairs(b, rows_b, columns_b)
