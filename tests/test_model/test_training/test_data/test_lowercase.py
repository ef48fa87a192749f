"""Lower case from end to end: what is trained on, what a visitor types, what is scored."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from model import load_translator
from model.storage import checkpoint
from model.text.subwords import Tokenizer
from model.training.loop import Trainer
from tests.test_model.test_training.language import small_tokenizer, tiny_run, write_gz

TEXTS = ["Ein Haus und eine Maus.", "Die MAUS singt im Haus."] * 20


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TEXTS, 480, lowercase=True)


def test_a_tokenizer_forgets_case(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode("Die MAUS, Ärger!")) == "die maus, ärger!"
    assert tokenizer.encode("HAUS") == tokenizer.encode("haus")
    assert not any(character.isupper() for token in tokenizer.tokens(range(260, len(tokenizer))) for character in token)


def test_its_file_says_so(tokenizer: Tokenizer) -> None:
    read = Tokenizer.from_json(tokenizer.to_json())
    assert json.loads(tokenizer.to_json())["lowercase"] is True
    assert read.lowercase and read.encode("Die Maus") == tokenizer.encode("die maus")
    assert "lowercase" not in json.loads(small_tokenizer().to_json())
    with pytest.raises(ValueError, match="lowercase must be true or false, got 'yes'"):
        Tokenizer.from_json(json.dumps({**json.loads(tokenizer.to_json()), "lowercase": "yes"}))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cased")
    for split in ("train", "val"):
        for language in ("en", "de"):
            write_gz(folder / "multi30k" / f"{split}.{language}.gz", TEXTS)
    return folder


def test_a_run_trains_and_ships_lower_case(data: Path, tmp_path: Path) -> None:
    run = tiny_run(lowercase=True, steps=3, bpe_dropout=0.1, validate_every=3)
    Trainer(run, data, tmp_path / "run").train()
    translator = load_translator(str(tmp_path / "run"))
    assert translator.tokenizer.lowercase and translator.card["training"]["lowercase"]
    lower, upper = (translator.translate(text, beam=1) for text in ("die maus singt", "DIE Maus Singt"))
    assert lower.source_tokens == upper.source_tokens and lower.text == upper.text
    assert upper.source == "DIE Maus Singt"
    resumed = Trainer(replace(run, training=replace(run.training, steps=4)), data, tmp_path / "run", resume=True)
    assert resumed.tokenizer.lowercase


def test_a_tokenizer_of_the_other_kind_is_refused(data: Path, tmp_path: Path) -> None:
    (tmp_path / "cut").mkdir()
    checkpoint.write_text(tmp_path / "cut" / checkpoint.TOKENIZER, small_tokenizer().to_json())
    with pytest.raises(ValueError, match="lowercase is True for the run, but False for its tokenizer"):
        Trainer(tiny_run(lowercase=True), data, tmp_path / "run", tokenizer=str(tmp_path / "cut"))
    trainer = Trainer(tiny_run(), data, tmp_path / "run", tokenizer=str(tmp_path / "cut"))
    assert trainer.tokenizer.to_json() == small_tokenizer().to_json()


def test_changing_the_case_of_lower_case_is_refused() -> None:
    with pytest.raises(ValueError, match="recase_rate must be 0 where text is lowercased, got 0.1"):
        tiny_run(lowercase=True, recase_rate=0.1)
