"""Feed-forward, residual connections and layers against those of torch.nn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from model.layers import DecoderLayer, EncoderLayer, FeedForward, Residual
from model.masks import causal_mask
from model.taps import name_taps, record
from tests.test_model.builders import B, D, F, H, S, T, assert_near, randomise, tiny_config


def seeded(module: nn.Module) -> nn.Module:
    randomise(module.double())
    name_taps(module)
    return module.eval()


def stream(length: int, seed: int = 5) -> Tensor:
    return torch.randn(B, length, D, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


class TestFeedForward:
    @pytest.mark.parametrize(
        ("name", "function"),
        [
            ("relu", lambda x: np.maximum(x, 0)),
            ("gelu", lambda x: x * (1 + torch.erf(torch.from_numpy(x) / 2**0.5).numpy()) / 2),
            ("swish", lambda x: x / (1 + np.exp(-x))),
        ],
    )
    def test_is_the_formula(self, name: str, function: Callable) -> None:
        """activation(x W_1 + b_1) W_2 + b_2, in numpy."""
        ours = seeded(FeedForward(tiny_config(activation=name)))
        x = stream(T)
        with record() as trace, torch.no_grad():
            output = ours(x)
        w1, b1, w2, b2 = (parameter.detach().numpy() for parameter in ours.parameters())
        hidden = function(x.numpy() @ w1.T + b1)
        np.testing.assert_allclose(trace["hidden"].numpy(), hidden, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(output.numpy(), hidden @ w2.T + b2, rtol=1e-10, atol=1e-10)
        assert torch.equal(trace["output"], output)

    def test_equals_two_convolutions_of_kernel_size_1(self) -> None:
        """Section 3.3: "two convolutions with kernel size 1"."""
        ours = seeded(FeedForward(tiny_config()))
        first, second = nn.Conv1d(D, F, 1).double(), nn.Conv1d(F, D, 1).double()
        with torch.no_grad():
            for convolution, linear in ((first, ours.inner), (second, ours.outer)):
                convolution.weight.copy_(linear.weight[..., None])
                convolution.bias.copy_(linear.bias)
        x = stream(T)
        assert_near(ours(x), second(functional.relu(first(x.mT))).mT)

    def test_has_no_residual_of_its_own(self) -> None:
        """The tutorial's feed-forward adds x although the sublayer connection adds it too (facts S1)."""
        ours = seeded(FeedForward(tiny_config()))
        with torch.no_grad():
            for parameter in ours.parameters():
                parameter.zero_()
        assert not ours(stream(T)).any()


class TestResidual:
    def norm(self, residual: Residual, x: Tensor) -> Tensor:
        """Layer normalisation written out: the mean and the variance over the last axis, eps under the root."""
        mean = x.mean(-1, keepdim=True)
        variance = (x - mean).square().mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(variance + residual.norm.eps) * residual.norm.weight + residual.norm.bias

    def test_pre(self) -> None:
        residual, x = seeded(Residual(tiny_config(norm="pre", norm_eps=0.01))), stream(T)
        assert_near(residual(x, torch.sin), x + torch.sin(self.norm(residual, x)))

    def test_post(self) -> None:
        residual, x = seeded(Residual(tiny_config(norm="post", norm_eps=0.01))), stream(T)
        assert_near(residual(x, torch.sin), self.norm(residual, x + torch.sin(x)))

    @pytest.mark.parametrize("norm", ["pre", "post"])
    def test_the_stream_is_what_leaves(self, norm: str) -> None:
        residual, x = seeded(Residual(tiny_config(norm=norm))), stream(T)
        with record() as trace:
            output = residual(x, torch.sin)
        assert torch.equal(trace["stream"], output)

    def test_dropout_is_on_the_sublayer_and_not_on_the_stream(self) -> None:
        residual = seeded(Residual(tiny_config(norm="pre", dropout=0.5))).train()
        torch.manual_seed(0)
        x = stream(T)
        change = residual(x, torch.ones_like) - x
        assert {round(value, 9) for value in change.flatten().tolist()} == {0.0, 2.0}


def copy_attention(theirs: nn.MultiheadAttention, ours: nn.Module) -> None:
    parts = (ours.q_projection, ours.k_projection, ours.v_projection)
    theirs.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
    theirs.in_proj_bias.copy_(torch.cat([part.bias for part in parts]))
    theirs.out_proj.load_state_dict(ours.output_projection.state_dict())


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_encoder_layer_is_torchs(norm: str) -> None:
    ours = seeded(EncoderLayer(tiny_config(norm=norm)))
    theirs = nn.TransformerEncoderLayer(
        D, H, F, batch_first=True, norm_first=norm == "pre", dtype=torch.float64, layer_norm_eps=1e-5
    ).eval()
    with torch.no_grad():
        copy_attention(theirs.self_attn, ours.self_attention)
        theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
        theirs.norm1.load_state_dict(ours.residual_self.norm.state_dict())
        theirs.norm2.load_state_dict(ours.residual_ff.norm.state_dict())
    x = stream(S)
    assert_near(ours(x, torch.ones(1, 1, 1, S, dtype=torch.bool)), theirs(x))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_decoder_layer_is_torchs(norm: str) -> None:
    ours = seeded(DecoderLayer(tiny_config(norm=norm)))
    theirs = nn.TransformerDecoderLayer(
        D, H, F, batch_first=True, norm_first=norm == "pre", dtype=torch.float64, layer_norm_eps=1e-5
    ).eval()
    with torch.no_grad():
        copy_attention(theirs.self_attn, ours.self_attention)
        copy_attention(theirs.multihead_attn, ours.cross_attention)
        theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
        theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
        for number, residual in enumerate((ours.residual_self, ours.residual_cross, ours.residual_ff), start=1):
            getattr(theirs, f"norm{number}").load_state_dict(residual.norm.state_dict())
    x, memory = stream(T), stream(S, seed=6)
    cross = ours.cross_attention.keys_values(memory)
    everything = torch.ones(1, 1, 1, S, dtype=torch.bool)
    blocked = torch.ones(T, T, dtype=torch.bool).triu(1)
    output = ours(x, causal_mask(T), cross, everything, lambda new: new)
    assert_near(output, theirs(x, memory, tgt_mask=blocked))
