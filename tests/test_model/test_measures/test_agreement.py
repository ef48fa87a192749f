"""Agreement: rank correlations by their definitions, gradients by finite differences, drops by single passes."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import torch

from model import load_translator
from model.interventions.edits import Edits, Head
from model.measures import agreement
from model.taps import intervene
from model.text.special import BOS_ID
from tests.test_app.conftest import save_tiny
from tests.test_model.builders import tiny_model
from tests.test_model.test_attribution import TEXT, translator_of

SOURCE, WRITTEN = [5, 6, 7, 8, 9, 10, 2], [13, 14, 5, 16, 2]


def test_kendall_counts_pairs() -> None:
    values = np.random.default_rng(0).integers(0, 4, (2, 3, 6))
    found = agreement.kendall(*values)
    for row, (a, b) in enumerate(zip(*values, strict=True)):
        pairs = [(int(np.sign(a[i] - a[j])), int(np.sign(b[i] - b[j]))) for i, j in combinations(range(6), 2)]
        untied = math.prod(sum(pair[side] != 0 for pair in pairs) for side in (0, 1))
        assert found[row] == pytest.approx(sum(one * two for one, two in pairs) / math.sqrt(untied))
    assert np.isnan(agreement.kendall(np.ones(4), np.arange(4)))
    assert agreement.kendall(np.arange(4), -np.arange(4)) == -1


def test_spearman_is_that_of_pandas() -> None:
    a, b = np.random.default_rng(1).integers(0, 9, (2, 40))
    ranked = [pd.Series(values).rank() for values in (a, b)]
    assert agreement.spearman(a, b) == pytest.approx(ranked[0].corr(ranked[1]))


@torch.no_grad()
def test_gradient_times_input_is_the_slope_of_a_tokens_scale() -> None:
    model, step = tiny_model(), 1e-6
    found = agreement.gradient_times_input(model, SOURCE, WRITTEN)

    def score(key: int, scale: float) -> np.ndarray:
        def change(tokens: torch.Tensor) -> torch.Tensor:
            tokens[:, key] *= scale
            return tokens

        with intervene({"encoder.input.tokens": change}):
            logits = model(torch.tensor([SOURCE]), torch.tensor([[BOS_ID, *WRITTEN[:-1]]]))[0]
        return logits.log_softmax(-1)[range(len(WRITTEN)), WRITTEN].numpy()

    assert found.shape == (len(WRITTEN), len(SOURCE))
    for key in range(len(SOURCE)):
        slope = (score(key, 1 + step) - score(key, 1 - step)) / (2 * step)
        np.testing.assert_allclose(found[:, key], slope, atol=1e-7)
    assert np.abs(found).min() > 0


def test_a_drop_is_that_of_the_head_alone() -> None:
    translator = translator_of()
    result = translator.translate(TEXT)
    found = agreement.of_heads(translator, result)
    assert (
        found["mean"].shape == found["runner-up"].shape == found["drop"].shape == (2, 3, 4, len(result.predicted_ids))
    )
    for place, kind in enumerate(agreement.DECODER):
        for layer, head in ((0, 3), (2, 1)):
            without = translator.force(TEXT, result, Edits(off=(Head(kind, layer, head),)))
            expected = result.log_probabilities - without.log_probabilities
            np.testing.assert_allclose(found["drop"][place, layer, head], expected, atol=1e-4)
        effects = translator.effects(result, "runner-up").heads(kind)
        np.testing.assert_array_equal(found["runner-up"][place], effects.sum(-1))


def test_over_sentences_are_means_over_their_words() -> None:
    translator, texts = translator_of(), [TEXT, "Two young men walk."]
    report = agreement.measure(translator, texts)
    results = [translator.translate(text, beam=1) for text in texts]
    n_words = [len(result.predicted_ids) for result in results]
    assert (report["sentences"], report["words"]) == (2, sum(n_words))
    for name in agreement.MEASURES:
        rows = np.concatenate([agreement.of_keys(translator, result)[name] for result in results], axis=-1)
        np.testing.assert_allclose(report["keys"][name], rows.mean(-1), atol=1e-4)
        assert np.abs(rows).max() <= 1
    found = [agreement.of_heads(translator, result) for result in results]
    drops, effects = (np.concatenate([one[name] for one in found], axis=-1) for name in ("drop", "mean"))
    np.testing.assert_allclose(report["cross"]["drop"], drops[1].mean(-1), atol=1e-4)
    assert report["heads"]["mean"]["spearman"] == pytest.approx(
        agreement.spearman(effects.ravel(), drops.ravel()), abs=1e-4
    )
    words = [agreement.kendall(effects[..., t].ravel(), drops[..., t].ravel()) for t in range(sum(n_words))]
    assert report["heads"]["mean"]["kendall"] == pytest.approx(np.mean(words), abs=1e-4)


def test_what_is_kept_is_of_these_weights(tmp_path) -> None:
    translator = load_translator(str(save_tiny(tmp_path / "en-de")))
    found = {"command": "c", "data": "d", **agreement.measure(translator, ["a cat"])}
    folder, config = translator.folder, translator.config
    assert agreement.kept(folder, config) is None
    agreement.keep(folder, found)
    kept = agreement.kept(folder, config)
    assert kept.pop("weights") and kept == found
    path = folder / agreement.FILE
    path.write_text(path.read_text().replace('"drop"', '"drops"'))
    with pytest.raises(ValueError, match="does not fit the model"):
        agreement.kept(folder, config)
    (folder / "model.safetensors").write_bytes(b"other")
    with pytest.raises(ValueError, match="other weights: run python -m model agree --save again"):
        agreement.kept(folder, config)
