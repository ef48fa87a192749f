"""Attention of any model as arrays or tensors, with its tokens, as transformers and BertViz pass them around."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from model import masks
from model.adapters.attention_file import TOKENS, Attention, clipped
from model.adapters.byte_level import spelt
from model.adapters.outputs import is_causal
from model.translation import SIDES

NAMES = {"encoder": "encoder_self", "decoder": "decoder_self", "cross": "cross"}
_OF_A_LAYER = ("heads", "queries", "keys")
_EAGER = 'load the model with attn_implementation="eager"'


def attention_from(attention: Any, tokens: Any) -> Attention:
    """Check arrays and tokens, and put them together.

    Args:
        attention: maps of one kind, or {"encoder": ..., "decoder": ..., "cross": ...}. Maps are an array or tensor
            (layers, heads, T, S), or a sequence with one (heads, T, S) or (1, heads, T, S) per layer. Of one kind
            alone, they are of a decoder where nothing attends to what comes later, and else of an encoder.
        tokens: the texts of one sequence, or {"source": [...], "target": [...]}, and "predicted" where it is known
            what a decoder predicted at each target token. Those of byte-level vocabularies ("Ġthe") are spelt as text.

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
    if kind not in SIDES:
        raise ValueError(f"there is no kind of attention {name!r}: choose of {', '.join(NAMES)}")
    return kind


def _tokens(tokens: Any, weights: Mapping[str, Any]) -> dict[str, list[str]]:
    """The tokens by the names of an Attention."""
    if not isinstance(tokens, Mapping):
        sides = {side for kind in weights for side in SIDES[kind]}
        if len(sides) > 1:
            raise ValueError('there are two sequences: give tokens={"source": [...], "target": [...]}')
        tokens = dict.fromkeys(sides, tokens)
    found = {"source_tokens": [], "target_tokens": []}
    for side, texts in tokens.items():
        if f"{side}_tokens" not in TOKENS:
            raise ValueError(f"there are no tokens of the side {side!r}: choose of source, target, predicted")
        listed = isinstance(texts, (Sequence, np.ndarray)) and not isinstance(texts, str)
        if not listed or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"the {side} tokens must be a list of texts, got {str(texts)[:60]!r}")
        byte_level = any("Ġ" in text for text in texts)  # which stands for a space in such vocabularies
        found[f"{side}_tokens"] = [spelt(text) if byte_level else str(text) for text in texts]
    return found


def _maps(name: Any, maps: Any) -> np.ndarray:
    """Maps as float32 (layers, heads, queries, keys)."""
    if not isinstance(maps, (list, tuple)):
        return clipped(_array(name, maps, ("layers", *_OF_A_LAYER)))
    layers = [_array(f"layer {number} of {name}", layer, _OF_A_LAYER) for number, layer in enumerate(maps)]
    if not layers:
        raise ValueError(f"{name} has no layer: {_EAGER}")
    return clipped(np.stack(layers))


def _array(name: str, value: Any, axes: tuple[str, ...]) -> np.ndarray:
    """Numbers as float32 with these axes; a batch of one before the heads is left out."""
    if value is None:
        raise ValueError(f"{name} is None: {_EAGER}, others compute no maps")
    if isinstance(value, (list, tuple)) and any(getattr(one, "ndim", 0) > 2 for one in value):
        raise ValueError(
            f"{name} has parts of its own, as the steps of generate do: "
            "model.adapters.outputs.attention_of(outputs, inputs, tokenizer) puts them together"
        )
    array = np.asarray(value.detach().float().cpu() if hasattr(value, "detach") else value, dtype=np.float32)
    batch = len(axes) - 3
    if array.ndim == len(axes) + 1:
        if array.shape[batch] != 1:
            many = f"{name} has {array.shape[batch]} sequences"
            raise ValueError(f"{many}: choose one, as [layer[:1] for layer in attention]")
        array = array.squeeze(batch)
    if array.ndim != len(axes):
        raise ValueError(f"{name} must have the axes ({', '.join(axes)}), got the shape {array.shape}")
    return array
