"""The benchmarks of translation run, compare equal sizes, and never show a sentence twice."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from benchmarks import heads, recording, translate
from benchmarks.common import sentences
from benchmarks.peers import random_marian
from model.config import TransformerConfig
from model.transformer import Transformer
from tests.test_benchmarks.conftest import SIZES


def test_sentences_have_twelve_words_and_do_not_come_twice() -> None:
    every = list(sentences())
    assert len(set(every)) == len(every) >= 500
    assert {len(sentence.split()) for sentence in every} == {12}
    assert list(sentences(1)) != every


def test_their_model_has_the_same_matrices() -> None:
    """All parameters of two axes, by shape: norms and the bias of the output differ, the work does not."""
    config = TransformerConfig(vocab_size=60, **SIZES)
    ours = Transformer(config)
    theirs = random_marian(config)

    def matrices(model) -> list[tuple[int, ...]]:
        learnt = (parameter for parameter in model.parameters() if parameter.requires_grad)
        return sorted(tuple(parameter.shape) for parameter in learnt if parameter.dim() > 1)

    assert matrices(theirs) == matrices(ours)
    assert theirs.config._attn_implementation == "eager"
    assert not theirs.training and theirs.dtype == torch.float32


@pytest.mark.parametrize("benchmark", [translate, recording], ids=["translate", "recording"])
def test_prints_a_table(
    benchmark, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    threads = torch.get_num_threads()
    options = ["--checkpoint", str(folder), "--rounds", "3", "--warmup", "0", "--threads", "1"]
    monkeypatch.setattr(sys, "argv", ["benchmark", *options])
    benchmark.main()
    torch.set_num_threads(threads)
    *_, heads, greedy, beam = capsys.readouterr().out.splitlines()
    assert heads.startswith("threads  beam")
    assert greedy.split()[:2] == ["1", "1"] and beam.split()[:2] == ["1", "4"]
    assert float(greedy.split()[-4]) > 0


def test_heads_are_timed_both_ways(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    threads = torch.get_num_threads()
    options = ["--checkpoint", str(folder), "--rounds", "2", "--warmup", "0", "--threads", "1"]
    monkeypatch.setattr(sys, "argv", ["benchmark", *options])
    heads.main()
    torch.set_num_threads(threads)
    *_, names, row = capsys.readouterr().out.splitlines()
    assert names.startswith("threads  heads") and row.split()[0] == "1"
    assert float(row.split()[-4]) > 0


def test_an_unknown_checkpoint_ends_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmark", "--checkpoint", "nowhere"])
    with pytest.raises(SystemExit, match="error: there is no checkpoint 'nowhere'"):
        recording.main()
