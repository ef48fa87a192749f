"""The page Steer without a browser: every change, against separate translations of the changed model."""

from __future__ import annotations

import random
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from model.experiments.positions import changed_positions
from model.interventions.edits import Cell, Cut, Edits, Force, Head, all_heads
from model.measures.search_attention import looked_at
from tests.support.repeated import first_quick
from tests.test_app import screen
from tests.test_app.test_translate import EXAMPLE, assert_shown
from viz.stage.payload.cuts import part_name
from viz.text.language import using
from viz.views.changes import NAMES, Changes, read

SENTENCE = "A man is too tired."
KINDS = ("encoder_self", "decoder_self", "cross")


def open_page(**query):
    at = screen.open_page("steer.py", **({"text": EXAMPLE} | query))
    assert not at.exception and not at.error
    return at


@pytest.fixture
def plain(recorded):
    return recorded.translate(EXAMPLE)


def codes(at):
    """The changes as they stand in the address."""
    return {name: value for name, value in screen.stage(at)["address"].items() if name in NAMES}


def version(at, name, kind="cross"):
    """The maps of a kind of one version of the translation."""
    payload = screen.stage(at)
    (maps,) = [entry for entry in payload[name]["kinds"] if entry["code"] == kind]
    return maps


def assert_steered(at, recorded, edits=(), prefix=(), text=EXAMPLE):
    """The page shows what the changed model writes, beside what it writes without the changes."""
    edits = Edits(**dict(edits))
    new, old = recorded.translate(text, edits=edits, prefix=prefix), recorded.translate(text)
    assert_shown(at, new)
    assert screen.stage(at)["before"]["translation"] == old.text
    query = {"edits": edits.code, "prefix": Changes(locked=tuple(prefix)).address().get("prefix", "")}
    assert codes(at) == {name: value for name, value in query.items() if value}
    return new, old


@pytest.mark.slow
def test_at_first_nothing_is_changed(recorded, plain):
    at = open_page()
    assert_shown(at, plain)
    payload = screen.stage(at)
    assert "before" not in payload and payload["steering"]["chips"] == [] and codes(at) == {}


class TestHeads:
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_head_is_switched_off_and_on(self, recorded, plain, kind):
        at = screen.do(open_page(), "off", kind=kind, layer=1, head=2)
        edits = {"off": (Head(kind, 1, 2),)}
        assert_steered(at, recorded, edits)
        log_probability = recorded.force(EXAMPLE, plain, Edits(**edits)).log_probabilities.sum()
        assert screen.stage(at)["steering"]["cost"] == cost(float(log_probability - plain.log_probabilities.sum()))
        assert_shown(screen.do(at, "off", kind=kind, layer=1, head=2), plain)

    @pytest.mark.slow
    def test_alone_uniform_and_a_whole_layer(self, recorded, plain):
        at = screen.do(open_page(), "alone", kind="cross", layer=0, head=1)
        other_heads = [head for head in all_heads(recorded.config, "cross") if (head.layer, head.head) != (0, 1)]
        assert_steered(at, recorded, {"off": tuple(other_heads)})
        at = screen.do(screen.do(at, "reset"), "uniform", kind="encoder_self", layer=0, head=3)
        assert_steered(at, recorded, {"uniform": (Head("encoder_self", 0, 3),)})
        at = screen.do(screen.do(at, "reset"), "layer", kind="decoder_self", layer=1)
        layer = tuple(Head("decoder_self", 1, head) for head in range(recorded.config.n_heads))
        assert_steered(at, recorded, {"off": layer})
        assert_shown(screen.do(at, "layer", kind="decoder_self", layer=1), plain)

    def test_importance_is_the_change_without_each_head(self, recorded, plain):
        at = screen.do(open_page(), "importance")
        importance = screen.stage(at)["steering"]["importance"]
        for head in (Head("cross", 1, 0), Head("encoder_self", 0, 2), Head("decoder_self", 1, 3)):
            log_probability = recorded.force(EXAMPLE, plain, Edits(off=(head,))).log_probabilities.sum()
            change = log_probability - plain.log_probabilities.sum()
            np.testing.assert_allclose(importance[head.kind][head.layer, head.head], change, atol=1e-4)
        assert screen.stage(screen.do(at, "importance"))["steering"].get("importance") is None

    def test_an_address_with_a_board_of_importance_has_it_measured(self, recorded):
        assert screen.stage(open_page(board="importance"))["steering"]["importance"]
        assert screen.stage(open_page(board="entropy"))["steering"].get("importance") is None


def cost(change: float) -> str:
    factor = f"{np.exp(abs(change)):.1f}"
    if factor == "1.0":
        return "The old translation is about as probable as before."
    return f"The old translation is {factor} times {'less' if change < 0 else 'more'} probable."


class TestCells:
    @pytest.mark.slow
    def test_a_forced_cell_is_read_and_what_stands_before_stays(self, recorded, plain):
        at = screen.do(open_page(), "force", row=2, key=1, strength=0.75, heads=[[0, 1]])
        forced = Force(2, 1, 0.75, ((0, 1),))
        new, _ = assert_steered(at, recorded, {"forced": (forced,)}, plain.predicted_ids[:2])
        assert new.attention("cross")[0, 1, 2, 1] >= 0.75
        at = screen.do(at, "force", row=2, key=3, strength=1.0, heads=[[1, 2], [0, 3]])
        edits = {"forced": (forced, Force(2, 3, 1.0, ((0, 3), (1, 2))))}
        assert_steered(at, recorded, edits, plain.predicted_ids[:2])
        at = screen.do(at, "force", row=2, key=4, strength=1.0, heads=[])
        assert_steered(at, recorded, {"forced": (Force(2, 4),)}, plain.predicted_ids[:2])

    @pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
    def test_a_cell_of_self_attention_is_forced_too(self, recorded, plain, kind):
        at = screen.do(open_page(), "force", kind=kind, row=2, key=1, strength=1.0, heads=[])
        locked = plain.predicted_ids[:2] if kind == "decoder_self" else ()
        new, _ = assert_steered(at, recorded, {"forced": (Force(2, 1, 1.0, (), kind),)}, locked)
        assert (new.attention(kind)[:, :, 2, 1] == 1).all()

    @pytest.mark.parametrize("kind", KINDS)
    def test_painted_cells_are_blocked_in_the_mask_that_the_model_uses(self, recorded, kind):
        at = screen.do(open_page(), "cells", kind=kind, cells=[[2, 0], [2, 1]], open=False)
        cells = (Cell(kind, 2, 0, False), Cell(kind, 2, 1, False))
        new, _ = assert_steered(at, recorded, {"cells": cells})
        assert not new.mask(kind)[2, :2].any() and not screen.weights(at, kind)[:, :, 2, :2].any()
        at = screen.do(at, "cells", kind=kind, cells=[[2, 1]], open=True)
        assert_steered(at, recorded, {"cells": cells[:1]})

    def test_a_cell_that_opens_the_future_is_flagged(self, recorded, plain):
        at = screen.do(open_page(), "cells", kind="decoder_self", cells=[[0, 1]], open=True)
        payload = screen.stage(at)
        assert payload["translation"] == plain.text, "a later word does not exist while it is written"
        assert payload["steering"]["future"].startswith("This mask opens the future")
        assert codes(at) == {"edits": "v1_ad0-1"}


class TestWords:
    @pytest.mark.parametrize("beam", [1, 4])
    @pytest.mark.parametrize(("step", "rank"), [(0, 1), (2, 3)])
    def test_another_word_is_written_and_the_rest_translated_anew(self, recorded, step, rank, beam):
        at = screen.do(open_page(beam=str(beam)), "write", step=step, rank=rank)
        old = recorded.translate(EXAMPLE, beam=beam)
        word = int(np.argsort(-old.trace["logits"][step], kind="stable")[rank])
        new = recorded.translate(EXAMPLE, beam=beam, prefix=[*old.predicted_ids[:step], word])
        assert_shown(at, new)

    def test_a_typed_word_is_written_and_a_beginning_kept(self, recorded, plain):
        at = screen.do(open_page(), "type", step=2, text=" tired man ")
        ids = recorded.tokenizer.target.encode("tired man")
        assert_shown(at, recorded.translate(EXAMPLE, prefix=[*plain.predicted_ids[:2], *ids]))
        at = screen.do(screen.do(at, "reset"), "keep", step=1)
        assert codes(at) == {"prefix": Changes(locked=tuple(plain.predicted_ids[:2])).address()["prefix"]}

    def test_words_are_aligned_one_by_one(self, recorded):
        at = screen.do(open_page(), "write", step=1, rank=2)
        payload = screen.stage(at)
        before, after = (" ".join(filter(None, side)) for side in zip(*payload["steering"]["pairs"]))
        assert (before, after) == (payload["before"]["translation"], payload["translation"])


class TestVersions:
    def test_before_is_the_model_as_it_is_and_the_difference_is_taken_where_tokens_align(self, recorded, plain):
        at = screen.do(open_page(), "write", step=1, rank=2)
        new, old = assert_steered(at, recorded, prefix=read({"prefix": codes(at)["prefix"]}).locked)
        assert new.predicted_tokens != old.predicted_tokens
        for kind in KINDS:
            np.testing.assert_allclose(version(at, "before", kind)["weights"], old.attention(kind), atol=2e-5)
        change = version(at, "difference")
        row = 0  # the same token in both, of the same step
        np.testing.assert_allclose(
            change["weights"][:, :, row],
            new.attention("cross")[:, :, row] - old.attention("cross")[:, :, row],
            atol=4e-5,
        )
        rows = change["shown"][0, 0].any(axis=1)
        assert not rows.all(), "a word that was not there before has nothing to be compared with"
        tokens = [token for token, row in zip(new.predicted_tokens, rows, strict=True) if row]
        assert all(tokens.count(token) <= old.predicted_tokens.count(token) for token in tokens)

    def test_equal_translations_differ_by_their_maps_alone(self, recorded, plain):
        at = screen.do(open_page(), "uniform", kind="encoder_self", layer=0, head=0)
        edits = Edits(uniform=(Head("encoder_self", 0, 0),))
        new = recorded.translate(EXAMPLE, edits=edits)
        change = version(at, "difference", "encoder_self")["weights"]
        np.testing.assert_allclose(change, new.attention("encoder_self") - plain.attention("encoder_self"), atol=4e-5)


class TestPositions:
    def test_they_are_scaled_shifted_and_off(self, recorded, plain):
        at = screen.do(open_page(), "positions", scale="0", stacks="encoder")
        with changed_positions(recorded.config.positional, 0.0, 0, ("encoder",)):
            assert_shown(at, recorded.translate(EXAMPLE))
        assert codes(at) == {"scale": "0", "stacks": "encoder"}
        at = screen.do(at, "positions", scale="1", shift="7")
        with changed_positions(recorded.config.positional, 1.0, 7, ("encoder",)):
            assert_shown(at, recorded.translate(EXAMPLE))
        assert_shown(screen.do(at, "drop", code="positions"), plain)

    @pytest.mark.parametrize("view", first_quick(["map", "lens", "left-out"]))
    def test_direct_effects_are_those_of_the_changed_positions(self, recorded, view):
        at = screen.do(open_page(measure="effects", view=view), "positions", scale="0.5")
        assert not at.exception and not at.error
        with changed_positions(recorded.config.positional, 0.5):
            result = recorded.translate(EXAMPLE)
        effects = screen.stage(at)["effects"]["kinds"]["cross"]["weights"]
        np.testing.assert_allclose(effects, recorded.effects(result, against="runner-up").heads("cross"), atol=1e-4)


class TestChips:
    @pytest.mark.slow
    def test_every_change_is_a_chip_and_is_taken_back_alone(self, recorded, plain):
        query = {
            "edits": "v1_oc0-1_ue1-0_f2-1-0.5_bc1-0",
            "prefix": Changes(locked=tuple(plain.predicted_ids[:2])).address()["prefix"],
            "shift": "3",
        }
        at = open_page(**query)
        chips = [code for code, _ in screen.stage(at)["steering"]["chips"]]
        assert chips == ["oc0-1", "ue1-0", "f2-1-0.5", "bc1-0", "prefix", "positions"]
        for code in chips:
            at = screen.do(at, "drop", code=code)
            assert code not in [code for code, _ in screen.stage(at)["steering"]["chips"]]
        assert_shown(at, plain)
        assert codes(at) == {}

    def test_reset_takes_everything_back(self, recorded, plain):
        at = screen.do(open_page(edits="v1_oc0-1", prefix="v1_300", scale="0.5"), "reset")
        assert_shown(at, plain)
        assert codes(at) == {}


def expect_cut(payload, path, row, key):
    """What travels of a cut is what Python says of the path: the weights before, as predicted, and as they are."""
    place = payload["place"]
    assert (place["kind"], place["layer"], place["head"]) == (path.cut.kind, path.cut.layer, path.cut.head)
    assert (place["row"], place["key"], payload["side"], payload["part"]) == (row, key, path.cut.side, path.cut.part)
    for name, weights in (("before", path.weights), ("predicted", path.predicted), ("actual", path.actual)):
        np.testing.assert_allclose(payload[name], weights[row], atol=1e-6)


class TestCuts:
    @pytest.mark.parametrize(
        "cut",
        [
            Cut("encoder_self", 1, 2, "keys", "positions"),
            Cut("decoder_self", 1, 0, "queries", "attention 0"),
            Cut("cross", 1, 3, "keys", "head 0.1"),
        ],
    )
    def test_a_path_is_cut_and_no_longer(self, recorded, plain, cut):
        at = screen.do(open_page(), "cut", **vars(cut))
        assert_steered(at, recorded, {"cut": (cut,)})
        steering = screen.stage(at)["steering"]
        assert [code for code, _ in steering["chips"]] == [cut.code]
        path = recorded.cut_path(plain, cut)
        change = np.abs(path.actual - path.weights)
        expect_cut(steering["cuts"][0], path, *np.unravel_index(change.argmax(), change.shape))
        at = screen.do(at, "cut", **vars(cut))
        assert_shown(at, plain)
        assert not screen.stage(at)["steering"].get("cuts")

    @pytest.mark.slow
    def test_a_link_says_which_row_each_cut_is_shown_in_alone(self, recorded, plain):
        """Both paths are cut in the translation; the numbers of one are those without the other."""
        cuts = Cut("cross", 1, 1, "queries", "tokens"), Cut("encoder_self", 1, 0, "queries", "head 0.2")
        at = open_page(edits=Edits(cut=cuts).code, kind="encoder_self", row="3", key="2", prefix="v1_300")
        assert_steered(at, recorded, {"cut": cuts}, (300,))
        of_cross, of_encoder = screen.stage(at)["steering"]["cuts"]
        expect_cut(of_encoder, recorded.cut_path(plain, cuts[1]), 3, 2)
        path = recorded.cut_path(plain, cuts[0])
        change = np.abs(path.actual - path.weights)
        expect_cut(of_cross, path, *np.unravel_index(change.argmax(), change.shape))
        assert of_encoder["keys"] == [token.replace("▁", "") for token in plain.source_tokens]

    def test_a_cut_is_shown_in_the_row_that_was_asked_about_until_there_is_another_text(self, recorded, plain):
        cut = Cut("encoder_self", 1, 2, "keys", "positions")
        at = screen.do(open_page(kind="encoder_self", row="0", key="0"), "cut", **vars(cut), row=3, key=2)
        expect_cut(screen.stage(at)["steering"]["cuts"][0], recorded.cut_path(plain, cut), 3, 2)
        at = at.text_input(key="sentence").set_value(SENTENCE).run()
        path = recorded.cut_path(recorded.translate(SENTENCE), cut)
        change = np.abs(path.actual - path.weights)
        expect_cut(screen.stage(at)["steering"]["cuts"][0], path, *np.unravel_index(change.argmax(), change.shape))

    def test_chips_name_parts_in_the_language_of_the_page(self):
        with using("de"):
            assert [part_name(part) for part in ("head 0.2", "positions", "x")] == ["Head 0.2", "Positionen", "x"]

    def test_why_stays_to_be_asked_of_the_unchanged_model(self, recorded, plain):
        cut = Cut("encoder_self", 1, 2, "keys", "positions")
        place = {"view": "why", "version": "before", "kind": "encoder_self", "layer": "1", "head": "2", "row": "1"}
        at = open_page(edits=Edits(cut=(cut,)).code, **place)
        before = screen.message(at)["before"]
        parts = recorded.score_parts(plain, "encoder_self", 1, 2)
        np.testing.assert_allclose(before["why"]["of_keys"], parts.above_mean(parts.of_keys)[:, 1], atol=1e-4)
        assert before["splits"] and not screen.message(at)["after"]["splits"]


class TestSentences:
    @pytest.mark.slow
    def test_changes_that_name_no_word_hold_for_another_sentence_and_the_others_can_be_taken_back(self, recorded):
        at = open_page(edits="v1_oc0-1_bc1-0", prefix="v1_300")
        at = at.text_input(key="sentence").set_value(SENTENCE).run()
        assert_steered(at, recorded, {"off": (Head("cross", 0, 1),)}, text=SENTENCE)
        assert EXAMPLE[:60] in screen.page_text(at)
        at = at.button(key="take-back").click().run()
        assert at.text_input(key="sentence").value == EXAMPLE
        edits = {"off": (Head("cross", 0, 1),), "cells": (Cell("cross", 1, 0, False),)}
        assert_steered(at, recorded, edits, (300,))
        assert not [button for button in at.button if button.key == "take-back"]

    def test_a_bad_text_leaves_the_last_result(self, recorded, plain):
        at = screen.do(open_page(), "off", kind="cross", layer=0, head=1)
        new = recorded.translate(EXAMPLE, edits=Edits(off=(Head("cross", 0, 1),)))
        at = at.text_input(key="sentence").set_value("").run()
        assert "nothing to translate" in screen.warnings(at)[0] and screen.stage(at)["translation"] == new.text

    @pytest.mark.parametrize(
        ("query", "problem"),
        [
            ({"prefix": "12"}, "locked beginning '12' cannot be read"),
            ({"prefix": "v1_" + "-".join(["30"] * 601)}, "has 601 tokens; at most 600"),
            ({"prefix": "v1_30-999999"}, "holds token 999999; tokens are numbered from 0 to"),
            ({"prefix": "v1_0"}, "cannot stand in a prefix"),
            ({"edits": "<script>"}, "begins with 'v1'"),
            ({"edits": "v1_zz"}, "'zz' is not a valid edit"),
            ({"edits": "v1_f1-99-1"}, "of the cross-attention are 0 to"),
            ({"edits": "v1_f1-1-7"}, "from 0 to 1, got 7"),
            ({"edits": "v1_oc9-0"}, "layers of the cross-attention are 0 to 1, got layer 9"),
            ({"edits": "v1_kc0-1-head.9.0"}, "have no part 'head 9.0'; they have tokens, positions"),
            ({"edits": "v1_kc0-1-bias"}, "only a part that stands in the stream can be cut, and 'bias' does not"),
            ({"scale": "nan"}, "allowed is scale 0 - 2"),
            ({"shift": "1e9"}, "allowed is scale 0 - 2"),
            ({"scale": "0.5", "stacks": "all"}, "allowed is scale 0 - 2, shift 0 - 100, stacks both, encoder, decoder"),
        ],
    )
    def test_rubbish_in_a_link_is_one_sentence_and_nothing_is_changed(self, recorded, plain, query, problem):
        at = open_page(**query)
        (warning,) = screen.warnings(at)
        assert problem.lower() in warning.lower()
        assert_shown(at, plain)

    IMPOSSIBLE = [
        {"do": "off", "kind": "cross", "layer": 9, "head": 0},
        {"do": "off", "kind": "other", "layer": 0, "head": 0},
        {"do": "force", "row": 1, "key": 99, "strength": 1, "heads": []},
        {"do": "force", "row": 1, "key": 1, "strength": "x", "heads": []},
        {"do": "write", "step": 99, "rank": 0},
        {"do": "cells", "kind": "cross", "cells": [[1]], "open": True},
        {"do": "type", "step": 0, "text": " "},
        {"do": "type", "step": 99, "text": "x"},
        {"do": "type", "step": 0, "text": "tired " * 100},
        {"do": "cut", "kind": "cross", "layer": 0, "head": 1, "side": "keys", "part": "head 9.0"},
        {"do": "cut", "kind": "cross", "layer": 0, "head": 1, "side": "keys", "part": "bias"},
        {"do": "cut", "kind": "cross", "layer": 9, "head": 1, "side": "keys", "part": "tokens"},
        {"do": "cut", "kind": "cross", "layer": 0, "head": 1, "side": "values", "part": "tokens"},
        {"do": "cut", "kind": "cross", "layer": 1, "head": 1, "side": "keys", "part": "tokens", "row": 99, "key": 0},
        {"do": "cut", "kind": "cross", "layer": 1, "head": 1, "side": "keys", "part": "tokens", "row": 0, "key": -1},
        {"do": "drop", "code": ["x"]},
        {"do": "none"},
        {},
    ]

    @pytest.mark.slow
    def test_a_change_that_cannot_be_made_is_told_and_changes_nothing(self, recorded, plain):
        at = open_page()
        for action in self.IMPOSSIBLE:
            details = {name: value for name, value in action.items() if name != "do"}
            at = screen.do(at, action.get("do", ""), **details)
            assert not at.exception and not screen.warnings(at), action
            problem = screen.stage(at)["steering"]["problem"]
            assert problem.endswith("."), (action, "said beside the changes, where it was asked for")
            assert_shown(at, plain)
            assert codes(at) == {}, action
            at = at.run()
            assert "problem" not in screen.stage(at)["steering"], action

    def test_no_model_is_one_sentence(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        at = screen.open_page("steer.py")
        assert not at.exception and [element.value for element in at.error] == ["No translation model found."]


def test_a_model_without_heads_to_change_gives_way_to_one_that_has(all_systems):
    at = screen.open_app(text=SENTENCE, model="b-gru-attention")
    assert screen.models(at).value == "b-gru-attention" and not screen.warnings(at)
    at = at.switch_page(screen.path("steer.py")).run()
    assert not at.exception and screen.models(at).value == "en-de"
    assert "b-gru-attention" not in screen.models(at).options
    assert at.text_input(key="sentence").value == SENTENCE


@pytest.mark.slow
def test_two_visitors_with_different_changes_never_mix(recorded):
    heads = all_heads(recorded.config)
    chance = random.Random(5)
    visitors = [open_page(text=EXAMPLE), open_page(text=SENTENCE, lang="de")]
    for number in (0, 1, 1, 0, 1, 0):
        head = chance.choice(heads)
        at = visitors[number]
        at = screen.do(screen.do(at, "reset"), "off", kind=head.kind, layer=head.layer, head=head.head)
        visitors[number] = at
        text = (EXAMPLE, SENTENCE)[number]
        assert screen.stage(at)["translation"] == recorded.translate(text, edits=Edits(off=(head,))).text
        assert screen.stage(at)["before"]["translation"] == recorded.translate(text).text
        assert screen.stage(at)["language"] == ("en", "de")[number]


class TestTree:
    def test_the_tree_is_the_search_and_a_click_locks_a_path(self, recorded, plain):
        at = open_page().toggle(key="search-tree").set_value(True).run()
        tree = plain.search.tree
        nodes = {
            node[0]: (trace["name"], hover)
            for trace in screen.figure(at, "tree")["data"]
            if "text" in trace
            for node, hover in zip(trace["customdata"], trace["hovertext"], strict=True)
        }
        assert {node: fate for node, (fate, _) in nodes.items()} == dict(enumerate(tree.fate))
        table = looked_at(recorded, EXAMPLE, tree)
        for node in range(1, len(tree.token)):
            assert f"log-probability {tree.log_probability[node]:.3f}" in nodes[node][1]
            assert f" {table[node, int(table[node].argmax())]:.2f}" in nodes[node][1]
        node = max(node for node, fate in enumerate(tree.fate) if fate == "pruned")
        at = screen.click_marker(at, "tree", node)
        assert_steered(at, recorded, prefix=tuple(tree.path(node)))

    @pytest.mark.parametrize("penalty", [0.0, 2.0])
    def test_the_ranking_is_that_of_a_search_with_the_penalty(self, recorded, penalty):
        at = open_page().toggle(key="search-tree").set_value(True).run().slider(key="rescore").set_value(penalty).run()
        expected = recorded.translate(EXAMPLE, length_penalty=penalty).search.hypotheses
        table = at.dataframe[0].value
        assert list(table["translation"]) == [recorded.tokenizer.decode(hypothesis.ids) for hypothesis in expected]
        np.testing.assert_allclose(table["score"], [hypothesis.score for hypothesis in expected], atol=1e-5)
        at = at.selectbox(key="ranked").set_value(1).run().button(key="lock-ranked").click().run()
        assert screen.stage(at)["translation"] == recorded.tokenizer.decode(expected[1].ids)


@pytest.mark.parametrize(
    "query", [{"edits": "v1_oc0-1_f1-2-1h0-0"}, {"prefix": "v1_260", "edits": "v1_bc2-1"}, {"scale": "0"}]
)
def test_the_report_and_the_python_make_the_same_again(recorded, query):
    at = open_page(text=SENTENCE, **query)
    parts = {part["tag"]: part["text"] for part in screen.message(at)["report"] if "text" in part}
    lines = [part["text"] for part in screen.message(at)["report"] if part["tag"] == "p"]
    assert any("Changed: " in line and "Without the changes the model writes: " in line for line in lines)
    assert "/steer?" in parts["a"]
    params = parse_qs(urlsplit(parts["a"]).query)
    assert {name: value for name, (value,) in params.items()}.items() >= ({"text": SENTENCE} | query).items()
    names: dict = {}
    exec(parts["pre"], names)
    assert names["result"].text == screen.stage(at)["translation"]
