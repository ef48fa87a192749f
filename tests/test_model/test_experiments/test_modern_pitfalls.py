"""Mistakes of today, each against the same mistake written out in PyTorch, and against the right version."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from model import masks
from model.attention import MultiHeadAttention
from model.config import LanguageModelConfig
from model.experiments import modern_pitfalls as pitfalls
from model.language_model import LanguageModel

SIZES = {"vocab_size": 31, "d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 40, "max_length": 64, "init": "normal"}
IDS = torch.tensor([5, 6, 7, 8, 9, 10, 11])


def model_of(**changes) -> LanguageModel:
    torch.manual_seed(0)
    model = LanguageModel(LanguageModelConfig(**SIZES | changes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def elsewhere(model: LanguageModel, **changes) -> LanguageModel:
    """The same weights in a model that is built otherwise."""
    twin = LanguageModel(replace(model.config, **changes)).eval()
    twin.load_state_dict(model.state_dict())
    return twin


@pytest.mark.parametrize(("layout", "other_layout"), [("rotary", "rotary_halves"), ("rotary_halves", "rotary")])
def test_the_other_layout_is_that_of_a_model_built_with_it(layout, other_layout):
    model = model_of(positional=layout)
    wrong = pitfalls.next_logits(model, IDS, "layout", len(IDS))
    torch.testing.assert_close(wrong, elsewhere(model, positional=other_layout)(IDS[None])[0, -1], rtol=1e-4, atol=1e-4)
    assert not torch.allclose(wrong, model(IDS[None])[0, -1], atol=1e-2)


def test_groups_in_the_wrong_order_are_those_of_repeat(monkeypatch):
    model = model_of(n_kv_heads=2)
    wrong = pitfalls.next_logits(model, IDS, "groups", len(IDS))
    right = model(IDS[None])[0, -1]
    monkeypatch.setattr(MultiHeadAttention, "_share", lambda self, x: x.repeat(1, self.n_heads // self.n_groups, 1, 1))
    torch.testing.assert_close(wrong, model(IDS[None])[0, -1], rtol=1e-4, atol=1e-4)
    assert not torch.allclose(wrong, right, atol=1e-2)


@pytest.mark.parametrize("positional", ["sinusoidal", "rotary", "rotary_halves"])
def test_a_step_at_position_0_and_a_step_that_sees_the_first_key_only(positional, monkeypatch):
    """Cached steps with the mistake written out: the state and its mask, not taps."""
    model = model_of(positional=positional)
    steps = IDS[4:]
    for mistake in ("offset", "alignment"):
        wrong = pitfalls.next_logits(model, IDS, mistake, 5)
        state = model.start(IDS[None, :4])
        with monkeypatch.context() as patch:
            model.decoder(IDS[None, :4], masks.causal_mask(4), 0, state.append)
            if mistake == "offset" and positional != "sinusoidal":
                _turn_steps_at_0(patch, model, 4)
            for place, index in enumerate(steps, 4):
                mask = torch.ones(1, 1, 1, place + 1, dtype=torch.bool)
                if mistake == "alignment":
                    mask[..., 1:] = False
                start = 0 if mistake == "offset" else place
                hidden = model.decoder(index[None, None], mask, start, state.append)
        expected = model.softmax(hidden[:, -1:])[0, -1]
        torch.testing.assert_close(wrong, expected, rtol=1e-4, atol=1e-4)
        assert not torch.allclose(wrong, model(IDS[None])[0, -1], atol=1e-2)


def test_the_causal_mask_of_pytorch_is_aligned_at_the_top_left():
    values = torch.arange(4.0)[:, None]
    output = F.scaled_dot_product_attention(torch.ones(1, 1), torch.zeros(4, 1), values, is_causal=True)
    assert output.item() == 0, "one query and four keys: only the first key"


def _turn_steps_at_0(patch, model: LanguageModel, n_prompt: int) -> None:
    """Has keys of the prompt turned by their positions, and everything later by none."""
    for layer in model.decoder.layers:
        relative = layer.self_attention.relative
        cosine, sine = relative.cosine.clone(), relative.sine.clone()
        cosine[n_prompt:], sine[n_prompt:] = 1, 0
        patch.setitem(relative._buffers, "cosine", cosine)
        patch.setitem(relative._buffers, "sine", sine)


def test_pads_before_the_text_move_absolute_positions_and_not_rotary_ones():
    for positional, changes in (("sinusoidal", True), ("learned", True), ("rotary", False)):
        model = model_of(positional=positional)
        right = model(IDS[None])[0, -1]
        wrong = pitfalls.next_logits(model, IDS, "padding", len(IDS))
        assert torch.allclose(wrong, right, atol=1e-3) == (not changes), positional
        assert pitfalls.MISTAKES["padding"](model.config) == changes


def test_which_mistake_fits_which_model():
    def fitting(**changes) -> set[str]:
        return {name for name, fits in pitfalls.MISTAKES.items() if fits(LanguageModelConfig(**SIZES | changes))}

    assert fitting() == {"padding", "offset", "alignment"}
    assert fitting(positional="rotary", n_kv_heads=2) == {"layout", "groups", "offset", "alignment"}
    assert fitting(positional="alibi", n_kv_heads=1) == {"alignment"}


def test_without_a_mistake_the_words_are_those_of_greedy_search():
    model = model_of()
    state, token, expected = model.start(IDS[None, :-1]), IDS[-1:], []
    for _ in range(5):
        token = model.step(state, token).argmax(-1)
        expected.append(token.item())
    assert pitfalls.continue_greedily(model, IDS, None, 5) == expected
