"""Attention of any model as arrays or tensors, with its tokens, as `attention_file.Attention`.

For who has the maps at hand, in the form in which transformers and BertViz pass them around. What `generate` returns
step by step is put together by `outputs.attention_of`, which also knows which hypothesis survived.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model import masks
from model.adapters.attention_file import AXES, MAX_NUMBERS, TOKENS, Attention, clipped
from model.adapters.byte_level import spelt
from model.adapters.outputs import is_causal

NAMES = {"encoder": "encoder_self", "decoder": "decoder_self", "cross": "cross"}


def attention_from(attention: Any, tokens: Any) -> Attention:
    """Check arrays and tokens, and put them together.

    Args:
        attention: maps of one kind, or a mapping of "encoder", "decoder" and "cross" to them; None of a kind is left
            out. Maps are an array or tensor (layers, heads, T, S), or a sequence with one (heads, T, S) or
            (1, heads, T, S) per layer, as in the `attentions` of transformers. Rows are queries.
        tokens: the texts of one sequence, or {"source": [...], "target": [...]}, and "predicted" where it is known
            what a decoder predicted at each target token. Those of byte-level vocabularies ("Ġthe") are spelt as text.

    Returns:
        Tokens and float32 maps. Maps of one kind alone are of a decoder where nothing attends to what comes later, and
        else of an encoder. A mask is known of a decoder of that sort, and where every cell has a weight in some head.

    Raises:
        ValueError: if tokens and maps do not fit together, a batch has several sequences, or numbers are not weights.
    """
    if isinstance(attention, Mapping):
        weights = {_kind(name): _maps(name, maps) for name, maps in attention.items() if maps is not None}
    else:
        maps = _maps("attention", attention)
        weights = {"decoder_self" if is_causal(maps) else "encoder_self": maps}
    known = {}
    for kind, maps in weights.items():
        if kind == "decoder_self" and is_causal(maps):
            known[kind] = masks.causal_mask(maps.shape[2])[0, 0].numpy()
        elif (maps > 0).any(axis=(0, 1)).all():
            known[kind] = np.ones(maps.shape[2:], dtype=bool)
    return Attention(weights=weights, masks=known, **_tokens(tokens, weights))


def _kind(name: Any) -> str:
    kind = NAMES.get(name, name)
    if kind not in AXES:
        raise ValueError(f"there is no kind of attention {name!r}: choose of {', '.join(NAMES)}")
    return kind


def _tokens(tokens: Any, weights: Mapping[str, Any]) -> dict[str, list[str]]:
    """The tokens by the names of an Attention."""
    if not isinstance(tokens, Mapping):
        sides = {side for kind in weights for side in AXES[kind]}
        if len(sides) > 1:
            raise ValueError('there are two sequences: give tokens={"source": [...], "target": [...]}')
        tokens = dict.fromkeys(sides, tokens)
    found = {}
    for side, texts in tokens.items():
        if f"{side}_tokens" not in TOKENS:
            raise ValueError(f"there are no tokens of the side {side!r}: choose of source, target, predicted")
        texts = list(texts) if isinstance(texts, (Sequence, np.ndarray)) and not isinstance(texts, str) else texts
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"the {side} tokens must be a list of texts, got {str(texts)[:60]!r}")
        byte_level = any("Ġ" in text for text in texts)  # which stands for a space in such vocabularies
        found[f"{side}_tokens"] = [spelt(text) if byte_level else str(text) for text in texts]
    return {"source_tokens": [], "target_tokens": []} | found


def _maps(name: Any, maps: Any) -> np.ndarray:
    """Maps as float32 (layers, heads, queries, keys)."""
    if isinstance(maps, (list, tuple)):
        layers = [_layer(f"layer {number} of {name}", layer) for number, layer in enumerate(maps)]
        if len({layer.shape for layer in layers}) > 1:
            shapes = ", ".join(dict.fromkeys(str(layer.shape) for layer in layers))
            raise ValueError(f"the layers of {name} have different shapes: {shapes}")
        if not layers:
            raise ValueError(f'{name} has no layer: load the model with attn_implementation="eager"')
        return clipped(np.stack(layers))
    array = _array(name, maps)
    if array.ndim == 5 and array.shape[1] == 1:  # layers stacked with the batch that they had
        array = array[:, 0]
    if array.ndim != 4:
        raise ValueError(f"{name} must have the four axes (layers, heads, queries, keys), got the shape {array.shape}")
    return clipped(array)


def _layer(name: str, layer: Any) -> np.ndarray:
    """The maps of one layer, (heads, queries, keys)."""
    if isinstance(layer, (list, tuple)) and any(getattr(one, "ndim", 0) > 2 for one in layer):
        raise ValueError(
            f"{name} has parts of its own, as the steps of generate do: "
            "model.adapters.outputs.attention_of(outputs, inputs, tokenizer) puts them together"
        )
    array = _array(name, layer)
    if array.ndim == 4 and len(array) != 1:
        raise ValueError(f"{name} has {len(array)} sequences: choose one, as [layer[:1] for layer in attention]")
    if array.ndim not in (3, 4):
        raise ValueError(f"{name} must have the axes (heads, queries, keys), got the shape {array.shape}")
    return array[0] if array.ndim == 4 else array


def _array(name: str, value: Any) -> np.ndarray:
    """Numbers as float32."""
    if value is None:
        raise ValueError(f'{name} is None: load the model with attn_implementation="eager", others compute no maps')
    try:
        array = np.asarray(value.detach().float().cpu() if hasattr(value, "detach") else value)
    except ValueError:  # rows of different lengths
        raise ValueError(f"the rows of {name} have different lengths") from None
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must hold numbers, got {array.dtype}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}")
    if array.size > MAX_NUMBERS:
        raise ValueError(
            f"{name} has {array.size:,} weights; at most {MAX_NUMBERS:,} can be drawn: take a shorter text or fewer "
            "layers"
        )
    return array.astype(np.float32)
