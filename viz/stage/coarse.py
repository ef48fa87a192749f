"""What travels of maps that are too many to travel at once: small pictures of all heads, and one head whole.

The browser computes the same of the maps that it has (viz/recording/opening.js, tiles.js).
"""

from collections.abc import Sequence

import numpy as np

from model.analysis import maps as analysis

TILE, SMALLEST_TILE = 32, 8  # most rows and columns of a tile, where larger maps are coarse
TILES = 150_000  # cells of all tiles of a kind, above which they have fewer


def summary(weights: np.ndarray, mask: np.ndarray, queries: Sequence[str]) -> dict:
    """What is said of all heads of weights (L, H, T, S) under a mask (T, S), and the head to open first."""
    largest = weights.max(axis=(2, 3))
    dull = analysis.is_special(queries) | analysis.is_punctuation(queries)
    rows = np.where(dull & (not dull.all()), -1, weights.max(axis=-1))  # (L, H, T)
    return {
        "tiles": tiles(np.where(mask, weights, 0)),
        "entropy": analysis.entropy(weights).mean(axis=-1),
        "largest": largest,
        "telling": rows.argmax(axis=-1),
        "first": first_head(weights, mask),
    }


def first_head(weights: np.ndarray, mask: np.ndarray) -> tuple[int, int]:
    """The sharpest head (layer, head) of weights (L, H, T, S) under a mask (T, S).

    It has the least entropy, as a share of an even spread's; heads with more than half of it in one column come last.
    """
    counted = mask.sum(axis=1) > 1
    if not counted.any():
        return 0, 0
    rows = weights[:, :, counted]
    entropy = (analysis.entropy(rows) / np.log(mask[counted].sum(axis=1))).mean(axis=-1)  # (L, H)
    column = rows.mean(axis=2).max(axis=-1) > 0.5
    least = (entropy + 10 * column + 100 * (rows.sum(axis=(2, 3)) == 0)).argmin()
    return tuple(map(int, np.unravel_index(least, entropy.shape)))


def tiles(weights: np.ndarray) -> np.ndarray:
    """Maps (L, H, T, S) as uint8, of at most TILE rows and columns: each cell the largest weight of a block."""
    most = int(np.clip(np.sqrt(TILES / weights[..., 0, 0].size), SMALLEST_TILE, TILE))
    for axis in (2, 3):
        if (size := weights.shape[axis]) > most:
            edges = np.unique(np.linspace(0, size, most, endpoint=False).astype(int))
            weights = np.maximum.reduceat(weights, edges, axis=axis)
    return np.rint(weights * 255).astype(np.uint8)
