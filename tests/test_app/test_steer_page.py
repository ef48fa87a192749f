"""The page Steer without a browser: every control and click, against separate translations of the model."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from model.interventions.edits import Cell, Edits, Force
from model.measures.search_attention import looked_at
from tests.test_app import screen
from tests.test_app.test_translate import EXAMPLE
from viz.report import report
from viz.screens import steer_results, whole_report, words_steer
from viz.screens.steer_results import prefix_code, read_prefix

SENTENCE = "A man is too tired."
KINDS = ("encoder_self", "decoder_self", "cross")


def open_page(view=words_steer.WORD, **query):
    at = screen.open_page("steer.py", steer=view, **query)
    assert not at.exception and not at.error
    return at


@pytest.fixture
def plain(recorded):
    return recorded.translate(EXAMPLE)


def state(at):
    return at.session_state["prefix"], at.session_state["edits"]


def assert_shown(at, recorded, text=EXAMPLE, edits="", prefix=""):
    """The page shows what the model writes with these changes, and holds them in its state."""
    assert not at.exception and not at.warning or "opens the future" in at.warning[0].value
    assert state(at) == (prefix, edits)
    expected = recorded.translate(text, edits=Edits.from_code(edits), prefix=read_prefix(prefix))
    assert (expected.text or "(the model wrote nothing)") in [element.value for element in at.text]
    return expected


def z(at, key):
    return screen.values(screen.figure(at, key)["data"][0]["z"])


def outlined(at, key, name):
    """The cells (row, column) in frames of this name."""
    traces = [trace for trace in screen.figure(at, key)["data"] if trace.get("name") == name]
    cells = set()
    for trace in traces:
        xs, ys = (screen.values(trace[axis]).reshape(-1, 6)[:, 0] + 0.5 for axis in "xy")
        cells |= {(int(y), int(x)) for x, y in zip(xs, ys, strict=True)}
    return cells


def metrics(at):
    return {metric.label: metric.value for metric in at.metric}


class TestAnotherWord:
    def test_first_the_models_own_translation_is_shown(self, recorded, plain):
        at = open_page()
        assert_shown(at, recorded)
        assert words_steer.NOTHING in [element.value for element in at.caption]
        logits = plain.trace["logits"]
        probabilities = np.exp(logits - logits.max(-1, keepdims=True))
        probabilities /= probabilities.sum(-1, keepdims=True)
        best = -np.sort(-probabilities, axis=-1)[:, :5]
        np.testing.assert_allclose(z(at, "words"), best, atol=1e-5)

    @pytest.mark.parametrize(("step", "rank"), [(0, 1), (1, 0), (2, 3)])
    def test_a_click_writes_a_word_and_translates_the_rest_anew(self, recorded, plain, step, rank):
        at = screen.click_cell(open_page(), "words", step, rank)
        ids = np.argsort(-plain.trace["logits"][step], kind="stable")
        prefix = [*plain.predicted_ids[:step], int(ids[rank])]
        new = assert_shown(at, recorded, prefix=prefix_code(prefix))
        assert new.predicted_ids[: step + 1] == prefix
        assert {row for row, _ in outlined(at, "words", "locked")} == set(range(step + 1))
        assert f"Before: {plain.text}" in [element.value for element in at.text]
        by_hand = open_page().selectbox(key="word-step").set_value(step).run()
        by_hand = by_hand.selectbox(key="word-rank").set_value(rank).run().button(key="word-write").click().run()
        assert state(by_hand) == state(at)
        assert_shown(at.button(key="unlock").click().run(), recorded)

    def test_before_and_after_are_aligned(self, recorded, plain):
        at = screen.click_cell(open_page(), "words", 0, 1)
        new = recorded.translate(EXAMPLE, prefix=read_prefix(at.session_state["prefix"]))
        table = at.dataframe[0].value
        assert " ".join(word for word in table.loc["before"] if word).split() == plain.text.split()
        assert " ".join(word for word in table.loc["after"] if word).split() == new.text.split()
        for column in table:
            before, after, fate = table[column]
            assert fate == ("" if before == after else "new" if not before else "gone" if not after else "changed")


class TestTree:
    def test_the_tree_is_the_search(self, recorded, plain):
        at = open_page(words_steer.TREE)
        tree = plain.search.tree
        nodes = {
            node[0]: (trace["name"], text, hover)
            for trace in screen.figure(at, "tree")["data"]
            if "text" in trace
            for node, text, hover in zip(trace["customdata"], trace["text"], trace["hovertext"], strict=True)
        }
        assert {node: fate for node, (fate, _, _) in nodes.items()} == dict(enumerate(tree.fate))
        table = looked_at(recorded, EXAMPLE, tree)
        for node in range(1, len(tree.token)):
            assert f"log-probability {tree.log_probability[node]:.3f}" in nodes[node][2]
            best = int(table[node].argmax())
            assert f"its step looked at {best} “" in nodes[node][2] and f" {table[node, best]:.2f}" in nodes[node][2]

    @pytest.mark.parametrize("penalty", [0.0, 2.0])
    def test_the_ranking_is_that_of_a_search_with_the_penalty(self, recorded, penalty):
        at = open_page(words_steer.TREE).slider(key="rescore").set_value(penalty).run()
        assert not at.exception
        expected = recorded.translate(EXAMPLE, length_penalty=penalty).search.hypotheses
        table = at.dataframe[0].value
        assert list(table["translation"]) == [recorded.tokenizer.decode(one.ids) for one in expected]
        np.testing.assert_allclose(table["score"], [one.score for one in expected], atol=1e-5)
        best = next(trace for trace in screen.figure(at, "tree")["data"] if trace.get("name") == "best path")
        length = len(expected[0].ids) + expected[0].finished
        assert np.nanmax(screen.values(best["y"])) == length

    def test_a_click_locks_the_path_to_a_node(self, recorded, plain):
        tree = plain.search.tree
        node = max(node for node, fate in enumerate(tree.fate) if fate == "pruned")
        at = screen.click_marker(open_page(words_steer.TREE), "tree", node)
        assert_shown(at, recorded, prefix=prefix_code(tree.path(node)))
        assert_shown(screen.click_marker(at, "tree", 0), recorded)

    def test_a_hypothesis_is_locked_by_keyboard(self, recorded, plain):
        at = open_page(words_steer.TREE)
        at = at.selectbox(key="ranked").set_value(1).run().button(key="lock-ranked").click().run()
        second = plain.search.hypotheses[1]
        new = assert_shown(at, recorded, prefix=prefix_code(plain.search.tree.path(second.node)))
        assert new.text == recorded.tokenizer.decode(second.ids)

    def test_a_long_search_is_drawn_in_parts(self, monkeypatch, plain):
        tree = plain.search.tree
        deepest = max(len(tree.path(node)) for node in range(len(tree.token)))
        monkeypatch.setattr("viz.screens.steer_search.STEPS_AT_ONCE", deepest - 1)
        at = open_page(words_steer.TREE)
        assert screen.figure(at, "tree")["layout"]["yaxis"]["range"] == [deepest - 0.5, -0.5]
        at = at.slider(key="first").set_value(1).run()
        assert screen.figure(at, "tree")["layout"]["yaxis"]["range"] == [deepest + 0.5, 0.5]


class TestForce:
    def test_a_click_forces_all_heads_and_locks_what_stands_before(self, recorded, plain):
        at = screen.click_cell(open_page(words_steer.FORCE), "force-map", 2, 1)
        new = assert_shown(at, recorded, edits="v1_f2-1-1", prefix=prefix_code(plain.predicted_ids[:2]))
        row = np.zeros(len(new.source_tokens))
        row[1] = 1
        np.testing.assert_array_equal(z(at, "force-map")[2], row)
        np.testing.assert_array_equal(z(at, "force-map"), new.attention("cross")[0, 0])
        assert outlined(at, "force-map", "forced in this head") == {(2, 1)}
        old = recorded.score(EXAMPLE, plain, Edits(forced=(Force(2, 1),)))
        assert metrics(at)["Of the old translation, edited model"] == f"{old:.3f}"
        assert_shown(at.button(key="reset").click().run(), recorded)

    def test_one_head_chosen_heads_and_a_strength(self, recorded, plain):
        at = screen.choose(open_page(words_steer.FORCE), layer=1, head=2, where="one")
        at = at.slider(key="strength").set_value(0.6).run()
        at = at.selectbox(key="force-step").set_value(1).run().selectbox(key="force-key").set_value(3).run()
        at = at.button(key="force").click().run()
        prefix = prefix_code(plain.predicted_ids[:1])
        new = assert_shown(at, recorded, edits="v1_f1-3-0.6h1-2", prefix=prefix)
        np.testing.assert_array_equal(z(at, "force-map"), new.attention("cross")[1, 2])
        at = screen.choose(at, where="some").multiselect(key="heads").set_value([(0, 0), (0, 3)]).run()
        at = screen.click_cell(at, "force-map", 1, 0)
        new = assert_shown(at, recorded, edits="v1_f1-0-0.6h0-0h0-3_f1-3-0.6h1-2", prefix=prefix)
        np.testing.assert_array_equal(z(at, "force-map"), new.attention("cross")[1, 2])
        assert outlined(at, "force-map", "forced in this head") == {(1, 3)}
        assert outlined(at, "force-map", "forced in other heads") == {(1, 0)}
        at = at.selectbox(key="forced").set_value(0).run().button(key="unforce").click().run()
        assert_shown(at, recorded, edits="v1_f1-3-0.6h1-2", prefix=prefix)

    def test_forcing_the_same_step_again_takes_the_place_of_the_first(self, recorded, plain):
        at = screen.click_cell(open_page(words_steer.FORCE), "force-map", 1, 1)
        at = screen.click_cell(at, "force-map", 1, 4)
        assert_shown(at, recorded, edits="v1_f1-4-1", prefix=prefix_code(plain.predicted_ids[:1]))

    def test_no_chosen_head_forces_nothing(self, recorded):
        at = screen.choose(open_page(words_steer.FORCE), where="some").multiselect(key="heads").set_value([]).run()
        assert at.button(key="force").disabled
        assert_shown(screen.click_cell(at, "force-map", 1, 1), recorded)


class TestMask:
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_flipped_cell_is_what_the_model_uses(self, recorded, plain, kind):
        at = screen.choose(open_page(words_steer.MASK), kind=kind)
        np.testing.assert_array_equal(z(at, "mask-map"), plain.mask(kind))
        at = screen.click_cell(at, "mask-map", 2, 1)
        code = Edits(cells=(Cell(kind, 2, 1, False),)).code
        new = assert_shown(at, recorded, edits=code)
        assert not new.mask(kind)[2, 1]
        np.testing.assert_array_equal(z(at, "mask-map"), new.mask(kind))
        assert outlined(at, "mask-map", "edited") == {(2, 1)}
        read = recorded.force(EXAMPLE, plain, Edits.from_code(code)).log_probabilities
        assert metrics(at)["Loss with the edited masks"] == f"{-read.mean():.4f}"
        at = at.selectbox(key="mask-row").set_value(2).run().selectbox(key="mask-column").set_value(1).run()
        assert_shown(at.button(key="flip").click().run(), recorded)

    def test_a_cell_that_opens_the_future_is_flagged_and_measured(self, recorded, plain):
        at = screen.choose(open_page(words_steer.MASK), kind="decoder_self")
        at = screen.click_cell(at, "mask-map", 1, 2)
        cell = Cell("decoder_self", 1, 2, True)
        edits = Edits(cells=(cell,))
        assert_shown(at, recorded, edits=edits.code)
        assert z(at, "mask-map")[1, 2] == 1 and outlined(at, "mask-map", "opens the future") == {(1, 2)}
        assert [element.value for element in at.warning] == [words_steer.FUTURE]
        assert "Cells that open the future: row 1 → column 2" in screen.written(at)
        loss = -recorded.force(EXAMPLE, plain, edits).log_probabilities.mean()
        assert metrics(at)["Loss with the edited masks"] == f"{loss:.4f}"
        honest = metrics(at)["Loss without the cells that open the future"]
        assert honest == metrics(at)["Loss with the masks as they were"] != f"{loss:.4f}"
        assert words_steer.FREE_SAME in [element.value for element in at.caption]
        assert_shown(at.button(key="mask-reset").click().run(), recorded)

    def test_what_masks_do_is_told_apart_from_other_changes(self, recorded, plain):
        prefix, code = prefix_code([*plain.predicted_ids[:1], 300]), "v1_f2-1-0.5_bc1-0_bc2-1_bc2-2"
        at = open_page(words_steer.MASK, text=EXAMPLE, prefix=prefix, edits=code)
        edits, bare = Edits.from_code(code), Edits.from_code("v1_f2-1-0.5")
        without = recorded.translate(EXAMPLE, edits=bare, prefix=read_prefix(prefix))
        changed = recorded.translate(EXAMPLE, edits=edits, prefix=read_prefix(prefix)).text != without.text
        assert (words_steer.FREE_OTHER if changed else words_steer.FREE_SAME) in [c.value for c in at.caption]
        assert not changed or without.text in [element.value for element in at.text]
        losses = [-recorded.force(EXAMPLE, plain, one).log_probabilities.mean() for one in (bare, edits)]
        shown = metrics(at)
        assert shown["Loss with the masks as they were"] == f"{losses[0]:.4f}"
        assert shown["Loss with the edited masks"] == f"{losses[1]:.4f}"

    def test_edits_of_several_masks_are_kept_together(self, recorded):
        at = screen.choose(open_page(words_steer.MASK), kind="encoder_self")
        at = screen.choose(screen.click_cell(at, "mask-map", 0, 3), kind="cross")
        at = screen.click_cell(at, "mask-map", 1, 1)
        assert_shown(at, recorded, edits="v1_bc1-1_be0-3")


class TestState:
    def test_a_link_opens_with_its_changes(self, recorded, plain):
        prefix, edits = prefix_code([*plain.predicted_ids[:1], 300]), "v1_f2-1-0.5_bc1-0"
        at = open_page(words_steer.FORCE, text=EXAMPLE, prefix=prefix, edits=edits)
        new = recorded.translate(EXAMPLE, edits=Edits.from_code(edits), prefix=read_prefix(prefix))
        np.testing.assert_array_equal(z(at, "force-map"), new.attention("cross")[0, 0])

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ({"prefix": "12"}, "locked beginning '12' cannot be read"),
            ({"prefix": "v1_" + "-".join(["30"] * 601)}, "has 601 tokens; at most 600"),
            ({"prefix": "v1_30-999999"}, "holds token 999999; tokens are numbered from 0 to"),
            ({"prefix": "v1_0"}, "cannot stand in a prefix"),
            ({"prefix": "v1_" + "-".join(["300"] * 100)}, "prefix has 100 tokens; at most"),
            ({"edits": "<script>"}, "begins with 'v1'"),
            ({"edits": "v1_zz"}, "'zz' is no edit"),
            ({"edits": "v1_f1-99-1"}, "of the cross-attention are 0 to"),
            ({"edits": "v1_f1-1-7"}, "from 0 to 1, got 7"),
        ],
    )
    def test_rubbish_in_a_link_is_one_sentence_and_the_plain_translation_is_shown(self, recorded, plain, query, said):
        at = open_page(text=EXAMPLE, **query)
        (warning,) = at.warning
        assert said in warning.value and "without changes" in warning.value
        assert plain.text in [element.value for element in at.text]
        at = screen.click_cell(at, "words", 1, 1)
        assert not at.exception

    def test_a_bad_text_leaves_the_last_result(self, recorded, plain):
        at = screen.click_cell(open_page(), "words", 0, 1)
        new = recorded.translate(EXAMPLE, prefix=read_prefix(at.session_state["prefix"]))
        at = at.text_input(key="edits").set_value("v1_f1-1").run()
        (warning,) = at.warning
        assert "'f1-1' is no edit" in warning.value and "the last result" in warning.value
        assert new.text in [element.value for element in at.text]
        at = at.text_input(key="text").set_value("").run()
        assert "nothing to translate" in at.warning[0].value and new.text in [element.value for element in at.text]

    def test_a_new_sentence_starts_without_changes(self, recorded):
        at = screen.click_cell(open_page(), "words", 0, 1)
        assert state(at) != ("", "")
        assert_shown(at.text_input(key="text").set_value(SENTENCE).run(), recorded, SENTENCE)

    def test_greedy_search_is_steered_too(self, recorded):
        at = screen.click_cell(screen.choose(open_page(), beam=1), "words", 1, 1)
        prefix = read_prefix(at.session_state["prefix"])
        assert recorded.translate(EXAMPLE, beam=1, prefix=prefix).text in [element.value for element in at.text]

    def test_two_visitors_do_not_feel_each_other(self, recorded, plain):
        one, other = open_page(words_steer.FORCE), open_page()
        screen.click_cell(one, "force-map", 1, 1)
        assert_shown(other.run(), recorded)
        assert recorded.translate(EXAMPLE).text == plain.text

    def test_no_model_is_one_sentence(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        at = screen.open_page("steer.py")
        assert not at.exception and [element.value for element in at.error] == ["There is no model to translate with."]


@pytest.mark.parametrize("ids", [[], [0], [5, 12, 7999]])
def test_a_locked_beginning_is_written_and_read(ids):
    assert read_prefix(prefix_code(ids)) == ids


@pytest.mark.parametrize(
    ("kind", "query", "key", "expected"),
    [("encoder_self", 9, 9, True), ("cross", 2, 9, True), ("cross", 3, 0, False), ("decoder_self", 2, 3, False)],
)
def test_cells_of_later_steps_are_no_part_of_a_shorter_translation(kind, query, key, expected):
    assert steer_results.in_steps(kind, query, key, 3) is expected


@pytest.fixture
def reports(monkeypatch):
    """What the button of the report is given, instead of being clicked."""
    given = []
    monkeypatch.setattr(whole_report, "partial", lambda make, *arguments: given.append(arguments) or b"")
    return given


@pytest.mark.parametrize(("edits", "locked"), [("", ()), ("v1_oc0-1_f1-2-1h0-0", ()), ("v1_bc2-1", (260,))])
def test_the_report_says_what_was_changed_and_makes_it_again(recorded, reports, edits, locked):
    query = {name: code for name, code in (("edits", edits), ("prefix", prefix_code(list(locked)))) if code}
    at = open_page(text=SENTENCE, **query)
    result, settings = reports[-1]
    expected = assert_shown(at, recorded, SENTENCE, edits, query.get("prefix", ""))
    made = report(result, settings).decode()
    changes = [text for text in re.findall(r"<p>(.*?)</p>", made) if "hange" in text]
    if not query:
        assert not settings.changes and not changes
    else:
        said = words_steer.changes(len(locked), Edits.from_code(edits))
        plain = recorded.translate(SENTENCE)
        assert changes == [
            html.escape(text) for text in (f"Changed: {said}", words_steer.UNCHANGED.format(text=plain.text))
        ]
    assert "/steer?" in settings.link
    asked = parse_qs(urlsplit(settings.link).query)
    assert {name: value for name, (value,) in asked.items()}.items() >= ({"text": SENTENCE} | query).items()
    names: dict = {}
    exec(settings.code, names)
    assert names["result"].text == expected.text == result.text


def test_the_report_of_a_result_that_stayed_leads_to_that_result(recorded, reports):
    at = open_page(text=SENTENCE, edits="v1_oc0-1", beam="2")
    at.text_input(key="text").set_value("x" * 5000).run()
    assert "Shown below: the last result." in screen.warnings(at)[0]
    _, settings = reports[-1]
    asked = {name: value for name, (value,) in parse_qs(urlsplit(settings.link).query).items()}
    assert (asked["text"], asked["edits"], asked["beam"]) == (SENTENCE, "v1_oc0-1", "2")
    assert settings.changes and "v1_oc0-1" in settings.code
    at = screen.open_page("steer.py", text=SENTENCE, edits="nonsense")
    assert "edits" not in parse_qs(urlsplit(reports[-1][1].link).query) and not reports[-1][1].changes
