"""The benchmarks of translation run, compare equal sizes, and never show a sentence twice."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
import torch

from benchmarks import analyses, translate
from benchmarks import sentences as sentences_with_answers
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


def printed_by(
    benchmark: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> list[str]:
    """The lines that a benchmark prints of two rounds on one thread."""
    threads = torch.get_num_threads()
    options = ["--checkpoint", str(folder), "--rounds", "2", "--warmup", "0", "--threads", "1"]
    monkeypatch.setattr(sys, "argv", ["benchmark", *options])
    benchmark.main()
    torch.set_num_threads(threads)
    return capsys.readouterr().out.splitlines()


@pytest.mark.slow
def test_translations_are_timed_recorded_plain_and_beside_marian(folder: Path, monkeypatch, capsys) -> None:
    *_, heads, greedy, beam = printed_by(translate, folder, monkeypatch, capsys)
    assert heads.startswith("threads  beam") and "not recorded, ms" in heads
    assert greedy.split()[:2] == ["1", "1"] and beam.split()[:2] == ["1", "4"]
    assert float(greedy.split()[-4]) > 0


@pytest.mark.slow
def test_effects_and_heads_are_timed_beside_what_they_are_compared_with(folder: Path, monkeypatch, capsys) -> None:
    *_, effects, mean, runner_up, _, heads, row = printed_by(analyses, folder, monkeypatch, capsys)
    assert effects.startswith("threads  compared with") and heads.startswith("threads  heads")
    assert mean.split()[:2] == ["1", "mean"] and runner_up.split()[:2] == ["1", "runner-up"]
    assert row.split()[0] == "1" and float(row.split()[-4]) > 0


def test_an_unknown_checkpoint_ends_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmark", "--checkpoint", "nowhere"])
    with pytest.raises(SystemExit, match="error: there is no checkpoint 'nowhere'"):
        translate.main()


@pytest.mark.parametrize(
    ("source", "kinds", "n_each"),
    [("en", ("everyday", "textbook", "attention"), 20), ("de", ("separable", "clause", "time"), 10)],
)
def test_sentences_are_different_and_their_own_text_is_no_answer(
    source: str, kinds: tuple[str, ...], n_each: int
) -> None:
    questions = sentences_with_answers.read_questions(source)
    assert len({question.text for question in questions}) == len(questions)
    assert Counter(question.kind for question in questions) == dict.fromkeys(kinds, n_each)
    assert not any(question.is_right(answer) for question in questions for answer in ("", question.text))


def test_sentences_are_judged_by_whole_answers() -> None:
    by_text = {
        question.text: question
        for source in sentences_with_answers.FILES
        for question in sentences_with_answers.read_questions(source)
    }
    animal = by_text["The animal didn't cross the street because it was too wide."]
    assert animal.is_right("Das Tier ging nicht über die Straße,  weil sie zu breit war.")
    for wrong in ("weil es zu breit war.", "weil sie zu breit war", "weil sie zu breit war. Ja."):
        assert not animal.is_right(f"Das Tier ging nicht über die Straße, {wrong}")
    assert by_text["What time is it?"].is_right("Wie viel Uhr ist es?")
    assert by_text["Es ist halb acht."].is_right("It's 7:30.") and not by_text["Es ist halb acht."].is_right(
        "It's 8:30."
    )


@pytest.mark.slow
def test_sentences_are_counted_per_kind_and_beam(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    questions = sentences_with_answers.read_questions("en")[::10]
    monkeypatch.setattr(sentences_with_answers, "read_questions", lambda source: questions)
    monkeypatch.setattr(sys, "argv", ["benchmark", "--checkpoint", str(folder)])
    sentences_with_answers.main()
    *_, heads, _, _, _, every = capsys.readouterr().out.splitlines()
    assert heads.split() == ["sentences", "beam", "1", "beam", "4"]
    assert every.split() == ["all", *"0 of 6 0 of 6".split()]
