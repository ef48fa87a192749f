"""`refresh` measures again what was measured of a checkpoint, after its weights changed, and says what differs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from model.__main__ import main
from model.commands.refresh import differences
from model.config import TransformerConfig
from model.measures import checks, reports
from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.transformer import Transformer

PAIRS = [("A man walks.", "Ein Mann geht."), ("Two dogs.", "Zwei Hunde."), ("The street.", "Die Straße.")]
CARD = {"task": "translation en-de", "parameters": 0, "data": {}, "training": {}, "command": "python -m model train"}


def save_random(folder: Path, seed: int, card: dict) -> None:
    tokenizer = Tokenizer.train([text for pair in PAIRS for text in pair], vocab_size=310, alphabet_size=40)
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "n_heads": 2, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 16, "max_length": 64}
    checkpoint.save(folder, Transformer(TransformerConfig(vocab_size=len(tokenizer), **sizes)), tokenizer, card)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint with a score and a check, in a folder with the data that they are of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "checkpoints"))
    folder = tmp_path / "checkpoints" / "small"
    save_random(folder, 1, CARD)
    Path("data").mkdir()
    Path("data/pairs.tsv").write_text("".join("\t".join(pair) + "\n" for pair in PAIRS), encoding="utf-8")
    options = ["--data", "data/pairs.tsv", "--checkpoint", "small"]
    assert main(["evaluate", *options, "--beam", "1", "--save-as", "pairs"]) == 0
    assert main(["check", *options, "--sentences", "2", "--save"]) == 0
    return folder


def test_new_weights_are_measured_by_the_same_commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    card = checkpoint.read_json(folder / "card.json")
    save_random(folder, 2, card)
    with pytest.raises(ValueError, match="other weights"):
        reports.read(folder / checks.FILE, "check")
    capsys.readouterr()
    assert main(["refresh", "small"]) == 0
    out = capsys.readouterr().out
    assert "small, check.json: " in out and "small, score pairs: " in out and "claims." in out
    assert reports.read(folder / checks.FILE, "check")["command"].endswith("--checkpoint small --sentences 2 --save")
    new_scores = checkpoint.read_json(folder / "card.json")["scores"]["pairs"]
    assert new_scores["command"] == card["scores"]["pairs"]["command"]
    assert "small" in (folder.parent / "README.md").read_text(encoding="utf-8")
    assert main(["refresh", "small"]) == 0
    assert "small, check.json: as before" in capsys.readouterr().out


def test_what_cannot_be_measured_again_is_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (folder / checks.FILE).read_bytes()
    Path("data/pairs.tsv").rename("pairs.tsv")
    for words, reason in ((["small"], "data/pairs.tsv"), (["large"], "no checkpoint 'large'")):
        assert main(["refresh", *words]) == 2
        error = capsys.readouterr().err
        assert error.startswith("error: ") and reason in error and error.count("\n") == 1
    assert (folder / checks.FILE).read_bytes() == before


def test_differences_name_numbers_and_the_largest_head() -> None:
    before = {"seal": "a", "bleu": 40.0, "kinds": {"cross": [[0.1, 0.9], [0.2, 0.3]]}, "same": [1, 2], "name": "x"}
    after = {"seal": "b", "bleu": 41.5, "kinds": {"cross": [[0.1, 0.2], [0.95, 0.3]]}, "same": [1, 2], "name": "y"}
    assert list(differences(json.loads(json.dumps(before)), after)) == [
        "bleu: 41.5, was 40",
        "kinds.cross: largest at 1.0 (0.95), was at 0.1 (0.9)",
        "name: 'y', was 'x'",
    ]
