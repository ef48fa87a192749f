"""The worked examples and pitfalls of the tutorial (facts S1), with our own functions where there is one."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from model.attention import MultiHeadAttention, masked_softmax
from model.layers import Residual
from model.taps import name_taps, record
from model.training.losses import smoothed_cross_entropy
from model.training.schedules import noam
from tests.test_model.builders import tiny_config


def test_masked_softmax() -> None:
    scores = torch.tensor([3.5, 2.9, 1.0, 1.0], dtype=torch.float64)
    blocked = torch.tensor([False, False, True, True])
    weights = masked_softmax(scores.masked_fill(blocked, -math.inf))
    assert weights.tolist() == pytest.approx([0.6456563, 0.3543437, 0, 0], abs=5e-8)
    assert weights[2:].tolist() == [0, 0]
    # The tutorial fills with -1e9, which agrees as long as something may be attended.
    assert torch.equal(scores.masked_fill(blocked, -1e9).softmax(-1), weights)


def test_forgotten_transpose() -> None:
    """33 tokens, 8 heads of 64: without the transpose heads attend to heads, and nothing complains."""
    torch.manual_seed(0)
    attention = MultiHeadAttention(512, 8, 0.0, bias=False)
    name_taps(attention)
    x = torch.randn(1, 33, 512)
    with record() as trace, torch.no_grad():
        attention(x, x, torch.ones(1, 1, 1, 33, dtype=torch.bool))
        split = attention.q_projection(x).unflatten(-1, (8, 64))
    assert split.shape == (1, 33, 8, 64)
    assert trace["q"].shape == (1, 8, 33, 64)
    assert trace["weights"].shape == (1, 8, 33, 33) and trace["weights"].numel() == 8712
    wrong = split @ split.transpose(-2, -1)
    assert wrong.shape == (1, 33, 8, 8) and wrong.numel() == 2112


@pytest.mark.parametrize(("targets", "total"), [([2, 0, 1], 0.0042), ([0, 2, 2], 49.1042), ([2, 0, 2], 9.9042)])
def test_cross_entropy(targets: list[int], total: float) -> None:
    """The table gives sums over three tokens; ours is the mean, and never counts class 0, which is padding here."""
    logits = torch.tensor([[0.1, 0.3, 7.3], [33, 5, 1], [4, 10, 0.1]], dtype=torch.float64)
    shifted = torch.cat([torch.full((3, 1), -math.inf, dtype=torch.float64), logits], dim=1)  # padding is impossible
    ids = torch.tensor(targets) + 1
    mean = smoothed_cross_entropy(shifted[None], ids[None], 0.0)
    assert 3 * mean.item() == pytest.approx(total, abs=5e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_layer_norm(norm: str) -> None:
    """eps=1e-6: mean 0 and variance 1 over the last axis."""
    torch.manual_seed(0)
    residual = Residual(tiny_config(d_model=512, n_heads=8, norm_eps=1e-6, norm=norm)).double().eval()
    inputs = []

    def sublayer(x: torch.Tensor) -> torch.Tensor:
        inputs.append(x)
        return torch.zeros_like(x)

    x = 5 + 3 * torch.randn(2, 7, 512, dtype=torch.float64)
    output = residual(x, sublayer)
    normed, sum_ = (inputs[0], output) if norm == "pre" else (output, inputs[0])
    assert torch.equal(sum_, x)
    assert normed.mean(-1).abs().max() < 1e-10
    assert (normed.var(-1, unbiased=False) - 1).abs().max() < 1e-6


def test_the_tutorials_own_layer_norm_is_another_function() -> None:
    """It adds the bias to the denominator and takes the unbiased deviation: right only while the bias is 0."""
    x = torch.randn(7, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    norm = nn.LayerNorm(12, eps=1e-6, dtype=torch.float64)

    def tutorial() -> torch.Tensor:
        return norm.weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + norm.eps + norm.bias)

    assert (tutorial() * math.sqrt(12 / 11) - norm(x)).abs().max() < 1e-5
    with torch.no_grad():
        norm.bias.fill_(0.5)
    assert (tutorial() * math.sqrt(12 / 11) - norm(x)).abs().max() > 0.1


def test_schedule() -> None:
    """d_model 512, warmup 200, steps 1 to 1000: the peak is at the end of the warmup."""
    schedule = noam(512, 200)
    rates = [schedule(step) for step in range(1, 1001)]
    assert max(rates) == rates[199] == pytest.approx(512**-0.5 * 200**-0.5)
    assert rates[99] == pytest.approx(rates[199] / 2)  # linear before
    assert rates[799] == pytest.approx(rates[199] / 2)  # inverse square root after
    for step, rate in enumerate(rates, start=1):
        assert rate == pytest.approx(512**-0.5 * min(step**-0.5, step * 200**-1.5))


def test_unscaled_scores_saturate_the_softmax() -> None:
    """Without 1 / sqrt(d_k) the largest weight is near 1 and the gradient vanishes (section 3.2.1)."""
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(200, n, 512, generator=generator, dtype=torch.float64) for n in (1, 33))
    raw = (q @ k.mT).squeeze(1)
    slopes = []
    for scores in (raw, raw / math.sqrt(512)):
        weights = masked_softmax(scores)
        slopes.append((weights * (1 - weights)).sum(-1).mean())
    assert slopes[0] < 0.2 < 0.8 < slopes[1]


def test_embeddings_weigh_as_much_as_positions() -> None:
    """The pitfall of the missing sqrt(d_model): with it a fresh embedding has rms 1 beside the encoding's 0.707."""
    from model.transformer import Transformer

    torch.manual_seed(0)
    model = Transformer(tiny_config(vocab_size=2000, d_model=64, n_heads=4, max_length=64))
    ids = torch.randint(4, 2000, (8, 64))
    with record() as trace, torch.no_grad():
        model(ids, ids)
    assert trace["encoder.input.tokens"].square().mean().sqrt().item() == pytest.approx(1, abs=0.05)
    assert trace["encoder.input.positions"].square().mean().sqrt().item() == pytest.approx(0.5**0.5, abs=1e-5)
