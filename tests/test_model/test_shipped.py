"""What ships in checkpoints/: complete, small, honest, and good enough."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from safetensors import safe_open

from model import load_translator
from model.running.translator import Translator
from model.storage.checkpoint import CARD, CONFIG, MANIFEST, TOKENIZER, WEIGHTS, read_json, verify
from model.training.config import TrainingConfig
from model.training.data.corpora import BACK, comparable, leave_out, load_corpus, parse_mix
from model.training.presets import HELD_OUT

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
NAMES = sorted(path.parent.name for path in CHECKPOINTS.glob(f"*/{CONFIG}"))
HARD = "(?:schwer|schwierig|hart|anstrengend)"
HAPPY = (
    r"Ich bin (?:so |sehr )?(?:glücklich|froh)[.,] (?:[Dd]enn )?(?:"
    rf"(?:[Dd]as )?(?:Studieren|Studium|Lernen) ist {HARD}|"
    rf"[WwDd](?:eil|a) (?:das )?(?:Studieren|Studium|Lernen) {HARD} ist|"
    rf"Es ist {HARD},? zu (?:lernen|studieren))\."
)
TIRED = (
    r"Das Tier (?:überquerte die Straße nicht|hat die Straße nicht überquert|ging nicht über die Straße|"
    r"konnte die Straße nicht überqueren|ist nicht über die Straße gegangen), (?:weil|da) es zu müde war\."
)
DATA = os.environ.get("HEADLIGHT_DATA")


@pytest.fixture(scope="module")
def translator() -> Translator:
    return load_translator("en-de")


def test_the_default_checkpoint_ships() -> None:
    assert "en-de" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_is_whole_and_small(name: str) -> None:
    folder = CHECKPOINTS / name
    load_translator(str(folder))
    assert all(path.stat().st_size < 50_000_000 for path in folder.rglob("*"))
    with safe_open(folder / WEIGHTS, framework="pt") as file:
        assert {file.get_slice(key).get_dtype() for key in file.keys()} == {"F16"}


def test_every_checkpoint_is_the_one_that_its_manifest_lists() -> None:
    folders = [path.parent for path in CHECKPOINTS.rglob(CONFIG)]
    assert len(folders) == len(NAMES)
    for folder in folders:
        assert (folder / MANIFEST).is_file(), folder
        verify(folder)


def test_all_checkpoints_together_are_small() -> None:
    assert sum(path.stat().st_size for path in CHECKPOINTS.rglob("*") if path.is_file()) < 200_000_000


@pytest.mark.parametrize("name", NAMES)
def test_no_tokenizer_ships_with_dropout_or_added_tokens(name: str) -> None:
    tokenizer = json.loads((CHECKPOINTS / name / TOKENIZER).read_text(encoding="utf-8"))
    if tokenizer.get("type") in ("words", "text"):  # lists of words have neither
        return
    assert tokenizer["model"]["dropout"] is None
    assert tokenizer["added_tokens"] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_card_says_where_the_weights_come_from(name: str) -> None:
    card = read_json(CHECKPOINTS / name / CARD)
    assert card["command"].startswith("python -m model train")
    assert all(entry["licence"] for entry in card["data"].values())
    assert set(card["data"]) == set(parse_mix(card["training"]["data"]))
    assert card["steps"] > 0 and card["training_hours"] > 0 and card["training_tokens"] > 0
    TrainingConfig.from_dict(card["training"])
    for scores in card["scores"].values():
        assert scores["command"].startswith("python -m model evaluate")
        assert "tok:13a" in scores["signature"] if "bleu" in scores else scores["tokens"] > 0


# What a reference system must have reached to ship: by checkpoint the test set and what its scores must satisfy.
FLICKR = "multi30k/test_2016_flickr"
BARS = {
    "multi30k-de-en": (FLICKR, lambda score: score["bleu"] >= 37 and score["beam"] == 1),
    "multi30k-de-en-gru": (FLICKR, lambda score: score["bleu"] >= 21 and score["perplexity"] <= 38),
    "wikitext2-lm": ("wikitext-2/test", lambda score: score["perplexity"] <= 115 and score["tokens"] == 245_569),
}


@pytest.mark.parametrize("name", [name for name in NAMES if name in BARS])
def test_a_reference_system_reaches_its_bars(name: str) -> None:
    test_set, is_reached = BARS[name]
    score = read_json(CHECKPOINTS / name / CARD)["scores"][test_set]
    assert is_reached(score), score
    if "bleu" in score:
        assert "case:lc" in score["signature"] and score["sentences"] == 1000


@pytest.mark.parametrize(
    "name, test_set, required",
    [
        ("en-de", "tatoeba-de-en/test", 45),
        ("en-de", FLICKR, 39.5),
        ("de-en", "tatoeba-de-en/test", 46),
        ("de-en", FLICKR, 37),
    ],
)
def test_everyday_translators_reach_their_bars(name: str, test_set: str, required: float) -> None:
    scores = read_json(CHECKPOINTS / name / CARD)["scores"][test_set]
    assert scores["beam"] == 4
    assert "case:mixed" in scores["signature"]
    assert scores["sentences"] in (1000, 1724)
    assert scores["bleu"] >= required


@pytest.mark.parametrize(
    "english, acceptable",
    [
        ("I am happy. Because studing is hard.", HAPPY),
        ("The animal didn't cross the street because it was too tired.", TIRED),
        ("Where is the train station?", r"Wo ist der Bahnhof\?"),
    ],
)
def test_sentences_that_were_never_trained_on(translator: Translator, english: str, acceptable: str) -> None:
    assert comparable(english) in {comparable(sentence) for sentence in HELD_OUT}
    german = translator.translate(english).text
    assert re.fullmatch(acceptable, german), german


def test_held_out_sentences_are_recorded_with_the_checkpoint() -> None:
    assert set(read_json(CHECKPOINTS / "en-de" / CARD)["training"]["held_out"]) >= set(HELD_OUT)


@pytest.mark.slow
@pytest.mark.skipif(not DATA, reason="set HEADLIGHT_DATA to the folder with the corpora")
def test_held_out_sentences_are_not_in_the_training_data() -> None:
    """Over everything that the shipped checkpoint's configuration trains on."""
    config = TrainingConfig.from_dict(read_json(CHECKPOINTS / "en-de" / CARD)["training"])
    held_out = {comparable(sentence) for sentence in HELD_OUT}
    leaks = set()
    for name in parse_mix(config.data):
        if name.startswith(BACK):
            continue  # what a model translated is made by whoever trains, not part of the data
        pairs = load_corpus(Path(DATA), name, "train", (config.source, config.target))
        training_pairs = leave_out(pairs, config.held_out)
        assert len(training_pairs) > 0.99 * len(pairs)
        leaks |= held_out & {comparable(side) for pair in training_pairs for side in pair}
    assert not leaks


@pytest.mark.skipif(not DATA, reason="set HEADLIGHT_DATA to the folder with the corpora")
def test_the_score_on_the_card_is_the_score(translator: Translator) -> None:
    """The first 100 Multi30k test sentences, which differ from the whole set by sampling only."""
    from model.measures.evaluate import evaluate
    from model.training.data.corpora import read_lines

    folder = Path(DATA) / "multi30k"
    sides = [list(read_lines(folder / f"test_2016_flickr.{language}.gz"))[:100] for language in ("en", "de")]
    scores = evaluate(translator, list(zip(*sides, strict=True)), beam=4, length_penalty=0.6)
    assert abs(scores["bleu"] - translator.card["scores"]["multi30k/test_2016_flickr"]["bleu"]) < 5
