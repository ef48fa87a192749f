"""The parts of scores against the network with its norms held, in which one part at a time is left out, in float64."""

from __future__ import annotations

import copy
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model import load_translator
from model.analysis.score_parts import by_group
from model.config import LanguageModelConfig
from model.language_model import LanguageModel
from model.results.translation import module_of
from model.running import attribution
from model.taps import intervene, record
from tests.support.repeated import first_quick
from tests.test_model.builders import SRC, TGT, VARIANTS, D, F, H, V, randomise, tiny_model

LANGUAGE = {
    "language-post": {"tie_embeddings": True, "init": "normal", "activation": "gelu"},
    "language-modern": {"norm": "pre", "positional": "rotary", "norm_type": "rms", "qk_norm": True, "score_cap": 2.0},
    "language-alibi": {"positional": "alibi", "n_kv_heads": 1, "attention_window": 3, "final_norm": True},
}
SENTENCE = "The little girl gave her old dog a new ball."


class HeldNorm(nn.Module):
    """A norm with the deviation that it had in a pass."""

    def __init__(self, norm: nn.Module, x: Tensor) -> None:
        super().__init__()
        self.norm, self.is_centred = norm, isinstance(norm, nn.LayerNorm)
        centred = x - x.mean(-1, keepdim=True) if self.is_centred else x
        self.deviation = (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt()

    def forward(self, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True) if self.is_centred else x
        scaled = centred / self.deviation * self.norm.weight
        return scaled + self.norm.bias if self.is_centred else scaled


@cache
def model_of(name: str) -> nn.Module:
    if name in VARIANTS:
        return tiny_model(**VARIANTS[name])
    torch.manual_seed(0)
    sizes = {"vocab_size": V, "d_model": D, "n_heads": H, "n_layers": 2, "d_ff": F, "max_length": 8}
    model = LanguageModel(LanguageModelConfig(**sizes, **LANGUAGE[name])).double()
    randomise(model)
    return model.eval()


def run(model: nn.Module) -> None:
    with torch.no_grad():
        _ = model(TGT[:1]) if isinstance(model, LanguageModel) else model(SRC[:1], TGT[:1])


def result_of(model: nn.Module) -> SimpleNamespace:
    with record() as trace:
        run(model)
    return SimpleNamespace(config=model.config, trace={name: value[0].numpy() for name, value in trace.items()})


def hold_norms(model: nn.Module) -> nn.Module:
    """A copy of a model with the deviations of all of its norms as constants."""
    held = copy.deepcopy(model)
    inputs: dict[str, Tensor] = {}
    norms = {name: module for name, module in held.named_modules() if isinstance(module, (nn.LayerNorm, nn.RMSNorm))}
    hooks = [
        norm.register_forward_pre_hook(lambda _, arguments, name=name: inputs.update({name: arguments[0]}))
        for name, norm in norms.items()
    ]
    run(held)
    for hook in hooks:
        hook.remove()
    for name, norm in norms.items():
        parent, _, child = name.rpartition(".")
        setattr(held.get_submodule(parent), child, HeldNorm(norm, inputs[name]))
    return held


def address_of(stack: str, part: str) -> tuple[str, int | None]:
    """What writes a part into a stack: an address, and the head."""
    if part in ("tokens", "positions"):
        return f"{stack}.input.{part}", None
    if part.startswith("feed-forward"):
        return f"{stack}.layers.{part.split()[1]}.feed_forward.output", None
    layer, head = part.split()[-1].split(".")
    module = "cross_attention" if part.startswith("cross") else "self_attention"
    return f"{stack}.layers.{layer}.{module}.output", int(head)


def vectors_without(held: nn.Module, module: str, stack: str, part: str | None) -> tuple[np.ndarray, np.ndarray]:
    """The queries (H, T, K) and keys (G, S, K) of an attention, if one part is not in the stream of a stack."""
    with record() as clean:
        run(held)
    outputs = {name: value for name, value in clean.items() if name.endswith(("attention.output", "forward.output"))}
    outputs |= {name: value for name, value in clean.items() if name.endswith(("input.tokens", "input.positions"))}
    changes = {name: (lambda _, value=value: value) for name, value in outputs.items()}
    if part is not None:
        address, head = address_of(stack, part)
        remaining = torch.zeros_like(outputs[address])
        if head is not None:
            attention = held.get_submodule(address.removesuffix(".output"))
            columns = slice(head * attention.d_head, (head + 1) * attention.d_head)
            written = clean[address.removesuffix("output") + "context"][:, head]
            remaining = outputs[address] - written @ attention.output_projection.weight[:, columns].T
        changes[address] = lambda _: remaining
    with intervene(changes), record() as trace:
        run(held)
    turned = f"{module}.relative.q" in trace
    place = f"{module}.relative" if turned else module
    return trace[f"{place}.q"][0].numpy(), trace[f"{place}.k"][0].numpy()


def places_of(model: nn.Module) -> list[tuple[str, int, int]]:
    kinds = ["decoder_self"] if isinstance(model, LanguageModel) else ["encoder_self", "decoder_self", "cross"]
    return [(kind, layer, 2 - layer) for kind in kinds for layer in (0, 1)]


@pytest.mark.parametrize("name", first_quick([*VARIANTS, *LANGUAGE], 12))
def test_every_part_is_what_the_held_network_loses_without_it(name: str) -> None:
    model = model_of(name)
    result, held = result_of(model), hold_norms(model)
    for kind, layer, head in places_of(model):
        parts = attribution.score_parts(model, result, kind, layer, head)
        module = module_of(kind, layer)
        attention = model.get_submodule(module)
        stacks = ("decoder", "encoder") if kind == "cross" else (module.split(".")[0],) * 2
        group = head * attention.n_groups // H
        whole = vectors_without(held, module, "", None)
        sides = []
        for side, (stack, names, place) in enumerate(
            zip(stacks, (parts.query_names, parts.key_names), (head, group), strict=True)
        ):
            named = [part for part in names if part not in ("bias", "distance")]
            assert names[: len(named)] == named  # these come last
            vectors = [whole[side][place] - vectors_without(held, module, stack, part)[side][place] for part in named]
            sides.append(np.array([*vectors, whole[side][place] - np.sum(vectors, axis=0)]))
        expected = np.einsum("atk,bsk->abts", *sides) / np.sqrt(attention.d_head)
        size = expected.shape[:2]
        for query, key in ((0, 0), (3, 1), (4, 4)):
            cell = parts.at(query, key)
            np.testing.assert_allclose(cell[: size[0], : size[1]], expected[:, :, query, key], atol=1e-9)
            np.testing.assert_allclose(cell.sum(), parts.scores[query, key], atol=1e-9)
        bias = result.trace.get(f"{module}.relative.bias")
        assert ("distance" in parts.query_names) == (bias is not None)
        if bias is not None:
            allowed = np.where(parts.mask, bias[head], 0.0)
            np.testing.assert_allclose(parts.of_keys[-1], allowed, atol=1e-12)
        assert parts.rest < 1e-9


@pytest.mark.parametrize("name", first_quick(list(VARIANTS), 4))
def test_scores_are_those_that_were_recorded(name: str) -> None:
    model = model_of(name)
    result = result_of(model)
    for kind, layer, head in places_of(model):
        parts = attribution.score_parts(model, result, kind, layer, head)
        recorded = result.trace[f"{module_of(kind, layer)}.scores"][head]
        assert (np.isfinite(recorded) == parts.mask).all()
        scores = parts.scores
        if parts.cap:  # the split is of the scores before the cap, what is added comes after it
            distance = parts.of_keys[-1] if "distance" in parts.key_names else 0.0
            scores = parts.cap * np.tanh((scores - distance) / parts.cap) + distance
        np.testing.assert_allclose(scores[parts.mask], recorded[parts.mask], atol=1e-9)


def test_sums_shares_and_folds_agree() -> None:
    model = model_of("pre")
    parts = attribution.score_parts(model, result_of(model), "cross", 1, 2)
    pairs = np.array([[parts.at(query, key) for key in range(7)] for query in range(5)]).transpose(2, 3, 0, 1)
    np.testing.assert_allclose(parts.of_keys, pairs.sum(0))
    np.testing.assert_allclose(parts.of_queries, pairs.sum(1))
    np.testing.assert_allclose(parts.keys_of_row(3), pairs.sum(0)[:, 3])
    np.testing.assert_allclose(parts.queries_of_row(3), pairs.sum(1)[:, 3])
    # Shares: the covariance of each pair with the scores, over the keys of each row.
    scores = pairs.sum((0, 1))
    covariances = sum(
        np.cov(np.concatenate([pairs[:, :, row].reshape(-1, 7), scores[None, row]]), bias=True)[-1, :-1]
        for row in range(5)
    )
    expected = covariances.reshape(parts.shares.shape) / sum(scores[row].var() for row in range(5))
    np.testing.assert_allclose(parts.shares, expected, atol=1e-12)
    assert np.isclose(parts.shares.sum(), 1)
    folded = parts.folded()
    assert folded.query_names[2:5] == ["attention 0", "cross-attention 0", "feed-forward 0"]
    of_heads = [name.startswith("head 0.") for name in parts.key_names]
    np.testing.assert_allclose(folded.shares[:, 2].sum(), parts.shares[:, of_heads].sum())
    above = parts.at(3, 4, above_mean=True)
    np.testing.assert_allclose(above, pairs[:, :, 3, 4] - pairs[:, :, 3].mean(-1))


@pytest.mark.parametrize("name", ["pre", "post", "language-alibi"])
def test_all_heads_at_once_are_those_of_each(name: str) -> None:
    model = model_of(name)
    result = result_of(model)
    shares = attribution.score_shares(model, result)
    for kind, layer, head in places_of(model):
        folded = attribution.score_parts(model, result, kind, layer, head).folded(by_group)
        rows = [shares.names.index(name) for name in folded.query_names]
        columns = [shares.names.index(name) for name in folded.key_names]
        of_head = shares.shares[kind][layer, head]
        np.testing.assert_allclose(of_head[np.ix_(rows, columns)], folded.shares, atol=1e-9)
        assert np.isclose(of_head.sum(), 1)


def test_masked_keys_decide_nothing() -> None:
    model = model_of("language-alibi")
    parts = attribution.score_parts(model, result_of(model), "decoder_self", 1, 0)
    assert parts.mask.sum(1).tolist() == [1, 2, 3, 3, 3]  # causal, a window of 3
    above = parts.above_mean(parts.scores)
    assert not above[~parts.mask].any()
    np.testing.assert_allclose(above.sum(1), 0, atol=1e-12)


def test_what_cannot_be_split_is_said() -> None:
    model = model_of("pre")
    result = result_of(model)
    with pytest.raises(ValueError, match="heads of the cross-attention are 0 to 2"):
        attribution.score_parts(model, result, "cross", 0, 3)
    with pytest.raises(ValueError, match="the kind of attention is one of"):
        attribution.score_parts(model, result, "crossed", 0, 0)
    with pytest.raises(ValueError, match="made by another model"):
        attribution.score_parts(tiny_model(seed=1), result, "cross", 1, 0)
    del result.trace["encoder.layers.0.feed_forward.output"]
    with pytest.raises(ValueError, match="the whole trace is needed"):
        attribution.score_parts(model, result, "encoder_self", 1, 0)


def test_the_first_layer_of_the_shipped_translator_looks_by_position() -> None:
    translator = load_translator("en-de")
    result = translator.translate(SENTENCE)
    # In another way: one score matrix from whole vectors of positions alone, with the norm of the whole stream.
    layer = translator.model.encoder.layers[0]
    stream = torch.from_numpy(result.trace["encoder.input.stream"]).double()
    positions = torch.from_numpy(result.trace["encoder.input.positions"]).double()
    centred = positions - positions.mean(-1, keepdim=True)
    norm = layer.residual_self.norm
    normed = centred / (stream.var(-1, correction=0, keepdim=True) + norm.eps).sqrt() * norm.weight.double()
    for head, percent in ((7, 98), (6, 94), (0, 93), (5, 89), (1, 66)):
        rows = slice(32 * head, 32 * (head + 1))
        q, k = (
            normed @ part.weight[rows].double().T
            for part in (layer.self_attention.q_projection, layer.self_attention.k_projection)
        )
        by_position = (q @ k.T / 32**0.5).detach().numpy()
        scores = result.trace["encoder.layers.0.self_attention.scores"][head].astype(float)
        centred_scores = scores - scores.mean(1, keepdims=True)
        expected = (by_position * centred_scores).sum() / (centred_scores**2).sum()
        parts = translator.score_parts(result, "encoder_self", 0, head)
        place = parts.query_names.index("positions")
        assert abs(parts.shares[place, place] - expected) < 1e-5
        assert round(100 * parts.shares[place, place]) == percent
        assert parts.rest <= 1e-5 * np.abs(parts.scores).max()
