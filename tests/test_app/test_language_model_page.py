"""The page Language model without a browser: every control, and what is drawn against the same computed here."""

from __future__ import annotations

import html

import numpy as np
import pytest

from model import load_translator
from model.checkpoint import WEIGHTS
from tests.test_app import screen
from tests.test_app.systems import save_language_model
from viz.text import words_language_model as words

TEXT = "the cat sat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("language") / "wikitext2-lm"
    return save_language_model(folder)


@pytest.fixture(scope="module")
def writer(folder):
    return load_translator(str(folder))


@pytest.fixture(autouse=True)
def shipped(folder, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder.parent))


def open_page(**query):
    at = screen.open_page("language_model.py", **({"beginning": TEXT} | query))
    assert not at.exception and not at.error
    return at


def drawn(at, key):
    return screen.values(screen.figure(at, key)["data"][0]["z"])


def heights(at, key):
    return screen.values(screen.figure(at, key)["data"][0]["y"])


def metrics(at):
    return {metric.label: metric.value for metric in at.metric}


def assert_read(at, writer, text=TEXT, seed=0, count=30, **chance):
    """Next words, continuation, maps and mask are those of the text and of the settings."""
    own, restricted = writer.distribution(text), writer.distribution(text, **chance, unknown=False)
    best = np.argsort(-own, kind="stable")[:20]
    for key, values, title in (("own", own, "as the model says"), ("drawn", restricted, "as it is drawn")):
        np.testing.assert_allclose(heights(at, f"next-{key}"), values[best], atol=1e-6)
        expected = [html.escape(word, quote=False) for word in writer.tokenizer.tokens(best.tolist())]
        assert screen.tokens(at, f"next-{key}", "x") == expected
        assert metrics(at)[f"Words with a chance, {title}"] == f"{np.count_nonzero(values):,}"
    assert writer.write(text, count, seed=seed, **chance) in screen.written(at)
    result = writer.read(text)
    np.testing.assert_allclose(drawn(at, "heatmap"), result.attention("decoder_self")[0, 0], atol=1e-6)
    np.testing.assert_array_equal(drawn(at, "mask"), result.mask("decoder_self"))
    tokens = [html.escape(token, quote=False) for token in result.target_tokens]
    for key in ("heatmap", "mask"):
        assert screen.tokens(at, key, "x") == screen.tokens(at, key, "y") == tokens
    assert "The model reads: " + " ".join(result.target_tokens) in screen.written(at)


def test_the_first_paint(writer):
    at = screen.open_page("language_model.py")
    assert not at.exception and not at.warning
    assert_read(at, writer, words.EXAMPLE)
    said = words.UNKNOWN.format(count=5, total=5, size=len(writer.tokenizer))
    assert said in screen.written(at)
    for key, chart in screen.charts(at).items():
        assert "ows " in screen.described(chart) or "One bar" in screen.described(chart), key


def test_what_the_page_says_of_its_tokens():
    at = open_page()
    said = " ".join([element.value for element in at.caption])
    assert "<eos> is the end of a line" in said.replace("\\", "") and "▁" not in said and "</s>" not in said
    assert "are read as <unk>" not in screen.written(at) and "predicted" not in screen.written(at)


def test_the_mask_is_written_as_the_numbers_that_are_added():
    trace, _, texts = screen.figure(open_page(), "mask")["data"]
    assert trace["text"] == [["0" if key <= query else "-inf" for key in range(4)] for query in range(4)]
    assert texts["text"] == sum(trace["text"], [])


def test_temperature_top_k_and_top_p(writer):
    at = open_page().slider(key="temperature").set_value(0.5).run()
    assert_read(at, writer, temperature=0.5)
    at = at.slider(key="temperature").set_value(0.0).run()
    assert_read(at, writer, temperature=0.0)
    assert metrics(at)["Words with a chance, as it is drawn"] == "1"
    at = screen.choose(at.slider(key="temperature").set_value(1.5).run(), **{"top-k": 5})
    assert_read(at, writer, temperature=1.5, top_k=5)
    at = at.slider(key="top-p").set_value(0.4).run()
    assert_read(at, writer, temperature=1.5, top_k=5, top_p=0.4)


def test_seed_and_number_of_words(writer):
    at = open_page().slider(key="words").set_value(7).run()
    assert_read(at, writer, count=7)
    at = at.number_input(key="seed").set_value(12).run()
    assert_read(at, writer, count=7, seed=12)
    at = at.button(key="again").click().run()
    assert at.number_input(key="seed").value == 13
    assert_read(at, writer, count=7, seed=13)


def test_the_last_seed_is_followed_by_the_first():
    assert open_page(seed="9999").button(key="again").click().run().number_input(key="seed").value == 0


def test_a_click_on_a_tile_opens_its_head(writer):
    at = screen.click_head(open_page(), 1, 2)
    assert not at.exception
    weights = writer.read(TEXT).attention("decoder_self")
    np.testing.assert_allclose(drawn(at, "heatmap"), weights[1, 2], atol=1e-6)
    at = screen.choose(at, layer=0, head=1)
    np.testing.assert_allclose(drawn(at, "heatmap"), weights[0, 1], atol=1e-6)


def test_lines_and_stretched_colours(writer):
    at = open_page().toggle(key="stretch").set_value(True).run()
    top = screen.figure(at, "heatmap")["data"][0]["zmax"]
    assert top == pytest.approx(float(writer.read(TEXT).attention("decoder_self")[0, 0].max()))
    at = screen.choose(at, view="lines")
    assert not at.exception and "heatmap" not in screen.charts(at)
    assert screen.component(at, "lines")


@pytest.mark.parametrize(
    ("text", "says"),
    [("the cat " * 20, "The text has 41 tokens; at most 24 are allowed."), ("x" * 4001, "4,001 characters")],
)
def test_a_text_that_is_too_long_is_told_and_the_last_one_stays(writer, text, says):
    at = open_page().text_input(key="beginning").set_value(text).run()
    assert not at.exception and len(at.warning) == 1
    assert says in at.warning[0].value and "the last text" in at.warning[0].value
    assert_read(at, writer)
    fresh = open_page(beginning=text)
    assert "Shown below: an empty text." in fresh.warning[0].value
    assert_read(fresh, writer, "")


@pytest.mark.parametrize("text", ["", "<b>bold</b> $x$ **y**", "\x00 the"])
def test_any_text_is_read(writer, text):
    at = open_page().text_input(key="beginning").set_value(text).run()
    assert not at.exception and not at.warning
    assert_read(at, writer, text)


@pytest.mark.parametrize(
    "query", [{"temperature": "hot"}, {"top-k": "-3"}, {"top-p": "7"}, {"seed": "x"}, {"layer": "9"}, {"view": "none"}]
)
def test_rubbish_in_the_address_falls_back(query):
    assert "heatmap" in screen.charts(open_page(**query))


def test_without_a_model_one_sentence_and_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = open_page()
    assert [element.value for element in at.info] == [words.NO_MODEL]
    assert [code.value for code in at.code] == [words.TRAIN]
    assert not screen.charts(at)


def test_one_that_cannot_be_read_costs_a_sentence(tmp_path, monkeypatch, writer):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    for name in ("a", "b", "c"):
        save_language_model(tmp_path / name)
    (tmp_path / "a" / WEIGHTS).write_bytes(b"no weights")
    at = open_page()
    assert "is not a whole safetensors file" in screen.written(at)
    assert at.button_group(key="model").options == ["b", "c"]
    assert_read(at, writer)


def test_the_preset_that_the_page_names_exists():
    from model.training.presets import PRESETS

    assert words.TRAIN.split()[4] in PRESETS
