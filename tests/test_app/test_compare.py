"""The page Compare without a browser: every control, and what is drawn, against separate runs of the model."""

from __future__ import annotations

import numpy as np
import pytest

from model import masks
from model.analysis import differences
from model.experiments.positions import changed_positions
from model.taps import intervene
from tests.test_app import screen
from tests.test_app.conftest import CARD, save_tiny
from tests.test_app.screen import labelled
from viz.screens import words, words_compare

A, B = words.EXAMPLES["A short one"], words_compare.B_EXAMPLE
KINDS = ("encoder_self", "decoder_self", "cross")


def open_page(**query):
    at = screen.open_page("compare.py", **query)
    assert not at.exception and not at.error
    return at


def drawn(at, key):
    assert not at.exception
    return screen.values(screen.figure(at, key)["data"][0]["z"])


def axes(result, kind):
    rows = result.source_tokens if kind == "encoder_self" else result.target_tokens
    return rows, result.target_tokens if kind == "decoder_self" else result.source_tokens


def assert_shown(at, a, b, kind="cross", layer=0, head=0):
    """Both translations, both maps, the difference and the board are those of these two recordings."""
    for key, result in (("map-a", a), ("map-b", b)):
        assert result.text in screen.written(at)
        np.testing.assert_allclose(drawn(at, key), result.attention(kind)[layer, head], atol=1e-6)
        assert screen.tokens(at, key, "y") == labelled(axes(result, kind)[0])
        assert screen.tokens(at, key, "x") == labelled(axes(result, kind)[1])
        trace = screen.figure(at, key)["data"][0]
        assert (trace["zmin"], trace["zmax"]) == (0, 1), "both have the same colours"
    rows, columns = (differences.pairs(*of_both) for of_both in zip(axes(a, kind), axes(b, kind), strict=True))
    map_a, map_b = (result.attention(kind)[layer, head] for result in (a, b))
    expected = np.array([[map_a[i, j] - map_b[k, m] for j, m in columns] for i, k in rows])
    difference = drawn(at, "map-difference")
    np.testing.assert_allclose(difference, expected, atol=1e-6)
    trace = screen.figure(at, "map-difference")["data"][0]
    assert trace["zmin"] == -trace["zmax"] and trace["zmid"] == 0
    names = [x if x == y else f"{x} → {y}" for x, y in [(axes(a, kind)[0][i], axes(b, kind)[0][k]) for i, k in rows]]
    shown = screen.tokens(at, "map-difference", "y")
    assert len(shown) == len(names)
    assert [name for name in shown if "…" not in name] == [
        label for label, full in zip(labelled(names), shown, strict=True) if "…" not in full
    ]
    moved = differences.moved(a.attention(kind), b.attention(kind), rows, columns)
    np.testing.assert_allclose(drawn(at, "moved"), moved, atol=1e-6)
    said = " ".join(caption.value for caption in at.caption)
    assert all(f"Log-probability {float(result.log_probabilities.sum()):.2f}" in said for result in (a, b))


def test_two_sentences_are_compared_at_first(recorded):
    at = open_page()
    assert not at.warning
    assert_shown(at, recorded.translate(A), recorded.translate(B))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_layer_and_head(recorded, kind):
    at = screen.choose(open_page(), kind=kind, layer=1, head=2)
    assert_shown(at, recorded.translate(A), recorded.translate(B), kind, 1, 2)


def test_typing_changes_either_sentence(recorded):
    at = open_page()
    at.text_input(key="text-b").input("Two dogs.").run()
    assert_shown(at, recorded.translate(A), recorded.translate("Two dogs."))
    at.text_input(key="text").input("Two dogs run.").run()
    assert_shown(at, recorded.translate("Two dogs run."), recorded.translate("Two dogs."))
    at.button(key="example-1").click().run()
    assert_shown(at, recorded.translate(list(words.EXAMPLES.values())[1]), recorded.translate("Two dogs."))


def test_equal_sentences_differ_in_nothing(recorded):
    at = open_page(**{"text-b": A})
    assert [info.value for info in at.info] == [words_compare.EQUAL]
    assert not drawn(at, "map-difference").any() and not drawn(at, "moved").any()


def test_two_searches(recorded):
    at = open_page(versus="search")
    assert "A: beam of 4" in screen.written(at) and "B: greedy" in screen.written(at)
    assert_shown(at, recorded.translate(A), recorded.translate(A, beam=1))
    at = screen.choose(at, **{"beam": 2, "beam-b": 8})
    assert_shown(at, recorded.translate(A, beam=2), recorded.translate(A, beam=8))


def test_positions_scaled_and_shifted(recorded):
    def changed(scale, shift, stacks, read=None):
        with changed_positions("sinusoidal", scale, shift, stacks):
            return recorded.translate(A) if read is None else recorded.force(A, read)

    at = open_page(versus="position")
    assert "B: positions off, encoder and decoder" in screen.written(at)
    both = ("encoder", "decoder")
    assert_shown(at, recorded.translate(A), changed(0.0, 0, both))
    at.slider(key="scale-b").set_value(0.5).run()
    at.slider(key="shift-b").set_value(3).run()
    at = screen.choose(at, **{"where-b": "encoder"})
    assert_shown(at, recorded.translate(A), changed(0.5, 3, ("encoder",)))
    at.toggle(key="same").set_value(True).run()
    a = recorded.translate(A)
    assert_shown(at, a, changed(0.5, 3, ("encoder",), a))  # its very tokens
    assert drawn(at, "map-difference").shape == (len(a.target_tokens), len(a.source_tokens)), "every cell has a partner"
    assert "made to read this translation" in " ".join(caption.value for caption in at.caption)


def test_without_the_look_ahead_mask(recorded):
    at = screen.choose(open_page(versus="mask"), kind="decoder_self")
    written = recorded.translate(A)
    a = recorded.force(A, written)  # its very tokens, not another spelling of the same text
    n = len(a.target_tokens)
    addresses = [f"decoder.layers.{layer}.self_attention.mask" for layer in range(2)]
    with intervene(dict.fromkeys(addresses, lambda mask: masks.everything(n, n))):
        b = recorded.force(A, written)
    assert b.mask("decoder_self").all() and not a.mask("decoder_self").all()
    assert_shown(at, a, b, "decoder_self")
    assert np.triu(drawn(at, "map-b"), 1).any() and not np.triu(drawn(at, "map-a"), 1).any()


def test_one_model_is_said_to_be_alone(recorded):
    at = open_page(versus="model")
    assert [info.value for info in at.info] == [words_compare.ONE_MODEL, words_compare.EQUAL]


@pytest.fixture
def second(checkpoints, tmp_path, monkeypatch):
    """A second checkpoint with other sizes, of the other direction."""
    (tmp_path / "en-de").symlink_to(checkpoints / "en-de")
    save_tiny(tmp_path / "other", CARD | {"source": "de", "target": "en"}, n_heads=2, n_decoder_layers=1)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    return tmp_path


def test_two_models_are_compared_where_both_have_a_head(recorded, second):
    from model import load_translator

    other = load_translator("other")
    at = open_page(versus="model", **{"model-b": "other"})
    a, b = recorded.translate(A), other.translate(A)
    np.testing.assert_allclose(drawn(at, "map-b"), b.attention("cross")[0, 0], atol=1e-6)
    assert drawn(at, "moved").shape == (1, 2)
    said = " ".join(caption.value for caption in at.caption)
    assert "A has 2 × 4 heads of this kind, B 1 × 2." in said
    assert "A translates English-German, B German-English" in said
    assert at.button_group(key="head").options == ["0", "1"]
    at.toggle(key="same").set_value(True).run()
    np.testing.assert_allclose(drawn(at, "map-b"), other.force(A, a.text).attention("cross")[0, 0], atol=1e-6)
    assert b.text == "", "the case below needs a model that writes nothing"
    at.selectbox(key="model").set_value("other").run()
    assert at.warning[0].value.startswith("The model of A wrote nothing that B could read")
    at.toggle(key="same").set_value(False).run()
    assert not at.warning
    np.testing.assert_allclose(drawn(at, "map-a"), b.attention("cross")[0, 0], atol=1e-6)


def test_a_model_that_cannot_be_loaded_leaves_the_last_comparison(second, recorded):
    at = open_page()
    (second / "other" / "config.json").write_text("{}")
    at = screen.choose(at, versus="model")
    at.selectbox(key="model-b").set_value("other").run()
    assert not at.exception
    assert "Shown below: the last two that could be compared." in at.warning[0].value
    np.testing.assert_allclose(drawn(at, "map-b"), recorded.translate(B).attention("cross")[0, 0], atol=1e-6)


@pytest.mark.parametrize("text", ["", "a " * 200])
def test_a_sentence_that_cannot_be_read_leaves_the_last_two(recorded, text):
    at = open_page()
    at.text_input(key="text-b").input(text).run()
    assert "Shown below: the last two that could be compared." in at.warning[0].value
    assert_shown(at, recorded.translate(A), recorded.translate(B))
    fresh = open_page(**{"text-b": text}) if text else None
    assert fresh is None or "Shown below: the examples." in fresh.warning[0].value


def test_partners_light_up_together(recorded):
    at = screen.choose(open_page(), kind="cross")
    lines = {line["name"]: line["chips"] for line in screen.component(at, "pairs")["lines"]}
    a, b = recorded.translate(A), recorded.translate(B)
    assert [chip["token"] for chip in lines["A, source"]] == a.source_tokens
    assert [chip["token"] for chip in lines["B, translation, as it was read"]] == b.target_tokens
    groups = [{chip["group"]: i for i, chip in enumerate(lines[f"{side}, source"]) if chip["group"]} for side in "AB"]
    assert set(groups[0]) == set(groups[1])
    together = {(groups[0][name], groups[1][name]) for name in groups[0]}
    assert together == set(differences.pairs(a.source_tokens, b.source_tokens))
    chip = lines["B, source"][2]
    assert (chip["map"], chip["row"], chip["column"]) == ("map-b", -1, 2)
    chip = lines["A, translation, as it was read"][1]
    assert (chip["map"], chip["row"], chip["column"]) == ("map-a", 1, -1)


@pytest.mark.parametrize(
    ("kind", "source", "target"), [("encoder_self", (2, 2), (-1, -1)), ("decoder_self", (-1, -1), (2, 2))]
)
def test_a_token_that_asks_itself_lights_row_and_column(kind, source, target):
    at = screen.choose(open_page(), kind=kind)
    lines = {line["name"]: line["chips"] for line in screen.component(at, "pairs")["lines"]}
    for line, expected in (("A, source", source), ("A, translation, as it was read", target)):
        assert (lines[line][2]["row"], lines[line][2]["column"]) == expected


def test_a_click_on_the_board_opens_the_head(recorded):
    at = open_page()
    at = screen.click_cell(at, "moved", 1, 2)
    assert_shown(at, recorded.translate(A), recorded.translate(B), "cross", 1, 2)


def test_rubbish_in_the_address_falls_back(recorded):
    at = open_page(versus="x", kind="y", layer="99", head="-1", model="none", **{"beam-b": "z", "scale-b": "high"})
    assert_shown(at, recorded.translate(A), recorded.translate(B))


def test_text_is_shown_as_it_is():
    at = open_page(text="<b>**x**</b> $y$")
    assert "<b>**x**</b> $y$" in screen.written(at)
    assert not any("<b>**x**" in element.value for element in (*at.markdown, *at.caption))
