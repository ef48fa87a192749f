"""The options of the maps: pure functions against plain loops, and the page against the same numbers."""

from __future__ import annotations

import html

import numpy as np
import pytest

from tests.test_app import screen
from tests.test_app.test_translate import EXAMPLE, labelled
from viz.screens import maps

HOW = {"mean": np.mean, "max": np.max, "standard deviation": np.std}
QUERIES = ["<s>", "▁Das", "▁Ti", "er", "."]
PREDICTED = ["▁Das", "▁Ti", "er", ".", "</s>"]
KEYS = ["▁The", "▁an", "im", "al", ".", "</s>"]


@pytest.fixture
def weights():
    values = np.random.default_rng(0).random((2, 3, 5, 6))
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


def build(weights, others=None, **options):
    return maps.build(weights, np.ones(weights.shape[2:], bool), QUERIES, KEYS, maps.Options(**options), others)


@pytest.fixture
def example(recorded):
    return recorded.translate(EXAMPLE, beam=4)


def large(at):
    assert not at.exception
    return screen.values(screen.figure(at, "heatmap")["data"][0]["z"])


def said(at):
    return " ".join(element.value for element in at.caption)


class TestFunctions:
    def test_without_options_everything_is_as_recorded(self, weights):
        built = build(weights)
        np.testing.assert_array_equal(built.weights, weights)
        assert built.shown.all() and (built.queries, built.keys) == (QUERIES, KEYS)
        assert not built.removed.any() and maps.notes(built, 0, 0) == []
        assert maps.title(built, 1, 2) == "layer 1, head 2"

    @pytest.mark.parametrize("how", HOW)
    def test_summaries(self, weights, how):
        for over, shape in {"heads": (2, 1), "layers": (1, 3), "heads and layers": (1, 1)}.items():
            built = build(weights, summary=how, over=over)
            assert built.weights.shape[:2] == shape == (len(built.layer_names), len(built.head_names))
            layer, head = built.place(1, 2)
            part = weights[slice(None) if "layers" in over else 1][..., slice(None) if "heads" in over else 2, :, :]
            expected = HOW[how](part.reshape(-1, 5, 6), axis=0)
            np.testing.assert_allclose(built.weights[layer, head], expected, atol=1e-6)
            notes = " ".join(maps.notes(built, 1, 2))
            assert "No single head looks like this" in notes
            assert ("do not add up to 1" in notes) == (how != "mean")
        assert maps.title(build(weights, summary="mean"), 1, 2) == "mean of 3 heads of layer 1"

    def test_words_and_hidden_tokens(self, weights):
        built = build(weights, merge=True, hide=True, others=PREDICTED)
        assert built.queries == ["Das", "Tier", "."] and built.keys == ["The", "animal", "."]
        assert built.others == ["▁Ti", "er .", "</s>"]
        tier = weights[1, 2, 2:4].mean(axis=0)
        np.testing.assert_allclose(built.weights[1, 2, 1], [tier[0], tier[1:4].sum(), tier[4]], atol=1e-6)
        np.testing.assert_allclose(built.removed[1, 2, 1], tier[5], atol=1e-6)
        np.testing.assert_allclose(built.weights.sum(-1) + built.removed, 1, atol=1e-5)
        note = " ".join(maps.notes(built, 1, 2))
        assert f"{built.removed[1, 2].mean():.1%} of the attention" in note and "1 of the rows and 1 of" in note

    def test_what_a_summary_hides_is_the_mean_over_its_heads(self, weights):
        built = build(weights, summary="max", over="heads", hide=True)
        np.testing.assert_allclose(built.removed[:, 0], weights[..., 1:, 5].mean(axis=1), atol=1e-6)

    def test_a_map_of_special_tokens_only_is_not_emptied(self):
        built = maps.build(
            np.ones((1, 1, 1, 1), np.float32), np.ones((1, 1), bool), ["<s>"], ["<s>"], maps.Options(hide=True)
        )
        assert built.weights.shape == (1, 1, 1, 1) and built.hidden == (0, 0)

    def test_a_word_typed_like_a_special_token_is_not_hidden(self, weights):
        assert not build(weights, hide=True).mask.shape == weights.shape[2:]
        built = maps.build(
            weights[..., :3, :3],
            np.ones((3, 3), bool),
            ["▁<", "s", ">"],
            ["▁<", "s", ">"],
            maps.Options(merge=True, hide=True),
        )
        assert built.hidden == (0, 0) and built.queries == ["<", "s", ">"]

    def test_merged_masks(self):
        mask = np.tril(np.ones((5, 5), bool))
        built = maps.build(np.zeros((1, 1, 5, 5)), mask, QUERIES, QUERIES, maps.Options(merge=True))
        assert built.mask.tolist() == np.tril(np.ones((4, 4), bool)).tolist()

    @pytest.mark.parametrize("share", [50, 80, 99])
    def test_the_threshold_keeps_the_fewest_largest(self, weights, share):
        built = build(weights, share=share)
        np.testing.assert_array_equal(built.weights, weights)
        for place in np.ndindex(2, 3, 5):
            row, shown = weights[place], built.shown[place]
            kept = np.sort(row[shown])
            assert kept.sum() >= share / 100 - 1e-5 and kept[1:].sum() < share / 100
            assert (~shown).sum() == 0 or row[~shown].max() <= kept[0]
        note = maps.notes(built, 1, 2)[-1]
        assert f"{built.shown[1, 2].sum()} of 30 cells are left" in note


class TestPage:
    @pytest.mark.parametrize("how", HOW)
    def test_a_summary_over_heads(self, example, how):
        at = screen.choose(screen.open_app(layer="1"), summary=how)
        weights = example.attention("cross")
        expected = HOW[how](weights, axis=1).astype(np.float32)
        np.testing.assert_allclose(large(at), expected[1], atol=1e-6)
        montage = screen.values(screen.figure(at, "overview")["data"][0]["z"])
        np.testing.assert_array_equal(montage[-len(expected[1]) :, :], large(at))
        assert f"{how} of {weights.shape[1]} heads of layer 1" in " ".join(e.value for e in at.markdown)
        at = screen.click_head(at, 0, 0)
        np.testing.assert_allclose(large(at), expected[0], atol=1e-6)

    def test_a_click_on_a_summary_over_layers_opens_its_head_only(self, example):
        at = screen.open_app(layer="1", summary="mean", over="layers")
        at = screen.click_head(at, 0, 3)
        np.testing.assert_allclose(large(at), example.attention("cross").mean(axis=0)[3], atol=1e-6)
        at = screen.choose(at, summary=maps.SINGLE)
        np.testing.assert_array_equal(large(at), example.attention("cross")[1, 3])

    def test_hidden_tokens(self, example):
        at = screen.open_app().toggle(key="hide").set_value(True).run()
        whole = example.attention("cross")[0, 0]
        np.testing.assert_array_equal(large(at), whole[1:, :-1])
        assert f"{whole[1:, -1].mean():.1%} of the attention" in said(at)
        cell = screen.figure(at, "heatmap")["data"][0]["customdata"][0][0]
        assert cell[0].endswith(f"<br>{whole[1, -1]:.3f} of this row is hidden")

    def test_rows_named_by_the_token_predicted(self, example):
        for kind in ("cross", "decoder_self"):
            at = screen.choose(screen.open_app(), kind=kind, rows="predicted")
            np.testing.assert_array_equal(large(at), example.attention(kind)[0, 0])
            assert screen.tokens(at, "heatmap", "y") == labelled(example.predicted_tokens)
            title = screen.figure(at, "heatmap")["layout"]["yaxis"]["title"]["text"]
            assert title.startswith("token this step predicted (asks)")
            assert "named by the token it predicted;" in said(at) and "token it read;" not in said(at)
            for t, row in enumerate(screen.figure(at, "heatmap")["data"][0]["customdata"]):
                assert row[0][0].endswith(f"read “{html.escape(example.target_tokens[t], quote=False)}”")
        at = screen.choose(at, kind="encoder_self")
        assert screen.tokens(at, "heatmap", "y") == labelled(example.source_tokens)
        assert "predicted" not in said(at)

    def test_words_are_drawn(self, example):
        at = screen.open_app(merge="true", kind="Encoder self")
        assert screen.tokens(at, "heatmap", "x")[:2] == ["A", "man"]
        np.testing.assert_allclose(large(at).sum(axis=1), 1, atol=1e-5)

    def test_a_threshold(self, example):
        at = screen.open_app().slider(key="share").set_value(70).run()
        drawn, whole = large(at), example.attention("cross")[0, 0]
        shown = ~np.isnan(drawn)
        np.testing.assert_array_equal(drawn[shown], whole[shown])
        assert 0 < shown.sum() < shown.size and f"{shown.sum()} of {shown.size} cells are left" in said(at)

    @pytest.mark.parametrize("rubbish", ["", "-5", "1000", "x"])
    def test_rubbish_in_a_link_falls_back(self, example, rubbish):
        at = screen.open_app(summary=rubbish, over=rubbish, rows=rubbish, merge=rubbish, hide=rubbish, share=rubbish)
        np.testing.assert_array_equal(large(at), example.attention("cross")[0, 0])
