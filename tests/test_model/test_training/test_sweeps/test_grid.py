"""The grid: which runs it has, what they are, and that what they leave is whole, small and read back as it was."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pytest
from torch import nn

from model.__main__ import main
from model.results.translation import KINDS
from model.storage import checkpoint
from model.training import schedules
from model.training.loop import Diverged, Trainer
from model.training.sweeps import grid, recorder
from model.training.sweeps.grid import GridCell, read_grid

STEPS = 8
CELL = GridCell("post", 0.02, 4)


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells of a second each; the examples are made of words that the made-up language has."""
    original = GridCell.run

    def run(self):
        run = original(self)
        model = dataclasses.replace(run.model, vocab_size=460, d_model=32, d_ff=32)
        training = dataclasses.replace(run.training, steps=STEPS, validate_every=4, validation_pairs=6)
        return dataclasses.replace(run, model=model, training=training)

    monkeypatch.setattr(GridCell, "run", run)
    monkeypatch.setattr(grid, "SNAPSHOTS", (2, 5, STEPS))
    monkeypatch.setattr(grid, "EXAMPLES", (("green house", "haus grün"), ("mouse sings", "singt maus")))
    monkeypatch.setattr(grid, "cells", lambda: [CELL, GridCell("pre", 0.02, 1), GridCell("post", 0.02, 4, seed=2)])


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    shrink(monkeypatch)


@pytest.fixture(scope="module")
def out(data_dir, tmp_path_factory) -> Path:
    """A whole grid."""
    folder = tmp_path_factory.mktemp("grid") / "grid"
    with pytest.MonkeyPatch.context() as monkeypatch:
        shrink(monkeypatch)
        recorder.record_grid(data_dir, folder)
    return folder


def make(data_dir: Path, out: Path, *options: str) -> int:
    return main(["grid", "--data-dir", str(data_dir), "--out", str(out), *options])


def test_the_paper_s_post_norm_has_no_norm_after_the_last_layer():
    for cell in (GridCell("post", 0.1, 1), GridCell("pre", 0.1, 1)):
        model = checkpoint.build(cell.run().model)
        assert isinstance(model.encoder.norm, nn.LayerNorm) == isinstance(model.decoder.norm, nn.LayerNorm)
        assert isinstance(model.decoder.norm, nn.LayerNorm) == (cell.norm == "pre")


@pytest.mark.parametrize("warmup", grid.WARMUPS)
def test_the_rate_rises_to_its_peak_and_falls_with_the_root_of_the_step_as_the_paper_s(warmup):
    training = GridCell("post", 0.02, warmup).run().training
    rate = schedules.by_name(
        training.schedule, d_model=1, peak=training.learning_rate, warmup=training.warmup, steps=1, decay=0
    )
    noam = schedules.noam(128, warmup, 0.02 * math.sqrt(128 * warmup))
    steps = (1, 2, 10, warmup, warmup + 1, 900)
    assert [rate(step) for step in steps] == pytest.approx([noam(step) for step in steps])
    assert max(rate(step) for step in range(1, 1001)) == rate(warmup) == 0.02
    assert (training.betas, training.adam_eps, training.label_smoothing) == ((0.9, 0.98), 1e-9, 0.1)


@pytest.mark.slow
def test_it_goes_on_where_it_ended_and_can_be_read_at_any_time(data_dir, tmp_path, out, capsys):
    folder = tmp_path / "grid"
    assert make(data_dir, folder, "--only", "pre") == 0
    before = json.loads((folder / grid.VALUES).read_text(encoding="utf-8"))["runs"]
    assert [run.cell.norm for run in read_grid(folder).runs.values()] == ["pre"]
    assert make(data_dir, folder) == 2 and "pass --resume" in capsys.readouterr().err
    assert make(data_dir, folder, "--resume") == 0
    assert json.loads((folder / grid.VALUES).read_text(encoding="utf-8"))["runs"][:1] == before
    runs, whole = read_grid(folder).runs, read_grid(out).runs
    assert set(runs) == set(whole) == set(grid.cells())
    assert all(np.array_equal(run.loss, whole[cell].loss) for cell, run in runs.items())


def test_every_run_has_its_curves_texts_and_maps(data_dir, out):
    recording = read_grid(out)
    n_source, n_target = len(recording.source_tokens), len(recording.target_tokens)
    shapes = dict(zip(KINDS, [(n_source, n_source), (n_target, n_target), (n_target, n_source)]))
    for cell, run in recording.runs.items():
        assert run.loss.shape == run.gradient_norm.shape == run.learning_rate.shape == (STEPS,)
        assert run.loss[0] > 4 and run.diverged is None and run.learning_rate.max() == np.float32(cell.peak)
        assert list(run.validation) == [4, 8] and list(run.texts) == [2, 5, 8]
        assert all(len(texts) == 2 for texts in run.texts.values())
        for kind, shape in shapes.items():
            maps = run.maps(5, kind)
            assert maps.shape == (2, 4, *shape) and maps.dtype == np.float32
            np.testing.assert_allclose(maps.sum(-1), 1, atol=0.5 * shape[1] / 255)
    first, _, second = (recording.runs[cell] for cell in grid.cells())
    assert not np.array_equal(first.loss, second.loss)  # another seed


def test_its_losses_are_those_of_a_plain_training(data_dir, out, tmp_path):
    losses = []

    class Noting(Trainer):
        def _step(self, *arguments):
            result = super()._step(*arguments)
            losses.append(result[0])
            return result

    Noting(CELL.run(), data_dir, tmp_path / "plain").train()
    np.testing.assert_allclose(read_grid(out).runs[CELL].loss, losses, atol=1e-4)


def test_the_entropies_are_what_a_model_of_frequencies_alone_reaches(out):
    recording = read_grid(out)
    assert 1 < recording.entropy < recording.entropy_smoothed < math.log(460)


def test_it_is_small_and_holds_no_weights(out):
    assert sorted(path.name for path in out.iterdir()) == [grid.VALUES, grid.ARRAYS]
    assert sum(path.stat().st_size for path in out.iterdir()) < 100_000


def test_another_grid_is_not_gone_on_with(data_dir, out, capsys, monkeypatch):
    monkeypatch.setattr(grid, "EXAMPLES", (("bread", "brot"),))
    assert make(data_dir, out, "--resume") == 2
    assert "holds another grid" in capsys.readouterr().err


def test_a_run_that_diverges_ends_there_and_says_so(data_dir, tmp_path, monkeypatch):
    step = Trainer._step

    def diverging(self, *arguments):
        if self.progress.step == 3:
            raise Diverged("not finite")
        return step(self, *arguments)

    monkeypatch.setattr(Trainer, "_step", diverging)
    recorder.record_grid(data_dir, tmp_path, only="pre")
    (run,) = read_grid(tmp_path).runs.values()
    assert run.diverged == 4 and len(run.loss) == 3 and list(run.texts) == [2]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (grid.VALUES, b"{", "is not JSON"),
        (grid.VALUES, b"{}", "holds no grid"),
        (grid.VALUES, b'{"runs": 3}', "holds no grid"),
        (grid.VALUES, b'{"runs": [{"cell": {"norm": "pre"}}], "examples": []}', "holds no grid"),
        (grid.ARRAYS, b"PK", "is not a file of numpy arrays"),
        (grid.ARRAYS, b"", "is not a file of numpy arrays"),
        (grid.ARRAYS, None, "does not exist"),
    ],
)
def test_a_damaged_grid_is_one_sentence(data_dir, tmp_path, name, content, words):
    grid.write_files(tmp_path, {"runs": [], "examples": []}, {"x": np.zeros(1)})
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=words):
        read_grid(tmp_path)


def test_a_name_that_no_cell_has(data_dir, tmp_path, capsys):
    assert make(data_dir, tmp_path / "out", "--only", "mid") == 2
    assert "no cell begins with 'mid'" in capsys.readouterr().err
