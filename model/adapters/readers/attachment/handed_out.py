"""Maps that a model hands out itself, where no tap sees its attention; and what each map of a reading must be.

`check_axes` is the one place that compares the rows and columns of every recorded map with the tokens that a reading
names, whatever recorded it: no map is drawn with words that are not its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.adapters.conversion import bands
from model.adapters.conversion.weights import ROUNDING, is_causal, known_mask
from model.adapters.readers.attachment.passes import for_reading
from model.adapters.readers.layout import AttentionLayer, ReaderConfig
from model.results.recording import SIDES
from model.taps import Trace
from model.text.errors import Problem

OF_PAIR = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}
_PROBE = 4  # tokens


@torch.inference_mode()
def probe(model: Any) -> dict[str, list[int]]:
    """By kind of attention how many heads each layer of a model hands out, from a pass over a few tokens.

    Nothing else says what such a model is made of. It also says whether a query attends to what comes later, which
    tells an encoder from a decoder. Of a model that reads no ids the answer is empty.
    """
    config = model.config
    special = {getattr(config, f"{name}_token_id", None) for name in ("pad", "bos", "eos")}
    ids = torch.tensor([[token for token in range(_PROBE + 3) if token not in special][:_PROBE]], device=model.device)
    inputs = {"input_ids": ids} | ({"decoder_input_ids": ids} if config.is_encoder_decoder else {})
    try:
        with for_reading(model):
            outputs = model(**inputs, output_attentions=True, return_dict=True)
    except Exception:  # whatever a model does that reads images or sound
        return {}
    if config.is_encoder_decoder:
        fields = {kind: outputs[name] for kind, name in OF_PAIR.items() if outputs.get(name)}
    else:
        layers = _handed_out(outputs, "attentions", config.model_type)
        seen = [as_numpy(layer) for layer in layers if layer is not None and layer.shape[-2:] == 2 * ids.shape[-1:]]
        later = any(not is_causal(maps) for maps in seen) or bands.hands_out_bands(outputs, "attentions")
        fields = {"encoder_self" if later else "decoder_self": layers}
    return {kind: [0 if layer is None else layer.size(1) for layer in layers] for kind, layers in fields.items()}


def add_maps(trace: Trace, outputs: Any, config: ReaderConfig, inputs: Mapping[str, Tensor]) -> None:
    """Add the maps in the outputs of a model to a trace, under their addresses, with what is known of their masks."""
    for kind in config.kinds:
        name = OF_PAIR[kind] if "cross" in config.kinds else "attentions"
        for layer, weights, mask in _whole(outputs, name, config, kind, inputs):
            sums = weights.sum(dim=-1)
            if bool(((sums - 1).abs() > ROUNDING).logical_and(sums.abs() > ROUNDING).any()):
                raise Problem(
                    "the maps that a {architecture} hands out for this text are not all of its attention (there is a "
                    "row that sums to {sum:.2f}), so they are not drawn",
                    architecture=config.architecture,
                    sum=float(sums.flatten()[(sums - 1).abs().argmax()]),
                )
            trace.add(f"{layer.address}.mask", mask)
            trace.add(f"{layer.address}.weights", weights)


def _whole(
    outputs: Any, name: str, config: ReaderConfig, kind: str, inputs: Mapping[str, Tensor]
) -> Iterator[tuple[AttentionLayer, Tensor, Tensor]]:
    """The layers of a kind that have attention, with their weights (1, H, T, S) and masks (1, 1, T, S)."""
    handed_out = _handed_out(outputs, name, config.architecture)
    maps_of = {number: maps for number, maps in enumerate(handed_out) if maps is not None}
    numbers = {layer.layer: layer for layer in config.layers(kind)}
    if list(maps_of) != list(numbers):
        raise Problem(
            "a {architecture} hands out maps of {n} layers, and has {known} by its configuration: which these are "
            "is not known, so they are not drawn",
            architecture=config.architecture,
            n=len(handed_out),
            known=len(numbers),
        )
    if bands.hands_out_bands(outputs, name):
        n_tokens = next(iter(maps_of.values())).size(2)
        is_token = inputs.get("attention_mask", torch.ones(1, n_tokens))[0].bool()
        maps, masks = bands.whole_maps(outputs, name, 0, is_token)
        for number, layer in numbers.items():
            yield layer, maps[number][None], masks[number][None, None]
        return
    for number, layer in numbers.items():
        weights = maps_of[number]
        if weights.dim() != 4:
            raise _other_axes(config, layer, weights.shape, "(heads, queries, keys)")
        maps = as_numpy(weights[:1])
        mask = known_mask(kind, maps)
        # Where that does not tell, as of padding: a cell to which some head attends.
        mask = (maps > 0).any(axis=(0, 1)) if mask is None else mask
        yield layer, weights, torch.from_numpy(mask)[None, None]


def _handed_out(outputs: Any, name: str, architecture: str) -> Sequence[Tensor | None]:
    """The layers in a field of a model's outputs, of which not all may be missing."""
    layers = outputs.get(name)
    if not layers or all(layer is None for layer in layers):
        raise Problem(
            'a {architecture} has handed out no maps: unless it was loaded with attn_implementation="eager", load it '
            "so; otherwise it has none to show",
            architecture=architecture,
        )
    return layers


def check_axes(trace: Trace, config: ReaderConfig, counts: Mapping[str, int], n_texts: int = 1) -> None:
    """Refuse, in one sentence, recorded maps whose rows and columns are not the tokens that their reading names.

    Args:
        trace: of the pass.
        counts: by side ("source", "target") the number of tokens, with pads.
        n_texts: that were read together.
    """
    for kind in config.kinds:
        recorded = [trace.all(f"{layer.address}.weights") for layer in config.layers(kind)]
        n_heads = sorted({calls[0].size(1) for calls in recorded if calls and calls[0].dim() == 4})
        if len(n_heads) > 1:
            raise Problem(
                "the layers of a {architecture} have {n} heads, which cannot be drawn together",
                architecture=config.architecture,
                n=" / ".join(map(str, n_heads)),
            )
    for layer in config.attention:
        for name in ("weights", "mask"):
            calls = trace.all(f"{layer.address}.{name}")
            if len(calls) > 1:
                raise Problem(
                    "a {architecture} passes through its layer {layer} {n} times for one input, which makes no single "
                    "map, so it is not drawn",
                    architecture=config.architecture,
                    layer=layer.layer,
                    n=len(calls),
                )
            for value in calls:
                _check_map(value, config, layer, [counts[side] for side in SIDES[layer.kind]], n_texts)


def _check_map(value: Tensor, config: ReaderConfig, layer: AttentionLayer, counts: list[int], n_texts: int) -> None:
    if value.size(0) not in (1, n_texts):
        raise Problem(
            "a {architecture} attends within {n} parts of its input one by one (layer {layer}): these are not maps of "
            "the whole, so they are not drawn",
            architecture=config.architecture,
            layer=layer.layer,
            n=value.size(0),
        )
    if list(value.shape[-2:]) != counts:
        raise _other_axes(config, layer, value.shape, f"{counts[0]} x {counts[1]}")


def _other_axes(config: ReaderConfig, layer: AttentionLayer, shape: Sequence[int], expected: str) -> Problem:
    return Problem(
        "layer {layer} of a {architecture} has maps of the shape {shape} where the tokens make {expected}: rows and "
        "columns are not these tokens, so they are not drawn",
        layer=layer.layer,
        architecture=config.architecture,
        shape=" x ".join(map(str, shape[1:])),
        expected=expected,
    )


def as_numpy(weights: Tensor) -> np.ndarray:
    """Weights of any type and device as float32."""
    return weights.detach().float().cpu().numpy()
