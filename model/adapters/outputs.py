"""What models of Hugging Face hand out, as `attention_file.Attention`: of a forward pass or of `generate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

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
        tokenizer: with `convert_ids_to_tokens` and, for generate, `eos_token_id`.
        target_ids: (B, T) what the decoder read, for the forward pass of an encoder-decoder.
        sequence: which of the sequences that generate returned, or which row of a forward pass.

    Returns:
        Tokens and maps of one sequence, without padding. The steps of generate become whole maps, and each row is that
        of the hypothesis which survived, whatever place it had in the beam.

    Raises:
        ValueError: if these are not outputs or inputs of a model, a map is missing, or tokens and maps do not fit
            together.
    """
    _check(outputs, inputs, tokenizer, target_ids)
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
    steps = _Steps(outputs, sequence, sentence, len(inputs["input_ids"]), tokenizer.eos_token_id)
    written = outputs["sequences"][sequence, : steps.length + 1]
    if "decoder_attentions" not in outputs:
        kept = torch.cat([real, torch.ones(steps.length - len(real), dtype=torch.bool)])
        weights = {"decoder_self": steps.stack("attentions", square=True)[..., kept, :][..., kept]}
        source = []
    else:
        kept = torch.ones(steps.length, dtype=torch.bool)
        encoder = _layers(outputs, "encoder_attentions")
        place = sentence * (encoder.size(1) // len(inputs["input_ids"]))
        weights = {
            "encoder_self": encoder[:, place][..., real, :][..., real],
            "decoder_self": steps.stack("decoder_attentions", square=True),
            "cross": steps.stack("cross_attentions", square=False)[..., real],
        }
        source = tokens(ids[real])
    return Attention(
        source_tokens=source,
        target_tokens=tokens(written[:-1][kept]),
        predicted_tokens=tokens(written[1:][kept]),
        weights={kind: _array(value) for kind, value in weights.items()},
        masks={"decoder_self": masks.causal_mask(int(kept.sum()))[0, 0].numpy()},
    )


def _check(outputs: Any, inputs: Any, tokenizer: Any, target_ids: Any) -> None:
    """Raise a ValueError that says what is not what `attention_of` takes."""
    if not isinstance(outputs, Mapping):
        raise ValueError(
            "outputs must be what model(..., output_attentions=True) returns, or model.generate(..., "
            f"output_attentions=True, return_dict_in_generate=True), got {type(outputs).__name__}"
        )
    if not isinstance(inputs, Mapping) or not isinstance(inputs.get("input_ids"), Tensor):
        raise ValueError('inputs must be what tokenizer(texts, return_tensors="pt") returns, with "input_ids"')
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise ValueError(f"the tokenizer must be one of transformers, got {type(tokenizer).__name__}")
    if "sequences" in outputs:
        return
    if target_ids is None and "encoder_attentions" in outputs:
        raise ValueError("this model has a decoder: give what it read as target_ids, a tensor (batch, tokens)")
    if target_ids is not None and not (isinstance(target_ids, Tensor) and target_ids.ndim == 2):
        raise ValueError("target_ids must be a tensor (batch, tokens): the decoder_input_ids of the forward pass")
    if target_ids is not None and len(target_ids) != len(inputs["input_ids"]):
        raise ValueError(f"there are {len(target_ids)} rows of target_ids for {len(inputs['input_ids'])} of input_ids")


def forward_attention(
    outputs: Mapping[str, Any],
    source_tokens: list[str],
    target_tokens: list[str] | None = None,
    predicted_tokens: Sequence[str] = (),
    row: int = 0,
    real: Tensor | None = None,
) -> Attention:
    """The attention in the outputs of one forward pass.

    Args:
        outputs: with "encoder_attentions", "decoder_attentions" and "cross_attentions", or with "attentions".
        source_tokens: what the model read; in an encoder-decoder what the encoder read. Without padding.
        target_tokens: what the decoder of an encoder-decoder read.
        predicted_tokens: what was predicted at each of these, where that is known.
        row: of the batch.
        real: bool (S,), False where the source is padding.

    Returns:
        Tokens and maps. A map with nothing above its diagonal is that of a decoder, whose mask is then known.

    Raises:
        ValueError: if a map is missing, or tokens and maps do not fit together.
    """
    real = torch.ones(len(source_tokens), dtype=torch.bool) if real is None else real

    def read(name: str, queries: bool, keys: bool) -> np.ndarray:
        layers = _layers(outputs, name)[:, row]
        layers = layers[..., real, :] if queries else layers
        return _array(layers[..., real] if keys else layers)

    if target_tokens is None:
        weights = read("attentions", True, True)
        causal = is_causal(weights)
        kind, side = ("decoder_self", "target_tokens") if causal else ("encoder_self", "source_tokens")
        sides: dict[str, list[str]] = {"source_tokens": [], "target_tokens": []} | {side: source_tokens}
        found = {kind: weights}
    else:
        sides = {"source_tokens": source_tokens, "target_tokens": target_tokens}
        found = {
            "encoder_self": read("encoder_attentions", True, True),
            "decoder_self": read("decoder_attentions", False, False),
            "cross": read("cross_attentions", False, True),
        }
        causal = is_causal(found["decoder_self"])
    known = {"decoder_self": masks.causal_mask(len(sides["target_tokens"]))[0, 0].numpy()} if causal else {}
    return Attention(weights=found, masks=known, predicted_tokens=list(predicted_tokens), **sides)


class _Steps:
    """The steps of generate for one sequence that it returned.

    Every step has one map per layer, (rows, heads, queries, keys), whose rows are the hypotheses of that step.
    """

    def __init__(self, outputs: Mapping[str, Any], sequence: int, sentence: int, sentences: int, eos_id: Any) -> None:
        self.outputs, self.sentence, self.sentences = outputs, sentence, sentences
        name = "decoder_attentions" if "decoder_attentions" in outputs else "attentions"
        first = _layers({name: (outputs.get(name) or [()])[0]}, name)
        self.prompt = first.size(3)
        written = outputs["sequences"][sequence, self.prompt :].tolist()
        if outputs.get("beam_indices") is not None:
            self.rows = [row for row in outputs["beam_indices"][sequence].tolist() if row >= 0]
        else:
            ends = [place for place, index in enumerate(written) if index == eos_id]
            self.rows = [sequence] * (ends[0] + 1 if ends else len(written))
        if not self.rows:
            raise ValueError("nothing was generated, so there is nothing to see")
        self.length = self.prompt + len(self.rows) - 1  # tokens read: the last one written was not

    def stack(self, name: str, square: bool) -> Tensor:
        """The maps of one kind, (layers, heads, length, keys); 0 where a key did not exist yet."""
        steps = self.outputs.get(name) or ()
        if len(steps) < len(self.rows):
            raise ValueError(f"{name} has {len(steps)} steps, the sequence {len(self.rows)}")
        read = 0
        whole = torch.zeros(0)
        for row, step in zip(self.rows, steps):
            layers = _layers({name: step}, name)  # (L, rows, H, queries, keys)
            row = row if layers.size(1) != self.sentences else self.sentence
            maps = layers[:, row]
            # Without a cache every step asks again what was asked before; the new query is the last.
            maps = maps[:, :, -1:] if read else maps
            keys = self.length if square else maps.size(-1)
            if not read:
                whole = torch.zeros(*maps.shape[:2], self.length, keys)
            end = read + maps.size(2)
            used = end if square else keys
            whole[:, :, read:end, :used] = maps[..., :used]
            read = end
        return whole


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
    blocked = ~masks.causal_mask(n_queries)[0, 0].numpy() if n_queries == n_keys else np.zeros(weights.shape[2:], bool)
    return bool(blocked.any()) and not weights[..., blocked].any()


def _array(value: Tensor) -> np.ndarray:
    return np.ascontiguousarray(value.numpy(), dtype=np.float32)
