"""Weights as others hand them out, as float32 (layers, heads, queries, keys); and what can be known of their mask."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

EAGER = 'load the model with attn_implementation="eager"'
ROUNDING = 1e-2  # how far a weight may lie outside [0, 1]: half precision, and sums over words; 0 or 1 is read
NUMBERS = "fiub"  # kinds of numpy's types: floating point, whole numbers, true or false


def as_maps(name: str, value: Any) -> np.ndarray:
    """Maps of one sequence as float32 (L, H, T, S).

    Args:
        name: what they are called in an error.
        value: an array, a tensor or nested lists (T, S), (H, T, S) or (L, H, T, S); or a sequence of layers (T, S),
            (H, T, S) or (1, H, T, S). A batch of one is left out: (1, L, H, T, S), (L, 1, H, T, S).

    Raises:
        ValueError: where these are not numbers, or have other axes.
    """
    if isinstance(value, list | tuple) and (not value or any(_is_layer(part) for part in value)):
        if not value:
            raise ValueError(f"{name} has no layer: {EAGER}")
        layers = [_of_layer(f"layer {number} of {name}", layer) for number, layer in enumerate(value)]
        check_shapes([layer.shape for layer in layers], name)
        return clipped(np.stack(layers))
    maps = _as_numbers(name, value)
    if maps.ndim == 5 and 1 in maps.shape[:2]:
        maps = maps.squeeze(1 if maps.shape[1] == 1 else 0)
    if not 2 <= maps.ndim <= 4:
        axes = "(queries, keys), (heads, queries, keys) or (layers, heads, queries, keys)"
        raise ValueError(f"{name} must have the axes {axes}, got the shape {maps.shape}")
    return clipped(maps.reshape((1,) * (4 - maps.ndim) + maps.shape))


def without_nan_rows(name: str, maps: np.ndarray) -> tuple[np.ndarray, int]:
    """Maps (L, H, T, S) with zeros in the rows that are NaN entirely, and how many there are.

    A softmax over keys that are all masked gives such a row. A ValueError says where other weights are NaN.
    """
    is_nan = np.isnan(maps)
    if not is_nan.any():
        return maps, 0
    empty = np.all(is_nan, axis=-1)
    if empty.all() or is_nan[~empty].any():
        part = "nothing but NaN" if empty.all() else "NaN beside other weights in one row"
        raise ValueError(f"{name} holds {part}: only a whole row may be, where a query has no key to attend to")
    return np.where(empty[..., None], np.float32(0), maps), int(empty.sum())


def is_causal(maps: np.ndarray) -> bool:
    """Whether no query of several reads what comes after it, in maps (L, H, T, S)."""
    n_queries, n_keys = maps.shape[2:]
    return n_queries == n_keys > 1 and not maps[..., ~np.tri(n_queries, dtype=bool)].any()


def kind_of(maps: np.ndarray) -> str:
    """What maps without a name are taken for: of a decoder where nothing attends to what comes later."""
    return "decoder_self" if is_causal(maps) else "encoder_self"


def known_mask(kind: str, maps: np.ndarray) -> np.ndarray | None:
    """Bool (T, S), True = may attend, where weights (L, H, T, S) show the mask; None where it is not known.

    Everything up to the query in a decoder or, where its heads read just that much, a window of two or more; elsewhere
    everything, if every cell has a weight in some head.
    """
    is_read = np.any(maps > 0, axis=(0, 1))
    if kind == "decoder_self" and is_causal(maps):
        causal = np.tri(len(is_read), dtype=bool)
        width = int(is_read[-1].sum())
        window = causal & ~np.tri(len(is_read), k=-width, dtype=bool)
        return window if width > 1 and np.array_equal(is_read, window) else causal
    return np.ones_like(is_read) if is_read.all() else None


def is_band(maps: np.ndarray) -> bool:
    """Whether square maps (L, H, T, T) are the bands of a sliding window, whose columns do not stand for tokens.

    Column w / 2 of a band is the query itself (see `bands`), so that exactly the corners beyond both ends of the text
    hold no weight. As a map, the first token would not attend to itself, and neither would the last.
    """
    n_tokens = maps.shape[-1]
    if maps.shape[-2] != n_tokens or n_tokens < 3 or n_tokens % 2 == 0:
        return False
    keys = np.arange(n_tokens)[:, None] + np.arange(n_tokens) - n_tokens // 2
    return bool((np.any(maps > 0, axis=(0, 1)) == ((keys >= 0) & (keys < n_tokens))).all())


def is_within_range(maps: np.ndarray) -> bool:
    """Whether all are from 0 to 1 but for rounding, and so none is NaN."""
    return bool(maps.min(initial=0.0) >= -ROUNDING and maps.max(initial=0.0) <= 1 + ROUNDING)


def clipped(maps: np.ndarray) -> np.ndarray:
    """Clip maps to 0 and 1 where rounding alone led out of that; others are returned as they are."""
    lowest = np.nanmin(maps, initial=0.0)
    highest = np.nanmax(maps, initial=0.0)
    return np.clip(maps, 0, 1) if lowest >= -ROUNDING and highest <= 1 + ROUNDING else maps


def check_shapes(shapes: Iterable[Sequence[int]], name: str) -> None:
    """Raise a ValueError unless all layers have one shape."""
    if len(different := set(map(tuple, shapes))) > 1:
        raise ValueError(f"the layers of {name} have different shapes: {', '.join(map(str, sorted(different)))}")


def _is_layer(value: Any) -> bool:
    """Whether this is a layer of its own: an array, none that was handed out, or several parts."""
    if isinstance(value, list | tuple):
        return any(getattr(part, "ndim", 0) > 1 for part in value)
    return value is None or getattr(value, "ndim", 0) > 1


def _of_layer(name: str, value: Any) -> np.ndarray:
    """One layer as float32 (H, T, S)."""
    if isinstance(value, list | tuple) and any(getattr(part, "ndim", 0) > 2 for part in value):
        instead = "model.adapters.outputs.attention_of(outputs, inputs, tokenizer) puts them together"
        raise ValueError(f"{name} has parts of its own, as the steps of generate do: {instead}")
    layer = _as_numbers(name, value)
    if layer.ndim == 4 and len(layer) != 1:
        problem = f"{name} has {len(layer)} sequences"
        raise ValueError(f"{problem}: choose one, as [layer[:1] for layer in attention]")
    if not 2 <= layer.ndim <= 4:
        raise ValueError(f"{name} must have the axes (heads, queries, keys), got the shape {layer.shape}")
    return layer[0] if layer.ndim == 4 else layer.reshape((1,) * (3 - layer.ndim) + layer.shape)


def _as_numbers(name: str, value: Any) -> np.ndarray:
    """Float32, from whatever holds numbers in rows of one length."""
    if value is None:
        raise ValueError(f"{name} is None: {EAGER}, others compute no maps")
    try:
        array = np.asarray(value.detach().float().cpu() if hasattr(value, "detach") else value)
    except (TypeError, ValueError):  # rows of different lengths, for one
        array = None
    if array is None or array.dtype.kind not in NUMBERS:
        raise ValueError(f"{name} must hold numbers, in rows of one length")
    return array.astype(np.float32, copy=False)
