"""The command heads: its numbers are those of single calls, and a report of something else is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from sacrebleu.metrics import BLEU

from model import checkpoint, load_translator
from model.__main__ import main
from model.config import TransformerConfig
from model.interventions.edits import Edits, Head
from model.measures import head_report
from model.text.subwords import Tokenizer
from model.transformer import Transformer

PAIRS = [("A man walks.", "Ein Mann geht."), ("Two dogs in the street.", "Zwei Hunde."), ("The street.", "Die Straße.")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint with other numbers of layers on either side, and its report."""
    folder = tmp_path_factory.mktemp("checkpoints") / "small"
    tokenizer = Tokenizer.train([text for pair in PAIRS for text in pair], vocab_size=310, alphabet_size=40)
    torch.manual_seed(5)
    sizes = {"d_model": 16, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 2, "d_ff": 16, "max_length": 64}
    model = Transformer(TransformerConfig(vocab_size=len(tokenizer), **sizes))
    checkpoint.save(folder, model, tokenizer, {"task": "test", "parameters": 1})
    data = folder.parent / "pairs.tsv"
    data.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    words = ["heads", "--data", str(data), "--checkpoint", str(folder), "--sentences", "3", "--bleu-sentences", "2"]
    assert main(words) == 0
    return folder


def test_the_numbers_are_those_of_single_calls(folder: Path) -> None:
    translator = load_translator(str(folder))
    report = head_report.read(folder, translator.config)
    assert report["sentences"] == 3 and report["data"] == "pairs.tsv"
    assert report["command"].startswith("python -m model heads --data ")
    read = [translator.force(*pair) for pair in PAIRS]
    assert report["tokens"] == sum(len(result.predicted_ids) for result in read)
    edits = Edits(off=(Head("cross", 1, 0),))
    change = sum(translator.score(*pair, edits) - translator.score(*pair) for pair in PAIRS) / report["tokens"]
    cross = report["kinds"]["cross"]
    assert cross["log_probability"][1][0] == pytest.approx(change, abs=2e-5)
    assert np.shape(cross["log_probability"]) == np.shape(cross["role"]) == (2, 2)
    sources, references = zip(*PAIRS[:2], strict=True)
    scores = [
        BLEU().corpus_score(translator.translate_lines(sources, 1, edits=some), [references]).score
        for some in (Edits(), edits)
    ]
    assert report["bleu"]["score"] == pytest.approx(scores[0], abs=0.01)
    assert cross["bleu"][1][0] == pytest.approx(scores[1] - report["bleu"]["score"], abs=0.01)
    entropies = [-(w * np.log(w)).sum(-1) for w in (result.attention("cross")[1, 0] for result in read)]
    assert cross["entropy"][1][0] == pytest.approx(np.concatenate(entropies).mean(), abs=1e-4)
    assert np.shape(report["kinds"]["encoder_self"]["divergence"]) == (2, 2)


def test_a_checkpoint_without_report(folder: Path, tmp_path: Path) -> None:
    assert head_report.read(tmp_path, load_translator(str(folder)).config) is None


def broken(report: dict, name: str) -> None:
    """Spoils a report in one of several ways."""
    kinds = report["kinds"]
    if name == "other weights":
        report["weights"] = "0" * 64
    elif name == "a kind is missing":
        del kinds["cross"]
    elif name == "a number is missing":
        del kinds["cross"]["entropy"]
    elif name == "no numbers":
        kinds["cross"]["entropy"] = "many"
    elif name == "a number too large for one":
        kinds["cross"]["entropy"][0][0] = 10**400
    elif name == "numbers as texts":
        kinds["cross"]["entropy"] = [["0.5", "0.5"]] * 2
    elif name == "another shape":
        kinds["encoder_self"]["bleu"] = [[1.0, 2.0, 3.0]]
    elif name == "roles missing":
        kinds["decoder_self"]["role"] = [["mixed"]]
    elif name == "nothing in it":
        report["kinds"] = None
    else:
        report[name] = None if name == "bleu" else 3.5


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("other weights", "measured with other weights: run python -m model heads again"),
        ("a kind is missing", "no report of heads: cross is incomplete"),
        ("a number is missing", "cross is incomplete"),
        ("no numbers", "cross is incomplete"),
        ("a number too large for one", "heads.json is not JSON: a number has 401 digits; at most 300 are read"),
        ("numbers as texts", "other layers or heads in cross"),
        ("data", "no report of heads: data is incomplete"),
        ("sentences", "sentences is incomplete"),
        ("bleu", "bleu is incomplete"),
        ("another shape", "does not fit the model: it has other layers or heads in encoder_self"),
        ("roles missing", "other layers or heads in decoder_self"),
        ("nothing in it", "encoder_self is incomplete"),
    ],
)
def test_what_is_no_report_of_this_model_is_refused(folder: Path, name: str, words: str) -> None:
    path, config = folder / head_report.FILE, load_translator(str(folder)).config
    before = path.read_text(encoding="utf-8")
    report = json.loads(before)
    broken(report, name)
    try:
        path.write_text(json.dumps(report), encoding="utf-8")
        with pytest.raises(ValueError, match=words):
            head_report.read(folder, config)
    finally:
        path.write_text(before, encoding="utf-8")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--sentences", "0"], "--sentences must be at least 1, got 0"),
        (["--bleu-sentences", "-1"], "--bleu-sentences must be at least 1, got -1"),
        (["--checkpoint", "nowhere"], "there is no checkpoint 'nowhere'"),
    ],
)
def test_errors_are_one_line(folder: Path, capsys: pytest.CaptureFixture, more: list[str], words: str) -> None:
    data = str(folder.parent / "pairs.tsv")
    assert main(["heads", "--data", data, "--checkpoint", str(folder), *more]) == 2
    assert words in capsys.readouterr().err.strip().splitlines()[-1]
    assert main(["heads", "--data", "/nowhere.tsv", "--checkpoint", str(folder)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_sentences_that_are_all_too_long(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    data = tmp_path / "long.tsv"
    data.write_text("a " * 90 + "\tb\n", encoding="utf-8")
    assert main(["heads", "--data", str(data), "--checkpoint", str(folder)]) == 2
    assert "no pair of the file is short enough" in capsys.readouterr().err
