"""The page Masks of the app: what its browser is told and makes of every address, against separate runs of the model.

That its pictures are those of "Save · Code" is held in tests/test_viz/test_web/test_sheets/test_masks.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as given_by

from model import load_translator
from model.experiments import masks as experiments
from model.experiments import text_masks
from model.text.special import EOS_ID
from tests.support.app_sheets import control, part, visit
from tests.support.masks_by_hand import SEEN
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_app.test_hostile import TEXTS
from tests.test_app.test_languages import Marked
from viz.figures.framed import plain_token, shown_token
from viz.figures.labels import spell_bytes
from viz.pages.masks import contents
from viz.text import language, words
from viz.text.language import using
from viz.text.words_masks import MASKS, PAIRS, TEXT_MASKS, code, flex_code
from viz.ui import sheets

DEFAULT = tuple(zip(*PAIRS[:3], strict=True))
SCORES = "additive", "blocked", "integers"
KINDS = ("encoder_self", "decoder_self", "cross")
NAMES = ("batch", "sentences", "show", "sentence", "mask", "without", "layer", "head", "pads", "cells", "window")


def pages(*visits: dict[str, str]) -> list[dict[str, Any]]:
    """The sheet of each address, in their order in one browser."""
    return visit(contents, contents.told(in_app=True), list(visits))


def page(**query: str) -> dict[str, Any]:
    """The sheet of an address."""
    return pages(query)[0]


def run_of(translator, sources=DEFAULT[0], targets=DEFAULT[1], **options):
    """A batch, and a pass of the model."""
    batch = experiments.read_batch(translator, sources, targets)
    return batch, experiments.run(translator.model, batch.src, batch.tgt, **options)


def maps(sheet: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The large pictures by name."""
    return {map_["save"]: map_ for map_ in part(sheet, "maps")["maps"]}


def note(sheet: dict[str, Any], name: str, side: str = "right") -> str:
    """A sentence beside the pictures."""
    return part(sheet, "note", side, name)["text"]


def assert_head(sheet: dict[str, Any], key: str, weights: np.ndarray) -> None:
    """A head is shown with these weights."""
    np.testing.assert_allclose(maps(sheet)[key]["values"], weights, atol=2e-5)


def tiles(sheet: dict[str, Any], name: str = "masks") -> dict[str, dict[str, Any]]:
    """Small pictures by code."""
    return {tile["code"]: tile for tile in part(sheet, "tiles", "left", name)["tiles"]}


def named(tokens: list[str]) -> list[str]:
    """Tokens as they stand beside a map."""
    return spell_bytes([plain_token(token) for token in tokens])


def drawn_as(map_: dict[str, Any], name: str, batch, mask: np.ndarray, sentence: int) -> None:
    """A mask of a sentence is drawn as recorded, with its tokens."""
    np.testing.assert_array_equal(map_["values"], mask[sentence])
    source, target = batch.source_tokens[sentence], batch.target_tokens[sentence]
    following = [*target[1:], "<pad>"]  # of each token that the decoder reads, the word that it has to write
    following[target.index("<pad>") - 1 if "<pad>" in target else -1] = "</s>"
    assert map_["rows"] == named({"encoder_self": source, "cross": following}.get(name, target))
    assert map_["columns"] == named(source if name in ("encoder_self", "cross") else target)


def blue(tile: dict[str, Any]) -> np.ndarray:
    """Where a small picture of a mask is open."""
    return (np.array(tile["pixels"]) == (0, 114, 178, 255)).all(-1)


def assert_masks(sheet: dict[str, Any], masks: dict[str, np.ndarray], sentence: int) -> None:
    """Every mask of a sentence has a tile, blue where it was recorded as open and nowhere else."""
    for name, mask in masks.items():
        np.testing.assert_array_equal(blue(tiles(sheet)[name]), mask[sentence])


@pytest.mark.slow
def test_the_first_paint_is_a_head_that_leaks_without_the_look_ahead_mask_and_the_answer_says_where(recorded):
    batch, run = run_of(recorded)
    _, less = run_of(recorded, look_ahead=False)
    sheet = page()
    assert not sheet["warning"] and not sheet["missed"] and set(maps(sheet)) == {"head-with", "head-without"}
    assert_masks(sheet, run.masks, 0)
    n = len(batch.pair(0)[1][0])
    future = less.weights["decoder_self"][0] * np.triu(np.ones((batch.tgt.size(1),) * 2), 1)
    future = future[:, :, :n, :n]
    layer, head = np.argwhere(future.max((2, 3)) == future.max())[0]
    assert part(sheet, "tiles", "left", "heads")["value"] == f"{layer}-{head}", "the head that leaks most"
    assert_head(sheet, "head-with", run.weights["decoder_self"][0, layer, head])
    assert_head(sheet, "head-without", less.weights["decoder_self"][0, layer, head])
    leaks = future[layer, head]
    following = np.diagonal(leaks, 1)
    if following.max() >= leaks.max() / 2:
        row, column = following.argmax(), following.argmax() + 1
    else:
        row, column = np.argwhere(leaks == leaks.max())[0]
    query, key = (shown_token(batch.target_tokens[0][place]) for place in (row, column))
    assert f"“{query}”" in sheet["answer"]
    assert f"“{key}” gets {leaks[row, column]:.0%} of its attention" in sheet["answer"]
    assert (
        len(maps(sheet)["head-without"]["rings"]) == (leaks >= SEEN).sum() and "rings" not in maps(sheet)["head-with"]
    )
    log_p_with, log_p_without = (log_probability(either.logits[0], batch.tgt[0], n) for either in (run, less))
    word = "less" if log_p_without < log_p_with else "more"
    assert f"times {word} probable" in sheet["below"]


def log_probability(logits, ids, n):
    following = torch.cat([ids[1:n], torch.tensor([EOS_ID])])
    return torch.from_numpy(logits[:n]).log_softmax(-1)[range(n), following].sum().item()


def test_with_all_masks_nothing_leaks(recorded):
    _, run = run_of(recorded)
    sheet = page(without="nothing")
    assert set(maps(sheet)) == {"head-with"}
    mask = run.masks["decoder_self"][0]
    assert f"the {(~mask).sum()} blocked cells of {mask.size} get 0%" in sheet["answer"]


def test_the_large_mask_says_why_a_cell_is_blocked(recorded):
    batch, run = run_of(recorded)
    map_ = maps(page(show="head", without="nothing"))["large-mask"]
    drawn_as(map_, "decoder_self", batch, run.masks["decoder_self"], 0)
    assert map_["texts"][0][1].endswith(": the key lies in the future") and "may attend" in map_["texts"][1][0]
    assert map_["texts"][0][-1].endswith(": the key is padding, the key lies in the future")


@pytest.mark.slow
def test_a_click_flips_a_cell_and_the_head_and_the_numbers_follow(recorded):
    batch, run = run_of(recorded)
    asked = {"sentence": "3", "layer": "0", "head": "2", "without": "nothing", "cells": "1-2.3-0"}
    large, both = pages(asked | {"show": "head"}, asked)
    _, flipped_run = run_of(recorded, flipped={"decoder_self": [(2, 1, 2), (2, 3, 0)]})
    map_ = maps(large)["large-mask"]
    np.testing.assert_array_equal(map_["values"], flipped_run.masks["decoder_self"][2])
    click = map_["click"]
    assert (click["key"], click["value"], click["codes"][1][2]) == ("cells", ["1-2", "3-0"], "1-2")
    assert control(large, "right", "unflip")["set"] == {"cells": None}
    (link,) = part(large, "controls")["controls"]
    assert link["href"].startswith("./steer?") and link["label"] == "Translate with these cells on Steer"
    query = dict(parse_qsl(urlsplit(link["href"]).query))
    assert query == {"text": DEFAULT[0][2], "edits": "v1_ad1-2_bd3-0"}
    steer_page = screen.open_page("steer.py", **query)
    assert not steer_page.warning and screen.stage(steer_page)["steering"]["cells"] == [
        ["decoder_self", 1, 2, True],
        ["decoder_self", 3, 0, False],
    ]
    assert_head(both, "head-without", flipped_run.weights["decoder_self"][2, 0, 2])
    forgotten = dict.fromkeys(("cells", "layer", "head"))
    assert set(control(large, "question", "sentence")["clears"]) == set(forgotten)
    sets = part(large, "tiles", "left", "masks")["sets"]
    assert sets["cross"] == {"mask": "cross"} | forgotten and sets["decoder_self"] == {"mask": None} | forgotten


def test_the_parts_of_a_mask_cannot_be_flipped():
    of_part, own = pages({"mask": "look_ahead", "show": "head", "cells": "0-1"}, {"mask": "cross", "show": "head"})
    assert "click" not in maps(of_part)["large-mask"] and "click" in maps(own)["large-mask"]


def test_typing_changes_the_batch(recorded):
    typed = {"source2": "A dog.", "target2": ""}
    _, run = run_of(recorded, (DEFAULT[0][0], "A dog.", DEFAULT[0][2]), (DEFAULT[1][0], "", DEFAULT[1][2]))
    second, first, numbers = pages(typed | {"sentence": "2"}, typed, typed | {"sentence": "2", "show": "numbers"})
    assert_masks(second, run.masks, 1)
    assert_masks(first, run.masks, 0)
    assert control(second, "question", "source2")["value"] == "A dog."
    assert control(first, "question", "source1")["value"] == DEFAULT[0][0]
    line = "There is no earlier step that could see the future: type a longer target."
    assert part(numbers, "table")["rows"][1][1:] == [line, ""]


@pytest.mark.slow
def test_two_and_four_sentences_and_one_mask_of_all(recorded):
    asked = {"mask": "cross", "without": "nothing", "show": "sentences"}
    four, two = pages(asked | {"sentences": "4"}, asked | {"sentences": "2", "sentence": "4"})
    batch, run = run_of(recorded, *zip(*PAIRS, strict=True))
    for sentence in range(4):
        drawn_as(maps(four)[f"sentence-{sentence}"], "cross", batch, run.masks["cross"], sentence)
    assert set(maps(two)) == {"sentence-0", "sentence-1"} and control(two, "question", "sentence")["value"] == "2"


def test_the_worked_example_is_one_choice_away():
    asked = {"show": "head", "without": "nothing", "batch": "example"}
    for length, sheet in zip((4, 2, 6), pages(*(asked | {"sentence": str(n)} for n in (1, 2, 3))), strict=True):
        assert not [one for one in sheet["controls"]["question"] if one["type"] == "text"]
        map_ = maps(sheet)["large-mask"]
        expected = (np.arange(7)[:, None] >= np.arange(7)) & (np.arange(7) < length)
        np.testing.assert_array_equal(map_["values"], expected)
        assert map_["columns"] == ["2"] * length + ["1 (pad)"] * (7 - length)
    assert len([one for one in page()["controls"]["question"] if one["type"] == "text"]) == 2


def lines_of(sheet: dict[str, Any]) -> list[str]:
    """The Python of a sheet."""
    return [part["text"] for part in sheet["right"] if part.get("code")]


def test_the_lines_of_every_mask():
    sheets_of_masks = pages(*({"show": "code", "mask": mask} for mask in MASKS))
    for mask, sheet in zip(MASKS, sheets_of_masks, strict=True):
        expected = [code(mask, "keep"), flex_code(mask), *(code(mask, convention) for convention in SCORES)]
        assert lines_of(sheet) == expected


@pytest.mark.slow
def test_every_head_with_and_without_every_mask(recorded):
    batch, run = run_of(recorded)
    n = len(batch.pair(0)[1][0])
    for left_out, padding, look_ahead in (("padding", 0, 1), ("look-ahead", 1, 0), ("both", 0, 0)):
        _, less = run_of(recorded, padding=padding, look_ahead=look_ahead)
        asked = {"without": left_out, "layer": "1", "head": "2"}
        *shown, numbers = pages(*(asked | {"mask": kind} for kind in KINDS), asked | {"show": "numbers"})
        n_changes = (run.logits[0, :n].argmax(-1) != less.logits[0, :n].argmax(-1)).sum()
        for kind, sheet in zip(KINDS, shown, strict=True):
            assert_head(sheet, "head-with", run.weights[kind][0, 1, 2])
            assert_head(sheet, "head-without", less.weights[kind][0, 1, 2])
            if maps(sheet)["head-without"]["rings"]:
                assert f"token changes at {n_changes} of {n} steps." in note(sheet, "under")
        change = np.abs(run.logits[0, :n] - less.logits[0, :n]).max()
        assert f"{words.number(change)} for a logit at real steps." in note(numbers, "effect")


def test_the_numbers_with_their_mask_on_and_off(recorded):
    batch, _ = run_of(recorded)
    cases = ((0, 4), (2, 7))
    shown = pages(*({"show": "numbers", "sentence": str(n + 1), "pads": str(pads)} for n, pads in cases))
    for (sentence, pads), sheet in zip(cases, shown, strict=True):
        assert control(sheet, "right", "pads")["value"] == str(pads)
        for column, on in ((1, True), (2, False)):
            pad = experiments.pad_difference(recorded.model, *batch.pair(sentence), pads, padding=on)
            leak = experiments.future_leak(recorded.model, *batch.pair(sentence), look_ahead=on)
            values = [row[column] for row in part(sheet, "table")["rows"]]
            assert values == [words.number(pad), words.number(leak)]
    assert "million parameters" in note(shown[0], "card") and "BLEU" in note(shown[0], "card")


def test_a_row_with_nothing_to_attend_to(recorded):
    batch, run = run_of(recorded)
    table = part(page(show="blocked", mask="encoder_self", layer="1", head="3"), "table")
    assert table["head"][1:4] == ["score", "−inf, then softmax", "−1e9, then softmax"]
    keys, scores, infinite, large, fused, ours = zip(*table["rows"], strict=True)
    n_keys = batch.src.size(1)
    assert list(keys) == list(map(shown_token, batch.source_tokens[0]))
    assert list(scores) == [f"{score:.3f}" for score in run.scores["encoder_self"][0, 1, 3, 0]]
    assert set(infinite) == {"NaN"} and set(large) == {f"{1 / n_keys:.3f}"}
    assert set(fused) == set(ours) == {"0.000"}


def test_a_link_brings_every_choice(recorded):
    query = {"source1": "A man.", "target1": "Ein Mann.", "sentences": "2", "sentence": "2", "without": "both"}
    query |= {"layer": "1", "head": "3", "pads": "9", "mask": "cross", "cells": "0-1"}
    texts = ("A man.", PAIRS[1][0]), ("Ein Mann.", PAIRS[1][1])
    batch, run = run_of(recorded, *texts)
    _, less = run_of(recorded, *texts, padding=False, look_ahead=False, flipped={"cross": [(1, 0, 1)]})
    both, numbers, first = pages(query, query | {"show": "numbers"}, query | {"sentence": "1"})
    assert_head(both, "head-with", run.weights["cross"][1, 1, 3])
    assert_head(both, "head-without", less.weights["cross"][1, 1, 3])
    assert control(numbers, "right", "pads")["value"] == "9"
    assert control(first, "question", "target1")["value"] == "Ein Mann."
    assert not [name for sheet in (both, numbers, first) for name in sheet["missed"]]


@pytest.mark.parametrize("rubbish", ["", "-5", "x", "<b>", "9" * 400, "../../en-de"])
def test_rubbish_in_a_link_falls_back(recorded, rubbish):
    _, run = run_of(recorded)
    asked = dict.fromkeys(NAMES, rubbish)
    sheet = page(**asked)
    assert set(maps(sheet)) == {"head-with", "head-without"}
    assert_masks(sheet, run.masks, 0)
    for name in ("batch", "numbers", "no_key_left"):
        with using("en"):
            assert contents.file(name, asked) == contents.file(name, {}), name
    own, usual = contents.plots(asked), contents.plots({"layer": "0", "head": "0"})
    assert {name: plot.figure for name, plot in own.items()} == {name: plot.figure for name, plot in usual.items()}
    assert sheets.answer(contents, "en", {"file": rubbish}) is None
    assert sheets.answer(contents, "en", {"save": rubbish}) is None


def test_cells_and_heads_that_are_not_there_are_not_taken(recorded):
    """A server is asked by whoever can reach it: numbers outside of a mask or a model are no traceback."""
    for asked in ({"cells": "0-0.99-1"}, {"layer": "200", "head": "255"}, {"cells": "1-2-3"}, {"sentence": "4"}):
        for name in ("batch", "no_key_left"):
            assert contents.file(name, asked)
        assert contents.plots(asked) and contents.plots(asked | {"show": "head"})
    plain = contents.plots({"show": "head"})["large-mask"]
    assert contents.plots({"show": "head", "cells": "0-0.99-1"})["large-mask"].figure == plain.figure


@pytest.mark.parametrize("query", [{"file": "batch"}, {"file": "numbers"}, {"save": "head-with"}])
def test_what_cannot_be_read_is_a_sentence(query):
    answer = sheets.answer(contents, "en", query | {"source1": "x " * 900})
    assert answer and answer[:1] == b"\1" and b"at most" in answer and answer.endswith(b".")
    assert sheets.answer(contents, "de", query | {"source1": "x " * 900}) != answer


@pytest.mark.parametrize(
    "text", first_quick(["", "  ", "👩‍👩‍👧 🐈", "<script>alert(1)</script>", "متعب שלום", "▁ **b** $x$ &amp; a\x00b"])
)
def test_odd_text_gets_its_masks(recorded, text):
    sheet = page(mask="cross", show="head", without="nothing", source1=text, target1=text)
    assert not sheet["warning"]
    batch, run = run_of(recorded, (text, *DEFAULT[0][1:]), (text, *DEFAULT[1][1:]))
    map_ = maps(sheet)["large-mask"]
    np.testing.assert_array_equal(map_["values"], run.masks["cross"][0])
    assert map_["columns"] == named(batch.source_tokens[0])


BOXES = [f"{side}{number}" for side in ("source", "target") for number in (1, 2, 3, 4)]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(given_by.dictionaries(given_by.sampled_from([*NAMES, *BOXES]), TEXTS))
def test_anything_in_an_address_gets_an_answer(all_systems, asked):
    for query in ({"file": "batch"}, {"file": "numbers"}, {"file": "no_key_left"}, {"file": "texts"}):
        answer = sheets.answer(contents, "en", query | asked)
        assert answer is not None or query["file"] == "texts", "of the worked example there are none"
    for name in contents.plots({}):
        sheets.answer(contents, "en", {**asked, "save": name})
    sheet = page(**asked)
    assert sheet["answer"] and sheet["right"]


def test_what_is_too_long_is_a_sentence_and_the_last_batch_stays(recorded):
    good = {"source1": "A dog."}
    _, kept = pages(good, {"source1": "x" * 10_000})
    line = "Source 1 has 2001 tokens; at most 59 are allowed."
    assert kept["warning"] == f"{line} Showing the last one that worked."
    assert control(kept, "question", "source1")["value"] == "x" * 2000, "which a visitor may change"
    _, run = run_of(recorded, ("A dog.", *DEFAULT[0][1:]), DEFAULT[1])
    assert_masks(kept, run.masks, 0)
    first = page(source1="x" * 10_000, show="head", mask="look_ahead")
    assert first["warning"] == f"{line} Showing the example."
    assert maps(first)["large-mask"]["columns"][0] == "2"


@pytest.fixture
def writer(all_systems):
    """The language model of a folder that has one."""
    return load_translator("lm")


@pytest.mark.parametrize("mask", TEXT_MASKS)
def test_masks_of_today_are_those_of_the_model_over_the_texts_in_one_row(writer, mask):
    sheet, large, programs = pages({"mask": mask}, {"mask": mask, "show": "head"}, {"mask": mask, "show": "code"})
    packed = text_masks.pack_texts(writer, DEFAULT[0])
    masks = text_masks.text_masks(packed)
    causal, variant = (text_masks.read_under(writer.model, packed.ids, masks[name]) for name in ("causal", mask))
    np.testing.assert_array_equal(blue(tiles(sheet)[mask]), masks[mask][0, 0])
    np.testing.assert_array_equal(maps(large)["large-mask"]["values"], masks[mask][0, 0])
    assert "click" not in maps(large)["large-mask"]
    layer, head = map(int, part(sheet, "tiles", "left", "heads")["value"].split("-"))
    first, second = (causal, variant) if mask == "prefix" else (variant, causal)
    assert_head(sheet, "head-with", first.weights[layer, head])
    assert_head(sheet, "head-without", second.weights[layer, head])
    np.testing.assert_array_equal(maps(sheet)["head-with"]["mask"], first.mask)
    leaks = np.where(~first.mask, second.weights[layer, head], 0)
    assert f"{causal.loss:.2f} nats with the causal mask, {variant.loss:.2f} with this" in sheet["below"]
    shares = {f"{weight:.0%}" for weight in leaks[leaks > 0]}
    assert any(f" {share} of its attention" in sheet["answer"] for share in shares)
    is_word = np.array([not token.startswith("<") for token in packed.tokens])
    if leaks[is_word[:, None] & is_word].max() >= SEEN:
        assert "“<" not in sheet["answer"], "words say more than the mark between texts"
    assert lines_of(programs)[1] == flex_code(mask)
    views = [code for code, _ in control(sheet, "right", "show")["options"]]
    assert views == ["both", "head", "code"] and set(contents.plots({"mask": mask})) == {"head-with", "head-without"}


def test_a_window_has_its_size_and_the_other_masks_say_who_reads(writer):
    for window, sheet in zip((2, 8), pages(*({"mask": "window", "window": str(n)} for n in (2, 8))), strict=True):
        packed = text_masks.pack_texts(writer, DEFAULT[0])
        np.testing.assert_array_equal(
            blue(tiles(sheet)["window"]), text_masks.text_masks(packed, window)["window"][0, 0]
        )
        assert control(sheet, "left", "window")["value"] == str(window)
        assert f"its own token and the {window - 1} before it" in note(sheet, "purpose", "left")
    documents, numbers = pages({"mask": "documents"}, {"show": "numbers"})
    assert control(documents, "left", "texts")["label"] == "The source texts in one row, read by lm."
    assert part(numbers, "tiles", "left", "masks")["sets"]["prefix"]["show"] is None, "which texts do not have"


def test_texts_that_do_not_fit_in_one_row_are_a_sentence(writer):
    long = {f"source{n}": "the dog sleeps in the garden " * 3 for n in (1, 2, 3)}
    sheet, chosen = pages(long, long | {"mask": "prefix"})
    for one in (sheet, chosen):
        assert set(tiles(one)) == {*MASKS} and part(one, "tiles", "left", "masks")["value"] == "decoder_self"
        assert "at most" in note(one, "texts", "left") and set(maps(one)) == {"head-with", "head-without"}
    assert [sheet[name] for name in ("answer", "below", "right")] == [
        chosen[name] for name in ("answer", "below", "right")
    ]
    answer = sheets.answer(contents, "en", long | {"mask": "prefix", "save": "head-with"})
    assert answer and answer[:1] == b"\1"


def test_without_a_language_model_masks_of_texts_are_missing(recorded, monkeypatch):
    monkeypatch.setattr(contents, "language_model", lambda: None)
    sheet = page(mask="window")
    assert sheet["missed"] == ["mask=window"] and set(tiles(sheet)) == {*MASKS}
    assert not [one for one in sheet["left"] if one.get("name") == "app"], "the note of the page without a server"


def test_without_a_model_one_sentence_and_the_command_that_trains_one(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    at = screen.open_page("masks.py")
    assert not at.exception
    message = screen.sheet(at)
    assert message and message["told"]["model"] is None
    sheet = page()
    assert sheet["answer"] == "No translation model found."
    assert "There is no checkpoint 'en-de'" in note(sheet, "problem") and "model train" in note(sheet, "command")
    for query in ({"file": "batch"}, {"file": "numbers"}, {"save": "head-with"}):
        answer = sheets.answer(contents, "en", query)
        assert answer and answer[:1] == b"\1", query


def test_names_of_masks_and_views_come_from_the_catalogue(writer, monkeypatch):
    monkeypatch.setattr(language, "catalogue", lambda code: Marked())
    with using("de"):
        told = contents.told(in_app=True)
    masks = [*told["masks"].values(), *told["texts"]["masks"].values()]
    names = [text for mask in masks for text in (mask["name"], mask["purpose"], *mask["axes"])]
    names += [small for mask in masks for _, small, _ in mask["programs"]]
    names += [text for key in ("views", "left_out", "no_mask") for text in told[key].values()]
    columns = [text for name, text in told["no_key_columns"].items() if name != "fused"]
    assert [text for text in (*names, *columns) if "⟦" not in text] == [] and len(names) > 60


def test_the_page_is_a_sheet(recorded):
    at = screen.open_page("masks.py", mask="cross", sentences="4")
    message = screen.sheet(at)
    assert message and not at.exception and message["name"] == "masks"
    assert message["told"]["model"] == "en-de" and set(message["told"]["views"]) >= {"both", "blocked"}
    assert dict(at.query_params) == {"mask": "cross", "sentences": "4"}, "which the browser reads"
