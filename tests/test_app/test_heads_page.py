"""The page Heads: what is switched off, what is drawn of it, and that every number is the model's own."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
import streamlit

from model import load_translator
from model.analysis import head_roles
from model.interventions.edits import Edits, Head, all_heads
from model.measures import alignment, contribution
from tests.test_app.screen import charts, choose, click_cell, click_marker, figure, open_page, values, written
from viz.screens import heads_board, words_heads
from viz.screens.asking import EXAMPLE

PAGE = "heads.py"
ADDS, ROLES = words_heads.ADDS, words_heads.ROLES
OFF = Edits(off=(Head("cross", 1, 2), Head("encoder_self", 0, 3)))


def z(at, key: str) -> np.ndarray:
    return values(figure(at, key)["data"][0]["z"])


def code(at) -> str:
    return at.text_input(key="edits").value


def computed(at):
    """Waits as a visitor does until the importance of heads is there."""
    while any(button.key == "importance-cancel" for button in at.button):
        at = at.run()
    return at


def assert_whole(at) -> None:
    assert not at.exception and not at.error and not at.warning


class TestKnockOut:
    def test_nothing_is_changed_at_first(self, recorded):
        at = open_page(PAGE)
        assert_whole(at)
        weights = recorded.translate(EXAMPLE).attention("cross")[0, 0]
        np.testing.assert_allclose(z(at, "head-before"), weights, atol=1e-6)
        np.testing.assert_allclose(z(at, "head-after"), weights, atol=1e-6)
        np.testing.assert_allclose(z(at, "head-change"), 0, atol=1e-6)
        for kind, layers in (("encoder_self", 3), ("decoder_self", 2), ("cross", 2)):
            assert z(at, f"board-{kind}").shape == (layers, 4)
        assert at.button(key="heads-reset").disabled and not at.metric

    def test_the_address_switches_heads_off(self, recorded):
        at = open_page(PAGE, edits=OFF.code, layer="1", head="2")
        assert_whole(at)
        plain = recorded.translate(EXAMPLE)
        new, read = recorded.translate(EXAMPLE, edits=OFF), recorded.force(EXAMPLE, plain, OFF)
        assert new.text in written(at)
        assert at.metric[0].value == f"{read.log_probabilities.sum():.2f}"
        np.testing.assert_allclose(z(at, "head-before"), plain.attention("cross")[1, 2], atol=1e-6)
        assert not z(at, "head-after").any()
        np.testing.assert_allclose(z(at, "head-change"), -plain.attention("cross")[1, 2], atol=1e-6)
        board = figure(at, "board-cross")["data"]
        assert [row[2] for row in board[0]["text"]] == ["on", "off"]
        assert any(trace.get("name") == "switched off" for trace in board)

    def test_a_click_switches_off_and_on(self):
        at = click_cell(open_page(PAGE), "board-decoder_self", 1, 3)
        assert_whole(at)
        assert Edits.from_code(code(at)) == Edits(off=(Head("decoder_self", 1, 3),))
        assert at.session_state["kind"] == "decoder_self"
        at = click_cell(at, "board-decoder_self", 1, 3)
        assert code(at) == ""

    def test_a_click_may_solo_spread_or_only_show(self, recorded):
        at = click_cell(choose(open_page(PAGE), action=words_heads.SOLO), "board-cross", 0, 1)
        others = {head for head in all_heads(recorded.config, "cross") if head != Head("cross", 0, 1)}
        assert set(Edits.from_code(code(at)).off) == others
        at = click_cell(at, "board-cross", 0, 1)
        assert code(at) == ""
        at = click_cell(choose(at, action=words_heads.UNIFORM), "board-encoder_self", 2, 0)
        assert Edits.from_code(code(at)) == Edits(uniform=(Head("encoder_self", 2, 0),))
        np.testing.assert_allclose(z(at, "head-after"), 1 / z(at, "head-after").shape[1], atol=1e-6)
        at = click_cell(choose(at, action=words_heads.OPEN), "board-cross", 1, 1)
        assert Edits.from_code(code(at)) == Edits(uniform=(Head("encoder_self", 2, 0),))
        assert_whole(at)

    def test_the_buttons_do_the_same_without_a_mouse(self):
        at = open_page(PAGE, layer="1", head="3")
        at = at.button(key="do-off").click().run()
        assert Edits.from_code(code(at)) == Edits(off=(Head("cross", 1, 3),))
        at = at.button(key="do-uniform").click().run()
        assert Edits.from_code(code(at)) == Edits(uniform=(Head("cross", 1, 3),))
        at = at.button(key="heads-reset").click().run()
        assert code(at) == ""
        assert_whole(at)

    def test_importance_is_the_change_without_each_head(self, recorded):
        at = computed(open_page(PAGE).button(key="importance").click().run())
        assert_whole(at)
        assert at.session_state["colour"] == words_heads.HERE
        plain = recorded.translate(EXAMPLE)
        whole = recorded.score(EXAMPLE, plain)
        for kind, layer, head in (("cross", 1, 2), ("encoder_self", 0, 3), ("decoder_self", 0, 0)):
            expected = recorded.score(EXAMPLE, plain, Edits(off=(Head(kind, layer, head),))) - whole
            assert z(at, f"board-{kind}")[layer, head] == pytest.approx(expected, abs=1e-3)
        at = at.text_input(key="text").set_value("A man is tired.").run()
        assert not at.button(key="importance").disabled and not z(at, "board-cross").any()

    def test_an_address_that_colours_by_this_sentence_shows_it_elsewhere(self):
        at = computed(open_page(PAGE).button(key="importance").click().run())
        elsewhere = computed(open_page(PAGE, colour=words_heads.HERE))
        assert_whole(elsewhere)
        assert z(elsewhere, "board-cross").any()
        np.testing.assert_array_equal(z(elsewhere, "board-cross"), z(at, "board-cross"))

    def test_cancel_stops_between_two_moments_and_keeps_what_was_found(self, monkeypatch):
        at = computed(open_page(PAGE).button(key="importance").click().run())
        found = z(at, "board-cross")
        monkeypatch.setattr(heads_board, "AT_A_TIME", 0.0)  # one layer at a time
        at = at.text_input(key="text").set_value("A man is tired.").run()
        at = at.button(key="importance").click().run()
        assert heads_board.WORK in at.session_state and not z(at, "board-cross").any()
        at = at.button(key="importance-cancel").click().run()
        assert heads_board.WORK not in at.session_state and not z(at, "board-cross").any()
        assert not any(button.key == "importance-cancel" for button in at.button)
        assert not at.button(key="importance").disabled
        at = at.text_input(key="text").set_value(EXAMPLE).run()
        np.testing.assert_array_equal(z(at, "board-cross"), found)
        assert at.button(key="importance").disabled
        assert_whole(at)

    @pytest.mark.parametrize(
        ("edits", "said"),
        [
            ("v1_oc9-0", "Layers of the cross-attention are 0 to 1, got layer 9."),
            ("<b>x</b>", "begins with 'v1'"),
            ("v1_oc0-0_uc0-0", "either switched off or made uniform"),
        ],
    )
    def test_rubbish_in_the_address_is_told(self, edits, said):
        at = open_page(PAGE, edits=edits)
        assert not at.exception and len(at.warning) == 1
        assert said in at.warning[0].value and "Nothing is changed" in at.warning[0].value
        np.testing.assert_allclose(z(at, "head-change"), 0, atol=1e-6)
        at = click_cell(at, "board-cross", 0, 0)
        assert code(at)  # a click starts from what can be read

    def test_changes_of_another_page_are_kept_and_not_made(self):
        at = open_page(PAGE, edits="v1_f1-2-1")
        assert_whole(at)
        assert words_heads.LEFT_OUT in [caption.value for caption in at.caption]
        at = click_cell(at, "board-cross", 0, 0)
        assert code(at) == "v1_oc0-0_f1-2-1"

    def test_a_reference_is_read_with_the_changes(self, recorded):
        at = open_page(PAGE, edits=OFF.code, mode="teacher-forced", reference="Ein Mann war müde.")
        assert_whole(at)
        expected = recorded.score(EXAMPLE, "Ein Mann war müde.", OFF)
        assert [metric.value for metric in at.metric] == [f"{expected:.2f}"]

    @pytest.mark.parametrize("colour", [words_heads.LOG, words_heads.BLEU, words_heads.GRADIENT])
    def test_without_held_out_numbers_the_page_says_how_to_make_them(self, colour):
        at = open_page(PAGE, colour=colour)
        assert_whole(at)
        assert words_heads.NO_REPORT in [info.value for info in at.info]


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
    at = open_page(PAGE, edits=OFF.code)
    at = at.text_input(key="text").set_value("  ").run()
    assert not at.exception and "There is nothing to translate" in at.warning[0].value
    assert charts(at)
