"""Readers of models of transformers: every architecture against `eager` of the same model."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from model import attach
from model.adapters.readers.reader import Reader
from tests.support import architectures

OUTPUTS = {"encoder_self": "encoder_attentions", "decoder_self": "decoder_attentions", "cross": "cross_attentions"}


class Numbers:
    """A tokenizer whose words are the ids."""

    mask_token_id = 4

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return list(map(str, ids))

    def decode(self, ids: list[int], **options: Any) -> str:
        return " ".join(map(str, ids))


@pytest.fixture(scope="module", params=[*architectures.ON_THE_INTERFACE])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def inputs(name: str) -> dict[str, torch.Tensor]:
    return architectures.inputs_of(name)


@pytest.fixture(scope="module")
def reader(name: str) -> Reader:
    return attach(architectures.build(name), Numbers())


@pytest.fixture(scope="module")
def eager(name: str, inputs: dict[str, torch.Tensor]) -> dict[str, Any]:
    """What the same model gives by itself: its logits, and by kind its maps (layers, heads, T, S)."""
    return outputs_of(architectures.build(name, "eager"), inputs)


@torch.inference_mode()
def outputs_of(model: Any, inputs: dict[str, torch.Tensor]) -> dict[str, Any]:
    outputs = model(**inputs, output_attentions=True)
    pair = model.config.is_encoder_decoder
    maps = {kind: outputs[name] for kind, name in OUTPUTS.items()} if pair else {"all": outputs["attentions"]}
    stacked = {kind: torch.cat([layer for layer in layers if layer is not None]) for kind, layers in maps.items()}
    return {"logits": outputs["logits"][0], **stacked}


def test_logits_and_maps_are_those_of_eager(reader: Reader, inputs: dict, eager: dict) -> None:
    result = reader.read(**inputs)
    torch.testing.assert_close(torch.from_numpy(result.logits), eager["logits"], rtol=0, atol=1e-6)
    for kind in reader.config.kinds:
        expected = eager.get(kind, eager.get("all"))
        torch.testing.assert_close(torch.from_numpy(result.attention(kind)), expected, rtol=0, atol=1e-6)


def test_masks_are_where_weights_can_be(reader: Reader, inputs: dict) -> None:
    result = reader.read(**inputs)
    for kind in reader.config.kinds:
        weights, mask = result.attention(kind), result.mask(kind)
        mask = mask if mask.ndim == 3 else mask[None].repeat(len(weights), axis=0)
        assert ((weights > 0) == mask[:, None]).all()
        windows = [layer.window for layer in reader.config.layers(kind)]
        assert [layer.sum(axis=-1).max() for layer in mask] == [
            min(window or mask.shape[-1], mask.shape[-1]) for window in windows
        ]


def test_an_attached_model_computes_what_it_did(name: str, inputs: dict) -> None:
    model = architectures.build(name)
    with torch.inference_mode():
        before = model(**inputs)["logits"]
        attach(attach(model, Numbers()).model, Numbers())
        assert torch.equal(model(**inputs)["logits"], before)
