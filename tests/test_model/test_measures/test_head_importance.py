"""Importance of heads: many at a time against one by one, the gradient against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.interventions.edits import Edits, Head, all_heads
from model.measures.agreement import gradient_estimates, without_each_head
from model.results.translation import MODULES
from model.taps import intervene
from model.text.special import BOS_ID
from model.transformer import Transformer
from tests.support.repeated import first_quick
from tests.test_model.builders import VARIANTS, tiny_model

SOURCES = [[5, 6, 7, 8, 9, 10, 2], [11, 5, 12, 2]]
WRITTEN = [[13, 14, 5, 16, 2], [6, 15, 2]]


@torch.no_grad()
def score(model: Transformer, row: int, edits: Edits | None = None, changes: dict | None = None) -> np.ndarray:
    """The log-probability of each word of a translation (T,), computed for itself."""
    tgt = torch.tensor([[BOS_ID, *WRITTEN[row][:-1]]])
    with intervene(edits.changes(model.config) if edits else changes or {}):
        logits = model(torch.tensor([SOURCES[row]]), tgt)[0]
    return logits.log_softmax(-1)[range(len(WRITTEN[row])), WRITTEN[row]].numpy()


@pytest.mark.parametrize("variant", first_quick(VARIANTS))
@pytest.mark.parametrize("row", first_quick([0, 1]))
def test_many_at_a_time_equal_one_by_one(variant: str, row: int) -> None:
    model = tiny_model(n_encoder_layers=1, n_decoder_layers=3, **VARIANTS[variant])
    by_head: dict[Head, np.ndarray] = {}
    for heads, scores in without_each_head(model, SOURCES[row], WRITTEN[row]):
        by_head |= dict(zip(heads, scores, strict=True))
    assert sorted(by_head) == sorted(all_heads(model.config))
    for head, value in by_head.items():
        assert value == pytest.approx(score(model, row, Edits(off=(head,))), abs=1e-9)
    assert len({round(value.sum(), 9) for value in by_head.values()}) == len(by_head)


def test_the_gradient_is_that_of_a_gate() -> None:
    """Against central differences in the gate of each head, in float64."""
    model, step = tiny_model(), 1e-5
    estimates = [gradient_estimates(model, *pair) for pair in zip(SOURCES, WRITTEN)]
    for head in all_heads(model.config):
        stack, name = MODULES[head.kind]

        def scaled(gate: float, head: Head = head):
            def change(context: torch.Tensor) -> torch.Tensor:
                context[:, head.head] *= gate
                return context

            return change

        address = f"{stack}.layers.{head.layer}.{name}.context"
        for row in range(2):
            up, down = (score(model, row, changes={address: scaled(1 + sign * step)}).sum() for sign in (1, -1))
            expected = abs(up - down) / (2 * step)
            assert estimates[row][head.kind][head.layer, head.head] == pytest.approx(expected, rel=1e-5, abs=1e-8)
    assert all(np.isfinite(values).all() and values.min() > 0 for estimate in estimates for values in estimate.values())
