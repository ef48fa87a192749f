"""Where a head looks in one text, for a newcomer: the place of the largest weight of most of its rows."""

from typing import NamedTuple

import numpy as np

PLACES = ("together", "previous", "same", "next", "first", "last")


class Looking(NamedTuple):
    """A place of PLACES, in how many rows the largest weight is there, and of how many."""

    place: str
    n: int
    total: int


def looking(weights: np.ndarray, mask: np.ndarray, together: np.ndarray | None = None) -> Looking | None:
    """The place where the largest weight of most rows is; of several the first of PLACES.

    Args:
        weights: of one head, (queries, keys). Rows that may read a single key, or read nothing, are left out.
        mask: bool (queries, keys), True = may attend.
        together: of cross-attention the key (queries,) that all heads together look at most, by `looked_at`. Queries
            and keys are then of two sentences, so places of one mean nothing in the other. Else None.

    Returns:
        None where no row is left.

    Example:
        >>> looking(np.eye(3)[[0, 0, 1]], np.tri(3, dtype=bool))
        Looking(place='previous', n=2, total=2)
    """
    rows = np.flatnonzero((mask.sum(axis=1) > 1) & weights.any(axis=1))
    if not rows.size:
        return None
    keys = weights[rows].argmax(axis=1)
    at = {"first": 0, "last": weights.shape[1] - 1}
    if together is None:
        at |= {"previous": rows - 1, "same": rows, "next": rows + 1}
    else:
        at["together"] = together[rows]
    counts = {place: int((keys == at[place]).sum()) for place in PLACES if place in at}
    place = max(counts, key=lambda name: counts[name])
    return Looking(place, counts[place], rows.size)


def looked_at(weights: np.ndarray) -> np.ndarray:
    """The key (queries,) that all heads, (layers, heads, queries, keys), together look at most."""
    return weights.mean(axis=(0, 1), dtype=np.float64).argmax(axis=-1)
