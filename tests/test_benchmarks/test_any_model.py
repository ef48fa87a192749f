"""The benchmark of any model compares maps that are the same, on a model of SmolLM2's sizes or one that is given."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import any_model
from tests.test_model.test_adapters.other_models import save_model, theirs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    theirs("gpt2").save_pretrained(tmp_path)
    save_model(tmp_path, "gpt2")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    threads = torch.get_num_threads()
    monkeypatch.setattr(sys, "argv", ["benchmark", *options, "--rounds", "2", "--warmup", "0", "--threads", "1"])
    monkeypatch.setattr(any_model, "transformer_lens", lambda model, tokenizer: None)
    any_model.main()
    torch.set_num_threads(threads)


def test_prints_a_table(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    run(monkeypatch, "--model", str(folder))
    *_, heads, short, _, long, _, _, ratio = capsys.readouterr().out.splitlines()
    assert heads.startswith("threads  tokens  side")
    assert short.split()[:3] == ["1", "14", "ours"] and long.split()[:3] == ["1", "64", "ours"]
    worst = max(float(row.split()[-4]) for row in (short, long))
    assert ratio == f"at most {worst:.2f} times as long as eager attention; wanted: 1.15"


def test_sides_that_differ_are_not_compared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    side = any_model.eager

    def wrong(model):
        read = side(model)
        return lambda ids: tuple(np.flip(array, -1) for array in read(ids))

    monkeypatch.setattr(any_model, "eager", wrong)
    with pytest.raises(RuntimeError, match="ours and eager differ by"):
        run(monkeypatch, "--model", str(folder))


def test_a_folder_without_a_model_ends_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="has no config.json"):
        run(monkeypatch, "--model", str(tmp_path))
