"""The page Steps without a browser: every control, and what the film is given, against separate recordings."""

from __future__ import annotations

import re

import numpy as np
import pytest

from model.analysis import maps as analysis
from tests.test_app import screen
from tests.test_app.test_translate import EXAMPLE
from viz.figures.labels import visible
from viz.screens import words, words_steps

PLACE = re.compile(r"\{\w+\}")


def open_page(**query):
    at = screen.open_page("steps.py", **query)
    assert not at.exception and not at.error
    return at


def given(at, name):
    """An array of the film, NaN where there is no number."""
    return np.array(screen.component(at, "film")[name], dtype=np.float64)


def assert_film(at, result, layer, encoder_layer, head):
    """The film is of these heads (None for the mean over all)."""

    def one(kind, layer):
        maps = result.attention(kind)[layer]
        return maps.mean(axis=0) if head is None else maps[head]

    data = screen.component(at, "film")
    assert data["read"] == [visible(token) for token in result.target_tokens]
    assert data["written"] == [visible(token) for token in result.predicted_tokens]
    assert data["source"] == [visible(token) for token in result.source_tokens]
    decoder = np.where(result.mask("decoder_self"), one("decoder_self", layer), np.nan)
    for name, expected in (
        ("decoder", decoder),
        ("cross", one("cross", layer)),
        ("encoder", one("encoder_self", encoder_layer)),
    ):
        np.testing.assert_allclose(given(at, name), expected, atol=5.1e-4)
    logs = analysis.log_softmax(result.trace["logits"])
    np.testing.assert_allclose(given(at, "entropy"), -(np.exp(logs) * logs).sum(-1), atol=6e-4)
    np.testing.assert_allclose(given(at, "probabilities"), np.sort(np.exp(logs))[:, :-6:-1], atol=6e-4)
    assert data["mostRead"] == one("cross", layer).argmax(axis=1).tolist()
    assert data["panels"]["cross"][0].endswith(
        f"layer {layer}, {'mean of all heads' if head is None else f'head {head}'}"
    )
    assert f"layer {encoder_layer}" in data["panels"]["encoder"][0]


def test_the_first_paint_is_the_last_layers_of_the_example(recorded):
    at = open_page()
    result = recorded.translate(EXAMPLE)
    assert_film(at, result, 1, 2, 0)
    assert result.text in screen.written(at)


def test_every_control(recorded):
    result = recorded.translate(EXAMPLE)
    at = screen.choose(open_page(), layer=0, head=2, **{"encoder-layer": 1})
    assert_film(at, result, 0, 1, 2)
    at = at.toggle(key="mean-of-heads").set_value(True).run()
    assert_film(at, result, 0, 1, None)
    assert at.button_group(key="head").disabled
    at = at.toggle(key="mean-of-heads").set_value(False).run()
    assert_film(at, result, 0, 1, 2)


def test_another_sentence_and_what_cannot_be_translated(recorded):
    at = open_page().text_input(key="text").set_value("A man is riding.").run()
    assert_film(at, recorded.translate("A man is riding."), 1, 2, 0)
    at = at.text_input(key="text").set_value("").run()
    assert "there is nothing to translate" in at.warning[0].value.lower()
    assert_film(at, recorded.translate("A man is riding."), 1, 2, 0)


def test_a_reference_is_a_film_too_and_says_so(recorded):
    at = open_page(mode=words.FORCED, reference="Ein Mann war müde.")
    assert_film(at, recorded.force(EXAMPLE, "Ein Mann war müde."), 1, 2, 0)
    assert words_steps.FORCED in [caption.value for caption in at.caption]


@pytest.mark.parametrize(
    ("lang", "play", "cross"),
    [("de", "Abspielen", "Cross-Attention, Schicht 1, Kopf 0"), ("ko", "재생", "크로스 어텐션, 레이어 1, 헤드 0")],
)
def test_the_film_speaks_the_language_of_the_page(lang, play, cross):
    spoken, english = (screen.component(open_page(lang=of), "film") for of in (lang, "en"))
    assert english["texts"]["play"] == "Play" and english["panels"]["cross"][0] == "Cross-attention, layer 1, head 0"
    assert spoken["texts"]["play"] == play and spoken["panels"]["cross"][0] == cross
    for name, text in english["texts"].items():  # the script fills the same places in every language
        assert sorted(PLACE.findall(text)) == sorted(PLACE.findall(spoken["texts"][name])), name
    assert {name: value for name, value in spoken.items() if name not in ("texts", "panels")} == {
        name: value for name, value in english.items() if name not in ("texts", "panels")
    }


@pytest.mark.parametrize("query", [{"layer": "9", "head": "x", "encoder-layer": "-1"}, {"mean-of-heads": "perhaps"}])
def test_nonsense_in_the_address_falls_back(recorded, query):
    assert_film(open_page(**query), recorded.translate(EXAMPLE), 1, 2, 0)


def test_without_a_model_it_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = screen.open_page("steps.py")
    assert not at.exception and [error.value for error in at.error] == ["There is no model to translate with."]
