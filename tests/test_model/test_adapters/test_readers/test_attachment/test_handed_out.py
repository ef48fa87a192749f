"""Maps that models hand out in forms of their own: made whole, or refused in one sentence, never drawn as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import transformers
from torch import nn

from model import attach
from model.adapters.outputs import attention_from, attention_of
from tests.support.architectures import BART, LED, LLAMA, LONGFORMER, SHARED, Numbers


def build(kind: str, sizes: dict[str, Any], implementation: str | None = "eager") -> Any:
    network = getattr(transformers, kind)
    torch.manual_seed(1)
    model = network(network.config_class(**sizes, attn_implementation=implementation)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def ids_of(count: int) -> torch.Tensor:
    return torch.randint(5, 99, (1, count), generator=torch.Generator().manual_seed(3))


class Dense:
    """Longformer's attention once more, as the softmax of whole maps, from the outputs of its own projections."""

    def __init__(self, attentions: list[nn.Module]) -> None:
        self.attentions = attentions
        self.projected: dict[tuple[int, str], torch.Tensor] = {}
        for layer, attention in enumerate(attentions):
            for name in ("query", "key", "query_global", "key_global"):
                getattr(attention, name).register_forward_hook(self.keep(layer, name))

    def keep(self, layer: int, name: str) -> Any:
        def hook(module: nn.Module, arguments: Any, output: torch.Tensor) -> None:
            self.projected[layer, name] = output.detach().clone()  # (T or more, B, D), later divided in place

        return hook

    def heads(self, layer: int, name: str, count: int) -> torch.Tensor:
        return self.projected[layer, name][:count, 0].view(count, 4, 8).transpose(0, 1)

    def maps(self, n_tokens: int, is_global: torch.Tensor, is_token: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Weights (L, H, T, T) and masks (L, T, T); rows of padding are zeros, as in what the model hands out."""
        weights, masks = [], []
        place = torch.arange(n_tokens)
        for layer, attention in enumerate(self.attentions):
            near = (place[:, None] - place).abs() <= attention.one_sided_attn_window_size
            mask = (near | is_global | is_global[:, None]) & is_token
            scores = self.heads(layer, "query", n_tokens) @ self.heads(layer, "key", n_tokens).transpose(1, 2)
            if is_global.any():
                queries = self.heads(layer, "query_global", int(is_global.sum()))
                scores[:, is_global] = queries @ self.heads(layer, "key_global", n_tokens).transpose(1, 2)
            layer_weights = (scores / 8**0.5).masked_fill(~mask, -torch.inf).softmax(-1)
            layer_weights[:, ~is_token] = 0
            weights.append(layer_weights)
            masks.append(mask & is_token[:, None])
        return torch.stack(weights).numpy(), torch.stack(masks).numpy()


CASES = [  # tokens, global ones, padding at the end; 5 tokens make bands of window 4 look like maps
    (10, [], 0),
    (5, [], 0),
    (11, [0, 7], 0),
    (3, [0], 0),
    (9, [3], 2),
]


class TestBands:
    @pytest.mark.parametrize(("n_tokens", "places", "n_pads"), CASES)
    @torch.inference_mode()
    def test_longformer_has_the_maps_of_a_dense_softmax(self, n_tokens: int, places: list[int], n_pads: int) -> None:
        model = build("LongformerForMaskedLM", LONGFORMER)
        dense = Dense([layer.attention.self for layer in model.longformer.encoder.layer])
        is_global, is_token = torch.zeros(n_tokens, dtype=torch.bool), torch.ones(n_tokens, dtype=torch.bool)
        is_global[places] = True
        is_token[n_tokens - n_pads :] = False
        inputs = {
            "input_ids": ids_of(n_tokens),
            "attention_mask": is_token.long()[None],
            "global_attention_mask": is_global.long()[None],
        }
        if not n_pads:
            recording = attach(model, Numbers()).read(**inputs).recording()
            weights, masks = dense.maps(n_tokens, is_global, is_token)
            np.testing.assert_allclose(recording.attention("encoder_self"), weights, atol=1e-6)
            np.testing.assert_array_equal(np.broadcast_to(recording.mask("encoder_self"), masks.shape), masks)
        of_outputs = attention_of(model(**inputs, output_attentions=True), inputs, Numbers())
        weights, _ = dense.maps(n_tokens, is_global, is_token)
        kept = weights[..., : n_tokens - n_pads, : n_tokens - n_pads]
        np.testing.assert_allclose(of_outputs.attention("encoder_self"), kept, atol=1e-6)

    @torch.inference_mode()
    def test_led_has_them_in_its_encoder_and_others_in_its_decoder(self) -> None:
        model = build("LEDForConditionalGeneration", LED)
        dense = Dense([layer.self_attn.longformer_self_attn for layer in model.led.encoder.layers])
        is_global = torch.tensor([True] + [False] * 6)
        inputs = {
            "input_ids": ids_of(7),
            "global_attention_mask": is_global.long()[None],
            "decoder_input_ids": ids_of(4),
        }
        result = attach(model, Numbers()).read(**inputs)
        weights, masks = dense.maps(7, is_global, torch.ones(7, dtype=torch.bool))
        outputs = model(**inputs, output_attentions=True, use_cache=False)
        np.testing.assert_allclose(result.attention("encoder_self"), weights, atol=1e-6)
        np.testing.assert_array_equal(result.mask("encoder_self"), masks[0])
        for kind, name in (("decoder_self", "decoder_attentions"), ("cross", "cross_attentions")):
            np.testing.assert_allclose(result.attention(kind), torch.cat(outputs[name]).numpy(), atol=1e-6)
        np.testing.assert_array_equal(result.mask("decoder_self"), np.tri(4, dtype=bool))

    @torch.inference_mode()
    def test_bands_of_as_many_columns_as_tokens_are_not_taken_for_maps(self) -> None:
        model = build("LongformerForMaskedLM", LONGFORMER | {"attention_window": 4})
        bands = model(input_ids=ids_of(5), output_attentions=True).attentions
        assert bands[0].shape[-2:] == (5, 5)
        with pytest.raises(ValueError, match="the bands of a sliding window"):
            attention_from(bands, list("abcde"))


class TestOtherForms:
    def test_big_bird_has_the_whole_maps_of_its_full_attention(self) -> None:
        sizes = LLAMA | {"block_size": 4, "num_random_blocks": 2}
        result = attach(build("BigBirdForMaskedLM", sizes | {"attention_type": "block_sparse"}), Numbers()).read(
            input_ids=ids_of(48)
        )
        full = build("BigBirdForMaskedLM", sizes | {"attention_type": "original_full"})
        with torch.inference_mode():
            outputs = full(input_ids=ids_of(48), output_attentions=True)
        np.testing.assert_allclose(result.attention("encoder_self"), torch.cat(outputs.attentions).numpy(), atol=1e-6)

    @pytest.mark.parametrize(
        ("kind", "sizes", "n_tokens", "words"),
        [
            (
                "FunnelForMaskedLM",
                {**SHARED, "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 48, "block_sizes": [1, 1]},
                8,
                "rows and columns are not these tokens",
            ),
            ("YosoForMaskedLM", LLAMA, 8, "rows and columns are not these tokens"),
            ("SqueezeBertForMaskedLM", LLAMA | {"embedding_size": 32}, 8, "are not all of its attention"),
            ("MraForMaskedLM", LLAMA, 8, "has handed out no maps"),
            ("CvtModel", {}, 8, "parts that readers do not know"),
        ],
    )
    def test_what_is_no_map_of_the_tokens_is_refused(
        self, kind: str, sizes: dict[str, Any], n_tokens: int, words: str
    ) -> None:
        with pytest.raises(ValueError, match=words) as error:
            attach(build(kind, sizes), Numbers()).read(input_ids=ids_of(n_tokens))
        assert "\n" not in str(error.value) and "zip" not in str(error.value)

    def test_windows_of_a_picture_are_not_taken_for_the_picture(self) -> None:
        sizes = {"image_size": 16, "patch_size": 2, "window_size": 4, "embed_dim": 16, "depths": [1], "num_heads": [2]}
        reader = attach(build("SwinModel", sizes, None), None)
        with pytest.raises(ValueError, match="within 4 parts of its input one by one"):
            reader.read(pixel_values=torch.randn(1, 3, 16, 16))

    def test_a_model_that_fails_says_so_in_one_sentence(self) -> None:
        reader = attach(build("LongformerForMaskedLM", LONGFORMER | {"attention_window": [4, 4, 6]}), Numbers())
        with pytest.raises(ValueError, match="a longformer cannot read this input: its own code fails with"):
            reader.read(input_ids=ids_of(5))

    def test_a_decoder_whose_self_attention_is_not_marked_as_causal_has_all_three_kinds(self) -> None:
        sizes = BART | {"num_experts": 2, "encoder_sparse_step": 0, "decoder_sparse_step": 0}
        model = build("NllbMoeForConditionalGeneration", sizes, None)
        inputs = {"input_ids": ids_of(7), "decoder_input_ids": ids_of(4)}
        result = attach(model, Numbers()).read(**inputs)
        eager = build("NllbMoeForConditionalGeneration", sizes)
        with torch.inference_mode():
            outputs = eager(**inputs, output_attentions=True)
        assert result.kinds == ["encoder_self", "decoder_self", "cross"]
        for kind, name in (("decoder_self", "decoder_attentions"), ("cross", "cross_attentions")):
            np.testing.assert_allclose(result.attention(kind), torch.cat(outputs[name]).numpy(), atol=1e-6)

    def test_a_bare_decoder_shows_itself(self) -> None:
        result = attach(build("GPT2Model", {**SHARED, "n_embd": 32, "n_layer": 2, "n_head": 4}), Numbers()).read(
            "11 12"
        )
        assert result.recording().target_tokens == ["11", "12"]
        assert "11" in result._repr_html_()
