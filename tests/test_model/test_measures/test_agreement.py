"""Agreement: rank correlations by their definitions, gradients by finite differences, drops by single passes."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch

from model.interventions.edits import Edits, Head
from model.measures import agreement
from model.taps import intervene
from model.text.special import BOS_ID
from tests.test_model.builders import tiny_model
from tests.test_model.test_running.test_attribution import TEXT, translator_of

SOURCE, WRITTEN = [5, 6, 7, 8, 9, 10, 2], [13, 14, 5, 16, 2]


def test_kendall_counts_pairs() -> None:
    values = np.random.default_rng(0).integers(0, 4, (2, 3, 6))
    rates = agreement.kendall(*values)
    for row, (a, b) in enumerate(zip(*values, strict=True)):
        pairs = [(int(np.sign(a[i] - a[j])), int(np.sign(b[i] - b[j]))) for i, j in combinations(range(6), 2)]
        untied = math.prod(sum(pair[side] != 0 for pair in pairs) for side in (0, 1))
        assert rates[row] == pytest.approx(sum(sign * other_sign for sign, other_sign in pairs) / math.sqrt(untied))
    assert np.isnan(agreement.kendall(np.ones(4), np.arange(4)))
    assert agreement.kendall(np.arange(4), -np.arange(4)) == -1


def test_spearman_is_that_of_pandas() -> None:
    a, b = np.random.default_rng(1).integers(0, 9, (2, 40))
    ranked = [pd.Series(values).rank() for values in (a, b)]
    assert agreement.spearman(a, b) == pytest.approx(ranked[0].corr(ranked[1]))


@torch.no_grad()
def test_gradient_times_input_is_the_slope_of_a_tokens_scale() -> None:
    model, step = tiny_model(), 1e-6
    products = agreement.gradient_times_input(model, SOURCE, WRITTEN)

    def score(key: int, scale: float) -> np.ndarray:
        def change(tokens: torch.Tensor) -> torch.Tensor:
            tokens[:, key] *= scale
            return tokens

        with intervene({"encoder.input.tokens": change}):
            logits = model(torch.tensor([SOURCE]), torch.tensor([[BOS_ID, *WRITTEN[:-1]]]))[0]
        return logits.log_softmax(-1)[range(len(WRITTEN)), WRITTEN].numpy()

    assert products.shape == (len(WRITTEN), len(SOURCE))
    for key in range(len(SOURCE)):
        slope = (score(key, 1 + step) - score(key, 1 - step)) / (2 * step)
        np.testing.assert_allclose(products[:, key], slope, atol=1e-7)
    assert np.abs(products).min() > 0


def test_what_heads_do_for_each_word() -> None:
    translator = translator_of()
    result = translator.translate(TEXT)
    measures = agreement.of_words(translator, result)
    n_words = len(result.predicted_ids)
    for kind, layer, head in (("encoder_self", 0, 2), ("decoder_self", 0, 3), ("cross", 2, 1)):
        without = translator.force(TEXT, result, Edits(off=(Head(kind, layer, head),)))
        change = without.log_probabilities - result.log_probabilities
        np.testing.assert_allclose(measures[kind]["log_probability"][layer, head], change, atol=1e-4)
        assert {values.shape for values in measures[kind].values()} == {(*result.attention(kind).shape[:2], n_words)}
    for kind in agreement.DECODER:
        effects = translator.effects(result, "runner-up").heads(kind)
        np.testing.assert_array_equal(measures[kind]["runner-up"], effects.sum(-1))
        np.testing.assert_array_equal(measures[kind]["effect"], np.abs(effects.sum(-1)))
        weights = result.attention(kind)
        for t, allowed in enumerate(result.mask(kind)):  # later words of the translation are not ties
            rate = agreement.kendall(weights[1, 2, t, allowed], effects[1, 2, t, allowed])
            np.testing.assert_allclose(measures[kind]["agreement"][1, 2, t], rate)
    occlusion = agreement.kendall(result.attention("cross"), translator.occlusion(result))
    np.testing.assert_allclose(measures["cross"]["occlusion"], occlusion)
