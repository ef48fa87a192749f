"""Queries and keys before their rotation, of every family that has one, against what the model's own code turned."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import torch

from model import attach
from model.analysis.rotation import EDGES, of_row
from tests.support import architectures
from tests.support.architectures import Numbers

WHOLE = ("llama", "qwen3", "gemma2", "gpt_oss", "modernbert")  # that turn every dimension of every layer
PARTLY = ("gpt_neox", "phi", "stablelm")
LAYER = 1


def kind_of(reader: Any) -> str:
    return reader.config.kinds[0]


@pytest.mark.parametrize("name", WHOLE + PARTLY)
def test_queries_and_keys_before_the_rotation(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = attach(architectures.build(name), Numbers())
    result = reader.read(**architectures.inputs_of(name, 12))
    kind = kind_of(reader)
    attention = next(candidate for candidate in reader.layout.attentions if candidate.layer.layer == LAYER)
    file, inputs = sys.modules[type(attention.module).__module__], []
    turn = file.apply_rotary_pos_emb

    def spy(q: torch.Tensor, k: torch.Tensor, *others: Any, **named: Any) -> Any:
        inputs.append((q, k))
        return turn(q, k, *others, **named)

    monkeypatch.setattr(file, "apply_rotary_pos_emb", spy)
    reader.forward(result.inputs)
    monkeypatch.undo()
    rotation, module = reader.rotation(result, kind, LAYER), result.modules(kind)[LAYER]
    for plain, turned, rotated_part in zip(
        (rotation.plain_q, rotation.plain_k), (rotation.q, rotation.k), inputs[LAYER]
    ):
        size = rotated_part.size(-1)  # of a part that is turned
        length = np.hypot(*(result.trace[f"{module}.{table}"][0, 0] for table in ("cos", "sin")))
        np.testing.assert_allclose(plain[..., :size], length * rotated_part[0].detach().numpy(), atol=1e-5)
        np.testing.assert_allclose(plain[:, 0], turned[:, 0], atol=1e-6)  # the first position has an angle of 0
        assert not np.allclose(plain[:, 5], turned[:, 5])
    assert (rotation.angles > 0).all() == (name in WHOLE)
    assert rotation.angles.max() == pytest.approx(1.0, abs=1e-6)  # base ** 0
    raw = result.trace[f"{module}.raw_scores"]  # (H, T, S)
    for head in range(len(raw)):
        of_query = of_row(rotation, head, 9)
        np.testing.assert_allclose(of_query.shares.sum(axis=1), raw[head, 9], atol=1e-4)
        np.testing.assert_allclose(of_query.plain[9], raw[head, 9, 9], atol=1e-4)  # a token and itself
        assert not of_query.shares[9, 1:].any()


def test_the_product_follows_from_the_angles() -> None:
    """Of each pair of a Llama the product is that before the rotation, turned by its angle times the distance."""
    reader = attach(architectures.build("llama"), Numbers())
    result = reader.read(**architectures.inputs_of("llama", 12))
    rotation = reader.rotation(result, "decoder_self", LAYER)
    half = len(rotation.angles) // 2
    query, key, head = 11, 2, 3
    q, k = rotation.plain_q[head, query], rotation.plain_k[head // 2, key]
    turn = (query - key) * rotation.angles[:half]
    same = q[:half] * k[:half] + q[half:] * k[half:]
    across = q[:half] * k[half:] - q[half:] * k[:half]
    products = same * np.cos(turn) + across * np.sin(turn)
    groups = np.searchsorted(EDGES, turn)
    shares = [products[groups == number].sum() for number in range(3)]
    np.testing.assert_allclose(of_row(rotation, head, query).shares[key], shares, atol=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "t5", "bert"])
def test_nothing_turns_without_rotary_positions(name: str) -> None:
    reader = attach(architectures.build(name), Numbers())
    result = reader.read(**architectures.inputs_of(name))
    assert reader.rotation(result, kind_of(reader), 0) is None
