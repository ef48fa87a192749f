"""Both sides of the benchmark of training compute the same numbers, and it prints a table."""

from __future__ import annotations

import dataclasses
import sys
from itertools import islice
from pathlib import Path

import pytest
import torch

from benchmarks import training
from model.storage import checkpoint
from model.text.special import PAD_ID
from model.transformer import Transformer


@pytest.fixture(scope="module", params=["pre", "post"])
def without_dropout(request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny checkpoint with chance taken out of training, pre-norm and post-norm."""
    loaded = checkpoint.load(folder)
    config = dataclasses.replace(loaded.model.config, dropout=0.0, norm=request.param)
    torch.manual_seed(4)
    model = Transformer(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))  # no two norms and biases alike
    return checkpoint.save(out := tmp_path_factory.mktemp(request.param) / "tiny", model, loaded.tokenizer, {}) or out


def test_both_sides_take_the_same_steps(without_dropout: Path, tmp_path: Path) -> None:
    """The same loss for the same weights, and after every update: same masks, smoothing, clipping, schedule, Adam."""
    config = checkpoint.load(without_dropout).model.config
    ours, theirs = training.both_loops(
        without_dropout, tmp_path / "run", config, batch_tokens=150, learning_rate=3e-3, warmup=2, clip_norm=0.5
    )
    stream = list(islice(training.batches(config.vocab_size, batch_tokens=150), 6))
    assert any((batch.src == PAD_ID).any() and (batch.tgt == PAD_ID).any() for batch in stream)
    losses = [(ours.step(batch), theirs.step(batch)) for batch in stream]
    for our_loss, their_loss in losses:
        assert our_loss == pytest.approx(their_loss, rel=1e-5)
    assert len({loss for loss, _ in losses}) == len(losses)
    moved = checkpoint.load(without_dropout).model.output.weight - theirs.embedding.weight
    assert moved.abs().max() > 1e-3
    torch.testing.assert_close(ours.model.output.weight, theirs.embedding.weight, rtol=0, atol=1e-4)
    inner = theirs.transformer.decoder.layers[2].linear1.weight
    torch.testing.assert_close(ours.model.decoder.layers[2].feed_forward.inner.weight, inner, rtol=0, atol=1e-4)


def test_batches_fit_and_differ(folder: Path) -> None:
    first, second = islice(training.batches(100, batch_tokens=400), 2)
    assert not torch.equal(first.src[:1, :3], second.src[:1, :3])
    for batch in islice(training.batches(100, batch_tokens=400, seed=1), 30):
        assert batch.src.numel() + batch.tgt.numel() <= 400
        assert batch.n_tokens > 300


@pytest.mark.slow
def test_prints_a_table(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    threads = torch.get_num_threads()
    options = ["--checkpoint", str(folder), "--rounds", "2", "--warmup", "0", "--threads", "1"]
    monkeypatch.setattr(sys, "argv", ["benchmark", *options])
    training.main()
    torch.set_num_threads(threads)
    *_, heads, wall, processor = capsys.readouterr().out.splitlines()
    assert heads.startswith("threads  clock")
    for line, clock in ((wall, "wall"), (processor, "processor")):
        assert line.split()[:2] == ["1", clock]
        assert all(float(number) > 0 for number in line.split()[2:5])
