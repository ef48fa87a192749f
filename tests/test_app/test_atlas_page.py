"""The page Head atlas: boards, cards and views show what was measured, and what the model itself says."""

from __future__ import annotations

import base64
import json
import re
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qsl

import numpy as np
import pytest
import streamlit
from PIL import Image

from model import load_translator
from model.analysis import head_roles
from model.interventions.edits import Edits, Head
from model.measures import agreement, atlas, contribution, reports
from model.measures.heads import translators
from model.measures.word_links import LinkedPair, LinkedText
from tests.support.repeated import first_quick
from tests.test_app.conftest import SENTENCES, save_tiny
from tests.test_app.screen import (
    charts,
    choose,
    click_cell,
    click_marker,
    figure,
    framed,
    links,
    message,
    open_page,
    page_text,
    stages,
    values,
    weights,
)
from tests.test_app.screen import head as shown_head
from viz.text.roles import role_name
from viz.ui import thumbnails
from viz.ui.controls import EXAMPLE
from viz.views import view

PAGE = "atlas.py"
SHIPPED = Path(__file__).parents[2] / "checkpoints"
KINDS = ("encoder_self", "decoder_self", "cross")
OFF = Edits(off=(Head("cross", 1, 2), Head("encoder_self", 0, 3)))
PAIRS = list(zip(SENTENCES[:2], SENTENCES[2:], strict=True))


@pytest.fixture(scope="module")
def measured_atlas(tmp_path_factory):
    """A folder with the tiny checkpoint and its atlas, links included; and that atlas."""
    folder = tmp_path_factory.mktemp("measured")
    translator = load_translator(str(save_tiny(folder / "en-de")))
    words = ["A", "man"], ["Ein", "Mann"]
    sets = [
        LinkedText(
            name, ("en", "de"), f"a <b>test</b> of {name}", [LinkedPair(1, "A man", "Ein Mann", *words, sure, sure)], 1
        )
        for name, sure in (("alignment-de-en", frozenset({(0, 0), (1, 1)})), ("toys", frozenset({(1, 0)})))
    ]
    data = {"command": "python -m model atlas --data x", "data": "x.tsv", "credit": "<b>written</b> here"}
    sources, references = zip(*PAIRS, strict=True)
    data |= atlas.measure(translator, sources, 2, references=references, bleu_sentences=1, links=sets)
    data["kinds"]["cross"]["aligns"] = [["", "", "", "input"], ["", "", "output", ""]]  # random heads align nothing
    reports.write(translator.folder / atlas.FILE, data)
    return folder, atlas.read(translator.folder, translator.config)


@pytest.fixture
def report(measured_atlas, tiny_checkpoint, monkeypatch):
    """Has the page find the atlas; returns it."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(measured_atlas[0]))
    return measured_atlas[1]


def z(at, key: str) -> np.ndarray:
    return values(figure(at, key)["data"][0]["z"])


def table(report, measure: str, kinds=KINDS) -> np.ndarray:
    return np.concatenate([report["kinds"][kind][measure] for kind in kinds])


def assert_whole(at) -> None:
    assert not at.exception and not at.error and not at.warning


class TestBoard:
    @pytest.mark.parametrize("measure", first_quick(["sharpness", "rare", "log_probability", "bleu", "gradient"]))
    def test_all_heads_over_held_out_sentences(self, report, measure):
        at = open_page(PAGE, colour=measure)
        assert_whole(at)
        np.testing.assert_allclose(z(at, "role-board"), table(report, measure), atol=1e-6)
        assert report["credit"] in page_text(at) and "2 held-out sentences" in page_text(at)

    def test_a_measure_of_some_kinds_has_only_their_heads(self, report):
        at = open_page(PAGE, colour="effect")
        np.testing.assert_allclose(z(at, "role-board"), table(report, "effect", KINDS[1:]), atol=1e-6)
        at = choose(at, kinds="cross")
        np.testing.assert_allclose(z(at, "role-board"), table(report, "effect", KINDS[2:]), atol=1e-6)
        at = choose(at, kinds="encoder_self")  # of which it is not known: the others stay
        assert z(at, "role-board").shape == (4, 4)

    def test_sorted_by_another_measure_a_click_opens_the_head_that_stands_there(self, report):
        at = open_page(PAGE, colour="entropy", sort="distance")
        by = table(report, "distance").ravel()
        order = np.argsort(-by, kind="stable")
        np.testing.assert_allclose(z(at, "role-board").ravel(), table(report, "entropy").ravel()[order], atol=1e-6)
        row, column = 2, 1
        kind, layer, head = [
            (kind, *place) for kind in KINDS for place in np.ndindex(np.shape(report["kinds"][kind]["role"]))
        ][order[row * 4 + column]]
        at = click_cell(at, "role-board", row, column)
        assert_whole(at)
        assert [at.session_state[name] for name in ("kind", "layer", "head")] == [kind, layer, head]
        (frame,) = figure(at, "role-board")["layout"]["shapes"]
        assert (frame["x0"], frame["y0"]) == (column - 0.5, row - 0.5)

    def test_the_sentence_of_the_visitor_and_what_is_different_there(self, report, recorded):
        result = recorded.translate(EXAMPLE)
        counts = translators.count(recorded, result, agreement.of_words(recorded, result))
        effects = np.concatenate([counts[kind].numbers()["effect"] for kind in KINDS[1:]])
        at = open_page(PAGE, colour="effect", **{"over-what": "sentence"})
        assert_whole(at)
        np.testing.assert_allclose(z(at, "role-board"), effects, atol=1e-5)
        at = choose(at, **{"over-what": "difference"})
        np.testing.assert_allclose(z(at, "role-board"), effects - table(report, "effect", KINDS[1:]), atol=1e-4)
        at = open_page(PAGE, colour="rare", **{"over-what": "sentence"})
        assert "This was not measured in one sentence." in [info.value for info in at.info] and not at.exception

    def test_heads_that_align_words_are_marked(self, report):
        at = open_page(PAGE)
        texts = figure(at, "role-board")["data"][-1]["text"]
        assert {place: text for place, text in enumerate(texts) if "⇄" in text} == {23: "⇄", 26: "⇄"}
        at = choose(at, kinds="encoder_self")
        assert not any("⇄" in text for text in figure(at, "role-board")["data"][-1]["text"])
        card = next(element.value for element in open_page(PAGE, layer="1", head="2").dataframe)
        assert card.loc["role", "held-out"].endswith(" · ⇄ output")

    def test_without_an_atlas_the_sentence_is_shown_and_how_to_make_one(self, recorded):
        at = open_page(PAGE)
        assert_whole(at)
        assert "python -m model atlas --data FILE.tsv --checkpoint en-de" in at.info[0].value
        result = recorded.translate(EXAMPLE)
        sharp = [
            head_roles.tally(
                result.attention(kind),
                result.mask(kind),
                result.target_tokens if kind == "decoder_self" else result.source_tokens,
            ).numbers()["sharpness"]
            for kind in KINDS
        ]
        np.testing.assert_allclose(z(at, "role-board"), np.concatenate(sharp), atol=1e-5)

    def test_an_atlas_of_other_weights_is_told(self, report, tmp_path, monkeypatch):
        folder = save_tiny(tmp_path / "en-de", d_ff=44)
        reports.write(folder / atlas.FILE, report)
        monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
        at = open_page(PAGE)
        assert not at.exception and "run python -m model atlas again" in at.warning[0].value
        assert "role-board" in charts(at)


class TestCard:
    @pytest.mark.parametrize("kind", KINDS)
    def test_the_answer_counts_the_rows_of_this_sentence(self, recorded, kind):
        at = open_page(PAGE, kind=kind, layer="1", head="3")
        weights = recorded.translate(EXAMPLE).attention(kind)[1, 3]
        rows, tops = np.arange(len(weights)), weights.argmax(-1)
        counts = {"the first token": (tops == 0).sum(), "the last token": (tops == weights.shape[1] - 1).sum()}
        if kind != "cross":
            names = {-1: "the token before", 0: "the same token", 1: "the next token"}
            counts |= {name: (tops - rows == offset).sum() for offset, name in names.items()}
        name, count = max(counts.items(), key=lambda item: item[1])
        expected = f"in {count} of {len(weights)} rows the largest weight lies on {name}."
        if 3 * count < len(weights):
            expected = f"on {len(set(tops.tolist()))} different tokens."
        assert framed(at, "answer").endswith(expected)

    @pytest.mark.parametrize("kind", KINDS)
    def test_numbers_held_out_and_here(self, report, recorded, kind):
        at = open_page(PAGE, kind=kind, layer="1", head="3")
        assert_whole(at)
        result = recorded.translate(EXAMPLE)
        keys = result.target_tokens if kind == "decoder_self" else result.source_tokens
        tally = head_roles.tally(result.attention(kind), result.mask(kind), keys)
        card = next(element.value for element in at.dataframe if "held-out" in element.value)
        set_role, sentence_role = card.loc["role", ["held-out", "this sentence"]]
        assert set_role.startswith(role_name(report["kinds"][kind]["role"][1][3]))
        assert sentence_role == role_name(head_roles.roles(tally, kind)[1][3])
        entropies = table(report, "entropy")
        entropy = report["kinds"][kind]["entropy"][1][3]
        rank = f"{(entropies > entropy).sum() + 1} of {entropies.size}"
        expected = [f"{entropy:.3f}", f"{tally.numbers()['entropy'][1, 3]:.3f}", rank]
        assert card.loc["entropy (nats)", ["held-out", "this sentence", "rank, largest first"]].tolist() == expected
        assert ("next token" in card.index) == (kind == "encoder_self")
        np.testing.assert_allclose(weights(at, kind)[1, 3], result.attention(kind)[1, 3], atol=5e-5)
        assert [message(at)["setting"][name] for name in ("kind", "layer", "head")] == [kind, "1", "3"]

    @pytest.mark.parametrize("kind", KINDS)
    def test_examples_open_on_the_stage_with_this_head(self, report, kind):
        at = open_page(PAGE, kind=kind, layer="1", head="2")
        targets = links(at)
        for text, row, *_ in report["kinds"][kind]["examples"][1][2]:
            source = report["texts"][text]
            page, _, query = targets[source].partition("?")
            params = dict(parse_qsl(query))
            assert page == "./" and params.pop("text", view.EXAMPLE) == source
            side = {"pin": f"s{row}"} if kind == "encoder_self" else {"pin": f"t{row}", "measure": "effects"}
            assert params == {"beam": "1", "kind": kind, "layer": "1", "head": "2"} | side
        (link,) = [target for text, target in targets.items() if text == "Open this head on the stage →"]
        assert dict(parse_qsl(link.partition("?")[2])) == {"text": EXAMPLE, "kind": kind, "layer": "1", "head": "2"}

    def test_examples_show_the_map_of_this_head_there(self, report, recorded):
        at = open_page(PAGE, kind="cross", layer="1", head="2")
        (body,) = [part.proto.body for part in at.get("html") if "hl-pictured" in part.proto.body]
        codes = re.findall(r'src="data:image/png;base64,([^"]+)"', body)
        examples = report["kinds"]["cross"]["examples"][1][2]
        assert codes and len(codes) == len(examples)
        for code, (text, *_) in zip(codes, examples, strict=True):
            pixels = np.asarray(Image.open(BytesIO(base64.b64decode(code)))).astype(int)
            result = recorded.translate(report["texts"][text], beam=1)
            expected = thumbnails.weight_pixels(result.attention("cross")[1, 2])
            assert pixels.shape == expected.shape and np.abs(pixels - expected).max() <= 1

    def test_the_most_alike_is_one_click_away(self, report):
        at = open_page(PAGE, kind="encoder_self", layer="2", head="0")
        divergence = np.array(report["kinds"]["encoder_self"]["divergence"])[8]
        nearest = min((value, at) for at, value in enumerate(divergence) if at != 8)[1]
        button = at.button(key=f"like-{nearest // 4}-{nearest % 4}")
        assert button.label == f"{nearest // 4}.{nearest % 4} ({np.sqrt(divergence[nearest]):.2f})"
        at = button.click().run()
        assert (at.session_state["layer"], at.session_state["head"]) == divmod(nearest, 4)

    def test_heads_are_switched_off_on_the_page_steer_with_the_same_change(self):
        at = open_page(PAGE, text="A man is tired.", beam="2", edits=OFF.code)
        assert_whole(at)
        page, _, query = links(at)["Switch heads off in this sentence, on the page Steer →"].partition("?")
        assert page == "./steer"
        head = {"kind": "cross", "layer": "0", "head": "0"}
        assert dict(parse_qsl(query)) == {"text": "A man is tired.", "beam": "2", "edits": OFF.code} | head


class TestViews:
    def test_two_measures_against_each_other_a_click_opens(self, report):
        at = open_page(PAGE, part="scatter", colour="effect", measured="log_probability")
        assert_whole(at)
        of_cross = figure(at, "scatter")["data"][1]
        np.testing.assert_allclose(values(of_cross["x"]), np.ravel(report["kinds"]["cross"]["effect"]), atol=1e-6)
        np.testing.assert_allclose(
            values(of_cross["y"]), np.ravel(report["kinds"]["cross"]["log_probability"]), atol=1e-6
        )
        at = click_marker(at, "scatter", KINDS.index("decoder_self"), 1, 3)
        assert [at.session_state[name] for name in ("kind", "layer", "head")] == ["decoder_self", 1, 3]

    def test_a_click_on_one_of_those_alike_opens_it(self, recorded):
        at = click_marker(open_page(PAGE, part="alike"), "head-map", 1, 2)
        assert_whole(at)
        expected = recorded.translate(EXAMPLE).attention("cross")[1, 2]
        np.testing.assert_allclose(weights(at, "cross")[1, 2], expected, atol=5e-5)

    def test_a_table_has_all_heads_of_a_kind(self, report):
        at = open_page(PAGE, part="table", kind="cross")
        assert_whole(at)
        heads_table = next(element.value for element in at.dataframe if "head" in element.value)
        rates = np.ravel(report["kinds"]["cross"]["aer_output"])
        np.testing.assert_allclose(heads_table["alignment error, step that writes"], rates, atol=1e-4)

    @pytest.mark.slow
    def test_error_rates_of_both_sets_of_links(self, report):
        at = open_page(PAGE, part="alignment")
        for name, result in report["alignment"].items():
            at = choose(at, links=name)
            assert_whole(at)
            for read_at, by_measure in result["aer"].items():
                for measure, rates in by_measure.items():
                    board = figure(at, f"aer-{read_at}-{measure}")["data"][0]
                    expected = np.column_stack([rates["heads"], rates["mean"], rates["max"]])
                    np.testing.assert_allclose(values(board["z"]), expected, atol=1e-6)
                    assert board["reversescale"]
            assert result["made_by"] in page_text(at)
            assert "Left out, links outside their sentence: 1;" in page_text(at)
            text = " ".join([*(element.value for element in at.caption), *(part.proto.body for part in at.get("html"))])
            heads = np.array(result["aer"]["output"]["weights"]["heads"])
            layer, head = np.argwhere(heads == heads.min())[0]
            assert f"Best head: layer {layer}, head {head} with {heads.min():.3f}." in text
            about = {"alignment-de-en": "European Parliament", "multi30k/test_2016_flickr": "Sixty"}
            assert about.get(name, "") in text
        key = "aer-output-weights"
        at = click_cell(at, key, 1, 2)
        assert [at.session_state[name] for name in ("kind", "layer", "head")] == ["cross", 1, 2]
        assert figure(at, key)["layout"]["shapes"][0]["x0"] == 1.5
        at = click_cell(at, key, 0, heads.shape[1])  # the mean of a layer is no head
        assert [at.session_state[name] for name in ("kind", "layer", "head")] == ["cross", 1, 2]

    def test_without_links_the_command_is_shown(self):
        at = open_page(PAGE, part="alignment")
        assert any("--links FOLDER" in info.value for info in at.info)

    def test_weights_beside_what_is_added(self, recorded):
        at = open_page(PAGE, part="contribution", kind="decoder_self", layer="1", head="2")
        assert_whole(at)
        result = recorded.translate(EXAMPLE)
        lengths = contribution.contributions(recorded.model, result, "decoder_self")[1, 2]
        shares = lengths / lengths.sum(-1, keepdims=True)
        weights = result.attention("decoder_self")[1, 2]
        np.testing.assert_allclose(shown_head(at, "weights"), weights, atol=2e-5)
        np.testing.assert_allclose(shown_head(at, "added"), shares, atol=2e-5)
        names = [message(at, key)["after"]["names"]["value"] for key in ("weights", "added")]
        assert names == ["weight", "share"] and stages(at) == {"weights", "added"}

    def test_where_both_differ_most_is_ringed_and_said(self, recorded):
        at = open_page(PAGE, part="contribution", kind="decoder_self", layer="1", head="2")
        weights, shares = shown_head(at, "weights"), shown_head(at, "added")
        ((row, column),) = message(at, "added")["setting"]["rings"]
        assert abs(shares - weights)[row, column] == pytest.approx(abs(shares - weights).max(), abs=4e-5)
        tokens = [token.strip("▁") for token in recorded.translate(EXAMPLE).target_tokens]
        sentence = f"“{tokens[row]}” attends to “{tokens[column]}” with weight {weights[row, column]:.2f}"
        share = f"“{tokens[column]}” makes up {shares[row, column]:.2f} of the contributions."
        assert framed(at, "note") == f"{sentence}; {share}"

    def test_contributions_minus_weights(self, recorded):
        at = open_page(PAGE, part="contribution", layer="1", head="2", **{"added-show": "change"})
        assert_whole(at)
        payload = message(at, "added-change")
        before, after = (payload[version]["recording"]["kinds"][0]["weights"][0, 2] for version in ("before", "after"))
        np.testing.assert_allclose(before, recorded.translate(EXAMPLE).attention("cross")[1, 2], atol=2e-5)
        np.testing.assert_allclose(after.sum(-1), 1, atol=2e-4)
        assert payload["setting"]["version"] == "difference"
        assert payload["after"]["names"]["value"] == "contribution minus weight"

    def test_sinks_are_left_out_and_said(self, recorded):
        at = open_page(PAGE, part="contribution", sinks="punctuation")
        assert_whole(at)
        remaining = shown_head(at, "weights")
        weights = recorded.translate(EXAMPLE).attention("cross")[0, 0]
        assert not remaining[:, -2:].any()  # the full stop and the end of the sentence
        np.testing.assert_allclose(remaining.sum(-1), 1, atol=2e-4)
        gone = weights.sum() - weights[:, remaining.any(axis=0)].sum()
        assert f"{gone / len(weights):.1%} of the weights" in framed(at, "note")

    def test_rollout(self, recorded):
        at = open_page(PAGE, part="rollout")
        assert_whole(at)
        result = recorded.translate(EXAMPLE)
        encoder = contribution.rollout(result.attention("encoder_self"))
        np.testing.assert_allclose(z(at, "rollout-encoder"), encoder, atol=1e-6)
        together = z(at, "rollout-source").sum(-1) + z(at, "rollout-target").sum(-1)
        np.testing.assert_allclose(together, 1, atol=1e-5)


@pytest.mark.slow
def test_the_shipped_atlas_is_of_the_shipped_weights(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    streamlit.cache_resource.clear()
    at = open_page(PAGE, colour="effect")
    assert_whole(at)
    shipped = json.loads((SHIPPED / "en-de" / atlas.FILE).read_text())
    np.testing.assert_allclose(z(at, "role-board"), table(shipped, "effect", KINDS[1:]), rtol=1e-5)
    assert "Tatoeba" in shipped["credit"] and shipped["credit"] in page_text(at)
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()


def test_a_sentence_that_cannot_be_read_keeps_the_last_result():
    at = open_page(PAGE)
    at = at.text_input(key="text").set_value("  ").run()
    assert not at.exception and "There is nothing to translate" in at.warning[0].value
    assert charts(at)
