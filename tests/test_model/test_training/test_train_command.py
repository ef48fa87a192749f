"""python -m model train: what the caller can mend is one line on stderr and exit code 2, never a traceback."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from model.__main__ import main
from model.storage import checkpoint
from model.training import schedules
from model.training.config import RunConfig
from tests.test_model.test_training.language import tiny_run

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def signals():
    """Training changes what SIGTERM does; a test gives it back."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


def config_file(tmp_path: Path, content: str | None = None) -> str:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(tiny_run(steps=2, validation_pairs=0).to_dict()) if content is None else content)
    return str(path)


@pytest.mark.slow
def test_as_a_program_errors_are_one_line_and_exit_code_2(tmp_path):
    broken = config_file(tmp_path, '{"model": ')
    command = [
        sys.executable,
        "-m",
        "model",
        "train",
        broken,
        "--data-dir",
        str(tmp_path),
        "--out",
        str(tmp_path / "b"),
    ]
    process = subprocess.run(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert process.returncode == 2 and "is not JSON" in process.stderr
    assert len(process.stderr.splitlines()) == 1 and "Traceback" not in process.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.json"]


@pytest.mark.parametrize(
    ("preset", "words"), [("huge", "unknown preset 'huge'"), ("tiny", "python -m model download multi30k")]
)
def test_a_preset_or_data_that_is_not_there_is_one_line(tmp_path, capsys, preset, words):
    assert main(["train", preset, "--data-dir", str(tmp_path / "no"), "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert words in errors and len(errors.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_help_names_every_schedule_and_how_to_start_several_processes(capsys):
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = capsys.readouterr().out
    assert not [name for name in schedules.NAMES if name not in text]
    assert "accumulate" in text and "torchrun --nproc-per-node" in text and "--resume" in text


@pytest.mark.parametrize("name", schedules.NAMES)
def test_every_schedule_can_be_configured(name):
    values = {"model": {"vocab_size": 1000}, "training": {"schedule": name, "decay": 10}}
    assert RunConfig.from_dict(values).training.schedule == name


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "must hold a JSON object"),
        ("{}", "the key 'model' is missing"),
        ('{"model": {"vocab_size": 1000}, "training": {"stepps": 3}}', "unknown key 'stepps'"),
        ('{"model": {"vocab_size": 1000}, "training": {"steps": -1}}', "steps must be at least 1, got -1"),
        ('{"model": {"vocab_size": 100}, "training": {"data": "multi30k"}}', "vocab_size must be above 420"),
        (None, "cannot be read"),
    ],
)
def test_a_wrong_configuration_is_refused(tmp_path, data_dir, capsys, content, words):
    path = config_file(tmp_path, content) if content is not None else str(tmp_path / "none.json")
    assert main(["train", path, "--data-dir", str(data_dir), "--out", str(tmp_path / "out")]) == 2
    errors = capsys.readouterr().err
    assert words in errors and len(errors.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_run_writes_a_checkpoint_with_its_command_and_overwrites_none(tmp_path, data_dir, capsys):
    out = tmp_path / "out"
    arguments = ["train", config_file(tmp_path), "--data-dir", str(data_dir), "--out", str(out), "--steps", "3"]
    assert main(arguments) == 0
    card = checkpoint.load(out).card
    assert card["steps"] == 3
    assert card["command"].startswith("python -m model train ") and card["command"].endswith("--steps 3")
    assert main([*arguments[:-1], "4", "--resume"]) == 0
    assert checkpoint.load(out).card["steps"] == 4
    assert main(arguments) == 2  # another run is there
    shutil.rmtree(out / "resume")  # as of a checkpoint that somebody was given
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    capsys.readouterr()
    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert "which is not overwritten: choose another --out" in errors and len(errors.splitlines()) == 1
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_the_mix_can_be_said_on_the_command_line(tmp_path, data_dir, capsys):
    out = tmp_path / "out"
    arguments = ["train", config_file(tmp_path), "--data-dir", str(data_dir), "--out", str(out), "--data"]
    assert main([*arguments, "0.5*multi30k"]) == 0
    assert checkpoint.load(out).card["training"]["data"] == "0.5*multi30k"
    assert main([*arguments, "cc0 + by +"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: a mix is written like")
