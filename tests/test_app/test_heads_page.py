"""The page Heads: roles, contributions and importance, and that every number is the model's own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
import streamlit

from model import load_translator
from model.analysis import head_roles
from model.interventions.edits import Edits, Head
from model.measures import alignment, contribution
from tests.test_app.screen import charts, choose, click_marker, figure, links, open_page, values, written
from viz.text import words_heads
from viz.ui.asking import EXAMPLE

PAGE = "heads.py"
SHIPPED = Path(__file__).parents[2] / "checkpoints"
ADDS, ROLES = words_heads.ADDS, words_heads.ROLES
OFF = Edits(off=(Head("cross", 1, 2), Head("encoder_self", 0, 3)))


def z(at, key: str) -> np.ndarray:
    return values(figure(at, key)["data"][0]["z"])


def assert_whole(at) -> None:
    assert not at.exception and not at.error and not at.warning


class TestImportance:
    @pytest.mark.parametrize("colour", list(words_heads.NUMBERS))
    def test_the_boards_are_what_was_measured_over_held_out_sentences(self, monkeypatch, colour):
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
        streamlit.cache_resource.clear()
        at = open_page(PAGE, part=words_heads.WORTH, colour=colour)
        assert_whole(at)
        report = json.loads((SHIPPED / "en-de" / "heads.json").read_text())
        for kind, measured in report["kinds"].items():
            np.testing.assert_allclose(z(at, f"board-{kind}"), measured[words_heads.NUMBERS[colour]], rtol=1e-5)
        assert report["command"] in written(at)
        streamlit.cache_resource.clear()
        streamlit.cache_data.clear()

    def test_without_held_out_numbers_the_page_says_how_to_make_them(self):
        at = open_page(PAGE, part=words_heads.WORTH)
        assert_whole(at)
        assert words_heads.NO_REPORT in [info.value for info in at.info]


def test_heads_are_switched_off_on_the_page_steer_with_the_same_change():
    at = open_page(PAGE, text="A man is tired.", beam="2", edits=OFF.code)
    assert_whole(at)
    page, _, query = links(at)[words_heads.TO_STEER].partition("?")
    assert page == "./steer" and dict(parse_qsl(query)) == {"text": "A man is tired.", "beam": "2", "edits": OFF.code}


class TestContribution:
    def test_weights_beside_what_is_added(self, recorded):
        at = open_page(PAGE, part=ADDS, kind="decoder_self", layer="1", head="2")
        assert_whole(at)
        result = recorded.translate(EXAMPLE)
        lengths = contribution.contributions(recorded.model, result, "decoder_self")[1, 2]
        shares = lengths / lengths.sum(-1, keepdims=True)
        weights = result.attention("decoder_self")[1, 2]
        np.testing.assert_allclose(z(at, "weights"), weights, atol=1e-6)
        np.testing.assert_allclose(z(at, "added"), shares, atol=1e-5)
        np.testing.assert_allclose(z(at, "added-change"), shares - weights, atol=1e-5)

    def test_sinks_are_left_out_and_said(self, recorded):
        at = open_page(PAGE, part=ADDS, sinks=words_heads.SINKS_ALL)
        assert_whole(at)
        drawn = z(at, "weights")
        weights = recorded.translate(EXAMPLE).attention("cross")[0, 0]
        assert not drawn[:, -2:].any()  # the full stop and the end of the sentence
        np.testing.assert_allclose(drawn.sum(-1), 1, atol=1e-5)
        gone = weights.sum() - weights[:, drawn.any(axis=0)].sum()
        assert any(f"{gone / len(weights):.1%} of the weights" in caption.value for caption in at.caption)

    def test_rollout(self, recorded):
        at = open_page(PAGE, part=ADDS, adds=words_heads.ROLLOUT)
        assert_whole(at)
        result = recorded.translate(EXAMPLE)
        encoder = contribution.rollout(result.attention("encoder_self"))
        np.testing.assert_allclose(z(at, "rollout-encoder"), encoder, atol=1e-6)
        together = z(at, "rollout-source").sum(-1) + z(at, "rollout-target").sum(-1)
        np.testing.assert_allclose(together, 1, atol=1e-5)


class TestRoles:
    @pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
    def test_numbers_of_the_sentence(self, recorded, kind):
        at = open_page(PAGE, part=ROLES, kind=kind, layer="1", head="3")
        assert_whole(at)
        result = recorded.translate(EXAMPLE)
        keys = result.target_tokens if kind == "decoder_self" else result.source_tokens
        counted = head_roles.tally(result.attention(kind), result.mask(kind), keys)
        tables = [table.value for table in at.dataframe]
        card = next(table["this sentence"] for table in tables if "this sentence" in table)
        assert card["role"] == head_roles.roles(counted, kind)[1][3]
        assert card["entropy (nats)"] == f"{counted.numbers()['entropy'][1, 3]:.3f}"
        assert ("next token" in card.index) == (kind == "encoder_self")
        assert len(next(table for table in tables if "head" in table)) == counted.numbers()["entropy"].size
        np.testing.assert_allclose(z(at, "role-board"), 0.5 - counted.numbers()["relative_entropy"], atol=1e-5)

    def test_heads_that_align_words_are_named(self, recorded, checkpoints, tmp_path, monkeypatch):
        shutil.copytree(checkpoints / "en-de", tmp_path / "en-de")
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        at = open_page(PAGE, part=ROLES)
        assert words_heads.NO_ALIGNMENT in [info.value for info in at.info]
        high, low = np.full((2, 4), 0.9), np.full((2, 4), 0.9)
        high[1, 2], low[0, 3] = 0.1, 0.2
        rates = {"mean": [0.5, 0.5], "max": [0.5, 0.5], "mean_of_all": 0.5, "max_of_all": 0.5}
        aer = {at: {"weights": rates | {"heads": heads.tolist()}} for at, heads in (("output", high), ("input", low))}
        translator = load_translator("en-de")
        result = dict.fromkeys(("command", "made_by", "pairs", "too_long", "words", "links", "outside", "best"), 1)
        result |= {"command": "x", "made_by": "y", "aer": aer, "diagonal": 0.5}
        result["weights_sha256"] = alignment.weights_hash(translator)
        alignment.keep(translator, "toys", result)
        streamlit.cache_data.clear()
        at = open_page(PAGE, part=ROLES, layer="1", head="2")
        assert_whole(at)
        texts = figure(at, "role-board")["data"][0]["text"]
        assert (texts[1][2], texts[0][3]) == ("⇄ output", "⇄ input")
        assert sum("⇄" in text for row in texts for text in row) == 2
        card = next(table.value for table in at.dataframe if "aligns words" in table.value.index)
        assert card.loc["aligns words", "held-out"] == "yes, read at the output"
        np.testing.assert_allclose(z(at, "aer-input-weights")[:, :4], low, atol=1e-6)
        at = choose(at, kind="encoder_self")
        assert not any("⇄" in text for row in figure(at, "role-board")["data"][0]["text"] for text in row)
        for wrong, said in (({"weights_sha256": "other"}, None), ({"aer": {"input": {}}}, "alignment")):
            alignment.keep(translator, "toys", result | wrong)
            streamlit.cache_data.clear()
            at = open_page(PAGE, part=ROLES)
            assert not at.exception and (said in at.warning[0].value if said else at.info)

    def test_a_click_on_the_map_opens_a_head(self, recorded):
        at = click_marker(open_page(PAGE, part=ROLES), "head-map", 1, 2)
        assert_whole(at)
        weights = recorded.translate(EXAMPLE).attention("cross")[1, 2]
        np.testing.assert_allclose(z(at, "head-opened"), weights, atol=1e-6)


def test_a_sentence_that_cannot_be_read_keeps_the_last_result():
    at = open_page(PAGE)
    at = at.text_input(key="text").set_value("  ").run()
    assert not at.exception and "There is nothing to translate" in at.warning[0].value
    assert charts(at)
