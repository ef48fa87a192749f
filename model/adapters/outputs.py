"""What models of Hugging Face hand out, as `attention_file.Attention`: of a forward pass or of `generate`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model import masks
from model.adapters import byte_level
from model.adapters.attention_file import Attention


def attention_of(
    outputs: Mapping[str, Any],
    inputs: Mapping[str, Tensor],
    tokenizer: Any,
    target_ids: Tensor | None = None,
    sequence: int = 0,
) -> Attention:
    """The attention in the outputs of a model that was loaded with attn_implementation="eager".

    Args:
        outputs: of `model.generate(..., output_attentions=True, return_dict_in_generate=True)`, or of
            `model(..., output_attentions=True)`.
        inputs: what the tokenizer made of the texts: "input_ids" (B, S) and, where there is padding, "attention_mask".
        target_ids: (B, T) what the decoder read, for the forward pass of an encoder-decoder.
        sequence: which of the sequences that generate returned, or which row of a forward pass.

    Returns:
        Tokens and maps of one sequence, without padding. The steps of generate become whole maps, each row that of the
        hypothesis which survived, whatever place it had in the beam.

    Raises:
        ValueError: if a map is missing, or tokens and maps do not fit together.
    """
    if not isinstance(outputs, Mapping):
        raise ValueError(
            "outputs must be what model(..., output_attentions=True) returns, or model.generate(..., "
            f"output_attentions=True, return_dict_in_generate=True), got {type(outputs).__name__}"
        )
    if target_ids is None and "encoder_attentions" in outputs and "sequences" not in outputs:
        raise ValueError("this model has a decoder: give what it read as target_ids, a tensor (batch, tokens)")
    count = len(outputs["sequences"]) if "sequences" in outputs else len(inputs["input_ids"])
    if not 0 <= sequence < count:
        raise ValueError(f"the sequence must be from 0 to {count - 1}, got {sequence}")
    sentence = sequence * len(inputs["input_ids"]) // count
    ids = inputs["input_ids"][sentence]
    real = inputs["attention_mask"][sentence].bool() if "attention_mask" in inputs else torch.ones_like(ids).bool()

    spell = byte_level.speller(tokenizer)

    def tokens(some: Tensor) -> list[str]:
        return list(map(spell, tokenizer.convert_ids_to_tokens(some.tolist()), some.tolist()))

    if "sequences" not in outputs:
        target = None if target_ids is None else tokens(target_ids[sequence])
        return forward_attention(outputs, tokens(ids[real]), target, row=sequence, real=real)
    length, whole = _steps(outputs, sequence, sentence, len(inputs["input_ids"]), tokenizer.eos_token_id)
    written = outputs["sequences"][sequence, : length + 1]
    kept, source = torch.ones(length, dtype=torch.bool), []
    if "decoder_attentions" not in outputs:
        kept[: len(real)] = real
        weights = {"decoder_self": whole("attentions")[..., kept, :][..., kept]}
    else:
        encoder = _layers(outputs, "encoder_attentions")
        place = sentence * (encoder.size(1) // len(inputs["input_ids"]))
        weights = {
            "encoder_self": encoder[:, place][..., real, :][..., real],
            "decoder_self": whole("decoder_attentions"),
            "cross": whole("cross_attentions", encoder.size(-1))[..., real],
        }
        source = tokens(ids[real])
    return Attention(
        source_tokens=source,
        target_tokens=tokens(written[:-1][kept]),
        predicted_tokens=tokens(written[1:][kept]),
        weights={kind: _array(value) for kind, value in weights.items()},
        masks=_causal(int(kept.sum())),
    )


def forward_attention(
    outputs: Mapping[str, Any],
    source_tokens: list[str],
    target_tokens: list[str] | None = None,
    predicted_tokens: Sequence[str] = (),
    row: int = 0,
    real: Tensor | None = None,
) -> Attention:
    """The attention in the outputs of one forward pass; a decoder where no map has anything above its diagonal.

    Args:
        source_tokens: what the model, or the encoder of an encoder-decoder, read, without padding.
        target_tokens, predicted_tokens: what a decoder beside it read, and what it predicted at each of these.
        row: of the batch.
        real: bool (S,), False where the source is padding.
    """
    real = torch.ones(len(source_tokens), dtype=torch.bool) if real is None else real
    sides = {"source_tokens": source_tokens, "target_tokens": target_tokens or []}
    if target_tokens is None:
        maps = _array(_layers(outputs, "attentions")[:, row][..., real, :][..., real])
        causal = is_causal(maps)
        found = {"decoder_self" if causal else "encoder_self": maps}
        if causal:
            sides = {"source_tokens": [], "target_tokens": source_tokens}
    else:
        found = {
            "encoder_self": _array(_layers(outputs, "encoder_attentions")[:, row][..., real, :][..., real]),
            "decoder_self": _array(_layers(outputs, "decoder_attentions")[:, row]),
            "cross": _array(_layers(outputs, "cross_attentions")[:, row][..., real]),
        }
        causal = is_causal(found["decoder_self"])
    known = _causal(len(sides["target_tokens"])) if causal else {}
    return Attention(weights=found, masks=known, predicted_tokens=list(predicted_tokens), **sides)


def _causal(n_tokens: int) -> dict[str, np.ndarray]:
    return {"decoder_self": masks.causal_mask(n_tokens)[0, 0].numpy()}


def _steps(
    outputs: Mapping[str, Any], sequence: int, sentence: int, sentences: int, eos_id: Any
) -> tuple[int, Callable[..., Tensor]]:
    """How many tokens one sequence of generate read, and what makes whole maps of a kind from its steps."""
    name = "decoder_attentions" if "decoder_attentions" in outputs else "attentions"
    prompt = _layers({name: (outputs.get(name) or [()])[0]}, name).size(3)
    written = [*outputs["sequences"][sequence, prompt:].tolist(), eos_id]
    rows = [sequence] * min(written.index(eos_id) + 1, len(written) - 1)
    if outputs.get("beam_indices") is not None:
        rows = [row for row in outputs["beam_indices"][sequence].tolist() if row >= 0]
    if not rows:
        raise ValueError("nothing was generated, so there is nothing to see")
    length = prompt + len(rows) - 1  # the last one written was not read

    def whole(name: str, keys: int | None = None) -> Tensor:  # (L, H, length, keys); 0 where a key did not exist yet
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
    """The maps of all layers of a kind, (L, rows, H, queries, keys) float32."""
    layers = outputs.get(name)
    if not layers or not all(isinstance(layer, Tensor) and layer.ndim == 4 for layer in layers):
        raise ValueError(
            f'there is no map in {name}: load the model with attn_implementation="eager" and ask for '
            "output_attentions=True (other implementations compute no maps)"
        )
    return torch.stack([layer.detach().float().cpu() for layer in layers])


def is_causal(weights: np.ndarray) -> bool:
    """Whether no query of several reads what comes after it, in any layer and head."""
    n_queries, n_keys = weights.shape[2:]
    if n_queries != n_keys or n_queries < 2:
        return False
    return not weights[..., ~masks.causal_mask(n_queries)[0, 0].numpy()].any()


def _array(value: Tensor) -> np.ndarray:
    return np.ascontiguousarray(value.numpy(), dtype=np.float32)
