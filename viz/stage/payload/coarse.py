"""What travels of maps that are too many to travel at once: small pictures of all heads, and the opened heads whole.

The browser computes the same of the maps that it has (viz/web/recording/maps/opening.js, tiles.js). A layer at a time,
so that of large maps there is no second copy.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from model.analysis import maps as analysis

TILE, SMALLEST_TILE = 32, 8  # most rows and columns of a tile, where larger maps are coarse
TILES = 150_000  # cells of all tiles of a kind, above which they have fewer
WHOLE = 8_000_000  # bytes up to which the other heads of a kind are fetched together, and else each when it is opened
FILE_BUDGET = 8_000_000  # bytes of maps in the message of a file, whose other heads stand beside it, each by itself
Keep = Callable[[np.ndarray], str]  # stores quantised maps (L, H, T, S), returns the address that they have


def summary(weights: np.ndarray, mask: np.ndarray, queries: Sequence[str]) -> dict:
    """What is said of all heads of weights (L, H, T, S) under a mask (T, S), and the head to open first."""
    of_rows = np.stack([layer.max(axis=-1) for layer in weights])  # (L, H, T)
    dull = analysis.is_special(queries) | analysis.is_punctuation(queries)
    return {
        "tiles": tiles(weights, mask),
        "entropy": np.stack([analysis.entropy(layer).mean(axis=-1) for layer in weights]),
        "largest": of_rows.max(axis=-1),
        "on_first": first_shares(weights, mask),
        "telling": np.where(dull & (not dull.all()), -1, of_rows).argmax(axis=-1),
        "first": first_head(weights, mask),
    }


def first_shares(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The mean weight on the first key, float32 (L, H), over rows that may attend to several keys; 0 without any."""
    has_choice = mask.sum(axis=-1) > 1  # (T,)
    if not has_choice.any():
        return np.zeros(weights.shape[:2], np.float32)
    return weights[:, :, has_choice, 0].mean(axis=-1)


def travelling(
    weights: np.ndarray, open_heads: Iterable[tuple[int, int]], keep: Keep | None, budget: float, in_file: bool = False
) -> dict:
    """What is sent of quantised maps (L, H, T, S): all of them or, above a budget in bytes, the opened heads.

    With these goes where the others are: all of them together at the address or, if "byHead", each at
    "address/layer/head" (packing.py), and then the largest number of every row of all heads, "peaks".
    """
    if keep is None or weights.nbytes <= budget:
        return {"weights": weights}
    by_head = in_file or weights.nbytes > WHOLE
    return {
        "weights": None,
        "address": keep(weights),
        "byHead": by_head,
        "shape": weights.shape,
        "openHeads": {f"{layer},{head}": weights[layer, head] for layer, head in open_heads},
        "peaks": _peaks(weights) if by_head else None,
    }


def _peaks(weights: np.ndarray) -> dict:
    """Which key has the largest number in each row of quantised maps, and that number, (L, H, T)."""
    keys = np.stack([np.abs(layer).argmax(axis=-1) for layer in weights])
    values = np.take_along_axis(weights, keys[..., None], axis=-1)[..., 0]
    return {"keys": keys.astype(np.uint16), "values": values}


def first_head(weights: np.ndarray, mask: np.ndarray) -> tuple[int, int]:
    """The sharpest head (layer, head) of weights (L, H, T, S) under a mask (T, S).

    It has the least entropy, as a share of an even spread's; heads with more than half of it in one column come last.
    """
    has_choice = mask.sum(axis=1) > 1
    if not has_choice.any():
        return 0, 0
    even = np.log(mask[has_choice].sum(axis=1))
    order = np.stack([_bluntness(layer[:, has_choice], even) for layer in weights])  # (L, H)
    return analysis.largest_cell(-order)


def _bluntness(rows: np.ndarray, even: np.ndarray) -> np.ndarray:
    """What heads are put in order by, the least first: of rows (H, T, S), and the entropy of an even spread of each."""
    entropy = (analysis.entropy(rows) / even).mean(axis=-1)  # (H,)
    column = rows.mean(axis=1).max(axis=-1) > 0.5
    return entropy + 10 * column + 100 * (rows.sum(axis=(1, 2)) == 0)


def tiles(weights: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Maps (L, H, T, S) as uint8, of at most TILE rows and columns: each cell the largest weight of a block.

    Cells that a mask (T, S) blocks are 0; 255 is a weight of 1.
    """
    most = int(np.clip(np.sqrt(TILES / weights[..., 0, 0].size), SMALLEST_TILE, TILE))
    layers = (_blocks(layer if mask.all() else np.where(mask, layer, 0), most) for layer in weights)
    return np.stack([np.rint(255 * cells).astype(np.uint8) for cells in layers])


def _blocks(cells: np.ndarray, most: int) -> np.ndarray:
    """Cells (H, T, S) with at most `most` rows and columns: the largest number of each block."""
    for axis in (1, 2):
        if (size := cells.shape[axis]) > most:
            edges = np.unique(np.linspace(0, size, most, endpoint=False).astype(int))
            cells = np.maximum.reduceat(cells, edges, axis=axis)
    return cells
