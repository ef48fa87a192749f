"""The recording of a run: what is read is what was trained, and what ships comes of the first settings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model.experiments import practice, recorded_practice
from model.experiments.practice import Settings
from model.experiments.recorded_practice import STRINGS

SHIPPED = Path(__file__).parents[3] / "checkpoints" / recorded_practice.FOLDER / recorded_practice.FILE


@pytest.mark.slow
def test_what_is_read_is_what_was_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(practice, "MAX_STEPS", 50)
    run = recorded_practice.trained(Settings(warmup=10))
    recorded_practice.save(run, tmp_path / "run.npz")
    read = recorded_practice.read(tmp_path / "run.npz")
    assert (read.settings, read.steps, read.outputs) == (Settings(warmup=10), (25, 50), run.outputs)
    assert read.right == pytest.approx(run.right)
    np.testing.assert_array_equal(read.losses, run.losses)
    for text in STRINGS:
        for stored, weights in zip(read.weights[text], run.weights[text], strict=True):
            np.testing.assert_allclose(stored, weights, atol=1 / 500)


@pytest.mark.slow
def test_the_recording_that_ships_solves_its_task_by_the_losses_of_such_a_run() -> None:
    recorded = recorded_practice.read(SHIPPED)
    assert recorded.settings == Settings() and recorded.right[-1] >= practice.SOLVED
    assert len(recorded.losses) == recorded.steps[-1]
    run = practice.Practice(recorded.settings)
    for _ in range(30):
        run.advance()
    np.testing.assert_allclose(run.losses, recorded.losses[:30], rtol=1e-3)
    assert recorded.outputs[practice.SAMPLE][-1] == practice.SAMPLE[::-1]


@pytest.mark.parametrize(("content", "problem"), [(None, "is missing"), (b"PK broken", "cannot be read")])
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, content: bytes | None, problem: str) -> None:
    path = tmp_path / "run.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=problem):
        recorded_practice.read(path)
