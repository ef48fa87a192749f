"""Recorded runs: what `train --record` leaves, that it can be made again, and the shipped ones where there are some."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model import load_translator
from model.__main__ import main
from model.checkpoint import WEIGHTS
from model.training import runs
from model.training.config import RunConfig
from model.training.loop import Trainer
from model.training.recorded import RecordingTrainer
from model.transformer import Transformer
from tests.test_model.test_training.language import tiny_run

SHIPPED = runs.available_runs(Path(__file__).parents[3] / "checkpoints" / runs.FOLDER)
DATA = os.environ.get("HEADLIGHT_DATA")
LIMIT = 8_000_000  # bytes of a run
NEAR = 0.01  # nats: other processors add up in another order


def record(tmp_path: Path, data_dir: Path, name: str, run: RunConfig, **more) -> runs.RecordedRun:
    out = tmp_path / f"{name}-out"
    trainer = RecordingTrainer(run, data_dir, out, "the command", record_to=tmp_path / name, **more)
    trainer.train()
    return runs.read_run(tmp_path / name)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, data_dir) -> runs.RecordedRun:
    """A run of 60 steps."""
    return record(tmp_path_factory.mktemp("recorded"), data_dir, "run", tiny_run(steps=60))


def test_six_snapshots_each_a_checkpoint_that_translates(recorded):
    assert list(recorded.snapshots) == [2, 5, 10, 20, 40, 60] == runs.snapshot_steps(60)
    weights = {(folder / WEIGHTS).read_bytes() for folder in recorded.snapshots.values()}
    assert len(weights) == 6
    for folder in recorded.snapshots.values():
        assert load_translator(str(folder)).translate("a b", beam=1).source == "a b"


def test_the_history_says_where_it_comes_from(recorded):
    header = recorded.header
    assert header["command"] == "the command" and header["seed"] == 1
    assert recorded.config == tiny_run(steps=60)
    assert len(header["first_losses"]) == 50
    last = recorded.snapshots[60] / WEIGHTS
    assert header["sha256"] == hashlib.sha256(last.read_bytes()).hexdigest()
    assert [entry["step"] for entry in recorded.entries] == [20, 40, 60]
    for entry, start in zip(recorded.entries, (0, 20), strict=False):
        assert entry["loss"] == pytest.approx(sum(header["first_losses"][start : start + 20]) / 20, abs=1e-4)


def test_the_first_steps_can_be_made_again(recorded, tmp_path, data_dir):
    again = replace(recorded.config, training=replace(recorded.config.training, steps=50))
    trainer = RecordingTrainer(again, data_dir, tmp_path / "out", record_to=tmp_path / "again")
    trainer.train()
    assert trainer.header["first_losses"] == pytest.approx(recorded.header["first_losses"], abs=NEAR)
    other = replace(again, training=replace(again.training, seed=2))
    different = record(tmp_path, data_dir, "other", other)
    assert different.header["first_losses"] != pytest.approx(recorded.header["first_losses"], abs=NEAR)


def test_recording_changes_nothing_about_the_training(recorded, tmp_path, data_dir):
    trainer = Trainer(tiny_run(steps=60), data_dir, tmp_path / "out")
    trainer.train()
    kept = load_translator(str(recorded.snapshots[60])).model
    assert isinstance(kept, Transformer)
    for name, value in trainer.model.named_parameters():
        assert torch.equal(dict(kept.named_parameters())[name], value.half().float()), name


def test_a_run_that_is_resumed_leaves_the_same(recorded, tmp_path, data_dir, monkeypatch):
    run = tiny_run(steps=60)
    first = RecordingTrainer(run, data_dir, tmp_path / "out", "the command", record_to=tmp_path / "run")
    step = first._step

    def interrupted(*arguments):
        if first.progress.step == 55:
            raise KeyboardInterrupt
        return step(*arguments)

    monkeypatch.setattr(first, "_step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        first.train()
    with pytest.raises(ValueError, match="whole numbers that rise"):
        runs.read_run(tmp_path / "run")
    RecordingTrainer(run, data_dir, tmp_path / "out", "again", True, record_to=tmp_path / "run").train()
    resumed = runs.read_run(tmp_path / "run")
    assert resumed.header == recorded.header


def test_a_run_whose_first_steps_were_not_recorded_cannot_be_recorded_later(tmp_path, data_dir):
    run = tiny_run(steps=4)
    Trainer(run, data_dir, tmp_path / "out").train()
    longer = replace(run, training=replace(run.training, steps=6))
    with pytest.raises(ValueError, match="were not recorded in .*: begin anew"):
        RecordingTrainer(longer, data_dir, tmp_path / "out", "", True, record_to=tmp_path / "run")


def test_another_run_is_not_overwritten_and_the_command_says_so_in_a_line(recorded, tmp_path, data_dir, capsys):
    config = tmp_path / "run.json"
    config.write_text(json.dumps(tiny_run(steps=3, validation_pairs=0).to_dict()))
    arguments = ["train", str(config), "--data-dir", str(data_dir), "--out", str(tmp_path / "a")]
    assert main([*arguments, "--record", str(tmp_path / "kept")]) == 0
    kept = runs.read_run(tmp_path / "kept")
    assert kept.header["command"].endswith(f"--record {tmp_path / 'kept'}") and list(kept.snapshots) == [1, 2, 3]
    arguments[-1] = str(tmp_path / "b")
    assert main([*arguments, "--record", str(tmp_path / "kept")]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert "holds a recorded run: choose another folder" in errors[-1]


@pytest.mark.parametrize(
    ("line", "content", "words"),
    [
        (0, "", "not a JSON object"),
        (0, "[]", "not a JSON object"),
        (0, '{"step": 0}', "'command', a str"),
        (1, '{"step": 20}', "has loss None"),
        (1, '{"step": 20, "loss": NaN}', "has loss nan"),
        (1, '{"step": 90}', "whole numbers that rise"),
    ],
)
def test_a_damaged_history_is_one_sentence(recorded, tmp_path, line, content, words):
    folder = tmp_path / "run"
    shutil.copytree(recorded.snapshots[60].parent, folder)
    lines = (folder / "history.jsonl").read_text().splitlines()
    lines[line] = content
    (folder / "history.jsonl").write_text("\n".join(lines))
    with pytest.raises(ValueError, match=words):
        runs.read_run(folder)


def test_the_presets_differ_in_warmup_and_norm_only():
    assert len(runs.PRESETS) == 6
    kinds = {(run.training.warmup, run.model.norm) for run in runs.PRESETS.values()}
    assert kinds == {(200, "post"), (1000, "post"), (4000, "post"), (1, "post"), (1000, "pre"), (1, "pre")}
    same = {
        str(replace(run, model=replace(run.model, norm="pre"), training=replace(run.training, warmup=1)))
        for run in runs.PRESETS.values()
    }
    assert len(same) == 1


@pytest.mark.parametrize("run", runs.PRESETS.values(), ids=runs.PRESETS.keys())
def test_six_snapshots_of_a_preset_stay_below_the_limit(run):
    n_parameters = sum(value.numel() for value in Transformer(run.model).parameters())
    assert 6 * 2 * n_parameters < 0.9 * LIMIT, "and there is room for the tokenizers"


@pytest.mark.parametrize("folder", SHIPPED, ids=lambda folder: folder.name)
def test_a_shipped_run_is_whole_small_and_long_enough(folder):
    run = runs.read_run(folder)
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < LIMIT
    assert run.config == runs.PRESETS[run.name]
    assert max(run.snapshots) == run.entries[-1]["step"] == run.config.training.steps >= run.config.training.warmup
    assert run.header["sha256"] == runs.digest(run.snapshots[max(run.snapshots)])
    assert run.header["command"].startswith(f"python -m model train {run.name} ")


@pytest.mark.skipif(not SHIPPED or not DATA, reason="no recorded run ships, or HEADLIGHT_DATA names no data")
def test_the_first_steps_of_a_shipped_run_can_be_made_again(tmp_path):
    shipped = runs.read_run(SHIPPED[0])
    run = replace(shipped.config, training=replace(shipped.config.training, steps=50, validation_pairs=0))
    trainer = RecordingTrainer(run, Path(DATA or ""), tmp_path / "out", record_to=tmp_path / "again")
    trainer.train()
    assert trainer.header["first_losses"] == pytest.approx(shipped.header["first_losses"], abs=NEAR)
