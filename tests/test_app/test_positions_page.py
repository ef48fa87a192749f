"""The page Positions without a browser: every control, and what is drawn, against the same computed here."""

from __future__ import annotations

import html

import numpy as np
import pytest

from model import positional
from model.experiments import learned_positions
from model.experiments import positions as experiments
from tests.test_app import screen
from tests.test_app.screen import labelled
from viz.screens import words_masks, words_positions
from viz.screens.words_positions import ENCODINGS

EXAMPLE = "A man is riding a bicycle down the street."
KINDS = ("encoder_self", "decoder_self", "cross")


def open_page(**query):
    at = screen.open_page("positions.py", **query)
    assert not at.exception and not at.error
    return at


def drawn(at, key):
    assert not at.exception
    return screen.values(screen.figure(at, key)["data"][0]["z"])


def lines(at, key):
    return [screen.values(trace["y"]) for trace in screen.figure(at, key)["data"]]


def metrics(at):
    return {metric.label: metric.value for metric in at.metric}


def table_of(name, n, d):
    if name.startswith("learned"):
        learned = learned_positions.learn(n, d)
        return learned.initial if name == "learned_start" else learned.trained
    return positional.VARIANTS[name](n, d).numpy()


def assert_tables(at, first, second, n=50, d=64):
    """Both encodings, their difference, similarity and residuals are those of the names."""
    tables = [table_of(name, n, d) for name in (first, second)]
    for place, table in zip(("first", "second"), tables, strict=True):
        np.testing.assert_array_equal(drawn(at, f"table-{place}"), table.astype(np.float32))
        products = table @ table.T
        np.testing.assert_allclose(drawn(at, f"similarity-{place}"), products, rtol=1e-5, atol=1e-5)
        means = [np.diagonal(products, k).mean() for k in range(n)]
        residual = max(np.abs(np.diagonal(products, k) - means[k]).max() for k in range(n))
        said = float(metrics(at)[f"Residual, {place}"])
        assert said == pytest.approx(residual, rel=0.1) if residual > 1e-9 else said < 1e-9
        np.testing.assert_allclose(lines(at, "offset")[("first", "second").index(place)], means, rtol=1e-5, atol=1e-5)
    difference = (tables[0] - tables[1]).astype(np.float32)
    np.testing.assert_array_equal(drawn(at, "table-difference"), difference)
    assert metrics(at)["Largest difference"] == words_masks.number(float(np.abs(tables[0] - tables[1]).max()))


def assert_read(at, recorded, text, scale=1.0, shift=0, sides=("encoder", "decoder")):
    """The changed run is the one asked for: its translation, its map and the encoding that was added."""
    result = experiments.translate(recorded, text, scale, shift, sides)
    assert result.text in screen.written(at)
    np.testing.assert_allclose(drawn(at, "added"), result.positional("source"), atol=1e-6)
    np.testing.assert_allclose(drawn(at, "map-changed"), result.attention("encoder_self")[0, 0], atol=1e-6)
    expected = [html.escape(token, quote=False) for token in result.source_tokens]
    assert screen.tokens(at, "map-changed", "x") == expected


def test_the_first_paint(recorded):
    at = open_page()
    assert not at.warning
    assert_tables(at, "sinusoidal", "literal_loop")
    assert_read(at, recorded, EXAMPLE)
    assert "nothing is changed yet" in " ".join(element.value for element in at.markdown)
    for key, chart in screen.charts(at).items():
        assert "ows " in screen.described(chart) or "One line" in screen.described(chart), key


@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_beside_the_papers(name):
    at = open_page().selectbox(key="second").set_value(name).run()
    assert_tables(at, "sinusoidal", name)
    assert any(ENCODINGS[name].line in element.value for element in at.caption)
    trained = [element.value for element in at.caption if "Trained here for" in element.value]
    assert bool(trained) == (name == "learned")
    if name == "sinusoidal_concatenated":
        assert any(words_positions.SAME_WAVES.format(difference="0") == element.value for element in at.caption)
    n_lines = len(screen.figure(at, "wavelengths")["data"])
    assert n_lines == (1 if name in ("none", "learned", "learned_start") else 2)


def test_encodings_without_waves_have_no_wavelength():
    at = open_page(first="none", second="learned_start")
    assert words_positions.NO_WAVES in [element.value for element in at.info]
    assert "wavelengths" not in screen.charts(at)


def test_size_and_dimensions():
    at = screen.choose(open_page(), width=16).slider(key="length").set_value(30).run()
    assert_tables(at, "sinusoidal", "literal_loop", 30, 16)
    at = at.multiselect(key="dimensions").set_value([3, 15]).run()
    for place, name in (("first", "sinusoidal"), ("second", "literal_loop")):
        table = table_of(name, 30, 16).astype(np.float32)
        for line, dimension in zip(lines(at, f"waves-{place}"), (3, 15), strict=True):
            np.testing.assert_array_equal(line, table[:, dimension])
    at = screen.choose(at, width=8)  # dimension 15 is gone
    assert not at.exception and at.multiselect(key="dimensions").value == [3]
    at = at.multiselect(key="dimensions").set_value([]).run()
    assert words_positions.NO_DIMENSIONS in [element.value for element in at.info]


def test_the_wavelength_of_each_pair():
    at = open_page(second="sinusoidal_concatenated", width="8")
    waves = 2 * np.pi * 10000.0 ** (np.arange(0, 8, 2) / 8)
    for line, expected in zip(lines(at, "wavelengths"), (np.repeat(waves, 2), np.tile(waves, 2)), strict=True):
        np.testing.assert_allclose(line, expected, rtol=1e-5)
    table = at.dataframe[0].value
    for column in table.columns[1:]:
        np.testing.assert_allclose(table[column], waves, atol=1e-3)
    at = at.selectbox(key="second").set_value("literal_loop").run()
    loop = 2 * np.pi * 10000.0 ** (2 * np.arange(8) / 8)
    np.testing.assert_allclose(at.dataframe[0].value["second: sine"], loop[0::2], rtol=1e-3)
    np.testing.assert_allclose(at.dataframe[0].value["second: cosine"], loop[1::2], rtol=1e-3)


def test_scale_shift_and_side_change_the_live_model(recorded):
    at = open_page().slider(key="scale").set_value(0.5).run()
    assert_read(at, recorded, EXAMPLE, 0.5)
    at = at.slider(key="shift").set_value(12).run()
    assert_read(at, recorded, EXAMPLE, 0.5, 12)
    at = screen.choose(at, where="decoder")
    assert_read(at, recorded, EXAMPLE, 0.5, 12, ("decoder",))
    assert "**Changed: positions × 0.5, shifted by 12, decoder only**" in [element.value for element in at.markdown]
    at = screen.choose(at.toggle(key="off").set_value(True).run(), where="both")
    assert_read(at, recorded, EXAMPLE, 0.0)
    assert at.slider(key="scale").disabled and at.slider(key="shift").disabled
    np.testing.assert_array_equal(
        drawn(at, "map-trained"), recorded.translate(EXAMPLE, beam=1).attention("encoder_self")[0, 0]
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_layer_and_head(recorded, kind):
    at = screen.choose(open_page(off="1"), kind=kind, layer=1, head=2)
    for key, result in (
        ("trained", recorded.translate(EXAMPLE, beam=1)),
        ("changed", experiments.translate(recorded, EXAMPLE, 0.0)),
    ):
        np.testing.assert_allclose(drawn(at, f"map-{key}"), result.attention(kind)[1, 2], atol=1e-6)
        queries = result.source_tokens if kind == "encoder_self" else result.target_tokens
        assert screen.tokens(at, f"map-{key}", "y") == labelled(queries)


def test_shuffled_words_and_the_order_blind_encoder(recorded):
    at = open_page(where="encoder").toggle(key="shuffle").set_value(True).run().toggle(key="off").set_value(True).run()
    at = screen.choose(at, order=3, where="encoder")
    shuffle = experiments.shuffle(recorded, EXAMPLE, 3)
    assert_read(at, recorded, shuffle.shuffled, 0.0, 0, ("encoder",))
    assert shuffle.shuffled in screen.written(at)
    for word, scale in (("encoder's positions off", 0.0), ("as trained", 1.0)):
        said = float(metrics(at)[f"Largest difference, {word}"])
        assert said == pytest.approx(experiments.order_difference(recorded, shuffle, scale), abs=1e-3)
    assert any("the two orders give the same translation" in element.value for element in at.caption)
    at = at.text_input(key="text").set_value("too too").run()
    assert words_positions.ONE_WORD in [element.value for element in at.info]


def test_a_link_brings_every_choice(recorded):
    at = open_page(text="A man is too tired.", scale="1.5", shift="9", where="encoder", length="20", width="32")
    assert_tables(at, "sinusoidal", "literal_loop", 20, 32)
    assert_read(at, recorded, "A man is too tired.", 1.5, 9, ("encoder",))


@pytest.mark.parametrize("rubbish", ["", "-5", "x", "<b>"])
def test_rubbish_in_a_link_falls_back(recorded, rubbish):
    names = ("first", "second", "length", "width", "dimensions", "off", "scale", "shift", "where", "shuffle", "order")
    at = open_page(**dict.fromkeys((*names, "kind", "layer", "head"), rubbish))
    assert_tables(at, "sinusoidal", "literal_loop")
    assert_read(at, recorded, EXAMPLE)


@pytest.mark.parametrize("text", ["👩‍👩‍👧", "<script>alert(1)</script>", "متعب שלום", "▁ **b** $x$ &amp; a\x00b"])
def test_odd_text_is_read_shuffled_and_without_positions(text):
    at = open_page(off="1", shuffle="1", text=text)
    assert not at.exception and not at.warning and "map-changed" in screen.charts(at)


@pytest.mark.parametrize(("text", "said"), [("", "nothing to translate"), ("x" * 10_000, "10,000 characters")])
def test_what_cannot_be_read_is_a_sentence_and_the_last_one_stays(recorded, text, said):
    at = open_page(off="1").text_input(key="text").set_value("A man.").run()
    at = at.text_input(key="text").set_value(text).run()
    assert said in at.warning[0].value and "the last sentence" in at.warning[0].value
    assert_read(at, recorded, "A man.", 0.0)
    assert "the example" in open_page(text=text).warning[0].value


def test_without_a_model_the_encodings_remain(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = screen.open_page("positions.py")
    assert not at.exception and len(at.error) == 1 and "There is no checkpoint 'en-de'" in screen.written(at)
    assert_tables(at, "sinusoidal", "literal_loop")
