"""The options of the maps: pure functions against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from viz.views import maps
from viz.views.view import View

HOW = {"mean": np.mean, "max": np.max, "deviation": np.std}
QUERIES = ["<s>", "▁Das", "▁Ti", "er", "."]
PREDICTED = ["▁Das", "▁Ti", "er", ".", "</s>"]
KEYS = ["▁The", "▁an", "im", "al", ".", "</s>"]


@pytest.fixture
def weights():
    values = np.random.default_rng(0).random((2, 3, 5, 6))
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


def build(weights, others=None, **options):
    return maps.build(weights, np.ones(weights.shape[2:], bool), QUERIES, KEYS, View(**options), others)


class TestFunctions:
    def test_without_options_everything_is_as_recorded(self, weights):
        built = build(weights)
        np.testing.assert_array_equal(built.weights, weights)
        assert built.shown.all() and (built.queries, built.keys) == (QUERIES, KEYS)
        assert not built.removed.any() and maps.notes(built, 0, 0) == []

    @pytest.mark.parametrize("how", HOW)
    def test_summaries(self, weights, how):
        for over, shape in {"heads": (2, 1), "layers": (1, 3), "all": (1, 1)}.items():
            built = build(weights, summary=how, over=over)
            assert built.weights.shape[:2] == shape == (len(built.layer_names), len(built.head_names))
            layer, head = shape[0] - 1, shape[1] - 1
            part = weights[slice(None) if over != "heads" else 1][..., slice(None) if over != "layers" else 2, :, :]
            expected = HOW[how](part.reshape(-1, 5, 6), axis=0)
            np.testing.assert_allclose(built.weights[layer, head], expected, atol=1e-6)
            notes = " ".join(maps.notes(built, layer, head))
            assert "No single head looks like this" in notes
            assert ("do not add up to 1" in notes) == (how != "mean")

    def test_words_and_hidden_tokens(self, weights):
        built = build(weights, words=True, hide=True, others=PREDICTED)
        assert built.queries == ["Das", "Tier", "."] and built.keys == ["The", "animal", "."]
        assert built.others == ["▁Ti", "er .", "</s>"]
        tier = weights[1, 2, 2:4].mean(axis=0)
        np.testing.assert_allclose(built.weights[1, 2, 1], [tier[0], tier[1:4].sum(), tier[4]], atol=1e-6)
        np.testing.assert_allclose(built.removed[1, 2, 1], tier[5], atol=1e-6)
        np.testing.assert_allclose(built.weights.sum(-1) + built.removed, 1, atol=1e-5)
        note = " ".join(maps.notes(built, 1, 2))
        assert f"{built.removed[1, 2].mean():.1%} of a remaining row" in note

    def test_what_a_summary_hides_is_the_mean_over_its_heads(self, weights):
        built = build(weights, summary="max", over="heads", hide=True)
        np.testing.assert_allclose(built.removed[:, 0], weights[..., 1:, 5].mean(axis=1), atol=1e-6)

    def test_a_map_of_special_tokens_only_is_not_emptied(self):
        built = maps.build(np.ones((1, 1, 1, 1), np.float32), np.ones((1, 1), bool), ["<s>"], ["<s>"], View(hide=True))
        assert built.weights.shape == (1, 1, 1, 1)

    def test_a_word_typed_like_a_special_token_is_not_hidden(self, weights):
        assert not build(weights, hide=True).mask.shape == weights.shape[2:]
        built = maps.build(
            weights[..., :3, :3],
            np.ones((3, 3), bool),
            ["▁<", "s", ">"],
            ["▁<", "s", ">"],
            View(words=True, hide=True),
        )
        assert built.queries == ["<", "s", ">"]

    def test_merged_masks(self):
        mask = np.tril(np.ones((5, 5), bool))
        built = maps.build(np.zeros((1, 1, 5, 5)), mask, QUERIES, QUERIES, View(words=True))
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


class TestDifference:
    @staticmethod
    def of(tokens: list[str], layers: int, heads: int) -> maps.Maps:
        shape = (layers, heads, len(tokens), len(tokens))
        weights = np.random.default_rng(layers).random(shape, dtype=np.float32)
        return maps.build(weights, np.ones(shape[2:], bool), tokens, tokens, View())

    def test_replaced_and_equal_tokens_are_aligned_in_order_and_the_heads_that_both_have(self):
        before = self.of(["▁too", "▁too", "▁tired", "."], 2, 3)
        after = self.of(["▁too", "▁too", "▁so", "▁old", "."], 3, 2)
        rows, columns = maps.aligned(before, after)
        assert rows == columns
        assert {(0, 0), (1, 1), (3, 4)} < set(rows) and len(rows) == 4, "and one of two words replaces tired"
        place = dict(rows)[2]
        made = maps.difference(before, after, replaced=True)
        assert made.weights.shape == (2, 2, 5, 5)
        for i, j in rows:
            for k, m in columns:
                wanted = after.weights[:2, :2, j, m] - before.weights[:2, :2, i, k]
                np.testing.assert_allclose(made.weights[:, :, j, m], wanted, atol=1e-7)
        alone = ({2, 3} - {place}).pop()
        assert not made.shown[:, :, alone].any() and not made.shown[..., alone].any()
        assert made.shown.sum() == 2 * 2 * 4 * 4
        assert made.queries[place] == f"tired → {after.queries[place][1:]}"
        assert made.queries[alone] == after.queries[alone]
        assert len(made.layer_names) == len(made.head_names) == 2

    def test_without_replaced_ones_only_equal_tokens_are_compared(self):
        before, after = self.of(["a", "b", "c"], 1, 1), self.of(["a", "x", "c"], 1, 1)
        made = maps.difference(before, after)
        assert made.queries == ["a", "x", "c"]
        assert made.shown[0, 0].tolist() == [[True, False, True], [False] * 3, [True, False, True]]
