"""Gradient accumulation: several batches per update are one big batch, in double precision and without dropout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from model.text.special import PAD_ID, pad_ids
from model.training.batching import Batch
from model.training.config import RunConfig
from model.training.loop import Trainer
from tests.test_model.test_training.language import tiny_run

STEPS, ACCUMULATE = 6, 3


def run_of(accumulate: int) -> RunConfig:
    """The noise of the text stays; dropout would draw other numbers for other shapes."""
    return tiny_run({"dropout": 0.0}, steps=STEPS, accumulate=accumulate, average_every=1000, validation_pairs=0)


def one_batch(batches: list[Batch]) -> Batch:
    """All rows of some batches, padded to the longest."""
    sides = []
    for side in ("src", "tgt"):
        rows = [row.tolist() for batch in batches for row in getattr(batch, side)]
        sides.append(pad_ids([[index for index in row if index != PAD_ID] for row in rows]))
    return Batch(*sides)


@pytest.fixture
def trainers(data_dir: Path, tmp_path: Path) -> tuple[Trainer, Trainer]:
    """One that accumulates and one that is given the same sentences at once, in double precision."""
    accumulating = Trainer(run_of(ACCUMULATE), data_dir, tmp_path / "accumulating")
    at_once = Trainer(run_of(1), data_dir, tmp_path / "at once")
    original = at_once.stream.epoch

    def merged(*arguments) -> Iterator[Batch]:
        batches = [batch for number in range(3) for batch in original(number)]  # enough for every step
        yield from (one_batch(batches[i : i + ACCUMULATE]) for i in range(0, len(batches), ACCUMULATE))

    at_once.stream.epoch = merged
    for trainer in (accumulating, at_once):
        trainer.model.double()
    return accumulating, at_once


def test_one_update_has_the_gradient_of_one_big_batch(trainers):
    """The batches hold different numbers of tokens: a mean of their means would not do."""
    accumulating, at_once = trainers
    batches = list(accumulating.stream.epoch(0))[:ACCUMULATE]
    counts = [int((batch.tgt[:, 1:] != PAD_ID).sum()) for batch in batches]
    assert max(counts) > 1.05 * min(counts)
    loss, norm, _ = accumulating._step(batches)
    expected_loss, expected_norm, _ = at_once._step([one_batch(batches)])
    assert (loss, norm) == pytest.approx((expected_loss, expected_norm), rel=1e-10)
    expected = dict(at_once.model.named_parameters())
    for name, parameter in accumulating.model.named_parameters():
        assert parameter.dtype == torch.float64
        torch.testing.assert_close(parameter.grad, expected[name].grad, rtol=1e-10, atol=1e-10)


def test_whole_runs_end_with_the_same_weights(trainers):
    """Over the end of a pass, too."""
    for trainer in trainers:
        trainer.train()
    accumulating, at_once = trainers
    assert accumulating.progress.step == STEPS and accumulating.progress.epoch >= 1
    assert accumulating.progress.tokens == at_once.progress.tokens
    expected = dict(at_once.model.named_parameters())
    for name, parameter in accumulating.model.named_parameters():
        torch.testing.assert_close(parameter, expected[name], rtol=1e-10, atol=1e-10)


def test_the_learning_rate_follows_updates_not_batches(trainers):
    accumulating, _ = trainers
    accumulating.train()
    assert accumulating.optimizers[0].param_groups[0]["lr"] == accumulating.schedule(STEPS)
    assert {int(value["step"]) for value in accumulating.optimizers[0].state.values()} == {STEPS}
