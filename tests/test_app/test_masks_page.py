"""The page Masks without a browser: every control, and what is drawn, against separate runs of the model."""

from __future__ import annotations

import html
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
import torch

from model import load_translator
from model.experiments import masks as experiments
from model.experiments import text_masks
from model.text.special import EOS_ID
from tests.support.messages import unpack
from tests.support.repeated import first_quick
from tests.test_app import screen
from viz.figures.framed import shown_token
from viz.figures.labels import spell_bytes
from viz.text import words
from viz.text.words_masks import MASKS, PAIRS, TEXT_MASKS, code, flex_code
from viz.views.results.mask_results import SEEN

DEFAULT = tuple(zip(*PAIRS[:3], strict=True))
SCORES = "additive", "blocked", "integers"
KINDS = ("encoder_self", "decoder_self", "cross")


def open_page(**query):
    at = screen.open_page("masks.py", **query)
    assert not at.exception and not at.error
    return at


def run_of(translator, sources=DEFAULT[0], targets=DEFAULT[1], **options):
    batch = experiments.read_batch(translator, sources, targets)
    return batch, experiments.run(translator.model, batch.src, batch.tgt, **options)


def assert_head(at, key, weights):
    """A head is shown with these weights, which travel in 16 bits."""
    np.testing.assert_allclose(screen.head(at, key), weights, atol=2e-5)


def heatmap(at, key):
    return screen.values(screen.figure(at, key)["data"][0]["z"])


def labelled(tokens):
    # A dollar sign would begin a formula of Plotly's.
    return [html.escape(token, quote=False).replace("$", "&#36;") for token in spell_bytes(tokens)]


def plain(tokens):
    return labelled([token[1:] if token[0] == "▁" and token[1:] else token for token in tokens])


def drawn_as(at, key, name, batch, mask, sentence):
    """A mask of a sentence is drawn as recorded, with its tokens."""
    np.testing.assert_array_equal(heatmap(at, key), mask[sentence])
    source, target = batch.source_tokens[sentence], batch.target_tokens[sentence]
    following = [*target[1:], "<pad>"]  # of each token that the decoder reads, the word that it has to write
    following[target.index("<pad>") - 1 if "<pad>" in target else -1] = "</s>"
    assert screen.tokens(at, key, "y") == plain({"encoder_self": source, "cross": following}.get(name, target))
    assert screen.tokens(at, key, "x") == plain(source if name in ("encoder_self", "cross") else target)


BLUE, ORANGE = (0, 114, 178, 255), (230, 159, 0, 255)


def assert_masks(at, masks, sentence):
    """Every mask of a sentence has a tile, blue where it was recorded as open and nowhere else."""
    tiles = screen.tiles(at, "mask-tiles")
    for name, mask in masks.items():
        blue = (tiles[name]["pixels"] == BLUE).all(-1)
        np.testing.assert_array_equal(blue, np.broadcast_to(mask[sentence], blue.shape))


@pytest.mark.slow
def test_the_first_paint_is_a_head_that_leaks_without_the_look_ahead_mask_and_the_answer_says_where(recorded):
    batch, run = run_of(recorded)
    _, less = run_of(recorded, look_ahead=False)
    at = open_page()
    assert not at.warning and screen.stages(at) == {"head-with", "head-without"}
    assert_masks(at, run.masks, 0)
    n = len(batch.pair(0)[1][0])
    future = less.weights["decoder_self"][0] * np.triu(np.ones((batch.tgt.size(1),) * 2), 1)
    future = future[:, :, :n, :n]
    layer, head = np.argwhere(future.max((2, 3)) == future.max())[0]
    assert screen.tiles(at, "heads-tiles")["selected"] == f"{layer}-{head}", "the head that leaks most"
    assert_head(at, "head-with", run.weights["decoder_self"][0, layer, head])
    assert_head(at, "head-without", less.weights["decoder_self"][0, layer, head])
    answer, leaks = screen.framed(at, "answer"), future[layer, head]
    following = np.diagonal(leaks, 1)
    if following.max() >= leaks.max() / 2:
        row, column = following.argmax(), following.argmax() + 1
    else:
        row, column = np.argwhere(leaks == leaks.max())[0]
    query, key = (shown_token(batch.target_tokens[0][place]) for place in (row, column))
    assert f"“{query}”" in answer and f"“{key}” gets {leaks[row, column]:.0%} of its attention" in answer
    assert len(screen.message(at, "head-without")["setting"]["rings"]) == (leaks >= 0.05).sum()
    assert not screen.message(at, "head-with")["setting"]["rings"]
    log_p_with, log_p_without = (log_probability(either.logits[0], batch.tgt[0], n) for either in (run, less))
    word = "less" if log_p_without < log_p_with else "more"
    assert f"times {word} probable" in screen.framed(at, "answer-note")


def log_probability(logits, ids, n):
    following = torch.cat([ids[1:n], torch.tensor([EOS_ID])])
    return torch.from_numpy(logits[:n]).log_softmax(-1)[range(n), following].sum().item()


def test_with_all_masks_nothing_leaks(recorded):
    _, run = run_of(recorded)
    at = screen.choose(open_page(), without="nothing")
    assert screen.stages(at) == {"head-with"}
    mask = run.masks["decoder_self"][0]
    assert f"the {(~mask).sum()} blocked cells of {mask.size} get 0%" in screen.framed(at, "answer")


def test_the_large_mask_says_why_a_cell_is_blocked(recorded):
    batch, run = run_of(recorded)
    at = open_page(show="head", without="nothing")
    drawn_as(at, "large-mask", "decoder_self", batch, run.masks["decoder_self"], 0)
    reasons = screen.figure(at, "large-mask")["data"][0]["text"]
    assert reasons[0][1] == ", the key lies in the future" and not reasons[1][0]
    assert reasons[0][-1] == ", the key is padding, the key lies in the future"


@pytest.mark.slow
def test_a_click_flips_a_cell_and_the_head_and_the_numbers_follow(recorded):
    batch, run = run_of(recorded)
    at = open_page(sentence="3", layer="0", head="2", show="head", without="nothing")
    for cell in ((1, 2), (3, 0)):
        at = screen.click_cell(at, "large-mask", *cell)
    flipped = {"decoder_self": [(2, 1, 2), (2, 3, 0)]}
    _, flipped_run = run_of(recorded, flipped=flipped)
    np.testing.assert_array_equal(heatmap(at, "large-mask"), flipped_run.masks["decoder_self"][2])
    assert at.query_params["cells"] == "1-2.3-0"
    link = dict(parse_qsl(urlsplit(screen.links(at)["Translate with these cells on Steer"]).query))
    assert link == {"text": DEFAULT[0][2], "edits": "v1_ad1-2_bd3-0"}
    steer_page = screen.open_page("steer.py", **link)
    assert not steer_page.warning and screen.stage(steer_page)["steering"]["cells"] == [
        ["decoder_self", 1, 2, True],
        ["decoder_self", 3, 0, False],
    ]
    at = screen.choose(at, show="both")
    assert at.query_params["cells"] == "1-2.3-0"
    assert_head(at, "head-without", flipped_run.weights["decoder_self"][2, 0, 2])
    at = screen.click_cell(screen.choose(at, show="head"), "large-mask", 1, 2)
    assert at.query_params["cells"] == "3-0"
    at = screen.choose(at, sentence=1)
    np.testing.assert_array_equal(heatmap(at, "large-mask"), run.masks["decoder_self"][0])
    assert "cells" not in at.query_params


def test_the_parts_of_a_mask_cannot_be_flipped():
    at = open_page(mask="look_ahead", show="head")
    assert not unpack(screen.charts(at)["large-mask"].proto.bytes)["clicks"]
    assert unpack(screen.charts(open_page(mask="cross", show="head"))["large-mask"].proto.bytes)["clicks"]


def test_typing_changes_the_batch(recorded):
    at = open_page(sentence="2").text_input(key="source2").set_value("A dog.").run()
    at = at.text_input(key="target2").set_value("").run()
    _, run = run_of(recorded, (DEFAULT[0][0], "A dog.", DEFAULT[0][2]), (DEFAULT[1][0], "", DEFAULT[1][2]))
    assert_masks(at, run.masks, 1)
    at = screen.choose(at, sentence=1)
    assert_masks(at, run.masks, 0), "the other sentences stay"
    assert at.query_params["source2"] == "A dog." and at.query_params["target2"] == ""
    at = screen.choose(screen.choose(at, sentence=2), show="numbers")
    (warning,) = screen.warnings(at)
    assert warning == "There is no earlier step that could see the future: type a longer target."


@pytest.mark.slow
def test_two_and_four_sentences_and_one_mask_of_all(recorded):
    at = screen.choose(open_page(mask="cross", without="nothing"), sentences=4, show="sentences")
    batch, run = run_of(recorded, *zip(*PAIRS, strict=True))
    for sentence in range(4):
        drawn_as(at, f"sentence-{sentence}", "cross", batch, run.masks["cross"], sentence)
    at = screen.choose(screen.choose(at, sentence=4), sentences=2)
    assert not at.exception and at.button_group(key="sentence").value == 1


def test_the_worked_example_is_one_choice_away():
    at = screen.choose(open_page(show="head", without="nothing"), batch="example")
    assert not at.text_input
    for sentence, length in enumerate((4, 2, 6)):
        at = screen.choose(at, sentence=sentence + 1)
        mask = heatmap(at, "large-mask")
        expected = (np.arange(7)[:, None] >= np.arange(7)) & (np.arange(7) < length)
        np.testing.assert_array_equal(mask, expected)
        assert screen.tokens(at, "large-mask", "x") == ["2"] * length + ["1 (pad)"] * (7 - length)
    assert len(screen.choose(at, batch="sentences").text_input) == 2


@pytest.mark.parametrize("mask", MASKS)
def test_the_lines_of_a_mask(mask):
    at = open_page(show="code", mask=mask)
    codes = [element.value for element in at.code]
    assert codes == [code(mask, "keep"), flex_code(mask), *(code(mask, convention) for convention in SCORES)]


@pytest.mark.slow
def test_every_head_with_and_without_every_mask(recorded):
    at = open_page()
    batch, run = run_of(recorded)
    n = len(batch.pair(0)[1][0])
    for left_out, padding, look_ahead in (("padding", 0, 1), ("look-ahead", 1, 0), ("both", 0, 0)):
        at = screen.choose(at, without=left_out)
        _, less = run_of(recorded, padding=padding, look_ahead=look_ahead)
        for kind in KINDS:
            at = screen.choose_tile(screen.choose_tile(at, "mask-tiles", kind), "heads-tiles", "1-2")
            assert_head(at, "head-with", run.weights[kind][0, 1, 2])
            assert_head(at, "head-without", less.weights[kind][0, 1, 2])
        n_changes = (run.logits[0, :n].argmax(-1) != less.logits[0, :n].argmax(-1)).sum()
        if screen.message(at, "head-without")["setting"]["rings"]:
            assert f"token changes at {n_changes} of {n} steps." in screen.framed(at, "note")
        change = np.abs(run.logits[0, :n] - less.logits[0, :n]).max()
        at = screen.choose(at, show="numbers")
        assert f"{words.number(change)} for a logit at real steps." in screen.framed(at, "note")
        at = screen.choose(at, show="both")


def test_the_numbers_with_their_mask_on_and_off(recorded):
    batch, _ = run_of(recorded)
    at = open_page(show="numbers")
    for sentence, pads in ((0, 4), (2, 7)):
        at = screen.choose(at, sentence=sentence + 1).slider(key="pads").set_value(pads).run()
        for word, on in (("on", True), ("off", False)):
            pad = experiments.pad_difference(recorded.model, *batch.pair(sentence), pads, padding=on)
            leak = experiments.future_leak(recorded.model, *batch.pair(sentence), look_ahead=on)
            values = [metric.value for metric in at.metric if metric.label == f"Largest change, mask {word}"]
            assert values == [words.number(pad), words.number(leak)]


def test_a_row_with_nothing_to_attend_to(recorded):
    batch, _ = run_of(recorded)
    table = open_page(show="blocked", mask="encoder_self").dataframe[0].value
    n_keys = batch.src.size(1)
    assert list(table["key"]) == list(map(shown_token, batch.source_tokens[0]))
    assert set(table["−inf, then softmax"]) == {"NaN"}
    assert set(table["−1e9, then softmax"]) == {f"{1 / n_keys:.3f}"}
    assert set(table["this project"]) == {"0.000"}


def test_a_link_brings_every_choice(recorded):
    query = {"source1": "A man.", "target1": "Ein Mann.", "sentences": "2", "sentence": "2", "without": "both"}
    at = open_page(**query, show="both", layer="1", head="3", pads="9", mask="cross", cells="0-1")
    texts = ("A man.", PAIRS[1][0]), ("Ein Mann.", PAIRS[1][1])
    batch, run = run_of(recorded, *texts)
    _, less = run_of(recorded, *texts, padding=False, look_ahead=False, flipped={"cross": [(1, 0, 1)]})
    assert_head(at, "head-with", run.weights["cross"][1, 1, 3])
    assert_head(at, "head-without", less.weights["cross"][1, 1, 3])
    at = screen.choose(at, show="numbers")
    assert at.slider(key="pads").value == 9
    assert screen.choose(at, sentence=1).text_input(key="target1").value == "Ein Mann."


@pytest.mark.parametrize("rubbish", ["", "-5", "x", "<b>"])
def test_rubbish_in_a_link_falls_back(recorded, rubbish):
    names = ("batch", "sentences", "show", "sentence", "mask", "without", "layer", "head", "pads", "cells")
    _, run = run_of(recorded)
    at = open_page(**dict.fromkeys(names, rubbish))
    assert screen.stages(at) == {"head-with", "head-without"}
    assert_masks(at, run.masks, 0)


@pytest.mark.parametrize(
    "text", first_quick(["", "  ", "👩‍👩‍👧 🐈", "<script>alert(1)</script>", "متعب שלום", "▁ **b** $x$ &amp;"])
)
def test_odd_text_gets_its_masks(recorded, text):
    at = open_page(mask="cross", show="head", without="nothing").text_input(key="source1").set_value(text).run()
    at = at.text_input(key="target1").set_value(text).run()
    assert not at.exception and not at.warning
    batch, run = run_of(recorded, (text, *DEFAULT[0][1:]), (text, *DEFAULT[1][1:]))
    np.testing.assert_array_equal(heatmap(at, "large-mask"), run.masks["cross"][0])
    if len(batch.source_tokens[0]) <= 32:
        assert screen.tokens(at, "large-mask", "x") == plain(batch.source_tokens[0])


def test_what_is_too_long_is_a_sentence_and_the_last_batch_stays(recorded):
    at = open_page().text_input(key="source1").set_value("A dog.").run()
    at = at.text_input(key="source1").set_value("x" * 10_000).run()
    assert not at.exception
    assert "Source 1 has 10,000 characters; at most 2,000 are allowed." in at.warning[0].value
    _, run = run_of(recorded, ("A dog.", *DEFAULT[0][1:]), DEFAULT[1])
    assert_masks(at, run.masks, 0)
    first = open_page(source1="x" * 10_000, show="head")
    assert "Showing the example." in first.warning[0].value and screen.tokens(first, "large-mask", "x")[0] == "2"


@pytest.fixture
def writer(all_systems):
    """The language model of a folder that has one."""
    return load_translator("lm")


@pytest.mark.parametrize("mask", TEXT_MASKS)
def test_masks_of_today_are_those_of_the_model_over_the_texts_in_one_row(writer, mask):
    at = screen.choose_tile(open_page(), "mask-tiles", mask)
    packed = text_masks.pack_texts(writer, DEFAULT[0])
    masks = text_masks.text_masks(packed)
    causal, variant = (text_masks.read_under(writer.model, packed.ids, masks[name]) for name in ("causal", mask))
    blue = (screen.tiles(at, "mask-tiles")[mask]["pixels"] == BLUE).all(-1)
    np.testing.assert_array_equal(blue, masks[mask][0, 0])
    layer, head = map(int, screen.tiles(at, "heads-tiles")["selected"].split("-"))
    first, second = (causal, variant) if mask == "prefix" else (variant, causal)
    assert_head(at, "head-with", first.weights[layer, head])
    assert_head(at, "head-without", second.weights[layer, head])
    leaks = np.where(~first.mask, second.weights[layer, head], 0)
    assert f"{causal.loss:.2f} nats with the causal mask, {variant.loss:.2f} with this" in screen.framed(
        at, "answer-note"
    )
    shares = {f"{weight:.0%}" for weight in leaks[leaks > 0]}
    assert any(f" {share} of its attention" in screen.framed(at, "answer") for share in shares)
    is_word = np.array([not token.startswith("<") for token in packed.tokens])
    if leaks[is_word[:, None] & is_word].max() >= SEEN:
        assert "“<" not in screen.framed(at, "answer"), "words say more than the mark between texts"
    assert [element.value for element in screen.choose(at, show="code").code][1] == flex_code(mask)


def test_without_a_model_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = screen.open_page("masks.py")
    assert not at.exception and len(at.error) == 1 and "There is no checkpoint 'en-de'" in screen.page_text(at)
