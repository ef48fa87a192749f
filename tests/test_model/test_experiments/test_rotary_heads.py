"""What rotary positions do to a head: the products that its attention takes, pair by pair."""

from __future__ import annotations

import math

import numpy as np
import pytest

from model import load_translator
from model.experiments import positions
from tests.test_app.systems import save_language_model

TEXT = "the cat sat on the mat ."


@pytest.mark.parametrize("layout", ["rotary", "rotary_halves"])
def test_turned_products_are_means_of_what_attention_multiplies(tmp_path, layout):
    writer = load_translator(str(save_language_model(tmp_path / "lm", positional=layout, d_model=24, n_kv_heads=1)))
    before, after = positions.turned_products(writer, TEXT, 30)
    trace, heads = writer.read(TEXT).trace, range(writer.config.n_heads)
    for layer in range(writer.config.n_layers):
        name = f"decoder.layers.{layer}.self_attention"
        q, k = trace[f"{name}.q"], trace[f"{name}.k"][0]
        scale = math.sqrt(writer.config.d_head)
        np.testing.assert_allclose(before[layer], [(q[h] @ k.T).mean() / scale for h in heads], atol=1e-5)
        np.testing.assert_allclose(after[layer, :, 0], before[layer], atol=1e-9)
        turned_q, turned_k = trace[f"{name}.relative.q"], trace[f"{name}.relative.k"][0]
        for h in heads:  # each pair of the text, moved from its own offset to others by the mean's linearity
            cells = [(i, j) for i in range(len(k)) for j in range(i + 1)]
            scores = [turned_q[h][i] @ turned_k[j] for i, j in cells]
            angles = positions.relative_table("rotary", 30, writer.config.d_head)
            for (i, j), score in zip(cells, scores, strict=True):
                assert score == pytest.approx(turn(q[h][i], k[j], angles[i - j], layout), abs=1e-4)
            pairs = [turn(a, b, angles[7], layout) for a in q[h] for b in k]
            assert after[layer, h, 7] == pytest.approx(np.mean(pairs) / scale, abs=1e-5)


def turn(q: np.ndarray, k: np.ndarray, cosines_and_sines: np.ndarray, layout: str) -> float:
    """q k with the key so many positions before the query, in complex numbers: one per pair of dimensions."""
    half = len(q) // 2
    pairs = (slice(0, None, 2), slice(1, None, 2)) if layout == "rotary" else (slice(0, half), slice(half, None))
    a, b = (x[pairs[0]] + 1j * x[pairs[1]] for x in (q, k))
    angle = cosines_and_sines[0::2] + 1j * cosines_and_sines[1::2]
    return float((a.conj() * b / angle).real.sum())


def test_other_positions_are_refused(tmp_path):
    writer = load_translator(str(save_language_model(tmp_path / "lm")))
    with pytest.raises(ValueError, match="not rotary but sinusoidal"):
        positions.turned_products(writer, TEXT, 4)
