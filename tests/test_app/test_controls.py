"""The controls of the translation: examples, the model, the search, a reference; each against separate recordings."""

from __future__ import annotations

import numpy as np
import pytest

from model import load_translator
from tests.test_app import screen
from tests.test_app.conftest import save_tiny
from tests.test_app.test_translate import EXAMPLE, assert_drawn
from viz.screens import words

REFERENCE = "Ein Mann war müde."


def said(at):
    return " ".join(element.value for element in at.caption)


def texts(at):
    return [element.value for element in at.text]


@pytest.mark.parametrize("number", range(len(words.EXAMPLES)))
def test_an_example_is_one_click_away(recorded, number):
    sentence = list(words.EXAMPLES.values())[number]
    at = screen.open_app(text="A man.").button(key=f"example-{number}").click().run()
    assert at.text_input(key="text").value == sentence
    try:
        expected = recorded.translate(sentence)
    except ValueError:  # longer than the tiny model reads
        assert "at most" in at.warning[0].value
    else:
        assert_drawn(at, expected, "cross", 0, 0)


def test_among_the_examples_are_a_long_one_and_a_mistyped_one():
    sentences = list(words.EXAMPLES.values())
    assert "I am happy. Because studing is hard." in sentences
    assert max(len(sentence.split()) for sentence in sentences) > 32


def test_typing_translates_without_enter():
    field = screen.open_app().text_input(key="text").proto
    assert "200" in str(field)


@pytest.mark.parametrize("beam", [2, 8])
def test_the_beam_width(recorded, beam):
    at = screen.choose(screen.open_app(), beam=beam)
    assert_drawn(at, recorded.translate(EXAMPLE, beam=beam), "cross", 0, 0)
    assert f"beam of {beam}" in said(at)


def test_the_length_penalty(recorded):
    at = screen.open_app().slider(key="penalty").set_value(2.0).run()
    assert_drawn(at, recorded.translate(EXAMPLE, beam=4, length_penalty=2.0), "cross", 0, 0)
    assert "length penalty 2" in said(at)
    assert screen.choose(at, beam=1).slider(key="penalty").disabled


class TestReference:
    def test_it_begins_with_the_translation(self, recorded):
        expected = recorded.translate(EXAMPLE)
        at = screen.choose(screen.open_app(), mode=words.FORCED)
        assert at.text_input(key="reference").value == expected.text
        forced = recorded.force(EXAMPLE, expected.text)
        assert_drawn(at, forced, "cross", 0, 0)

    @pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
    def test_the_model_reads_what_is_typed(self, recorded, kind):
        at = screen.choose(screen.open_app(reference=REFERENCE), mode=words.FORCED, kind=kind)
        forced = recorded.force(EXAMPLE, REFERENCE)
        assert_drawn(at, forced, kind, 0, 0)
        assert REFERENCE in texts(at) and "Teacher-forced" in said(at) and "Free-running" not in said(at)

    def test_a_link_to_it(self, recorded):
        at = screen.open_app(mode=words.FORCED, reference=REFERENCE)
        assert_drawn(at, recorded.force(EXAMPLE, REFERENCE), "cross", 0, 0)

    @pytest.mark.parametrize(("text", "problem"), [("  ", "no reference to read"), ("müde " * 99, "at most 60")])
    def test_what_cannot_be_read_leaves_the_result_before(self, recorded, text, problem):
        at = screen.open_app(mode=words.FORCED, reference=REFERENCE)
        at = at.text_input(key="reference").set_value(text).run()
        assert problem in at.warning[0].value
        assert_drawn(at, recorded.force(EXAMPLE, REFERENCE), "cross", 0, 0)


class TestModels:
    @pytest.fixture
    def two(self, checkpoints, tmp_path, monkeypatch):
        for name, changes in {"en-de": {}, "other": {"n_heads": 2, "n_decoder_layers": 1}}.items():
            save_tiny(tmp_path / name, card={"source": "de", "target": "en"}, **changes)
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        return tmp_path

    def test_another_model(self, two):
        at = screen.open_app(layer="1", head="3")
        at = at.selectbox(key="model").set_value("other").run()
        assert_drawn(at, load_translator(str(two / "other")).translate(EXAMPLE), "cross", 0, 0)
        assert "Checkpoint other" in screen.written(at) and "English" in screen.written(at)

    def test_a_link_to_a_model(self, two):
        at = screen.open_app(model="other")
        assert_drawn(at, load_translator(str(two / "other")).translate(EXAMPLE), "cross", 0, 0)

    def test_a_broken_model_is_a_sentence_and_another_one_can_be_chosen(self, two):
        (two / "other" / "config.json").write_text("{}")
        at = screen.open_app(model="other")
        assert not at.exception and len(at.error) == 1
        at = at.selectbox(key="model").set_value("en-de").run()
        assert not at.error
        weights = load_translator(str(two / "en-de")).translate(EXAMPLE).attention("cross")
        np.testing.assert_array_equal(screen.values(screen.figure(at, "heatmap")["data"][0]["z"]), weights[0, 0])


@pytest.mark.parametrize("rubbish", ["", "-1", "99", "x", "<b>"])
def test_rubbish_in_a_link_falls_back(recorded, rubbish):
    at = screen.open_app(model=rubbish, mode=rubbish, beam=rubbish, penalty=rubbish)
    assert_drawn(at, recorded.translate(EXAMPLE), "cross", 0, 0)
