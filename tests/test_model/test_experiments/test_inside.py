"""One row of one head: by hand, against what models record, and against the library's attention."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from model.experiments.inside import AS_RECORDED, RECORDED, Switches, are_whole, compute, row, softmax_gradient
from model.taps import record
from tests.test_model.builders import SRC, TGT, K, S, T, tiny_model

Q = np.array([1.0, 0.0, 2.0, 0.0])
KEYS = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 3.0], [2.0, 5.0, 1.0, 0.0]])
VALUES = np.array([[1.0, 0.0, 0.0, 2.0], [0.0, 4.0, 0.0, 0.0], [8.0, 0.0, 1.0, 0.0]])
MASK = np.array([True, True, False])
MODULES = ("encoder.layers.{}.self_attention", "decoder.layers.{}.self_attention", "decoder.layers.{}.cross_attention")


@pytest.fixture(scope="module")
def layers() -> list[dict[str, np.ndarray]]:
    """The inside of every attention of a tiny model, for a full sentence and for a padded one."""
    with torch.no_grad(), record() as trace:
        tiny_model()(SRC, TGT)
    modules = [module.format(layer) for module in MODULES for layer in (0, 1)]
    return [{name: trace[f"{module}.{name}"][b].numpy() for name in RECORDED} for module in modules for b in (0, 1)]


class TestByHand:
    def test_as_the_model_does_it(self):
        head = compute(Q, KEYS, VALUES, MASK)
        np.testing.assert_array_equal(head.products, [[1, 0, 0, 0], [0, 0, 2, 0], [2, 0, 2, 0]])
        np.testing.assert_array_equal(head.raw_scores, [1, 2, 4])
        np.testing.assert_array_equal(head.scaled, [0.5, 1, 2])
        np.testing.assert_array_equal(head.scores, [0.5, 1, -np.inf])
        second = 1 / (1 + math.exp(-0.5))
        np.testing.assert_allclose(head.weights, [1 - second, second, 0], atol=1e-15)
        np.testing.assert_array_equal(head.dropped, head.weights)
        np.testing.assert_allclose(head.weighted[0], [1 - second, 0, 0, 2 - 2 * second], atol=1e-15)
        np.testing.assert_allclose(head.context, [1 - second, 4 * second, 0, 2 - 2 * second], atol=1e-15)

    @pytest.mark.parametrize(
        ("switches", "scores"),
        [
            (Switches(scaled=False), [1, 2, -np.inf]),
            (Switches(temperature=4.0), [0.125, 0.25, -np.inf]),
            (Switches(scaled=False, temperature=0.5), [2, 4, -np.inf]),
            (Switches(masked=False), [0.5, 1, 2]),
        ],
    )
    def test_what_a_switch_makes_of_the_scores(self, switches, scores):
        head = compute(Q, KEYS, VALUES, MASK, switches)
        np.testing.assert_array_equal(head.scores, scores)
        np.testing.assert_array_equal(head.mask, MASK | (not switches.masked))
        exponentials = [math.exp(score) for score in scores]
        np.testing.assert_allclose(head.weights, np.array(exponentials) / sum(exponentials), atol=1e-15)

    def test_a_row_with_nothing_to_read_gives_zeros(self):
        head = compute(Q, KEYS, VALUES, np.zeros(3, bool))
        assert not head.weights.any() and not head.context.any()


class TestDropout:
    def test_a_weight_is_dropped_or_scaled_up_and_the_context_follows(self):
        head = compute(Q, KEYS, VALUES, ~np.zeros(3, bool), Switches(dropout=0.25, draw=3))
        survivors = head.dropped > 0
        np.testing.assert_allclose(head.dropped[survivors], head.weights[survivors] / 0.75)
        np.testing.assert_allclose(head.context, head.dropped @ VALUES)

    def test_every_draw_is_another_and_each_comes_again(self):
        rng = np.random.default_rng(0)
        q, k = rng.normal(size=4), rng.normal(size=(50, 4))
        draws = [compute(q, k, k, np.ones(50, bool), Switches(dropout=0.1, draw=draw)).dropped for draw in range(400)]
        repetition = compute(q, k, k, np.ones(50, bool), Switches(dropout=0.1, draw=7)).dropped
        np.testing.assert_array_equal(draws[7], repetition)
        assert np.any(draws[0] != draws[1])
        dropped = np.mean([draw == 0 for draw in draws])
        assert abs(dropped - 0.1) < 0.01, "the share of dropped weights, of 20,000"


class TestAgainstRecordings:
    def test_without_a_switch_it_is_what_the_model_recorded(self, layers):
        for arrays in layers:
            n_heads, n_queries = arrays["q"].shape[:2]
            for head in range(n_heads):
                for query in range(n_queries):
                    q, k, v = arrays["q"][head, query], arrays["k"][head], arrays["v"][head]
                    computed_row = compute(q, k, v, arrays["mask"][0, query], AS_RECORDED)
                    recorded_row = row(arrays, head, query)
                    for name in ("raw_scores", "scores", "weights", "context"):
                        recorded = arrays[name][head, query]
                        np.testing.assert_allclose(getattr(computed_row, name), recorded, rtol=1e-10, atol=1e-10)
                        np.testing.assert_array_equal(
                            getattr(recorded_row, name), recorded, err_msg="shown as recorded"
                        )

    @pytest.mark.parametrize(
        "switches",
        [Switches(scaled=False), Switches(temperature=2.5), Switches(masked=False), Switches(False, 0.3, False)],
    )
    def test_with_switches_it_is_the_library_with_them(self, layers, switches):
        for arrays in layers:
            q, k, v = (torch.from_numpy(arrays[name]) for name in "qkv")
            scale = (K**-0.5 if switches.scaled else 1.0) / switches.temperature
            mask = torch.from_numpy(arrays["mask"]) if switches.masked else None
            expected = scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale)
            for head, query in np.ndindex(*expected.shape[:2]):
                computed_row = row(arrays, head, query, switches)
                np.testing.assert_allclose(computed_row.context, expected[head, query], rtol=1e-10, atol=1e-10)
                np.testing.assert_array_equal(computed_row.raw_scores, arrays["raw_scores"][head, query])

    @pytest.mark.parametrize(
        "changes", [{"n_kv_heads": 2, "n_heads": 6}, {"positional": "rotary"}, {"qk_norm": True}], ids=str
    )
    def test_heads_that_share_keys_and_turned_queries(self, changes):
        with torch.no_grad(), record() as trace:
            model = tiny_model(**changes)
            model(SRC, TGT)
        assert are_whole(model.config)
        for module in (module.format(1) for module in MODULES):
            arrays = {name: trace[f"{module}.{name}"][0].numpy() for name in RECORDED}
            for head, query in np.ndindex(*arrays["q"].shape[:2]):
                recorded_row = row(arrays, head, query)
                weights = recorded_row.weights
                np.testing.assert_allclose(
                    recorded_row.scaled[recorded_row.mask], recorded_row.scores[recorded_row.mask], rtol=1e-10
                )
                np.testing.assert_allclose(recorded_row.weighted.sum(0), arrays["context"][head, query], atol=1e-10)
                recomputed_row = row(arrays, head, query, Switches(temperature=1 + 1e-12))  # computed, not as recorded
                np.testing.assert_allclose(recomputed_row.weights, weights, atol=1e-9)

    @pytest.mark.parametrize(
        "changes",
        [{"positional": "alibi"}, {"positional": "buckets"}, {"score_cap": 5.0}, {"attention_sink": True}],
        ids=str,
    )
    def test_weights_that_come_from_more_are_not_explained(self, changes):
        assert not are_whole(tiny_model(**changes).config)

    def test_dropout_leaves_the_recorded_weights_as_they_are(self, layers):
        arrays = layers[0]
        dropped_row = row(arrays, 1, 2, Switches(dropout=0.5, draw=2))
        np.testing.assert_array_equal(dropped_row.weights, arrays["weights"][1, 2])
        np.testing.assert_allclose(dropped_row.context, dropped_row.dropped @ arrays["v"][1])

    def test_the_recordings_are_of_every_kind_and_of_both_lengths(self, layers):
        assert {arrays["weights"].shape[1:] for arrays in layers} == {(S, S), (T, T), (T, S)}
        assert not all(arrays["mask"].all() for arrays in layers)


class TestGradient:
    def test_it_is_the_norm_of_the_derivative(self):
        scores = torch.tensor([0.3, -1.0, 2.0, 0.5], dtype=torch.float64)
        jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
        assert softmax_gradient(scores.softmax(-1).numpy()) == pytest.approx(jacobian.norm().item(), rel=1e-12)

    @pytest.mark.parametrize("n", [1, 2, 3, 10])
    def test_keys_that_share_evenly(self, n):
        assert softmax_gradient(np.full(n, 1 / n)) == pytest.approx(math.sqrt(n - 1) / n, abs=1e-12)

    def test_nothing_is_above_the_limit_and_two_even_keys_reach_it(self):
        rng = np.random.default_rng(0)
        for size, sharpness in [(2, 0.1), (3, 0.3), (5, 1.0), (20, 0.05)] * 50:
            weights = rng.dirichlet(np.full(size, sharpness))
            power = (weights**2).sum()
            assert softmax_gradient(weights) <= math.sqrt(max(power - power**2, 0)) + 1e-9 <= 0.5 + 2e-9
        assert softmax_gradient(np.array([0.5, 0, 0.5])) == 0.5
