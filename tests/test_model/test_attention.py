"""Multi-head attention against torch.nn.MultiheadAttention and against the formula written out in loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from model.attention import MultiHeadAttention, masked_softmax
from model.masks import causal_mask, combine
from model.taps import intervene, name_taps, record
from tests.test_model.builders import DTYPES, B, D, H, K, S, T, assert_near, randomise

EACH_DTYPE = pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
EACH_BIAS = pytest.mark.parametrize("bias", [True, False], ids=["bias", "no-bias"])
KEY_LENGTHS = (7, 4)


def our_attention(dtype: torch.dtype, bias: bool, dropout: float = 0.0) -> MultiHeadAttention:
    torch.manual_seed(0)
    ours = MultiHeadAttention(D, H, dropout, bias).to(dtype)
    randomise(ours)
    name_taps(ours)
    return ours.eval()


def torch_attention(ours: MultiHeadAttention) -> nn.MultiheadAttention:
    """The library's module with our weights; it packs the three projections into one matrix."""
    weight = ours.q_projection.weight
    theirs = nn.MultiheadAttention(D, H, bias=ours.q_projection.bias is not None, batch_first=True, dtype=weight.dtype)
    inputs = (ours.q_projection, ours.k_projection, ours.v_projection)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in inputs]))
        theirs.out_proj.weight.copy_(ours.output_projection.weight)
        if theirs.in_proj_bias is not None:
            theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in inputs]))
            theirs.out_proj.bias.copy_(ours.output_projection.bias)
    return theirs.eval()


def inputs(dtype: torch.dtype, n_keys: int = S) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(B, T, D, generator=generator, dtype=torch.float64)
    memory = torch.randn(B, n_keys, D, generator=generator, dtype=torch.float64)
    return x.to(dtype), memory.to(dtype)


def padding(n_keys: int) -> Tensor:
    """(B, n_keys), True = a real key; sentence 1 has four."""
    return torch.arange(n_keys)[None, :] < torch.tensor(KEY_LENGTHS)[:, None]


def masks_for(name: str, n_keys: int) -> tuple[Tensor, dict[str, Tensor]]:
    """A mask in our convention, and as the library wants it: True = blocked, two arguments."""
    ours, theirs = [torch.ones(1, 1, T, n_keys, dtype=torch.bool)], {}
    if "padding" in name:
        ours.append(padding(n_keys)[:, None, None])
        theirs["key_padding_mask"] = ~padding(n_keys)
    if "causal" in name:
        ours.append(causal_mask(T, n_keys))
        blocked = [[key - query > n_keys - T for key in range(n_keys)] for query in range(T)]
        theirs["attn_mask"] = torch.tensor(blocked)
    return combine(*ours), theirs


@pytest.mark.parametrize("mask_name", ["nothing", "padding", "causal", "padding and causal"])
@pytest.mark.parametrize("kind", ["self", "cross"])
@EACH_BIAS
@EACH_DTYPE
def test_parity_with_torch(dtype: torch.dtype, bias: bool, kind: str, mask_name: str) -> None:
    ours = our_attention(dtype, bias)
    x, memory = inputs(dtype)
    memory = x if kind == "self" else memory
    mask, theirs_mask = masks_for(mask_name, memory.size(1))
    expected, weights = torch_attention(ours)(x, memory, memory, average_attn_weights=False, **theirs_mask)
    assert weights.shape == (B, H, T, memory.size(1))

    with record() as trace:
        assert_near(ours(x, memory, mask), expected)
    assert_near(trace["weights"], weights)
    assert_near(trace["output"], expected)
    assert_near(ours(x, memory, mask), expected)  # nobody looks: the fused path


def test_a_mask_of_queries_and_keys_alone_is_for_all_rows_and_heads() -> None:
    ours, (x, _) = our_attention(torch.float64, True), inputs(torch.float64)
    expected = ours(x, x, causal_mask(T))
    assert_near(ours(x, x, causal_mask(T)[0, 0]), expected)
    with record() as trace:
        assert_near(ours(x, x, causal_mask(T)[0, 0]), expected)
    assert torch.equal(trace["mask"], causal_mask(T).expand(B, 1, T, T))


@EACH_BIAS
def test_every_quantity_is_the_formula(bias: bool) -> None:
    """softmax(q k / sqrt(d_k)) v, one head, one query and one key at a time, in numpy."""
    ours = our_attention(torch.float64, bias)
    x, memory = inputs(torch.float64)
    mask, _ = masks_for("padding and causal", S)
    with record() as trace:
        ours(x, memory, mask)
    recorded = {address: value.numpy() for address, value in trace.items()}

    def project(linear: nn.Linear, vectors: Tensor) -> np.ndarray:
        product = vectors.numpy() @ linear.weight.detach().numpy().T
        return product if linear.bias is None else product + linear.bias.detach().numpy()

    q = project(ours.q_projection, x)
    k, v = project(ours.k_projection, memory), project(ours.v_projection, memory)
    near = {"rtol": 1e-10, "atol": 1e-10}
    for b in range(B):
        for h in range(H):
            head = slice(h * K, (h + 1) * K)
            np.testing.assert_allclose(recorded["q"][b, h], q[b, :, head], **near)
            np.testing.assert_allclose(recorded["k"][b, h], k[b, :, head], **near)
            np.testing.assert_allclose(recorded["v"][b, h], v[b, :, head], **near)
            for t in range(T):
                allowed = [s for s in range(S) if s < KEY_LENGTHS[b] and s <= t + S - T]
                raw = [float(np.dot(q[b, t, head], k[b, s, head])) for s in range(S)]
                np.testing.assert_allclose(recorded["raw_scores"][b, h, t], raw, **near)
                scores = [raw[s] / math.sqrt(K) if s in allowed else -math.inf for s in range(S)]
                np.testing.assert_allclose(recorded["scores"][b, h, t], scores, **near)
                total = sum(math.exp(score) for score in scores)
                weights = [math.exp(score) / total for score in scores]
                np.testing.assert_allclose(recorded["weights"][b, h, t], weights, **near)
                context = sum(weights[s] * v[b, s, head] for s in range(S))
                np.testing.assert_allclose(recorded["context"][b, h, t], context, **near)
                assert recorded["mask"][b, 0, t].tolist() == [s in allowed for s in range(S)]
    concatenation = torch.from_numpy(np.concatenate([recorded["context"][:, h] for h in range(H)], axis=-1))
    np.testing.assert_allclose(recorded["output"], project(ours.output_projection, concatenation), **near)


def test_scores_have_unit_variance_where_raw_scores_have_d_k() -> None:
    """Section 3.2.1: for unit normal q and k the dot product has variance d_k, and the division takes it away."""
    torch.manual_seed(0)
    ours = MultiHeadAttention(128, 2, 0.0, bias=False).eval()
    with torch.no_grad():
        for linear in (ours.q_projection, ours.k_projection):
            linear.weight.copy_(torch.eye(128))
    name_taps(ours)
    with record() as trace, torch.no_grad():
        ours(torch.randn(4, 60, 128), torch.randn(4, 60, 128), torch.ones(1, 1, 1, 60, dtype=torch.bool))
    assert trace["raw_scores"].var().item() == pytest.approx(64, rel=0.1)
    assert trace["scores"].var().item() == pytest.approx(1, rel=0.1)


def test_gradients_agree_with_torch() -> None:
    ours = our_attention(torch.float64, True)
    theirs = torch_attention(ours)
    mask, theirs_mask = masks_for("padding and causal", S)
    gradients = []
    for attend in (
        lambda x, memory: theirs(x, memory, memory, need_weights=False, **theirs_mask)[0],
        lambda x, memory: ours(x, memory, mask),
        lambda x, memory: recorded_output(ours, x, memory, mask),
    ):
        x, memory = (tensor.requires_grad_() for tensor in inputs(torch.float64))
        attend(x, memory).square().sum().backward()
        gradients.append((x.grad, memory.grad))
    for pair in gradients[1:]:
        assert_near(pair[0], gradients[0][0])
        assert_near(pair[1], gradients[0][1])


def recorded_output(attention: MultiHeadAttention, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
    with record():
        return attention(x, memory, mask)


class TestPaths:
    """Which of the two implementations runs: the tests of parity mean nothing if one runs under both names."""

    @pytest.fixture
    def fused_calls(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        calls, original = [], functional.scaled_dot_product_attention

        def counting(*args, **kwargs):
            calls.append(1)
            return original(*args, **kwargs)

        monkeypatch.setattr(functional, "scaled_dot_product_attention", counting)
        return calls

    def run(self) -> None:
        ours = our_attention(torch.float64, True)
        x, memory = inputs(torch.float64)
        ours(x, memory, masks_for("padding", S)[0])

    def test_unobserved_is_fused(self, fused_calls: list[int]) -> None:
        self.run()
        assert len(fused_calls) == 1

    def test_recorded_is_written_out(self, fused_calls: list[int]) -> None:
        with record("nothing.of.this"):
            self.run()
        assert not fused_calls

    def test_intervened_is_written_out(self, fused_calls: list[int]) -> None:
        with intervene({"weights": lambda value: value}):
            self.run()
        assert not fused_calls


@pytest.mark.parametrize("path", ["fused", "recorded"])
@EACH_DTYPE
class TestNothingToAttend:
    """A row with nothing to attend gives zeros, never NaN and never a uniform row; in the gradients too."""

    def mask(self) -> Tensor:
        mask = torch.ones(B, 1, T, S, dtype=torch.bool)
        mask[0, 0, 2] = False
        mask[1] = False
        return mask

    def attend(self, path: str, ours: MultiHeadAttention, x: Tensor, memory: Tensor) -> Tensor:
        return (recorded_output if path == "recorded" else MultiHeadAttention.__call__)(ours, x, memory, self.mask())

    def test_gives_zeros(self, path: str, dtype: torch.dtype) -> None:
        ours = our_attention(dtype, bias=True)
        x, memory = inputs(dtype)
        with torch.no_grad():
            output = self.attend(path, ours, x, memory)
        nothing = ours.output_projection.bias.detach()  # what the projection makes of zeros
        assert torch.equal(output[0, 2], nothing)
        assert torch.equal(output[1], nothing.expand(T, D))
        assert not torch.equal(output[0, 1], nothing)

    def test_gradients_are_finite_and_none_flows_there(self, path: str, dtype: torch.dtype) -> None:
        ours = our_attention(dtype, bias=True)
        x, memory = (tensor.requires_grad_() for tensor in inputs(dtype))
        self.attend(path, ours, x, memory).square().sum().backward()
        for gradient in (x.grad, memory.grad, *(parameter.grad for parameter in ours.parameters())):
            assert torch.isfinite(gradient).all()
        assert not x.grad[0, 2].any() and not x.grad[1].any() and not memory.grad[1].any()
        assert x.grad[0, 1].any() and memory.grad[0].any()


def test_recorded_weights_of_a_row_with_nothing_are_zero() -> None:
    ours = our_attention(torch.float64, True)
    x, memory = inputs(torch.float64)
    mask = TestNothingToAttend().mask()
    with record() as trace:
        ours(x, memory, mask)
    sums = trace["weights"].sum(-1)  # (B, H, T)
    expected = mask.any(-1).to(sums.dtype).expand(B, H, T)
    assert_near(sums, expected)
    assert not trace["weights"][1].any()
    assert not trace["weights"][~mask.expand(B, H, T, S)].any()
    assert (trace["scores"][~mask.expand(B, H, T, S)] == -math.inf).all()


def test_masked_softmax_is_softmax_elsewhere() -> None:
    scores = torch.randn(2, 5, 7, dtype=torch.float64)
    assert_near(masked_softmax(scores), scores.softmax(-1))
    assert_near(masked_softmax(scores + 1e4), scores.softmax(-1), 1e-9)  # no overflow


@pytest.mark.parametrize("path", ["fused", "recorded"])
def test_dropout_takes_weights_and_scales_the_rest(path: str) -> None:
    """In training the context is a sum over kept weights, each divided by the probability of being kept."""
    ours = our_attention(torch.float64, bias=False, dropout=0.25).train()
    with torch.no_grad():
        for linear in (ours.v_projection, ours.output_projection):
            linear.weight.copy_(torch.eye(D))
    x = torch.zeros(B, T, D, dtype=torch.float64)
    memory = torch.ones(B, S, D, dtype=torch.float64)
    mask = torch.ones(1, 1, 1, S, dtype=torch.bool)
    torch.manual_seed(3)
    attend = recorded_output if path == "recorded" else MultiHeadAttention.__call__
    with torch.no_grad():
        output = torch.stack([attend(ours, x, memory, mask) for _ in range(300)])
        evaluated = attend(ours.eval(), x, memory, mask)
    n_kept = output * 0.75 * S  # every weight is 1/S: whole numbers of kept keys
    assert_near(n_kept, n_kept.round(), 1e-9)
    assert len(n_kept.round().unique()) > 4
    assert output.mean().item() == pytest.approx(1, abs=0.03)
    assert_near(evaluated, torch.ones_like(evaluated))


def test_keys_and_values_may_be_computed_beforehand() -> None:
    ours = our_attention(torch.float64, True)
    x, memory = inputs(torch.float64)
    mask, _ = masks_for("padding", S)
    k, v = ours.keys_values(memory)
    assert k.shape == v.shape == (B, H, S, K)
    assert torch.equal(ours.attend(x, k, v, mask), ours(x, memory, mask))
    one_query = ours.attend(x[:, 2:3], k, v, mask[:, :, 2:3])
    assert_near(one_query, ours(x, memory, mask)[:, 2:3])
