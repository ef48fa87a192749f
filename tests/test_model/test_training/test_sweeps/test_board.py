"""The board of single changes: what it trains, that it goes on where it was left, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.__main__ import main
from model.storage.checkpoint import build
from model.training.presets import PRESETS
from model.training.sweeps import board
from model.training.sweeps.board import CHANGES, read_board, run_of
from tests.test_model.test_training.language import write_gz
from tests.test_model.test_training.test_language_model_run import story


@pytest.fixture
def tiny(monkeypatch, tmp_path) -> Path:
    """A folder with a text, of which the board's runs read little."""
    run = PRESETS["wikitext2-lm"]
    model = replace(run.model, d_model=16, n_heads=4, n_layers=1, d_ff=32, max_length=16, cutoffs=(5, 9))
    training = replace(run.training, columns=6, window=16)
    monkeypatch.setitem(PRESETS, "wikitext2-lm", replace(run, model=model, training=training))
    monkeypatch.setattr(board, "STEPS", 6)
    monkeypatch.setattr(board, "VALIDATE_EVERY", 3)
    for split, lines in (("train", 200), ("valid", 30)):
        write_gz(tmp_path / "wikitext-2" / f"{split}.txt.gz", story(lines, seed=len(split)))
    return tmp_path


def record(data: Path, *options: str) -> int:
    return main(["board", "--data-dir", str(data), "--out", str(data / "board"), *options])


@pytest.mark.slow
def test_every_change_is_trained_from_both_seeds_and_nothing_twice(tiny: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(board, "SEEDS", (1,))
    assert record(tiny) == 0
    first = read_board(tiny / "board")
    assert [(run.change, run.seed) for run in first.runs] == [(change, 1) for change in CHANGES]
    for run in first.runs:
        assert len(run.loss) == 6 and list(run.perplexity) == [3, 6] and run.final == run.perplexity[6]
        assert run.tokens == 6 * 6 * 16
    assert len({run.final for run in first.runs}) == len(CHANGES), "every change is another model"
    assert record(tiny) == 2 and "--resume" in capsys.readouterr().err
    monkeypatch.setattr(board, "SEEDS", (1, 2))
    assert record(tiny, "--resume") == 0
    both = read_board(tiny / "board")
    assert both.runs[: len(CHANGES)] == first.runs
    assert [len(both.finals(change)) for change in CHANGES] == [2] * len(CHANGES)
    assert len(set(both.finals("rotary"))) == 2


def test_all_have_about_as_many_parameters() -> None:
    counts = {}
    for change in CHANGES:
        with torch.device("meta"):
            counts[change] = sum(parameter.numel() for parameter in build(run_of(change, 1).model).parameters())
    assert all(abs(count / counts["2017"] - 1) < 0.1 for count in counts.values()), counts
    assert run_of("2017", 1).model.is_of_2017 and not run_of("all", 1).model.is_of_2017


@pytest.mark.parametrize("text", ["{}", '{"about": {}, "runs": [{"change": "rotary"}]}', '{"about": {}, "runs": 3}'])
def test_a_file_of_something_else_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / board.FILE).write_text(text)
    with pytest.raises(ValueError, match="holds no board of runs"):
        read_board(tmp_path)
