"""The data of the final decay: used from its first step on, and resumed exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.storage import checkpoint
from model.training.config import RunConfig, TrainingConfig
from model.training.loop import Trainer
from tests.support.repeated import first_quick
from tests.test_model.test_training.language import tiny_run, write_two_corpora

STEPS, DECAY = 20, 8


@pytest.fixture(scope="module")
def two_corpora(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made-up languages as multi30k, and sentences of one word, which no other has, as tatoeba."""
    return write_two_corpora(tmp_path_factory.mktemp("two"), data_dir, ["xxxx\tyyyy"] * 40)


def run_of(steps: int = STEPS) -> RunConfig:
    return tiny_run(
        data="multi30k + tatoeba",
        final_data="tatoeba",
        schedule="warmup_stable_decay",
        steps=steps,
        decay=DECAY,
        batch_tokens=300,
        learning_rate=0.01,
        warmup=2,
        validate_every=100,
        validation_pairs=4,
    )


def batches_seen(trainer: Trainer, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Trains; for each step whether its batch held nothing but the second corpus."""
    are_final: list[bool] = []
    original = trainer._step

    def step(batches, stop):
        (batch,) = batches
        words = {word for row in batch.tgt.tolist() for word in trainer.tokenizer.decode(row).split()}
        are_final.append(words == {"yyyy"})
        return original(batches, stop)

    monkeypatch.setattr(trainer, "_step", step)
    trainer.train()
    return are_final


def test_the_final_steps_see_the_final_mix_only(
    two_corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    are_final = batches_seen(Trainer(run_of(), two_corpora, tmp_path), monkeypatch)
    assert len(are_final) == STEPS
    assert not all(are_final[: STEPS - DECAY])
    assert all(are_final[STEPS - DECAY :])


@pytest.mark.slow
def test_more_steps_for_a_finished_run_begin_with_all_data_again(
    two_corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Trainer(run_of(), two_corpora, tmp_path).train()
    are_final = batches_seen(Trainer(run_of(STEPS + 20), two_corpora, tmp_path, resume=True), monkeypatch)
    assert len(are_final) == 20
    assert not all(are_final[: 20 - DECAY])
    assert all(are_final[20 - DECAY :])


@pytest.mark.parametrize("stop", first_quick([STEPS - DECAY, STEPS - DECAY + 1]))
def test_resuming_at_and_after_the_change_is_exact(
    two_corpora: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    Trainer(run_of(), two_corpora, tmp_path / "whole").train()
    interrupted = Trainer(run_of(), two_corpora, tmp_path / "parts")
    original = interrupted._step

    def step(*arguments):
        if interrupted.progress.step == stop:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(interrupted, "_step", step)
    with pytest.raises(KeyboardInterrupt):
        interrupted.train()
    Trainer(run_of(), two_corpora, tmp_path / "parts", resume=True).train()
    files = [tmp_path / name / checkpoint.WEIGHTS for name in ("whole", "parts")]
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    "changes", [{"final_data": "multi30k"}, {"final_data": "news", "decay": 5}, {"final_data": "?", "decay": 5}]
)
def test_a_mix_that_cannot_be_is_refused(changes: dict) -> None:
    with pytest.raises(ValueError, match="final_data is a mix|a mix is written like"):
        TrainingConfig(data="tatoeba + multi30k", schedule="warmup_stable_decay", **changes)
