"""Direct effects against the gradient of the network with its norms held, in float64, and against zeroed weights."""

from __future__ import annotations

import copy
from functools import cache
from itertools import cycle, product

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model.analysis.effects import Effects, direct_effects
from model.config import LanguageModelConfig
from model.language_model import LanguageModel
from model.taps import intervene, record
from tests.support.repeated import first_quick
from tests.test_model.builders import SRC, TGT, VARIANTS, D, F, H, S, T, V, randomise, tiny_model

WRITTEN, OTHERS = [13, 14, 5, 16, 2], [3, 14, 7, 0, 16]
LANGUAGE = {
    "language-post": {"tie_embeddings": True, "init": "normal", "activation": "gelu"},
    "language-pre": {"norm": "pre", "final_norm": True, "attention_bias": False},
}
AGAINST = [None, "runner-up", OTHERS]


@cache
def model_of(name: str) -> nn.Module:
    if name in VARIANTS:
        return tiny_model(n_encoder_layers=1, **VARIANTS[name])
    torch.manual_seed(0)
    sizes = {"vocab_size": V, "d_model": D, "n_heads": H, "n_layers": 2, "d_ff": F, "max_length": 8}
    model = LanguageModel(LanguageModelConfig(**sizes, **LANGUAGE[name])).double()
    randomise(model)
    return model.eval()


def run(model: nn.Module) -> Tensor:
    """The logits (T, V) of the tiny sentence."""
    return (model(TGT[:1]) if isinstance(model, LanguageModel) else model(SRC[:1], TGT[:1]))[0]


def output_of(model: nn.Module) -> nn.Linear:
    return model.softmax.output if isinstance(model, LanguageModel) else model.output


@torch.no_grad()
def effects_of(model: nn.Module, against=None) -> tuple[Effects, dict[str, np.ndarray]]:
    with record() as trace:
        run(model)
    arrays = {address: value[0].numpy() for address, value in trace.items()}
    state = {name: value.numpy() for name, value in model.state_dict().items()}
    output = output_of(model)
    bias = None if output.bias is None else output.bias.numpy()
    how = {"pre_norm": model.config.norm == "pre", "norm_eps": model.config.norm_eps}
    return direct_effects(arrays, state, output.weight.numpy(), bias, WRITTEN, against, **how), arrays


def compared(logits: Tensor, against) -> Tensor:
    """The written words' logits less the others', (T,), by another way than the code's."""
    logits_written = torch.stack([row[word] for row, word in zip(logits, WRITTEN, strict=True)])
    if against is None:
        return logits_written - logits.mean(-1)
    if against == "runner-up":
        ranked = logits.argsort(descending=True).tolist()
        against = [
            next(word for word in row if word != predicted) for row, predicted in zip(ranked, WRITTEN, strict=True)
        ]
    return logits_written - torch.stack([row[word] for row, word in zip(logits, against, strict=True)])


class Held(nn.Module):
    """A norm whose deviation, or root of the mean square, is a constant to autograd."""

    def __init__(self, norm: nn.LayerNorm | nn.RMSNorm) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: Tensor) -> Tensor:
        if isinstance(self.norm, nn.RMSNorm):
            size = torch.sqrt(x.square().mean(-1, keepdim=True) + self.norm.eps).detach()
            return x / size * self.norm.weight
        deviation = torch.sqrt(x.var(-1, keepdim=True, correction=0) + self.norm.eps).detach()
        return (x - x.mean(-1, keepdim=True)) / deviation * self.norm.weight + self.norm.bias


def gradient_times(model: nn.Module, trace: dict[str, np.ndarray], address: str, against) -> np.ndarray:
    """d logits / d value * value at an address, with every norm's deviation and every other sublayer held."""
    frozen = copy.deepcopy(model)
    for layer in frozen.decoder.layers:
        for name, module in layer.named_children():
            if name.startswith("residual"):
                module.norm = Held(module.norm)
    if not isinstance(frozen.decoder.norm, nn.Identity):
        frozen.decoder.norm = Held(frozen.decoder.norm)
    own_output = address.rpartition(".")[0] + ".output"
    outputs = [
        tap for tap in trace if tap.startswith("decoder.layers.") and tap.endswith(".output") and tap != own_output
    ]
    constants = {tap: lambda _, tap=tap: torch.from_numpy(trace[tap])[None] for tap in outputs}
    leaf = torch.from_numpy(trace[address])[None].clone().requires_grad_()
    with intervene({**constants, address: lambda value: leaf}):
        (gradient,) = torch.autograd.grad(compared(run(frozen), against).sum(), leaf)
    return (gradient * leaf)[0].detach().numpy()


@pytest.mark.parametrize(
    ("name", "against"),
    first_quick([*product(["pre"], AGAINST), *zip([*VARIANTS, *LANGUAGE], cycle(AGAINST), strict=False)], 2),
)
def test_the_sum_is_the_logit_and_every_part_its_gradient(name: str, against) -> None:
    model = model_of(name)
    effects, trace = effects_of(model, against)
    logits = compared(torch.from_numpy(trace["logits"]), against).numpy()
    np.testing.assert_allclose(effects.logits, logits, atol=1e-12)
    np.testing.assert_allclose(sum(effects.parts.values()), logits, atol=1e-9)
    assert effects.rest < 1e-9 and np.abs(logits).max() > 0.1
    kinds = {"decoder_self": "self_attention"} | ({} if name in LANGUAGE else {"cross": "cross_attention"})
    assert effects.kinds == list(kinds)
    for layer in range(2):
        for kind, attention in kinds.items():
            module = f"decoder.layers.{layer}.{attention}"
            heads = effects.heads(kind)[layer]
            assert heads.shape == (H, T, S if kind == "cross" else T)
            np.testing.assert_allclose(heads, gradient_times(model, trace, f"{module}.weights", against), atol=1e-10)
            np.testing.assert_allclose(heads.sum((0, 2)), effects.parts[module], atol=1e-12)
            both = gradient_times(model, trace, f"{module}.output", against).sum(1)
            np.testing.assert_allclose(effects.parts[module] + effects.parts[f"{module}.bias"], both, atol=1e-10)
        module = f"decoder.layers.{layer}.feed_forward"
        expected = gradient_times(model, trace, f"{module}.output", against).sum(1)
        np.testing.assert_allclose(effects.parts[module], expected, atol=1e-10)
    for part in ("tokens", "positions"):
        expected = gradient_times(model, trace, f"decoder.input.{part}", against).sum(1)
        np.testing.assert_allclose(effects.parts[f"input.{part}"], expected, atol=1e-10)
    bias = output_of(model).bias
    alternatives = None if effects.alternatives is None else effects.alternatives.tolist()
    expected = 0 if bias is None else compared(bias.detach().expand(T, -1), alternatives)
    np.testing.assert_allclose(effects.parts["output_bias"], expected, atol=1e-12)


@torch.no_grad()
def test_without_later_sublayers_and_norm_an_effect_is_what_zeroing_the_weight_changes() -> None:
    """The last attention of a decoder whose feed-forward adds nothing: nothing is held, nothing is indirect."""
    model = tiny_model(n_decoder_layers=1, final_norm=False)
    model.decoder.layers[0].feed_forward.outer.weight.zero_()
    projection = model.decoder.layers[0].cross_attention.output_projection
    projection.weight[:, : D // H] = 0  # of head 0
    effects, trace = effects_of(model)
    before = compared(torch.from_numpy(trace["logits"]), None).numpy()
    changes = np.zeros((H, T, S))
    for head in range(H):
        for key in range(S):

            def zero(weights: Tensor, head: int = head, key: int = key) -> Tensor:
                weights[:, head, :, key] = 0
                return weights

            with intervene({"decoder.layers.0.cross_attention.weights": zero}):
                changes[head, :, key] = before - compared(run(model), None).numpy()
    np.testing.assert_allclose(effects.heads("cross")[0], changes, atol=1e-12)
    assert not effects.heads("cross")[0, 0].any() and np.abs(changes[1:]).min() > 0


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("best", "against must be None, 'runner-up' or an id per step, got 'best'"),
        ([1, 2], "against must hold one id for each of the 5 steps"),
        ([1.0] * T, "against must hold one id for each of the 5 steps"),
        ([0, 1, 2, 3, V], f"ids of words are 0 to {V - 1}, got {V}"),
        ([0, 1, 2, 3, -1], "got -1"),
    ],
)
def test_what_cannot_be_compared_with_is_refused(against, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        effects_of(model_of("pre"), against)


def test_other_kinds_have_no_direct_effect() -> None:
    for name, kind in (("pre", "encoder_self"), ("language-pre", "cross")):
        with pytest.raises(ValueError, match=f"got '{kind}'"):
            effects_of(model_of(name))[0].heads(kind)
