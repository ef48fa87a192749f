"""Attention of other models as a `Recording`: arrays or tensors with tokens, and what those of Hugging Face return."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.adapters.attention_file import checked, spelt_tokens
from model.adapters.conversion import bands, byte_level, generated
from model.adapters.conversion.weights import as_maps, kind_of, known_mask, without_nan_rows
from model.adapters.torch_modules import AttentionMaps
from model.results.recording import SIDES, TOKENS, Recording, TokenTexts

NAMES = {"encoder": "encoder_self", "decoder": "decoder_self", "cross": "cross"}


def attention_from(attention: Any, tokens: Any, sequence: int = 0) -> Recording:
    """Check arrays and tokens, and put them together; a ValueError says what does not fit.

    Args:
        attention: maps, or {"encoder": ..., "decoder": ..., "cross": ...}. Maps are an array, a tensor or nested lists
            (layers, heads, T, S), (heads, T, S) or (T, S), or a sequence with one (heads, T, S), (1, heads, T, S) or
            (T, S) per layer; or the maps of a `record_attention` block, whose masks are known. Maps without a kind are
            of a decoder where nothing attends to what comes later, and else of an encoder. Rows that are NaN, of
            queries without a key to attend to, are zeros.
        tokens: the texts of one sequence, or {"source": [...], "target": [...]}, and "predicted" where it is known
            what a decoder predicted at each target token. Those of byte-level vocabularies ("Ġthe") are spelt as text.
        sequence: which sequence of the batch in a `record_attention` block; its tokens are those without padding.
    """
    masks = {}
    if isinstance(attention, AttentionMaps):
        layers = attention.by_kind(tokens, sequence)
        maps_by_kind = {kind: as_maps(kind, [weights for weights, _ in layers[kind]]) for kind in layers}
        masks = {kind: np.stack([mask for _, mask in layers[kind]]) for kind in layers}
    elif isinstance(attention, Mapping):
        maps_by_kind = {_kind(name): as_maps(name, maps) for name, maps in attention.items() if maps is not None}
    else:
        maps_by_kind = {"": as_maps("attention", attention)}
    weights = {}
    nan_rows = {}
    for name, maps in maps_by_kind.items():
        maps, n_nan = without_nan_rows(name or "attention", maps)
        kind = name or kind_of(maps)
        weights[kind] = maps
        if kind not in masks and (mask := known_mask(kind, maps)) is not None:
            masks[kind] = mask
        if n_nan:
            nan_rows[kind] = n_nan
    return checked(Recording(weights=weights, masks=masks, nan_rows=nan_rows, **_tokens(tokens, weights)))


def attention_of(
    outputs: Mapping[str, Any],
    inputs: Mapping[str, Any] | Tensor,
    tokenizer: Any,
    target_ids: Any = None,
    sequence: int = 0,
    eos_token_id: int | Sequence[int] | None = None,
) -> Recording:
    """The attention in the outputs of a model that was loaded with attn_implementation="eager", without padding.

    Args:
        outputs: of `model.generate(..., output_attentions=True, return_dict_in_generate=True)`, whose steps become
            whole maps, or of `model(..., output_attentions=True)`.
        inputs: what the tokenizer made of the texts: "input_ids" (B, S) and, where there is padding, "attention_mask";
            tensors or lists, or the ids alone.
        target_ids: (B, T) what the decoder read, for the forward pass of an encoder-decoder.
        sequence: which of the sequences that generate returned, or which row of a forward pass.
        eos_token_id: what ended the sequences of generate, where that is not the end token of the tokenizer.

    Raises:
        ValueError: where maps or ids are missing, do not fit together, or cannot be put into whole maps.
    """
    if not isinstance(outputs, Mapping):
        raise ValueError(
            "outputs must be what model(..., output_attentions=True) returns, or model.generate(..., "
            f"output_attentions=True, return_dict_in_generate=True), got {type(outputs).__name__}"
        )
    input_ids, are_real = _read_inputs(inputs)
    name_tokens = _names_of(tokenizer)
    if "sequences" in outputs:
        return _attention_of_generate(outputs, input_ids, are_real, name_tokens, tokenizer, sequence, eos_token_id)
    _check_sequence(sequence, len(input_ids))
    ids, is_real = input_ids[sequence], are_real[sequence]
    if target_ids is None:
        if "encoder_attentions" in outputs:
            raise ValueError("this model has a decoder: give what it read as target_ids, a tensor (batch, tokens)")
        return attention_from(_self_maps(outputs, "attentions", [sequence], is_real), name_tokens(ids[is_real]))
    target_ids = _read_ids(target_ids, "target_ids")
    _check_sequence(sequence, len(target_ids))
    target = target_ids[sequence]
    maps = {
        "encoder": _self_maps(outputs, "encoder_attentions", [sequence], is_real),
        "decoder": _self_maps(outputs, "decoder_attentions", [sequence], torch.ones_like(target).bool()),
        "cross": _cross_maps(outputs, [sequence], is_real),
    }
    return attention_from(maps, {"source": name_tokens(ids[is_real]), "target": name_tokens(target)})


def _attention_of_generate(
    outputs: Mapping[str, Any],
    input_ids: Tensor,
    are_real: Tensor,
    name_tokens: Callable[[Tensor], list[str]],
    tokenizer: Any,
    sequence: int,
    eos_token_id: int | Sequence[int] | None,
) -> Recording:
    """The recording of what `generate` returned; `input_ids` and `are_real` (true but for padding) are (B, S)."""
    sequences = outputs["sequences"]
    _check_sequence(sequence, len(sequences))
    generated.check_cache(outputs)
    text = sequence * len(input_ids) // len(sequences)
    ids, is_real = input_ids[text], are_real[text]
    is_pair = "decoder_attentions" in outputs
    name = "decoder_attentions" if is_pair else "attentions"
    steps = outputs.get(name) or []
    generated.check_layers(steps and steps[0], name)
    n_prompt = steps[0][0].size(2)
    if not is_pair:
        _check_prompt(sequences[sequence], ids, is_real, n_prompt)
    rows = generated.rows_of(
        outputs, sequence, n_prompt, _end_ids(tokenizer, eos_token_id), getattr(tokenizer, "pad_token_id", None)
    )
    length = n_prompt + len(rows) - 1  # the last token was written, and not read
    is_kept = torch.ones(length, dtype=torch.bool)
    if not is_pair:
        is_kept[:n_prompt] = is_real
    output_ids = sequences[sequence, : length + 1].cpu()
    texts = {"target": name_tokens(output_ids[:-1][is_kept]), "predicted": name_tokens(output_ids[1:][is_kept])}
    maps = {"decoder": generated.self_maps(steps, rows, is_kept, name)}
    if is_pair:
        encoder = outputs.get("encoder_attentions") or []
        generated.check_layers(encoder, "encoder_attentions")
        row = text * (len(encoder[0]) // len(input_ids))  # each text may stand there once for each hypothesis
        maps["encoder"] = _self_maps(outputs, "encoder_attentions", [row], is_real)
        steps = outputs.get("cross_attentions") or ()
        maps["cross"] = generated.cross_maps(steps, rows, len(ids), "cross_attentions")[..., is_real]
        texts["source"] = name_tokens(ids[is_real])
    return attention_from(maps, texts)


def _self_maps(outputs: Mapping[str, Any], name: str, rows: list[int], is_kept: Tensor) -> Tensor:
    """Maps (L, H, T, T) of one pass, in which a sequence stands in a row of the batch."""
    if bands.hands_out_bands(outputs, name):
        generated.check_layers(outputs.get(name), name)
        return bands.whole_maps(outputs, name, rows[0], is_kept)[0][..., is_kept, :][..., is_kept]
    return generated.self_maps([outputs.get(name)], rows, is_kept, name)


def _cross_maps(outputs: Mapping[str, Any], rows: list[int], is_real: Tensor) -> Tensor:
    name = "cross_attentions"
    return generated.cross_maps([outputs.get(name)], rows, len(is_real), name)[..., is_real]


def _read_inputs(inputs: Any) -> tuple[Tensor, Tensor]:
    """The ids (B, S) in what a tokenizer made, and which of them are not padding."""
    if not isinstance(inputs, Mapping):
        inputs = {"input_ids": inputs}
    if "input_ids" not in inputs:
        names = ", ".join(map(str, inputs)) or "nothing"
        raise ValueError(
            f"inputs have no input_ids to name the axes, only {names}: give the maps and names of your own instead, "
            "as stage(attention=outputs.attentions, tokens=[...])"
        )
    input_ids = _read_ids(inputs["input_ids"], "input_ids")
    if inputs.get("attention_mask") is None:
        return input_ids, torch.ones_like(input_ids).bool()
    mask = _read_ids(inputs["attention_mask"], "attention_mask")
    if mask.shape != input_ids.shape:
        shapes = f"{tuple(mask.shape)}, the input_ids {tuple(input_ids.shape)}"
        raise ValueError(f"the attention_mask has the shape {shapes}: both must be (batch, tokens)")
    return input_ids, mask.bool()


def _read_ids(values: Any, name: str) -> Tensor:
    """Whole numbers (B, S) from a tensor, an array or lists; a single sequence is a batch of one."""
    try:
        ids = torch.as_tensor(values).cpu()
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(
            f"{name} must be whole numbers (batch, tokens), in rows of one length: let the tokenizer pad the texts, "
            "padding=True"
        ) from None
    ids = ids[None] if ids.ndim == 1 else ids
    if ids.ndim != 2 or not ids.numel() or ids.is_floating_point() or ids.is_complex():
        raise ValueError(f"{name} must be whole numbers (batch, tokens), got {ids.dtype} of shape {tuple(ids.shape)}")
    return ids


def _names_of(tokenizer: Any) -> Callable[[Tensor], list[str]]:
    """How the tokens of ids (S,) are written on an axis."""
    if not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise ValueError(f"the tokenizer must be one of transformers, got {type(tokenizer).__name__}")
    spell = byte_level.speller(tokenizer)

    def name_tokens(ids: Tensor) -> list[str]:
        return list(map(spell, tokenizer.convert_ids_to_tokens(ids.tolist()), ids.tolist()))

    return name_tokens


def _end_ids(tokenizer: Any, eos_token_id: Any) -> list[int]:
    """The ids that end a sequence: those given, or else those of the tokenizer."""
    ids = getattr(tokenizer, "eos_token_id", None) if eos_token_id is None else eos_token_id
    return [] if ids is None else torch.as_tensor(ids).flatten().tolist()


def _check_sequence(sequence: int, count: int) -> None:
    if not isinstance(sequence, int) or not 0 <= sequence < count:
        raise ValueError(f"the sequence must be from 0 to {count - 1}, got {sequence}")


def _check_prompt(output_ids: Tensor, ids: Tensor, is_real: Tensor, n_prompt: int) -> None:
    """Raise a ValueError unless a decoder alone read these ids (S,) at its first step."""
    if not torch.equal(output_ids[: len(ids)].cpu(), ids):
        raise ValueError("the sequences do not begin with the input_ids: give the inputs that generate was given")
    if n_prompt != len(ids):
        raise ValueError(
            f"the first step has {n_prompt} rows for the {len(ids)} tokens of the prompt: {generated.PLAIN}"
        )
    if not is_real[-1]:
        raise ValueError('a prompt is padded on its right, where it goes on: use a tokenizer with padding_side="left"')


def _kind(name: Any) -> str:
    kind = NAMES.get(name, name)
    if kind not in SIDES:
        raise ValueError(f"there is no kind of attention {name!r}: choose of {', '.join(NAMES)}")
    return kind


def _tokens(tokens: Any, weights: Mapping[str, Any]) -> TokenTexts:
    if not isinstance(tokens, Mapping):
        sides = {side for kind in weights for side in SIDES[kind]}
        if len(sides) > 1:
            raise ValueError('there are two sequences: give tokens={"source": [...], "target": [...]}')
        tokens = dict.fromkeys(sides, tokens)
    texts = {side: _texts(side, value) for side, value in tokens.items()}
    return spelt_tokens({f"{side}_tokens": texts[side] for side in texts})


def _texts(side: str, tokens: Any) -> list[str]:
    """The tokens of a side, from a list, an array or a column of a table."""
    if f"{side}_tokens" not in TOKENS:
        raise ValueError(f"there are no tokens of the side {side!r}: choose of source, target, predicted")
    listed = tokens.tolist() if hasattr(tokens, "tolist") else tokens
    if not isinstance(listed, list | tuple) or not all(isinstance(text, str) for text in listed):
        raise ValueError(f"the {side} tokens must be a list of texts, got {str(tokens)[:60]!r}")
    return [str(text) for text in listed]
