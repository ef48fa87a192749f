"""The page Models without a browser: every control, and what is drawn against the same computed here."""

from __future__ import annotations

import html
import re
import shutil
from urllib.parse import parse_qsl

import numpy as np
import pytest

from model import load_translator
from model.analysis import comparison, lengths
from model.analysis import maps as analysis
from model.storage.checkpoint import CARD, read_json, seal, write_json
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_app.systems import BY_LENGTH, MEASURED, save_comparison

EXAMPLE, SECOND = (
    "Ein Mann fährt auf einem Fahrrad die Straße hinunter.",
    "Zwei Hunde spielen mit einem roten Ball im Schnee.",
)
TRAIN = "python -m model train {0} --data-dir data --out checkpoints/{0}"
MEASURE = "python -m model evaluate --data FILE.tsv --checkpoint {} --by-length --save-as multi30k/test_2016_flickr"
NAMES = ["c-transformer", "b-gru-attention", "a-gru"]  # in the order of the page


@pytest.fixture(scope="module")
def systems(tmp_path_factory, checkpoints):
    """The folder of all three systems, and the English-German one of the other pages."""
    folder = save_comparison(tmp_path_factory.mktemp("systems"))
    shutil.copytree(checkpoints / "en-de", folder / "en-de")
    return folder


@pytest.fixture(autouse=True)
def shipped(systems, tmp_path, monkeypatch):
    """A copy of them, which a test may damage."""
    folder = shutil.copytree(systems, tmp_path / "checkpoints")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    return folder


def open_page(**query):
    at = screen.open_page("models.py", **({"beam": "1"} | query))
    assert not at.exception
    return at


def on_stage(at, name):
    """The map of a system on the stage: its words, its weights of all heads, and what is open of them."""
    at = screen.choose_tile(at, "system-tiles", name)
    message = screen.message(at)
    recording = message["after"]["recording"]
    (kind,) = recording["kinds"]
    words = recording["source_tokens"], recording["predicted_tokens"]
    return words, np.asarray(kind["weights"]), message["setting"]


def vector(at, name):
    """What a system without attention draws of each word."""
    return screen.values(screen.figure(screen.choose_tile(at, "system-tiles", name), "vector")["data"][0]["z"])


def systems_in(at):
    """The tiles of the page by the name of their model."""
    tiles = screen.tiles(at, "system-tiles") if has_tiles(at) else {}
    return {code: tile for code, tile in tiles.items() if code != "selected"}


def has_tiles(at):
    return any(part.proto.id.endswith("-system-tiles") for part in at.get("bidi_component"))


def names_in(at):
    """The names of the models that have a tile."""
    return list(systems_in(at))


def notes(at):
    return html.unescape("".join(part.proto.body for part in at.get("html")))


def expected(shipped, name, text=EXAMPLE, beam=1):
    """A translation and its words, written and read."""
    loaded = load_translator(str(shipped / name))
    result = loaded.translate(text, beam=beam)
    target_words = comparison.words_of(loaded.tokenizer.target, result.predicted_tokens)
    return result, target_words, comparison.words_of(loaded.tokenizer.source, result.source_tokens)


def assert_translations(at, shipped, text=EXAMPLE, beam=1):
    """Every model's translation is there, every small map has blank rows where only others have a word, and each large
    one is what it recorded."""
    everything = [expected(shipped, name, text, beam) for name in NAMES]
    rows = comparison.align([target_words.names for _, target_words, _ in everything])
    assert names_in(at) == NAMES
    for number, (result, target_words, source_words) in enumerate(everything):
        assert systems_in(at)[NAMES[number]]["note"].startswith(result.text or "(the model wrote nothing)")
        has_word, pixels = [row[number] is not None for row in rows], systems_in(at)[NAMES[number]]["pixels"]
        if NAMES[number] == "a-gru":
            assert (pixels.std(axis=1) > 0).tolist() == has_word
            summary = result.trace["encoder.summary"].repeat(len(target_words.names), axis=0)
            np.testing.assert_array_equal(vector(at, "a-gru"), summary)
            continue
        assert pixels[:, 0, 3].astype(bool).tolist() == has_word
        words, weights, setting = on_stage(at, NAMES[number])
        assert words == (source_words.names, target_words.names)
        merged = analysis.merge_words(result.attention("cross"), target_words, source_words)
        np.testing.assert_allclose(weights, merged, atol=5e-5)
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-3)
        assert setting["layer"] == str(len(merged) - 1)
        assert setting.get("summary") == ("mean" if NAMES[number] == "c-transformer" else None)


@pytest.mark.slow
def test_the_first_paint_compares_the_direction_with_most_models(shipped):
    at = open_page()
    assert at.button_group(key="direction").value == "de-en"
    assert_translations(at, shipped)
    assert "numbers for every word" in notes(screen.choose_tile(at, "system-tiles", "a-gru"))
    assert not any("Not found for this direction" in element.value for element in at.caption)
    assert not at.warning
    for key, chart in screen.charts(at).items():
        assert re.search("row|curve", screen.described(chart), re.I), key


@pytest.mark.slow
def test_the_chosen_system_is_drawn_large_beside_what_all_wrote(shipped):
    at = open_page()
    assert screen.has_stage(at) and not screen.charts(at)
    for name, tile in systems_in(at).items():
        result, _, _ = expected(shipped, name)
        assert f"log-probability {result.log_probabilities.sum():.1f}" in tile["note"] and " ms · " in tile["note"]
        assert tile["note"].startswith(result.text or "(the model wrote nothing)")
    at = screen.choose_tile(at, "system-tiles", "a-gru")
    assert set(screen.charts(at)) == {"vector"} and not screen.has_stage(at)
    assert "Checkpoint a-gru" in screen.page_text(at)
    assert at.query_params["system"] in ("a-gru", ["a-gru"])


def test_the_answer_names_the_largest_weight_at_a_word_that_two_systems_wrote(shipped):
    for name in ("a-gru", "c-transformer", "en-de"):
        shutil.rmtree(shipped / name)
    shutil.copytree(shipped / "b-gru-attention", shipped / "d-gru-attention")
    at = open_page()
    word, share, key = re.match(
        r"At “(.*?)” .* puts (\d+)% of its attention on “(.*?)”", screen.framed(at, "answer")
    ).groups()
    result, target_words, source_words = expected(shipped, "b-gru-attention")
    weights = analysis.merge_words(result.attention("cross"), target_words, source_words)[0, 0]
    rows = [row for name, row in zip(target_words.names, weights) if name == word]
    assert (source_words.names.index(key), int(share)) in [(row.argmax(), round(100 * row.max())) for row in rows]
    ((row, column),) = screen.message(at)["setting"]["rings"]  # the first system to see is one of those that are named
    assert (target_words.names[row], source_words.names[column]) == (word, key)


def test_the_words_as_a_table(shipped):
    table = open_page(**{"models-show": "words"}).dataframe[0].value
    for name in NAMES:
        result, target_words, source_words = expected(shipped, name)
        assert [word for word in table[name] if word] == target_words.names
        cells = [cell for cell in table[f"{name} reads"] if cell]
        if name == "a-gru":
            assert set(cells) == {"the one vector"}
            continue
        weights = analysis.merge_words(result.attention("cross"), target_words, source_words)[-1].mean(axis=0)
        assert cells == [f"{source_words.names[row.argmax()]} {row.max():.2f}" for row in weights]


def test_a_head_of_the_transformer(shipped):
    at = screen.choose(open_page(system="c-transformer"), **{"models-layer": 0})
    at = at.selectbox(key="models-head").set_value(3).run()
    _, _, setting = on_stage(at, "c-transformer")
    assert (setting["layer"], setting["head"], setting.get("summary")) == ("0", "3", None)
    assert "Layer 0, head 3;" in notes(at)
    (link,) = [target for text, target in screen.links(at).items() if text == "Open this map on the stage →"]
    query = dict(parse_qsl(link.partition("?")[2]))
    assert query["model"] == "c-transformer" and (query["layer"], query["head"]) == ("0", "3")


@pytest.mark.slow
def test_beam_and_sentence(shipped):
    at = open_page(beam="4", **{"text-de": "Das Tier war müde."})
    assert_translations(at, shipped, "Das Tier war müde.", beam=4)
    at = at.text_input(key="text-de").set_value("Ein Pferd war müde.").run()
    assert_translations(at, shipped, "Ein Pferd war müde.", beam=4)
    unknown = "words that its list lacks: 1 read; 0 written"
    flags = [tile["flag"] for tile in systems_in(at).values()]
    assert sum(unknown in flag for flag in flags) == 2, "the GRUs do not know the horse"
    at = at.button(key="example-1").click().run()
    assert at.text_input(key="text-de").value == SECOND


@pytest.mark.parametrize(
    ("text", "says"),
    first_quick(
        [("", "There is nothing to translate: type a sentence."), ("x" * 2001, "2,001 characters; at most 2,000")]
    ),
)
def test_what_cannot_be_translated_is_told_and_the_last_sentence_stays(shipped, text, says):
    at = open_page().text_input(key="text-de").set_value("Das Tier war müde.").run()
    at = at.text_input(key="text-de").set_value(text).run()
    assert len(at.warning) == 1 and says in at.warning[0].value and "the last one that worked" in at.warning[0].value
    assert_translations(at, shipped, "Das Tier war müde.")
    fresh = open_page(**{"text-de": text or " "})
    assert len(fresh.warning) == 1 and fresh.warning[0].value.endswith("Showing the example.")
    assert_translations(fresh, shipped)


def test_a_sentence_too_long_for_one_model_is_translated_by_the_others():
    text = "Fahrradstraßenmannhinunter " * 10
    at = open_page(**{"text-de": text})  # subwords are many, words are few
    assert names_in(at) == NAMES[1:]
    assert "c-transformer: The text has" in screen.page_text(at) and "at most 60 are allowed." in screen.page_text(at)


def test_quality_by_length_is_that_of_the_card():
    at = open_page(**{"models-show": "lengths"})
    for quality, label in {"bleu": "BLEU", "chrf": "chrF"}.items():
        at = screen.choose(at, quality=quality)
        (trace,) = screen.figure(at, "lengths")["data"]
        assert trace["name"] == "b-gru-attention"
        np.testing.assert_allclose(screen.values(trace["x"]), [row["words"] for row in BY_LENGTH], rtol=1e-6)
        np.testing.assert_allclose(screen.values(trace["y"]), [row[quality] for row in BY_LENGTH], rtol=1e-6)
        assert screen.figure(at, "lengths")["layout"]["yaxis"]["title"]["text"] == label
    assert at.dataframe[0].value["sentences"].tolist() == [80, 200]
    assert f"b-gru-attention: {MEASURED['command']} · {MEASURED['signature']}" in screen.page_text(at)
    assert "Not measured yet for c-transformer, a-gru." in screen.page_text(at)
    command = next(code.value for code in at.code if "--by-length" in code.value)
    assert command.split("\n") == [MEASURE.format(name) for name in ("c-transformer", "a-gru")]


def test_several_test_sets_and_cards_that_cannot_be_read(shipped):
    card = read_json(shipped / "a-gru" / CARD)
    card["scores"] = {"other": {lengths.KEY: BY_LENGTH[:1]}}
    write_json(shipped / "a-gru" / CARD, card)
    card["scores"] = {"other": {lengths.KEY: [{"words": "<b>many</b>"}]}}
    write_json(shipped / "c-transformer" / CARD, card)
    for name in ("a-gru", "c-transformer"):
        seal(shipped / name)
    at = screen.choose(open_page(**{"models-show": "lengths"}), test="other")
    assert [trace["name"] for trace in screen.figure(at, "lengths")["data"]] == ["a-gru"]
    problem = "c-transformer: This file or link cannot be used. The scores by length of 'other' have other"
    assert problem in screen.page_text(at)
    assert "no command on its card" in screen.page_text(at)


def test_a_direction_with_one_checkpoint_says_what_is_missing(shipped):
    at = screen.choose(open_page(), direction="en-de")
    result, target_words, _ = expected(shipped, "en-de", at.text_input(key="text").value)
    assert systems_in(at)["en-de"]["note"].startswith(result.text) and names_in(at) == ["en-de"]
    assert screen.message(at)["after"]["recording"]["predicted_tokens"] == target_words.names
    caption = next(element.value for element in at.caption if "Not found for this direction" in element.value)
    assert "GRU with attention, GRU." in caption and "Transformer" not in caption
    assert "lengths" not in screen.charts(at)
    assert any("CONFIG.json" in code.value for code in at.code)


def test_checkpoints_that_cannot_be_read_cost_one_sentence_each(shipped):
    (shipped / "a-gru" / "model.safetensors").write_bytes(b"no weights")
    (shipped / "b-gru-attention" / CARD).write_text("{", encoding="utf-8")
    at = open_page()
    assert names_in(at) == ["c-transformer"]
    assert len(at.warning) == 1
    problems = [line for line in screen.page_text(at).split("\n") if str(shipped) in line]
    assert len(problems) == 2
    assert "card.json is not JSON" in problems[0] and "is not a whole safetensors file" in problems[1]
    commands = [code.value for code in at.code if "model train" in code.value]
    presets = [TRAIN.format(f"multi30k-de-en-{name}") for name in ("gru-attention", "gru")]
    assert commands == ["\n".join(presets)]


def test_all_of_a_direction_broken(shipped):
    for name in NAMES:
        (shipped / name / "model.safetensors").write_bytes(b"no weights")
    at = open_page()
    assert names_in(at) == [] and not screen.has_stage(at)
    assert screen.page_text(at).count("not a whole safetensors file") == 3


def test_without_any_checkpoint_one_sentence_and_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "nothing"))
    at = open_page()
    assert [element.value for element in at.error] == ["No translation model found."]
    assert [code.value for code in at.code] == [TRAIN.format("multi30k-de-en")]


@pytest.mark.parametrize(
    "query",
    first_quick(
        [
            {"direction": "nowhere"},
            {"direction": ""},
            {"models-layer": "99", "models-head": "x"},
            {"beam": "99"},
            {"test": "none", "quality": "best"},
        ],
        2,
    ),
)
def test_rubbish_in_the_address_falls_back(shipped, query):
    at = open_page(**query)
    assert names_in(at) == NAMES and screen.has_stage(at)
