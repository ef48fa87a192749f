"""Dropout drops what it says, scales the rest exactly, and never the same numbers twice."""

from __future__ import annotations

import pytest
import torch

from model.attention import Dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("shape", [(401, 7, 37), (100_003,)])
def test_rate_scale_and_gradient(p: float, shape: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    x = (torch.rand(shape) + 1).requires_grad_(True)
    dropped = Dropout(p)(x)
    survivors = dropped != 0
    deviation = (p * (1 - p) / x.numel()) ** 0.5
    assert (1 - survivors.double().mean()).item() == pytest.approx(p, abs=5 * deviation)
    torch.testing.assert_close(dropped[survivors], x[survivors] / (1 - p), rtol=1e-4, atol=0)
    assert dropped.mean().item() == pytest.approx(x.mean().item(), rel=0.02)
    dropped.sum().backward()
    torch.testing.assert_close(x.grad, survivors / (1 - p), rtol=1e-4, atol=1e-6)


def test_the_four_numbers_of_a_word_are_independent() -> None:
    """Every pair of neighbours, at every place in a word, is dropped together as often as chance says."""
    torch.manual_seed(1)
    zeros = (Dropout(0.5)(torch.ones(40_000, 4)) == 0).double()
    together = zeros.T @ zeros / len(zeros)
    assert (together - 0.25 - 0.25 * torch.eye(4)).abs().max() < 0.02
    later = (zeros[1:, 0] * zeros[:-1, 3]).mean()
    assert later.item() == pytest.approx(0.25, abs=0.02)


def test_the_seed_decides_and_each_call_is_another() -> None:
    x = torch.ones(1001)
    torch.manual_seed(2)
    first, second = Dropout(0.3)(x), Dropout(0.3)(x)
    torch.manual_seed(2)
    assert torch.equal(Dropout(0.3)(x), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize(("p", "expected"), [(0.0, 1.0), (1.0, 0.0)])
def test_never_and_always(p: float, expected: float) -> None:
    assert torch.equal(Dropout(p)(torch.ones(9)), torch.full((9,), expected))
    assert torch.equal(Dropout(p).eval()(torch.ones(9)), torch.ones(9))
