"""The points of a head against plain transformers, one text at a time, and a singular value decomposition of all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

from model import attach
from model.interventions.edits import Head
from model.measures.corpus import points
from tests.support.architectures import Numbers, build

DRAW = np.random.default_rng(11)
TEXTS = [" ".join(map(str, DRAW.integers(5, 15, length))) for length in DRAW.integers(2, 12, 30)]
LAYER, HEAD = 1, 1


@torch.inference_mode()
def plain(network: Any, ids: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What a head writes into the stream (T, D), its q and k after rotation (T, K), its weights (T, T)."""
    attention, seen = network.model.layers[LAYER].self_attn, {}
    hooks = [attention.o_proj.register_forward_pre_hook(lambda _, given: seen.update(o=given[0][0]))]
    for name in ("q_proj", "k_proj"):
        keep = lambda _, __, out, name=name: seen.update({name: out[0]})  # noqa: E731
        hooks.append(getattr(attention, name).register_forward_hook(keep))
    result = network(torch.tensor([ids]), output_attentions=True)
    for hook in hooks:
        hook.remove()
    width = attention.head_dim
    mine = slice(HEAD * width, (HEAD + 1) * width)
    written = seen["o"][:, mine] @ attention.o_proj.weight[:, mine].T
    angles = network.model.rotary_emb(seen["o"][None], torch.arange(len(ids))[None])
    q, k = (seen[name].view(len(ids), -1, width).transpose(0, 1)[None] for name in ("q_proj", "k_proj"))
    q, k = (x[0] for x in apply_rotary_pos_emb(q, k, *angles))
    k = k.repeat_interleave(len(q) // len(k), dim=0)
    return tuple(x.numpy() for x in (written, q[HEAD], k[HEAD], result.attentions[LAYER][0, HEAD]))


def test_points_are_the_principal_components_of_what_plain_transformers_has() -> None:
    network = build("llama").eval()
    with attach(network, Numbers()) as reader:
        of_head = points.read_head(reader, TEXTS, Head("decoder_self", LAYER, HEAD))
        ids = [reader.encode(text)["input_ids"][0].tolist() for text in TEXTS]
    network.set_attn_implementation("eager")
    values = [plain(network, of_text) for of_text in ids]
    for number, side in enumerate(points.SIDES):
        mine = of_head[side]
        places = list(zip(mine.texts.tolist(), mine.places.tolist()))
        first = 0 if side == "keys" else 1  # a row that may attend to itself alone has no choice
        assert sorted(places) == [(text, row) for text in range(30) for row in range(first, len(ids[text]))]
        expected = np.stack([values[text][number][row] for text, row in places]).astype(float)
        expected -= expected.mean(0)
        left, sizes, _ = np.linalg.svd(expected, full_matrices=False)
        plane = points.plane(mine.vectors)
        for component in range(2):
            column, own = left[:, component] * sizes[component], plane.coordinates[:, component]
            np.testing.assert_allclose(own * np.sign(own @ column), column, atol=2e-4 * sizes[0])
        np.testing.assert_allclose(plane.shares, sizes[:2] ** 2 / (sizes**2).sum(), atol=1e-5)
    rows = of_head["outputs"]
    largest = [values[text][3][row].argmax() for text, row in zip(rows.texts, rows.places)]
    assert rows.keys.tolist() == largest
    rules = list(points.of_kind("decoder_self"))
    groups = points.groups(rows, "rule", rules, ["previous token"])
    assert groups["previous token"].tolist() == np.flatnonzero(rows.keys == rows.places - 1).tolist()
    assert sum(map(len, groups.values())) == len(rows.places)


def test_fewer_than_three_points_have_no_plane_and_equal_ones_have_one() -> None:
    with pytest.raises(ValueError, match="three rows"):
        points.plane(np.zeros((2, 4)))
    equal = points.plane(np.ones((5, 4)))
    assert not equal.coordinates.any() and not equal.shares.any()


def test_positions_are_counted_in_bins() -> None:
    with attach(build("llama"), Numbers()) as reader:
        keys = points.read_head(reader, TEXTS, Head("decoder_self", 0, 0))["keys"]
    groups = points.groups(keys, "position")
    assert sorted(keys.places[groups["2 … 3"]].tolist()) == sorted(place for place in keys.places if place in (2, 3))
    assert set(points.groups(keys, "class")) == {"number"}
