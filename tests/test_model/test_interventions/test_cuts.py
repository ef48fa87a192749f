"""Cuts of paths in our models against three passes made with taps by hand: whole, without the part, and changed."""

from __future__ import annotations

import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model import load_translator
from model.attention import MultiHeadAttention
from model.config import GruConfig
from model.interventions.edits import Cut, Edits, Head
from model.results.translation import module_of
from model.running import attribution
from model.running.cut_path import compare_cut
from model.taps import intervene, record
from tests.support.repeated import first_quick
from tests.test_model.builders import SRC, TGT, TGT_LENGTHS, VARIANTS, H, T, assert_near, tiny_model

CUTS = [
    Cut("encoder_self", 1, 2, "keys", "positions"),
    Cut("encoder_self", 1, 1, "queries", "head 0.2"),
    Cut("decoder_self", 1, 0, "keys", "cross head 0.1"),
    Cut("decoder_self", 1, 2, "queries", "attention 0"),
    Cut("cross", 0, 1, "keys", "head 1.0"),
    Cut("cross", 1, 2, "keys", "tokens"),
    Cut("cross", 1, 0, "queries", "feed-forward 0"),
]
SENTENCE = "The little girl gave her old dog a new ball."


@cache
def model_of(name: str) -> nn.Module:
    return tiny_model(**VARIANTS[name])


def run(model: nn.Module) -> Tensor:
    with torch.no_grad():
        return model(SRC, TGT)


def written_by_hand(model: nn.Module, clean: dict[str, Tensor], stack: str, part: str) -> dict[str, Tensor]:
    """By the address of what writes a part its output without it."""
    if part in ("tokens", "positions"):
        address = f"{stack}.input.{part}"
        return {address: torch.zeros_like(clean[address])}
    layer, _, head = part.split()[-1].partition(".")
    if part.startswith("feed-forward"):
        address = f"{stack}.layers.{layer}.feed_forward.output"
        return {address: torch.zeros_like(clean[address])}
    module = f"{stack}.layers.{layer}.{'cross' if part.startswith('cross') else 'self'}_attention"
    context = clean[f"{module}.context"].clone()  # (B, H, T, K)
    context[:, int(head) if head else slice(None)] = 0
    projection = model.get_submodule(module).output_projection
    return {f"{module}.output": projection(context.transpose(1, 2).flatten(2))}


@torch.no_grad()
def cut_by_hand(model: nn.Module, cut: Cut) -> tuple[Tensor, Tensor]:
    """The weights (B, T, S) of the head, and the logits, with the path cut."""
    module = module_of(cut.kind, cut.layer)
    attention: MultiHeadAttention = model.get_submodule(module)
    stack = "encoder" if cut.kind == "cross" and cut.side == "keys" else module.split(".")[0]
    with record() as trace:
        run(model)
    clean = dict(trace)
    outputs = {name: value for name, value in clean.items() if name.endswith(("attention.output", "forward.output"))}
    outputs |= {name: value for name, value in clean.items() if name.endswith(("input.tokens", "input.positions"))}
    outputs |= written_by_hand(model, clean, stack, cut.part)
    with intervene({name: lambda _, value=value: value for name, value in outputs.items()}), record() as without:
        run(model)
    place = f"{module}.relative" if f"{module}.relative.q" in clean else module
    sides = {"queries": (without, clean), "keys": (clean, without)}[cut.side]
    group = cut.head * attention.n_groups // H
    q, k = sides[0][f"{place}.q"][:, cut.head], sides[1][f"{place}.k"][:, group]
    scores = q @ k.transpose(-2, -1) / math.sqrt(attention.d_head)
    if attention.score_cap:
        scores = attention.score_cap * (scores / attention.score_cap).tanh()
    if f"{module}.relative.bias" in clean:
        scores = scores + clean[f"{module}.relative.bias"][:, cut.head]
    exponentials = torch.where(clean[f"{module}.mask"][:, 0], scores.exp(), 0.0)
    total = exponentials.sum(-1, keepdim=True)
    if attention.sink is not None:
        total = total + attention.sink[cut.head].exp()
    weights = exponentials / total.clamp(min=1e-300)

    def replace(value: Tensor) -> Tensor:
        value[:, cut.head] = weights
        return value

    with intervene({f"{module}.weights": replace}):
        return weights, run(model)


@torch.no_grad()
def cut_by_edits(model: nn.Module, edits: Edits, steps: bool = False) -> tuple[dict[str, Tensor], Tensor]:
    edits = Edits.from_code(edits.code)
    edits.check(model.config)
    with edits.applied(model, "encoder"), record() as encoded:
        state = model.start(SRC)
    with edits.applied(model, "decoder"), record() as decoded:
        if not steps:
            logits = model.read(TGT, state)
            return {**encoded, **decoded}, logits
        return {}, torch.stack([model.step(state, TGT[:, t]) for t in range(T)], dim=1)


@pytest.mark.parametrize("name", first_quick(list(VARIANTS), 5))
def test_a_cut_is_what_three_passes_make_of_it(name: str) -> None:
    model = model_of(name)
    for cut in CUTS:
        if cut.part == "positions" and VARIANTS[name].get("positional", "")[:3] in ("rot", "ali", "buc"):
            continue  # nothing is added
        weights, logits = cut_by_hand(model, cut)
        trace, changed = cut_by_edits(model, Edits(cut=(cut,)))
        of_layer = trace[f"{module_of(cut.kind, cut.layer)}.weights"]
        assert_near(of_layer[:, cut.head], weights)
        assert_near(changed, logits)
        assert not torch.allclose(changed, run(model))
        _, stepped = cut_by_edits(model, Edits(cut=(cut,)), steps=True)
        for row, length in enumerate(TGT_LENGTHS):
            assert_near(stepped[row, :length], changed[row, :length])


@pytest.mark.parametrize("name", ["pre", "modern"])
def test_parts_and_heads_are_cut_side_by_side(name: str) -> None:
    model = model_of(name)
    heads = [Cut("decoder_self", 1, 0, "keys", f"head 0.{head}") for head in range(H)]
    module = Cut("decoder_self", 1, 0, "keys", "attention 0")
    other = Cut("decoder_self", 1, 2, "keys", "tokens")
    _, together = cut_by_edits(model, Edits(cut=(module,)))
    _, by_head = cut_by_edits(model, Edits(cut=tuple(heads)))
    assert_near(by_head, together)
    trace, _ = cut_by_edits(model, Edits(cut=(module, other)))
    for cut in (module, other):
        weights, _ = cut_by_hand(model, cut)  # heads of one layer know nothing of each other
        assert_near(trace["decoder.layers.1.self_attention.weights"][:, cut.head], weights)
    off = Edits(off=(Head("decoder_self", 1, 0),), cut=(module,))
    assert_near(cut_by_edits(model, off)[1], cut_by_edits(model, Edits(off=off.off))[1])


def test_the_prediction_is_the_softmax_of_the_other_parts() -> None:
    translator = load_translator("en-de")
    result = translator.translate(SENTENCE, beam=1)
    cut = Cut("encoder_self", 0, 7, "keys", "positions")
    outcome = translator.cut_path(result, cut)
    parts = translator.score_parts(result, "encoder_self", 0, 7)
    place = parts.key_names.index("positions")
    cells = np.ndindex(parts.scores.shape)
    scores = np.reshape([np.delete(parts.at(*cell), place, axis=1).sum() for cell in cells], parts.scores.shape)
    expected = torch.from_numpy(scores).softmax(-1).numpy()
    np.testing.assert_allclose(outcome.predicted, expected, atol=1e-5)
    np.testing.assert_array_equal(outcome.weights, result.attention("encoder_self")[0, 7])
    np.testing.assert_array_equal(outcome.actual, outcome.result.attention("encoder_self")[0, 7])
    assert outcome.weights[2, 2] > 0.8 or outcome.weights.max() > 0.9  # it looks by position alone
    assert outcome.actual.max() < 0.5
    written = translator.translate(SENTENCE, beam=1, edits=outcome.edits)
    forced = translator.force(SENTENCE, written, outcome.edits)
    np.testing.assert_allclose(written.trace["logits"], forced.trace["logits"], atol=1e-5)


@pytest.mark.parametrize("name", ["pre", "biased"])
def test_where_no_norm_changes_the_prediction_is_what_happens(name: str) -> None:
    # A part that is far too small to change a deviation: the split and the cut agree.
    model = tiny_model(**VARIANTS[name])
    with torch.no_grad():
        model.encoder.layers[0].feed_forward.outer.weight *= 1e-5
        model.encoder.layers[0].feed_forward.outer.bias *= 1e-5
    cut = Cut("encoder_self", 1, 0, "keys", "feed-forward 0")
    trace, _ = cut_by_edits(model, Edits())
    changed, _ = cut_by_edits(model, Edits(cut=(cut,)))
    before, after = (
        SimpleNamespace(config=model.config, trace={name: value[0].numpy() for name, value in each.items()})
        for each in (trace, changed)
    )
    outcome = compare_cut(cut, attribution.score_parts(model, before, "encoder_self", 1, 0), before, after)
    change = outcome.actual - outcome.weights
    assert np.abs(change).max() > 1e-9
    np.testing.assert_allclose(outcome.predicted - outcome.weights, change, atol=np.abs(change).max() / 2)


def test_what_cannot_be_cut_is_said() -> None:
    translator = load_translator("en-de")
    for cut, reason in (
        (Cut("cross", 1, 2, "keys", "cross head 0.1"), "have no part 'cross head 0.1'; they have tokens, positions"),
        (Cut("decoder_self", 0, 2, "keys", "feed-forward 0"), "they have tokens, positions$"),
        (Cut("decoder_self", 0, 8, "keys", "tokens"), "heads of the decoder self-attention are 0 to 7"),
        (Cut("decoder_self", 9, 0, "keys", "tokens"), "layers of the decoder self-attention are 0 to"),
    ):
        with pytest.raises(ValueError, match=reason):
            translator.translate("The dog.", edits=Edits(cut=(cut,)))
    for values, reason in (
        (("cross", 0, 0, "values", "tokens"), "from the queries or the keys of a head, got 'values'"),
        (("crossed", 0, 0, "keys", "tokens"), "the kind of attention is one of"),
        (("cross", 0, 0, "keys", "bias"), "only a part that stands in the stream"),
        (("cross", 0, 0, "keys", "Head_1"), "is not the name of a part"),
    ):
        with pytest.raises(ValueError, match=reason):
            Cut(*values)
    for code in ("v1_kc0-0", "v1_kc0-0-", "v1_kx0-0-tokens", "v1_kc0-0-tokens.", "v1_kc0-0-bias"):
        with pytest.raises(ValueError):
            Edits.from_code(code)
    gru = GruConfig(source_vocab_size=17, target_vocab_size=17, attention=True)
    with pytest.raises(ValueError, match="no attention heads that can be changed"):
        Edits(cut=(Cut("cross", 0, 0, "queries", "tokens"),)).check(gru)
