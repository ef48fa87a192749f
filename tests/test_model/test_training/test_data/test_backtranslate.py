"""python -m model backtranslate: pairs the right way round, stopped and resumed to the same file, wrong input told."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from model.__main__ import main
from model.commands import handlers
from model.running.translator import Translator
from model.storage import checkpoint
from model.training.data.corpora import load_corpus
from model.training.loop import Trainer
from tests.test_model.test_training.language import sentence_pairs, tiny_run

GERMAN = [german for _, german in sentence_pairs(23, seed=5)]


@pytest.fixture(scope="module")
def german_english(data_dir, tmp_path_factory) -> Path:
    """A checkpoint that translates the made-up German, badly."""
    out = tmp_path_factory.mktemp("runs") / "de-en"
    Trainer(tiny_run(source="de", target="en", steps=20, learning_rate=1.5), data_dir, out).train()
    return out


@pytest.fixture
def data(tmp_path) -> Path:
    path = tmp_path / "mono.de.txt"
    path.write_text("\n".join([*GERMAN[:9], "", "haus " * 200, *GERMAN[9:]]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(handlers, "CHUNK", 4)


def arguments(german_english: Path, data: Path, out: Path, *options: str) -> list[str]:
    words = ["--checkpoint", german_english, "--data", data, "--out", out, "--beam", "1", *options]
    return ["backtranslate", *map(str, words)]


def test_what_people_wrote_is_the_side_to_learn_and_the_file_is_a_corpus(german_english, data, tmp_path, capsys):
    out = tmp_path / "back-translated" / "mine.tsv.gz"
    assert main(arguments(german_english, data, out)) == 0
    assert "23 pairs; 2 sentences were empty" in capsys.readouterr().out
    pairs = load_corpus(tmp_path, "back-mine", "train", ("en", "de"))
    assert [german for _, german in pairs] == GERMAN
    translator = Translator(checkpoint.load(german_english))
    assert [english for english, _ in pairs] == translator.translate_lines(GERMAN, beam=1)
    assert [path.name for path in out.parent.iterdir()] == ["mine.tsv.gz"]


def test_an_interrupted_one_goes_on_to_the_same_file(german_english, data, tmp_path, monkeypatch):
    whole, parts = tmp_path / "whole.tsv.gz", tmp_path / "parts.tsv.gz"
    assert main(arguments(german_english, data, whole)) == 0
    translate_lines, calls = Translator.translate_lines, []

    def stopping(self, texts, **search):
        calls.append(list(texts))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return translate_lines(self, texts, **search)

    monkeypatch.setattr(Translator, "translate_lines", stopping)
    assert main(arguments(german_english, data, parts)) == 130
    begun = tmp_path / "parts.tsv.gz.begun"
    with begun.open("a", encoding="utf-8") as file:
        file.write("half a chunk\thalb")  # the machine went off while it wrote
    assert main(arguments(german_english, data, parts)) == 2  # there is something to resume
    assert main(arguments(german_english, data, parts, "--resume")) == 0
    assert calls[3] == calls[2] and not begun.exists()
    assert gzip.decompress(parts.read_bytes()) == gzip.decompress(whole.read_bytes())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda words: [*words, "--resume"], "there is nothing to resume"),
        (lambda words: [*words[:6], "pairs.txt", *words[7:]], "a file NAME.tsv.gz, got pairs.txt"),
        (lambda words: [*words[:4], "/no/such/file", *words[5:]], "/no/such/file cannot be read"),
        (lambda words: [*words[:2], "no-such-checkpoint", *words[3:]], "no-such-checkpoint"),
        (lambda words: [*words, "--beam", "0"], "beam"),
    ],
    ids=["nothing to resume", "another name", "no data", "no checkpoint", "no beam"],
)
def test_wrong_input_is_one_line_and_exit_code_2(change, words, german_english, data, tmp_path, capsys):
    assert main(change(arguments(german_english, data, tmp_path / "x.tsv.gz"))) == 2
    error = capsys.readouterr().err.splitlines()
    assert words in error[-1] and error[-1].startswith("error: ")
    assert not (tmp_path / "x.tsv.gz").exists()
    assert main(arguments(german_english, data, tmp_path / "x.tsv.gz")) == 0  # nothing that was begun is in the way


def test_what_was_begun_with_something_else_is_not_gone_on_with(german_english, data, tmp_path, capsys):
    begun = tmp_path / "x.tsv.gz.begun"
    begun.write_text('{"weights": "others"}\n')
    assert main(arguments(german_english, data, tmp_path / "x.tsv.gz", "--resume")) == 2
    assert "was begun with another checkpoint" in capsys.readouterr().err
    (tmp_path / "y.tsv.gz").write_bytes(b"")
    assert main(arguments(german_english, data, tmp_path / "y.tsv.gz")) == 2
    assert "is there already" in capsys.readouterr().err
