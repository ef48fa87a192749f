"""The recorded table of positions: what is read is what was trained, and what ships does its task."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from model.experiments import recorded_positions
from model.experiments.positions import INITIAL_STD, LEARNED, learn

SHIPPED = Path(__file__).parents[3] / "checkpoints" / recorded_positions.FOLDER / recorded_positions.FILE


def test_what_is_read_is_what_was_trained(tmp_path: Path) -> None:
    learned = learn(6, 4)
    recorded_positions.save(learned, tmp_path / "positions.npz")
    read = recorded_positions.read(tmp_path / "positions.npz")
    np.testing.assert_array_equal(read.initial, learned.initial)
    np.testing.assert_array_equal(read.trained, learned.trained)
    np.testing.assert_allclose(read.losses, learned.losses, rtol=1e-6)
    assert read.hits == learned.hits


def test_the_table_that_ships_is_the_end_of_such_a_training() -> None:
    recorded = recorded_positions.read(SHIPPED)
    sizes = (recorded_positions.N_POSITIONS, recorded_positions.D_MODEL)
    assert recorded.initial.shape == recorded.trained.shape == sizes and SHIPPED.stat().st_size < 20_000
    assert recorded.initial.std() == pytest.approx(INITIAL_STD, rel=0.05)
    first = learn(*sizes, max_steps=10)
    np.testing.assert_array_equal(first.initial, recorded.initial)
    np.testing.assert_allclose(first.losses, recorded.losses[:10], rtol=1e-3)
    assert recorded.losses[-1] < LEARNED and recorded.hits == 1


def test_other_sizes_and_folders_without_it_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = (recorded_positions.N_POSITIONS, recorded_positions.D_MODEL)
    assert recorded_positions.shipped(*sizes) is not None and recorded_positions.shipped(8, 16) is None
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    assert recorded_positions.shipped(*sizes) is None


@pytest.mark.parametrize(("content", "problem"), [(None, "is missing"), (b"PK broken", "cannot be read")])
def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, content: bytes | None, problem: str) -> None:
    path = tmp_path / "positions.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ValueError, match=problem):
        recorded_positions.read(path)
