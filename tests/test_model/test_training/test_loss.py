"""Label smoothing: against the formula written out in float64."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cross_entropy

from model.text.special import PAD_ID
from model.training.losses import smoothed_cross_entropy

B, T, V = 2, 5, 17


def by_hand(logits: torch.Tensor, targets: torch.Tensor, smoothing: float) -> float:
    """- sum over the vocabulary of (smoothed target distribution) * log softmax, averaged over the real tokens."""
    losses = []
    for b in range(targets.size(0)):
        for t in range(targets.size(1)):
            if targets[b, t] != PAD_ID:
                distribution = torch.full((V,), smoothing / V, dtype=torch.float64)
                distribution[targets[b, t]] += 1 - smoothing
                losses.append(-(distribution * torch.log_softmax(logits[b, t], dim=0)).sum())
    return torch.stack(losses).mean().item()


@pytest.fixture
def batch() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    logits = 3 * torch.randn(B, T, V, generator=generator, dtype=torch.float64)
    targets = torch.randint(4, V, (B, T), generator=generator)
    targets[1, 3:] = PAD_ID
    return logits, targets


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
def test_the_loss_is_the_formula(batch, smoothing):
    logits, targets = batch
    loss = smoothed_cross_entropy(logits, targets, smoothing).item()
    assert loss == pytest.approx(by_hand(logits, targets, smoothing), rel=1e-12)


def test_what_stands_under_padding_has_no_effect_and_no_gradient(batch):
    logits, targets = batch
    before = smoothed_cross_entropy(logits, targets, 0.1)
    changed = logits.clone()
    changed[1, 3:] = 100 * torch.arange(V, dtype=torch.float64)
    changed.requires_grad_(True)
    after = smoothed_cross_entropy(changed, targets, 0.1)
    assert after.item() == before.item()
    after.backward()
    assert changed.grad[1, 3:].abs().max() == 0
    assert changed.grad[1, :3].abs().min() > 0


def test_more_padding_changes_nothing(batch):
    logits, targets = batch
    longer = torch.cat([logits, torch.ones(B, 2, V, dtype=torch.float64)], dim=1)
    padded = torch.cat([targets, torch.full((B, 2), PAD_ID)], dim=1)
    assert smoothed_cross_entropy(longer, padded, 0.1).item() == pytest.approx(
        smoothed_cross_entropy(logits, targets, 0.1).item(), rel=1e-12
    )


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("scale", [1, 100])
def test_loss_and_gradient_are_those_of_the_library(batch, smoothing, scale, dtype, tolerance):
    """Also where the softmax is all but certain, and for a loss that is weighed, as in gradient accumulation."""
    logits, targets = batch
    results = []
    for loss_of in (
        lambda z: smoothed_cross_entropy(z, targets, smoothing),
        lambda z: cross_entropy(z.flatten(0, 1), targets.flatten(), ignore_index=PAD_ID, label_smoothing=smoothing),
    ):
        z = (scale * logits).to(dtype).requires_grad_(True)
        loss = loss_of(z)
        (0.25 * loss).backward()
        results.append((loss, z.grad))
    (ours, our_gradient), (theirs, their_gradient) = results
    torch.testing.assert_close(ours, theirs, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(our_gradient, their_gradient, rtol=tolerance, atol=tolerance)
    assert their_gradient.abs().max() > 0.01


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_nothing_but_padding_costs_nothing(smoothing):
    logits = torch.randn(B, T, V, requires_grad=True)
    loss = smoothed_cross_entropy(logits, torch.full((B, T), PAD_ID), smoothing)
    loss.backward()
    assert loss.item() == 0 and not logits.grad.any()
