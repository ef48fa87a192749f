"""The page Translate without a browser: what is asked for, and what the stage is told, against separate recordings."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from model import load_translator
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_app.conftest import save_tiny
from viz.stage.words import unique_labels
from viz.text import words
from viz.views import cached
from viz.views.view import EXAMPLE as FIRST

EXAMPLE = "A man is riding a bicycle down the street."  # of the other pages
SENTENCE = "A man is too tired."
REFERENCE = "Ein Mann war müde."
KINDS = ("cross", "encoder_self", "decoder_self")


def assert_shown(at, result) -> None:
    """The stage is told this translation: its text, its tokens, all of its maps."""
    assert not at.exception and not at.error
    payload = screen.stage(at)
    assert payload["translation"] == result.text
    assert payload["target"]["start"] == result.target_tokens[0]
    for name, tokens in (("source", result.source_tokens), ("target", result.predicted_tokens)):
        assert unique_labels(tokens) == payload[name]["tokens"]
    for kind in KINDS:
        np.testing.assert_allclose(screen.weights(at, kind), result.attention(kind), atol=2e-5)


def type_in(at, text: str):
    return at.text_input(key="sentence").set_value(text).run()


class TestSentences:
    @pytest.mark.slow
    def test_the_first_visit_shows_the_example(self, recorded):
        at = screen.open_app()
        assert at.text_input(key="sentence").value == FIRST
        assert at.text_input(key="sentence").label == "English sentence"
        assert_shown(at, recorded.translate(FIRST))
        assert not at.warning and screen.stage(at)["address"] == {}

    def test_what_is_typed_is_translated_without_enter(self, recorded):
        at = type_in(screen.open_app(), SENTENCE)
        assert_shown(at, recorded.translate(SENTENCE))
        assert screen.stage(at)["address"] == {"text": SENTENCE}
        assert "200" in str(at.text_input(key="sentence").proto)
        at = at.toggle(key="stage-live").set_value(False).run()
        assert "200" not in str(at.text_input(key="sentence").proto), "it can be paused"

    @pytest.mark.parametrize("number", range(len(words.EXAMPLES)))
    def test_an_example_is_one_click_away(self, recorded, number):
        sentence = list(words.EXAMPLES.values())[number]
        at = screen.open_app(text=SENTENCE).button(key=f"example-{number}").click().run()
        assert at.text_input(key="sentence").value == sentence
        try:
            assert_shown(at, recorded.translate(sentence))
        except ValueError:  # longer than the tiny model reads
            assert "at most" in at.warning[0].value

    @pytest.mark.parametrize(
        "text",
        first_quick(
            ["a", "too too tired tired", "  A man \n is\ttired. ", "A\x00 man\x1b[31m", "<script>alert(1)</script>"]
            + [
                "<s> A man </s> <pad>",
                "**bold** $x$ :smile: [a](http://b.c) # d",
                "متعب 🐈 שלום",
                "&amp; %{z} {x}",
                "▁",
            ],
            3,
        ),
    )
    def test_odd_text_is_translated_and_stands_literally(self, recorded, text):
        at = type_in(screen.open_app(), text)
        assert not at.exception and not at.warning
        for kind in KINDS:
            np.testing.assert_allclose(screen.weights(at, kind), recorded.translate(text).attention(kind), atol=2e-5)

    def test_text_never_passes_through_markdown(self):
        at = type_in(type_in(screen.open_app(), "<b>MARK</b> **MARK**"), "")
        for element in [*at.markdown, *at.caption, *at.warning, *at.title, *at.get("html")]:
            assert "MARK" not in str(element.proto)


class TestBadInput:
    CASES = [
        ("", "There is nothing to translate"),
        ("   \t ", "There is nothing to translate"),
        ("\x00\x07", "There is nothing to translate"),
        ("a" * 10_000, "10,000 characters; at most 2,000"),
        ("tired " * 100, "tokens; at most 60"),
        ("🐈" * 40, "tokens; at most 60"),
    ]

    @pytest.mark.parametrize(
        ("text", "words_of_it"), first_quick(CASES, 2), ids=[f"case{i}" for i in range(len(CASES))]
    )
    def test_one_sentence_and_the_result_before_stays(self, recorded, text, words_of_it):
        at = type_in(type_in(screen.open_app(), SENTENCE), text)
        (warning,) = at.warning
        assert words_of_it in warning.value and "the last one that worked" in warning.value
        assert_shown(at, recorded.translate(SENTENCE))
        assert not type_in(at, "A man.").warning

    @pytest.mark.parametrize("text", ["", "tired " * 100])
    def test_a_bad_link_shows_the_example(self, recorded, text):
        at = screen.open_app(text=text)
        (warning,) = at.warning
        assert "the example" in warning.value
        assert_shown(at, recorded.translate(FIRST))

    def test_the_result_that_stays_keeps_its_search(self, recorded):
        at = at_greedy = screen.open_app(beam="1")
        assert_shown(at_greedy, recorded.translate(FIRST, beam=1))
        at = type_in(at, " ")
        at = at.select_slider(key="stage-beam").set_value(4).run()
        assert_shown(at, recorded.translate(FIRST, beam=1))


class TestSearch:
    @pytest.mark.parametrize("beam", [1, 2, 8])
    def test_the_beam_width(self, recorded, beam):
        at = screen.open_app().select_slider(key="stage-beam").set_value(beam).run()
        assert_shown(at, recorded.translate(FIRST, beam=beam))
        assert screen.stage(at)["address"] == {"beam": str(beam)}
        assert at.slider(key="stage-penalty").disabled == (beam == 1)

    def test_the_length_penalty(self, recorded):
        at = screen.open_app().slider(key="stage-penalty").set_value(2.0).run()
        assert_shown(at, recorded.translate(FIRST, beam=4, length_penalty=2.0))
        assert screen.stage(at)["address"] == {"penalty": "2"}

    def test_a_reference_begins_with_the_translation_and_is_read_as_it_is_typed(self, recorded):
        at = screen.open_app().toggle(key="stage-forced").set_value(True).run()
        assert at.text_input(key="stage-reference").value == recorded.translate(FIRST).text
        at = at.text_input(key="stage-reference").set_value(REFERENCE).run()
        forced = recorded.force(FIRST, REFERENCE)
        assert_shown(at, forced)
        payload = screen.stage(at)
        np.testing.assert_allclose(payload["target"]["probability"], np.exp(forced.log_probabilities), atol=1e-6)
        assert payload["address"]["reference"] == REFERENCE and payload["notes"]

    def test_a_link_to_a_reference(self, recorded):
        assert_shown(screen.open_app(text=SENTENCE, reference=REFERENCE), recorded.force(SENTENCE, REFERENCE))

    @pytest.mark.parametrize(("text", "problem"), [(" ", "no reference"), ("müde " * 99, "at most 60")])
    def test_what_cannot_be_read_leaves_the_result_before(self, recorded, text, problem):
        at = screen.open_app(reference=REFERENCE)
        at = at.text_input(key="stage-reference").set_value(text).run()
        assert problem in at.warning[0].value
        assert_shown(at, recorded.force(FIRST, REFERENCE))


class TestModels:
    @pytest.fixture
    def two(self, tmp_path, monkeypatch):
        for name, changes in {"en-de": {}, "other": {"n_heads": 2, "n_decoder_layers": 1}}.items():
            save_tiny(tmp_path / name, card={"source": "de", "target": "en"}, **changes)
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        return tmp_path

    def test_another_model(self, two):
        at = screen.models(screen.open_app(text=SENTENCE)).set_value("other").run()
        assert_shown(at, load_translator(str(two / "other")).translate(SENTENCE))
        assert screen.stage(at)["address"] == {"text": SENTENCE, "model": "other"}
        assert "Checkpoint other" in screen.page_text(at)

    def test_a_link_to_a_model(self, two):
        at = screen.open_app(text=SENTENCE, model="other")
        assert screen.models(at).value == "other"
        assert_shown(at, load_translator(str(two / "other")).translate(SENTENCE))

    def test_a_broken_model_is_a_sentence_and_another_one_can_be_chosen(self, two):
        (two / "other" / "config.json").write_text("{}")
        at = screen.open_app(text=SENTENCE, model="other")
        assert not at.exception and len([*at.error, *at.warning]) == 1
        at = screen.models(at).set_value("en-de").run()
        assert_shown(at, load_translator(str(two / "en-de")).translate(SENTENCE))

    def test_a_model_that_vanishes_leaves_what_was_shown_or_says_so(self, two):
        at = screen.open_app(text=SENTENCE, model="other")
        shutil.rmtree(two / "other")
        at = type_in(at, "A man.")
        assert not at.exception and len([*at.error, *at.warning]) <= 1
        at = screen.open_app(text=SENTENCE, model="other")
        (warning,) = screen.warnings(at)
        assert "model=other" in warning
        assert_shown(at, load_translator(str(two / "en-de")).translate(SENTENCE))

    @pytest.mark.parametrize(("name", "kinds"), [("a-gru", []), ("b-gru-attention", ["cross"])])
    def test_recurrent_networks_have_what_they_have(self, everything, all_systems, name, kinds):
        at = screen.open_app(text="Ein Mann.", model=name)
        assert not at.exception and not at.warning
        payload = screen.stage(at)
        result = load_translator(str(everything / name)).translate("Ein Mann.")
        assert payload["translation"] == result.text and [kind["code"] for kind in payload["kinds"]] == kinds
        for kind in kinds:
            np.testing.assert_allclose(screen.weights(at, kind), result.attention(kind), atol=2e-5)
        assert at.text_input(key="sentence").label == "German sentence"


class TestAddress:
    def test_options_come_from_the_address_which_the_browser_keeps(self, recorded):
        query = {"summary": "mean", "rows": "read", "hide": "1", "share": "90", "stretch": "1", "words": "1"}
        at = screen.open_app(text=SENTENCE, **query)
        payload = screen.stage(at)
        assert not at.warning and payload["address"] == {"text": SENTENCE}
        assert {field["name"]: str(field["value"]) for field in payload["options"]}.items() >= query.items()
        assert all(kind["tiles"].shape[1] == 1 and not kind["single"] and kind["stretch"] for kind in payload["kinds"])

    def test_a_language_changes_no_code(self):
        payload = screen.stage(screen.open_app(lang="ko", beam="1", summary="mean"))
        assert payload["language"] == "ko" and payload["address"] == {"beam": "1", "lang": "ko"}

    @pytest.mark.parametrize("rubbish", ["", "999", "-1", "1.5", "<script>", "x" * 5000, "Encoder self"])
    def test_rubbish_is_one_short_message_and_the_default(self, recorded, rubbish):
        names = ("kind", "layer", "head", "view", "beam", "stretch", "model", "summary", "rows", "share")
        at = screen.open_app(text=SENTENCE, **dict.fromkeys(names, rubbish))
        assert_shown(at, recorded.translate(SENTENCE))
        (warning,) = screen.warnings(at)
        assert "Showing the default instead" in warning and len(warning) < 800
        assert screen.stage(at)["address"] == {"text": SENTENCE}
        assert not at.run().warning, "it is told once"

    def test_a_parameter_twice_is_no_trouble(self):
        at = screen.open_app(layer=["1", "0"], text=["a", "b"], kind=["cross", "decoder_self"])
        assert not at.exception and not at.warning


class TestOtherPages:
    """The sentence and how it is translated are the same on every page about one translation."""

    @pytest.mark.slow
    def test_a_sentence_goes_along_and_comes_back(self, recorded):
        at = type_in(screen.open_app(), SENTENCE)
        at = at.select_slider(key="stage-beam").set_value(2).run()
        at = at.switch_page(screen.path("atlas.py")).run()
        assert not at.exception
        assert at.text_input(key="text").value == SENTENCE and at.select_slider(key="beam").value == 2
        assert at.session_state["shown-text"] == recorded.translate(SENTENCE, beam=2).text
        at = at.text_input(key="text").set_value("A man.").run()
        at = at.select_slider(key="beam").set_value(1).run()
        at = at.switch_page(screen.path("translate.py")).run()
        assert at.text_input(key="sentence").value == "A man."
        assert_shown(at, recorded.translate("A man.", beam=1))

    @pytest.mark.parametrize("page", first_quick(["atlas.py", "pitfalls.py", "check.py"]))
    def test_every_page_with_a_sentence_begins_with_it(self, page):
        at = type_in(screen.open_app(), SENTENCE).switch_page(screen.path(page)).run()
        assert not at.exception and at.text_input(key="text").value == SENTENCE

    def test_an_address_comes_first(self):
        at = type_in(screen.open_app(), SENTENCE)
        at.query_params["text"] = "A man."
        at = at.switch_page(screen.path("atlas.py")).run()
        assert at.text_input(key="text").value == "A man."

    def test_a_reference_goes_along(self, recorded):
        at = screen.open_app(text=SENTENCE, reference=REFERENCE)
        at.query_params.clear()
        at = at.switch_page(screen.path("atlas.py")).run()
        assert at.text_input(key="reference").value == REFERENCE


def test_a_computation_that_fails_says_so_and_the_last_result_stays(recorded, monkeypatch, caplog):
    at = screen.open_app(text=SENTENCE)

    def fails(*arguments):
        raise RuntimeError("out of luck")

    monkeypatch.setattr(cached.translator("en-de").stepper, "step", fails)
    at = type_in(at, "A man is tired.")
    assert_shown(at, recorded.translate(SENTENCE))
    assert screen.warnings(at) == [
        "The computation failed (RuntimeError); the log of the server says more. Showing the last one that worked."
    ]
    assert "out of luck" in caplog.text


def test_the_card_and_the_report_are_there():
    at = screen.open_app()
    text = screen.page_text(at)
    assert "en-de" in text and "toys" in text and "1.2 million" in text and "BLEU 12.3 on toys/test, beam 4" in text
    heading, *_ = screen.message(at)["report"]
    assert heading["tag"] == "h1" and FIRST in heading["text"]


def test_no_language_is_claimed_that_the_card_does_not_name(tmp_path, monkeypatch):
    save_tiny(tmp_path / "other", card={"data": "?", "scores": [1], "source": ["en"]})
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = screen.open_app()
    assert not at.exception and at.text_input(key="sentence").label == "Source sentence"
