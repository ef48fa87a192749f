"""The effect of rotary positions (Su et al. 2021) on the products of queries and keys, in one layer."""

from typing import NamedTuple

import numpy as np

EDGES = np.array([np.pi / 4, np.pi])  # angles in radians between the groups of `RowRotation.shares`


class Rotation(NamedTuple):
    """A layer's queries and keys before and after they are turned; G heads of keys serve H heads of queries."""

    plain_q: np.ndarray  # (H, T, K)
    plain_k: np.ndarray  # (G, S, K)
    q: np.ndarray  # (H, T, K), turned
    k: np.ndarray  # (G, S, K), turned
    angles: np.ndarray  # (K,), radians by which each dimension turns per position; 0: it does not


class RowRotation(NamedTuple):
    """The effect of the rotation on one query's products with S keys."""

    plain: np.ndarray  # float64 (S,), q k^T before the rotation
    shares: np.ndarray  # float64 (S, 3), of q k^T after it: dimensions that turn by up to each of EDGES, and the others


def angles_of(cosine: np.ndarray, sine: np.ndarray) -> np.ndarray:
    """The angle per position of each column of tables (T, R), T at least 2: (R,) radians from 0 to pi.

    Example:
        >>> angles_of(np.cos([[0.0, 0.0], [1.0, 0.5]]), np.sin([[0.0, 0.0], [1.0, 0.5]])).tolist()
        [1.0, 0.5]
    """
    (cos, next_cos), (sin, next_sin) = cosine[:2].astype(np.float64), sine[:2].astype(np.float64)
    return np.abs(np.arctan2(next_sin * cos - next_cos * sin, next_cos * cos + next_sin * sin))


def of_row(rotation: Rotation, head: int, query: int) -> RowRotation:
    """The effect of the rotation on one query of one head of a self-attention."""
    group = head * len(rotation.k) // len(rotation.q)
    plain = rotation.plain_k[group].astype(np.float64) @ rotation.plain_q[head, query].astype(np.float64)  # (S,)
    products = rotation.q[head, query].astype(np.float64) * rotation.k[group]  # (S, K)
    distances = np.abs(query - np.arange(len(products)))
    groups = np.searchsorted(EDGES, distances[:, None] * rotation.angles)  # (S, K)
    shares = [np.where(groups == number, products, 0.0).sum(axis=1) for number in range(len(EDGES) + 1)]
    return RowRotation(plain, np.stack(shares, axis=1))
