"""Attention of other models as an `Attention`: arrays or tensors with tokens, and what those of Hugging Face return."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model import masks
from model.adapters import byte_level
from model.adapters.attention_file import TOKENS, Attention, clipped
from model.translation import SIDES

NAMES = {"encoder": "encoder_self", "decoder": "decoder_self", "cross": "cross"}
_EAGER = 'load the model with attn_implementation="eager"'


def attention_from(attention: Any, tokens: Any) -> Attention:
    """Check arrays and tokens, and put them together; a ValueError says what does not fit.

    Args:
        attention: maps, or {"encoder": ..., "decoder": ..., "cross": ...}. Maps are an array or tensor (layers, heads,
            T, S), or a sequence with one (heads, T, S) or (1, heads, T, S) per layer; alone, they are of a decoder
            where nothing attends to what comes later, and else of an encoder.
        tokens: the texts of one sequence, or {"source": [...], "target": [...]}, and "predicted" where it is known
            what a decoder predicted at each target token. Those of byte-level vocabularies ("Ġthe") are spelt as text.
    """
    if isinstance(attention, Mapping):
        weights = {_kind(name): _maps(name, maps) for name, maps in attention.items() if maps is not None}
    else:
        maps = _maps("attention", attention)
        weights = {"decoder_self" if _is_causal(maps) else "encoder_self": maps}
    known = {}
    for kind, maps in weights.items():
        if kind == "decoder_self" and _is_causal(maps):
            known[kind] = _causal(maps)
        elif (maps > 0).any(axis=(0, 1)).all():
            known[kind] = np.ones(maps.shape[2:], dtype=bool)
    return Attention(weights=weights, masks=known, **_tokens(tokens, weights))


def attention_of(
    outputs: Mapping[str, Any],
    inputs: Mapping[str, Tensor],
    tokenizer: Any,
    target_ids: Tensor | None = None,
    sequence: int = 0,
) -> Attention:
    """The attention in the outputs of a model that was loaded with attn_implementation="eager", without padding.

    Args:
        outputs: of `model.generate(..., output_attentions=True, return_dict_in_generate=True)`, whose steps become
            whole maps, or of `model(..., output_attentions=True)`.
        inputs: what the tokenizer made of the texts: "input_ids" (B, S) and, where there is padding, "attention_mask".
        target_ids: (B, T) what the decoder read, for the forward pass of an encoder-decoder.
        sequence: which of the sequences that generate returned, or which row of a forward pass.
    """
    if not isinstance(outputs, Mapping):
        raise ValueError(
            "outputs must be what model(..., output_attentions=True) returns, or model.generate(..., "
            f"output_attentions=True, return_dict_in_generate=True), got {type(outputs).__name__}"
        )
    generated, sentences = "sequences" in outputs, len(inputs["input_ids"])
    if target_ids is None and "encoder_attentions" in outputs and not generated:
        raise ValueError("this model has a decoder: give what it read as target_ids, a tensor (batch, tokens)")
    count = len(outputs["sequences"]) if generated else sentences
    if not 0 <= sequence < count:
        raise ValueError(f"the sequence must be from 0 to {count - 1}, got {sequence}")
    sentence = sequence * sentences // count
    ids = inputs["input_ids"][sentence]
    real = inputs["attention_mask"][sentence].bool() if "attention_mask" in inputs else torch.ones_like(ids).bool()
    spell = byte_level.speller(tokenizer)

    def tokens(some: Tensor) -> list[str]:
        return list(map(spell, tokenizer.convert_ids_to_tokens(some.tolist()), some.tolist()))

    is_pair = "decoder_attentions" in outputs if generated else target_ids is not None
    if generated:
        length, whole = _steps(outputs, sequence, sentence, sentences, tokenizer.eos_token_id)
        written, kept = outputs["sequences"][sequence, : length + 1], torch.ones(length, dtype=torch.bool)
        if not is_pair:
            kept[: len(real)] = real
        texts = {"target": tokens(written[:-1][kept]), "predicted": tokens(written[1:][kept])}
    else:
        whole, kept = (lambda name, keys=0: _layers(outputs, name)[:, sequence]), real
        texts = {"target": tokens(target_ids[sequence])} if is_pair else tokens(ids[real])
    if not is_pair:
        maps = whole("attentions")[..., kept, :][..., kept]
        return attention_from({"decoder": maps} if generated else maps, texts)
    encoder = _layers(outputs, "encoder_attentions")
    place = sentence * (encoder.size(1) // sentences)
    maps = {
        "encoder": encoder[:, place][..., real, :][..., real],
        "decoder": whole("decoder_attentions"),
        "cross": whole("cross_attentions", encoder.size(-1))[..., real],
    }
    return attention_from(maps, texts | {"source": tokens(ids[real])})


def _is_causal(weights: np.ndarray) -> bool:
    """Whether no query of several reads what comes after it."""
    n_queries, n_keys = weights.shape[2:]
    return n_queries == n_keys > 1 and not weights[..., ~_causal(weights)].any()


def _causal(weights: np.ndarray) -> np.ndarray:
    return masks.causal_mask(weights.shape[2])[0, 0].numpy()


def _kind(name: Any) -> str:
    kind = NAMES.get(name, name)
    if kind not in SIDES:
        raise ValueError(f"there is no kind of attention {name!r}: choose of {', '.join(NAMES)}")
    return kind


def _tokens(tokens: Any, weights: Mapping[str, Any]) -> dict[str, list[str]]:
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
        coded = any("Ġ" in text for text in texts)  # which stands for a space in such vocabularies
        found[f"{side}_tokens"] = [byte_level.spelt(text) if coded else str(text) for text in texts]
    return found


def _maps(name: Any, maps: Any) -> np.ndarray:
    """float32 (L, H, T, S)."""
    axes = ("heads", "queries", "keys")
    if not isinstance(maps, (list, tuple)):
        return clipped(_array(name, maps, ("layers", *axes)))
    layers = [_array(f"layer {number} of {name}", layer, axes) for number, layer in enumerate(maps)]
    if not layers:
        raise ValueError(f"{name} has no layer: {_EAGER}")
    return clipped(np.stack(layers))


def _array(name: str, value: Any, axes: tuple[str, ...]) -> np.ndarray:
    """float32 with these axes; a batch of one before the heads is left out."""
    if value is None:
        raise ValueError(f"{name} is None: {_EAGER}, others compute no maps")
    if isinstance(value, (list, tuple)) and any(getattr(one, "ndim", 0) > 2 for one in value):
        instead = "model.adapters.outputs.attention_of(outputs, inputs, tokenizer) puts them together"
        raise ValueError(f"{name} has parts of its own, as the steps of generate do: {instead}")
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


def _steps(
    outputs: Mapping[str, Any], sequence: int, sentence: int, sentences: int, eos_id: Any
) -> tuple[int, Callable[..., Tensor]]:
    """How many tokens a sequence of generate read, and what makes whole maps from its steps."""
    name = "decoder_attentions" if "decoder_attentions" in outputs else "attentions"
    prompt = _layers({name: (outputs.get(name) or [()])[0]}, name).size(3)
    written = [*outputs["sequences"][sequence, prompt:].tolist(), eos_id]
    rows = [sequence] * min(written.index(eos_id) + 1, len(written) - 1)
    if outputs.get("beam_indices") is not None:
        rows = [row for row in outputs["beam_indices"][sequence].tolist() if row >= 0]
    if not rows:
        raise ValueError("nothing was generated, so there is nothing to see")
    length = prompt + len(rows) - 1  # the last one written was not read

    def whole(name: str, keys: int = 0) -> Tensor:  # (L, H, length, keys); 0 where a key did not exist yet
        steps = outputs.get(name) or ()
        if len(steps) < len(rows):
            raise ValueError(f"{name} has {len(steps)} steps, the sequence {len(rows)}")
        parts = []
        for row, step in zip(rows, steps):  # of each step a map per layer, whose rows are its hypotheses
            layers = _layers({name: step}, name)  # (L, rows, H, queries, keys)
            maps = layers[:, row if layers.size(1) != sentences else sentence]
            # Without a cache every step asks again what was asked before; the new query is the last.
            maps = maps[:, :, -1:] if parts else maps
            parts.append(F.pad(maps, (0, (keys or length) - maps.size(-1))))
        return torch.cat(parts, dim=2)

    return length, whole


def _layers(outputs: Mapping[str, Any], name: str) -> Tensor:
    """(L, rows, H, queries, keys) float32."""
    layers = outputs.get(name)
    if not layers or not all(isinstance(layer, Tensor) and layer.ndim == 4 for layer in layers):
        raise ValueError(
            f'there is no map in {name}: load the model with attn_implementation="eager" and ask for '
            "output_attentions=True (other implementations compute no maps)"
        )
    return torch.stack([layer.detach().float().cpu() for layer in layers])
