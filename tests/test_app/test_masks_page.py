"""The page Masks without a browser: every control, and what is drawn, against separate runs of the model."""

from __future__ import annotations

import html
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from model.experiments import masks as experiments
from tests.support.messages import unpack
from tests.test_app import screen
from viz.figures.labels import spell_bytes
from viz.text import words
from viz.text.words_masks import MASKS, PAIRS, code

DEFAULT = tuple(zip(*PAIRS[:3], strict=True))
KINDS = ("encoder_self", "decoder_self", "cross")


def open_page(**query):
    at = screen.open_page("masks.py", **query)
    assert not at.exception and not at.error
    return at


def run_of(translator, sources=DEFAULT[0], targets=DEFAULT[1], **more):
    batch = experiments.read_batch(translator, sources, targets)
    return batch, experiments.run(translator.model, batch.src, batch.tgt, **more)


def drawn(at, key):
    return screen.values(screen.figure(at, key)["data"][0]["z"])


def labelled(tokens):
    # A dollar sign would begin a formula of Plotly's.
    return [html.escape(token, quote=False).replace("$", "&#36;") for token in spell_bytes(tokens)]


def drawn_as(at, key, name, batch, mask, sentence):
    """A mask of a sentence is drawn as recorded, with its tokens."""
    np.testing.assert_array_equal(drawn(at, key), mask[sentence])
    source, target = batch.source_tokens[sentence], batch.target_tokens[sentence]
    assert screen.tokens(at, key, "y") == labelled(source if name == "encoder_self" else target)
    assert screen.tokens(at, key, "x") == labelled(source if name in ("encoder_self", "cross") else target)


def assert_masks(at, batch, masks, sentence):
    """Every mask of a sentence is drawn as recorded, where all are asked for."""
    for name, mask in masks.items():
        drawn_as(at, f"mask-{name}", name, batch, mask, sentence)


def test_the_first_paint_is_the_mask_of_the_first_sentence_and_a_head_under_it(recorded):
    batch, run = run_of(recorded)
    at = open_page()
    assert not at.warning and set(screen.charts(at)) == {"large-mask", "large-head"}
    drawn_as(at, "large-mask", "decoder_self", batch, run.masks["decoder_self"], 0)
    np.testing.assert_array_equal(drawn(at, "large-head"), run.weights["decoder_self"][0, 0, 0])
    n_source, n_target = (ids.size(1) for ids in batch.pair(0))
    written = screen.written(at)
    assert f"{n_source} source and {n_target} target tokens are real, the rest is padding." in written
    assert "en-de" in written
    reasons = screen.figure(at, "large-mask")["data"][0]["text"]
    assert reasons[0][1] == ", the key lies in the future" and not reasons[1][0]
    assert reasons[0][-1] == ", the key is padding, the key lies in the future"
    assert_masks(screen.choose(at, show="masks"), batch, run.masks, 0)


def test_a_click_flips_a_cell_and_the_head_and_the_numbers_follow(recorded):
    batch, run = run_of(recorded)
    at = open_page(sentence="3", head="2")
    for cell in ((1, 2), (3, 0)):
        at = screen.click_cell(at, "large-mask", *cell)
    flipped = {"decoder_self": [(2, 1, 2), (2, 3, 0)]}
    _, changed = run_of(recorded, flipped=flipped)
    np.testing.assert_array_equal(drawn(at, "large-mask"), changed.masks["decoder_self"][2])
    np.testing.assert_array_equal(drawn(at, "large-head"), changed.weights["decoder_self"][2, 0, 2])
    n = batch.pair(2)[1].size(1)
    logit = np.abs(run.logits[2, :n] - changed.logits[2, :n]).max()
    assert f"{words.number(logit)} for a logit at real steps." in screen.written(at)
    assert at.query_params["cells"] == "1-2.3-0"
    link = dict(parse_qsl(urlsplit(screen.links(at)["Translate with these cells on Steer"]).query))
    assert link == {"text": DEFAULT[0][2], "edits": "v1_ad1-2_bd3-0"}
    there = screen.open_page("steer.py", **link)
    assert not there.warning and screen.stage(there)["steering"]["cells"] == [
        ["decoder_self", 1, 2, True],
        ["decoder_self", 3, 0, False],
    ]
    at = screen.click_cell(at, "large-mask", 1, 2)
    assert at.query_params["cells"] == "3-0"
    at = screen.choose(at, sentence=1)
    np.testing.assert_array_equal(drawn(at, "large-mask"), run.masks["decoder_self"][0])
    assert "cells" not in at.query_params


def test_the_parts_of_a_mask_cannot_be_flipped():
    at = open_page(mask="look_ahead")
    assert not unpack(screen.charts(at)["large-mask"].proto.bytes)["clicks"]
    assert unpack(screen.charts(open_page(mask="cross"))["large-mask"].proto.bytes)["clicks"]


def test_typing_changes_the_batch(recorded):
    at = open_page(show="masks").text_input(key="source2").set_value("A dog.").run()
    at = at.text_input(key="target2").set_value("").run()
    batch, run = run_of(recorded, (DEFAULT[0][0], "A dog.", DEFAULT[0][2]), (DEFAULT[1][0], "", DEFAULT[1][2]))
    at = screen.choose(at, sentence=2)
    assert_masks(at, batch, run.masks, 1)
    at = screen.choose(at, show="both")
    (said,) = screen.warnings(at)
    assert said == "There is no earlier step that could see the future: type a longer target."


def test_two_and_four_sentences_and_one_mask_of_all(recorded):
    at = screen.choose(open_page(mask="cross"), sentences=4, show="sentences")
    batch, run = run_of(recorded, *zip(*PAIRS, strict=True))
    for sentence in range(4):
        drawn_as(at, f"sentence-{sentence}", "cross", batch, run.masks["cross"], sentence)
    assert f"{len(batch.pair(3)[0][0])} source and " in " ".join(c.value for c in at.caption)
    at = screen.choose(screen.choose(at, sentence=4), sentences=2)
    assert not at.exception and at.button_group(key="sentence").value == 1


def test_the_worked_example_is_one_choice_away():
    at = screen.choose(open_page(), batch="example")
    assert not at.text_input
    for sentence, length in enumerate((4, 2, 6)):
        at = screen.choose(at, sentence=sentence + 1)
        mask = drawn(at, "large-mask")
        expected = (np.arange(7)[:, None] >= np.arange(7)) & (np.arange(7) < length)
        np.testing.assert_array_equal(mask, expected)
        assert screen.tokens(at, "large-mask", "x") == ["2"] * length + ["1 (pad)"] * (7 - length)
    assert len(screen.choose(at, batch="sentences").text_input) == 6


@pytest.mark.parametrize("mask", MASKS)
def test_four_conventions_of_one_mask_with_their_lines(recorded, mask):
    _, run = run_of(recorded)
    at = open_page(show="code", mask=mask)
    written = experiments.conventions(run.masks[mask][0])
    for convention, texts in written.items():
        trace = screen.figure(at, f"convention-{convention}")["data"][0]
        np.testing.assert_array_equal(screen.values(trace["z"]), run.masks[mask][0])
        assert trace["text"] == texts.tolist()
    assert [element.value for element in at.code] == [code(mask, name) for name in written]


def test_every_head_with_and_without_every_mask(recorded):
    at = open_page(show="both")
    batch, run = run_of(recorded)
    assert any("Nothing is changed" in element.value for element in at.caption)
    n = len(batch.pair(0)[1][0])
    for left_out, padding, look_ahead in (("padding", 0, 1), ("look-ahead", 1, 0), ("both", 0, 0)):
        at = at.selectbox(key="without").set_value(left_out).run()
        _, less = run_of(recorded, padding=padding, look_ahead=look_ahead)
        for kind in KINDS:
            at = screen.choose(at.selectbox(key="mask").set_value(kind).run(), layer=1, head=2)
            np.testing.assert_array_equal(drawn(at, "head-with"), run.weights[kind][0, 1, 2])
            np.testing.assert_array_equal(drawn(at, "head-without"), less.weights[kind][0, 1, 2])
            change = np.abs(run.weights[kind][0, 1, 2] - less.weights[kind][0, 1, 2]).max()
            assert f"{words.number(change)} for a weight in this map" in screen.written(at)
        change = np.abs(run.logits[0, :n] - less.logits[0, :n]).max()
        changed = (run.logits[0, :n].argmax(-1) != less.logits[0, :n].argmax(-1)).sum()
        assert f"{words.number(change)} for a logit at real steps." in screen.written(at)
        assert f"next token changes at {changed} of {n} steps." in screen.written(at)


def test_the_numbers_with_their_mask_on_and_off(recorded):
    batch, _ = run_of(recorded)
    at = open_page(show="both")
    for sentence, pads in ((0, 4), (2, 7)):
        at = screen.choose(at, sentence=sentence + 1).slider(key="pads").set_value(pads).run()
        for word, on in (("on", True), ("off", False)):
            pad = experiments.pad_difference(recorded.model, *batch.pair(sentence), pads, padding=on)
            leak = experiments.future_leak(recorded.model, *batch.pair(sentence), look_ahead=on)
            found = [metric.value for metric in at.metric if metric.label == f"Largest change, mask {word}"]
            assert found == [words.number(pad), words.number(leak)]


def test_a_row_with_nothing_to_attend_to(recorded):
    batch, _ = run_of(recorded)
    table = open_page(show="blocked", mask="encoder_self").dataframe[0].value
    n_keys = batch.src.size(1)
    assert list(table["key"]) == batch.source_tokens[0]
    assert set(table["−inf, then softmax"]) == {"NaN"}
    assert set(table["−1e9, then softmax"]) == {f"{1 / n_keys:.3f}"}
    assert set(table["this project"]) == {"0.000"}


def test_a_link_brings_every_choice(recorded):
    query = {"source1": "A man.", "target1": "Ein Mann.", "sentences": "2", "sentence": "2", "without": "both"}
    at = open_page(**query, show="both", layer="1", head="3", pads="9", mask="cross", cells="0-1")
    texts = ("A man.", PAIRS[1][0]), ("Ein Mann.", PAIRS[1][1])
    batch, run = run_of(recorded, *texts)
    _, less = run_of(recorded, *texts, padding=False, look_ahead=False, flipped={"cross": [(1, 0, 1)]})
    np.testing.assert_array_equal(drawn(at, "head-with"), run.weights["cross"][1, 1, 3])
    np.testing.assert_array_equal(drawn(at, "head-without"), less.weights["cross"][1, 1, 3])
    assert at.slider(key="pads").value == 9 and at.text_input(key="target1").value == "Ein Mann."


@pytest.mark.parametrize("rubbish", ["", "-5", "x", "<b>"])
def test_rubbish_in_a_link_falls_back(recorded, rubbish):
    names = ("batch", "sentences", "show", "sentence", "mask", "without", "layer", "head", "pads", "cells")
    batch, run = run_of(recorded)
    at = open_page(**dict.fromkeys(names, rubbish))
    drawn_as(at, "large-mask", "decoder_self", batch, run.masks["decoder_self"], 0)


@pytest.mark.parametrize("text", ["", "  ", "👩‍👩‍👧 🐈", "<script>alert(1)</script>", "متعب שלום", "▁ **b** $x$ &amp;"])
def test_odd_text_gets_its_masks(recorded, text):
    at = open_page(mask="cross").text_input(key="source1").set_value(text).run()
    at = at.text_input(key="target1").set_value(text).run()
    assert not at.exception and not at.warning
    batch, run = run_of(recorded, (text, *DEFAULT[0][1:]), (text, *DEFAULT[1][1:]))
    np.testing.assert_array_equal(drawn(at, "large-mask"), run.masks["cross"][0])
    if len(batch.source_tokens[0]) <= 32:
        assert screen.tokens(at, "large-mask", "x") == labelled(batch.source_tokens[0])


def test_what_is_too_long_is_a_sentence_and_the_last_batch_stays(recorded):
    at = open_page(show="masks").text_input(key="source1").set_value("A dog.").run()
    at = at.text_input(key="source3").set_value("x" * 10_000).run()
    assert not at.exception
    assert "Source 3 has 10,000 characters; at most 2,000 are allowed." in at.warning[0].value
    batch, run = run_of(recorded, ("A dog.", *DEFAULT[0][1:]), DEFAULT[1])
    assert_masks(at, batch, run.masks, 0)
    first = open_page(source1="x" * 10_000)
    assert "Showing the example." in first.warning[0].value and screen.tokens(first, "large-mask", "x")[0] == "2"


def test_without_a_model_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = screen.open_page("masks.py")
    assert not at.exception and len(at.error) == 1 and "There is no checkpoint 'en-de'" in screen.written(at)
