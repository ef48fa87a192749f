"""Contributions and rollout against hand computation."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from model.measures import contribution
from model.results.translation import MODULES
from model.taps import record
from tests.test_model.builders import SRC, TGT, H, K, S, T, tiny_model


def rows(*shape: int, seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).random(shape)
    return values / values.sum(-1, keepdims=True)


@pytest.mark.parametrize("kind", MODULES)
def test_contributions_are_lengths_of_what_each_key_adds(kind: str) -> None:
    """Key by key: and all vectors of a layer together, with the bias, are the output of the attention."""
    model = tiny_model(torch.float32)
    with record() as trace, torch.no_grad():
        model(SRC[:1], TGT[:1])
    stack, name = MODULES[kind]
    bases = [f"{stack}.layers.{layer}.{name}" for layer in range(2)]
    weights = np.stack([trace[f"{base}.weights"][0].numpy() for base in bases])
    result = SimpleNamespace(trace={k: v[0].numpy() for k, v in trace.items()}, attention=lambda _: weights)
    actual = contribution.contributions(model, result, kind)
    assert actual.shape == weights.shape and actual.dtype == np.float32
    for layer, base in enumerate(bases):
        projection = getattr(getattr(model, stack).layers[layer], name).output_projection
        values, w = trace[f"{base}.v"][0], trace[f"{base}.weights"][0]
        total = projection.bias.expand(w.size(1), -1).clone()
        for head in range(H):
            matrix = projection.weight[:, head * K : (head + 1) * K]
            for t in range(w.size(1)):
                for s in range(w.size(2)):
                    vector = w[head, t, s] * (matrix @ values[head, s])
                    assert actual[layer, head, t, s] == pytest.approx(float(vector.norm()), abs=1e-5)
                    total[t] += vector
        torch.testing.assert_close(total, trace[f"{base}.output"][0], atol=1e-5, rtol=1e-5)


def test_rollout_multiplies_the_layers_from_the_input_up() -> None:
    weights = rows(3, H, S, S)
    mixed = [(layer.mean(0) + np.eye(S)) / 2 for layer in weights]
    np.testing.assert_allclose(contribution.rollout(weights), mixed[2] @ mixed[1] @ mixed[0], atol=1e-6)
    np.testing.assert_allclose(contribution.rollout(weights).sum(-1), 1, atol=1e-6)


def test_the_decoder_leads_to_both_inputs() -> None:
    decoder, cross, encoder = np.tril(rows(2, H, T, T)), rows(2, H, T, S, seed=1), rows(S, S, seed=2)
    decoder /= decoder.sum(-1, keepdims=True)
    target, source = contribution.decoder_rollout(decoder, cross, encoder)
    # The same as one matrix over both inputs side by side, where a source token is its encoder output.
    flow = np.hstack([np.eye(T), np.zeros((T, S))])
    memory = np.hstack([np.zeros((S, T)), encoder])
    for layer in range(2):
        flow = (flow + decoder[layer].mean(0) @ flow) / 2
        flow = (flow + cross[layer].mean(0) @ memory) / 2
    np.testing.assert_allclose(np.hstack([target, source]), flow, atol=1e-6)
    np.testing.assert_allclose(target.sum(-1) + source.sum(-1), 1, atol=1e-6)
    assert not np.triu(target, 1).any()


def test_columns_left_out_are_scaled_up_again() -> None:
    weights = rows(2, T, S).astype(np.float32)
    weights[0, 1] = np.eye(S)[2]
    columns = np.array([False, False, True, False, False, False, True])
    rescaled, removed = contribution.without_columns(weights, columns)
    assert not rescaled[..., columns].any()
    np.testing.assert_allclose(removed, weights[..., 2] + weights[..., 6], atol=1e-6)
    assert not rescaled[0, 1].any() and removed[0, 1] == 1
    expected = weights[1, 3] * ~columns / (1 - removed[1, 3])
    np.testing.assert_allclose(rescaled[1, 3], expected, atol=1e-6)


def test_every_rollout_that_the_maps_allow() -> None:
    decoder, cross, encoder = np.tril(rows(2, H, T, T)), rows(2, H, T, S, seed=1), rows(3, H, S, S, seed=2)
    below = contribution.rollout(encoder)
    target, source = contribution.decoder_rollout(decoder, cross, below)
    rollouts = contribution.rollouts({"encoder_self": encoder, "decoder_self": decoder, "cross": cross})
    assert list(rollouts) == ["encoder", "target", "source"]
    for name, expected in (("encoder", below), ("target", target), ("source", source)):
        np.testing.assert_array_equal(rollouts[name], expected)
    # Without the encoder's maps the source ends at its outputs, and a decoder alone is followed as an encoder is.
    outputs = contribution.rollouts({"decoder_self": decoder, "cross": cross})
    np.testing.assert_allclose(outputs["source"] @ below, source, atol=1e-6)
    assert set(outputs) == {"target", "source"}
    alone = contribution.rollouts({"decoder_self": decoder})
    assert list(alone) == ["target"]
    np.testing.assert_array_equal(alone["target"], contribution.rollout(decoder))
    assert contribution.rollouts({"cross": cross}) == {}
    with pytest.raises(ValueError, match="got 2 and 1 layers"):
        contribution.rollouts({"decoder_self": decoder, "cross": cross[:1]})
