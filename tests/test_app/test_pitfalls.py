"""The page Pitfalls: every mistake is drawn beside the right version, with numbers of this run."""

from __future__ import annotations

import ast
import html
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from model import load_translator
from model.experiments import pitfalls
from model.positional import literal_loop, sinusoidal
from tests.test_app import screen
from viz.pages.pitfalls.common import Sentence
from viz.pages.pitfalls.demos import EXAMPLE, PITFALLS

PAGE = screen.path("pitfalls.py")
TEXT = "A man is too tired."


def open_page(**query: str) -> AppTest:
    """The page by itself, as the navigation runs it."""
    at = AppTest.from_file(PAGE, default_timeout=120)
    for name, value in query.items():
        at.query_params[name] = value
    return at.run()


def shown(at: AppTest) -> str:
    """The headline's number, or two, as it stands on the page."""
    return at.expander[-1].label.rsplit(": ", 1)[1]


def harm(at: AppTest) -> list[str]:
    """What came of it, wrong and right, as it is read."""
    parts = [element.proto.body for element in at.get("html") if "hl-harm" in element.proto.body]
    return [re.sub(r"<b>.*?</b> |<[^>]*>", "", part) for part in parts]


@pytest.fixture(scope="session")
def sentence(recorded):
    """The demos' input for TEXT, made apart from the page."""
    return Sentence(recorded, recorded.translate(TEXT, beam=1))


def test_it_is_in_the_navigation():
    at = screen.open_app().switch_page(screen.path("pitfalls.py")).run()
    assert [element.value for element in at.title] == ["Pitfalls"] and not at.exception


@pytest.mark.parametrize("key", list(PITFALLS))
def test_both_pictures_the_number_and_both_lines_are_there(sentence, key):
    at = open_page(pitfall=key, text=TEXT)
    assert not at.exception and not at.error and not at.warning
    demo = PITFALLS[key](sentence)
    for side, figure in (("wrong", demo.wrong), ("right", demo.right)):
        drawn, expected = screen.figure(at, side)["data"][0], figure.data[0]
        name = "z" if expected.type == "heatmap" else "y"
        np.testing.assert_allclose(screen.values(drawn[name]), expected[name], rtol=1e-5, atol=1e-6)
    assert at.expander[-1].label == demo.lines[0]
    headline = next(iter(demo.numbers.values()))
    said = [float(part.split(" ")[0].replace(",", "")) for part in shown(at).split(", ")]
    assert said == pytest.approx([float(one) for one in np.atleast_1d(headline)], rel=2e-3, abs=6e-4)
    assert [html.unescape(text) for text in harm(at)] == [" ".join(text.split()) for text in demo.written or ("", "")]
    assert [code.value for code in at.code] == [PITFALLS[key].wrong, PITFALLS[key].right]
    assert all(line[1:] in screen.written(at) for line in demo.lines[1:])


def test_the_words_are_two_sentences_and_python():
    for words in PITFALLS.values():
        assert words.explanation.count(". ") == 1 and words.explanation.endswith("."), words.name
        for line in (words.wrong, words.right):
            ast.parse("def f():\n " + line.replace("\n", "\n "))


def test_the_pictures_of_the_positions_are_the_two_tables(sentence):
    at = open_page(pitfall="loop", text=TEXT)
    n = len(sentence.result.source_tokens)
    for side, table in (("wrong", literal_loop), ("right", sinusoidal)):
        drawn = screen.values(screen.figure(at, side)["data"][0]["z"])
        np.testing.assert_allclose(drawn, table(n, 32).numpy(), atol=1e-6)
        assert len(screen.tokens(at, side, "y")) == n


def test_where_the_causal_mask_hides_the_mistake_the_page_says_0():
    assert shown(open_page(pitfall="rows", text=TEXT)) == "0"
    assert shown(open_page(pitfall="dropout", text=TEXT)) != "0"


def test_numbers_without_a_sentence_are_those_of_the_two_ways_to_keep(sentence):
    demo = PITFALLS["best"](sentence)
    losses, _ = pitfalls.overfit()
    assert demo.numbers["Loss of what was kept"] == pytest.approx((losses[-1], min(losses)))


def test_another_sentence_gives_other_numbers():
    at = open_page(pitfall="scaling", text=TEXT)
    before = shown(at)
    at = at.text_input(key="text").set_value("A man is riding a bicycle down the street.").run()
    assert shown(at) != before


def test_the_example_is_right_without_and_wrong_with_each_mistake():
    """On the weights that ship."""
    translator = load_translator(str(Path(__file__).parents[2] / "checkpoints" / "en-de"))
    shipped = Sentence(translator, translator.translate(EXAMPLE, beam=1))
    right = "Mein Bruder gab dem alten Mann seinen Schirm, weil es regnete."
    for mistake in pitfalls.WRITTEN:
        wrong, written = shipped.both_written(mistake)
        assert written == right and wrong != right, mistake


def test_choosing_another_pitfall():
    at = open_page(text=TEXT)
    assert at.radio(key="pitfall").value == next(iter(PITFALLS))
    at = at.radio(key="pitfall").set_value("gru").run()
    assert not at.exception and [code.value for code in at.code][0] == PITFALLS["gru"].wrong
    assert open_page(pitfall="nonsense", text=TEXT).radio(key="pitfall").value == next(iter(PITFALLS))


@pytest.mark.parametrize(("text", "problem"), [("", "nothing to translate"), ("a" * 3000, "3,000 characters")])
def test_what_cannot_be_translated_is_one_sentence_and_the_last_one_stays(text, problem):
    at = open_page(pitfall="scaling", text=TEXT)
    drawn = screen.values(screen.figure(at, "wrong")["data"][0]["z"])
    at = at.text_input(key="text").set_value(text).run()
    assert not at.exception
    np.testing.assert_array_equal(screen.values(screen.figure(at, "wrong")["data"][0]["z"]), drawn)
    assert problem in at.warning[0].value and "the last one that worked" in at.warning[0].value
    assert "the example" in open_page(pitfall="scaling", text=text).warning[0].value
    assert set(screen.charts(at)) == {"wrong", "right"}


@pytest.mark.parametrize("text", ["a", "$x_1$ **b** <b>c</b>", "漢字 👩‍👩‍👧 שלום", "x " * 20])
@pytest.mark.parametrize("key", list(PITFALLS))
def test_odd_sentences_break_no_demo(recorded, key, text):
    demo = PITFALLS[key](Sentence(recorded, recorded.translate(text, beam=1)))
    assert "nan" not in " ".join(demo.lines) and "inf" not in " ".join(demo.lines)


def test_demos_leave_the_random_state_alone(sentence):
    before = torch.get_rng_state()
    for demo in PITFALLS.values():
        demo(sentence)
    assert torch.equal(before, torch.get_rng_state())


def test_without_a_model_there_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = open_page()
    assert not at.exception and len(at.error) == 1 and not screen.charts(at)
