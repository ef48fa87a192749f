"""The step without hooks and taps equals the model's own step, whatever the configuration, the rows and the length."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor

from model.attention import MultiHeadAttention, masked_softmax
from model.running.stepper import Stepper, lay_out
from model.taps import intervene, record
from model.text.special import PAD_ID
from model.transformer import Transformer
from tests.test_model.builders import DTYPES, SRC, TGT, VARIANTS, B, H, K, S, T, assert_near, tiny_model

EACH_DTYPE = pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
EACH_VARIANT = pytest.mark.parametrize("variant", VARIANTS)
TOKENS = TGT.masked_fill(TGT == PAD_ID, 4)
pytestmark = pytest.mark.usefixtures("no_grad")


@pytest.fixture
def no_grad():
    with torch.no_grad():
        yield


def model_of(dtype: torch.dtype, variant: str = "paper") -> Transformer:
    """A tiny model whose numbers are float16 numbers: in float32 its matrices are read as such."""
    model = tiny_model(dtype, **VARIANTS[variant])
    for parameter in model.parameters():
        parameter.copy_(parameter.half())
    return model


@EACH_VARIANT
@EACH_DTYPE
class TestEveryStep:
    @pytest.mark.parametrize("src", [SRC, SRC[:1]], ids=["padded", "single"])
    def test_equals_the_models_step_and_the_full_pass(self, src: Tensor, dtype: torch.dtype, variant: str) -> None:
        model = model_of(dtype, variant)
        stepper, tokens = Stepper(model), TOKENS[: len(src)]
        whole = model(src, tokens)
        ours, theirs = stepper.start(src), model.start(src)
        for t in range(T):
            logits = stepper.step(ours, tokens[:, t])
            assert_near(logits, model.step(theirs, tokens[:, t]))
            assert_near(logits, whole[:, t])
            assert ours.length == theirs.length == t + 1
            for mine, other in zip(ours.decoder_self, theirs.decoder_self, strict=True):
                assert_near(mine[0], other[0])
                assert_near(mine[1], other[1])

    def test_goes_on_after_rows_moved(self, dtype: torch.dtype, variant: str) -> None:
        """Three rows out of two, then moves within the sentences only, as in beam search."""
        model = model_of(dtype, variant)
        stepper = Stepper(model)
        ours, theirs = stepper.start(SRC), model.start(SRC)
        for rows, tokens in (([0, 1], [5, 6]), ([1, 0, 1], [7, 8, 9]), ([2, 1, 0], [10, 11, 12]), ([1], [13])):
            ours, theirs = (of.reorder(state, torch.tensor(rows)) for of, state in ((stepper, ours), (model, theirs)))
            assert_near(stepper.step(ours, torch.tensor(tokens)), model.step(theirs, torch.tensor(tokens)))

    def test_either_may_go_on_where_the_other_stopped(self, dtype: torch.dtype, variant: str) -> None:
        model = model_of(dtype, variant)
        stepper, whole = Stepper(model), model(SRC, TOKENS)
        state = model.start(SRC)
        for t in range(T):
            assert_near((stepper if t % 2 else model).step(state, TOKENS[:, t]), whole[:, t])

    def test_matrices_laid_out_anew_are_the_same_model(self, dtype: torch.dtype, variant: str) -> None:
        model, other = model_of(dtype, variant), model_of(dtype, variant)
        assert lay_out(other) is other
        assert_near(other(SRC, TOKENS), model(SRC, TOKENS))
        assert_near(Stepper(other).step(other.start(SRC), TOKENS[:, 0]), model(SRC, TOKENS)[:, 0])
        before, after = dict(model.named_parameters()), dict(other.named_parameters())
        assert before.keys() == after.keys()  # the shared matrix is still one
        assert all(torch.equal(before[name], after[name]) for name in before)


def test_a_source_of_padding_only() -> None:
    model, src = tiny_model(), SRC.clone()
    src[1] = PAD_ID
    logits = Stepper(model).step(model.start(src), TOKENS[:, 0])
    assert torch.isfinite(logits).all()
    assert_near(logits, model.step(model.start(src), TOKENS[:, 0]))


def test_weights_that_change_in_place_are_seen() -> None:
    model = tiny_model()
    stepper = Stepper(model)
    before = stepper.step(model.start(SRC), TOKENS[:, 0])
    for parameter in model.decoder.parameters():
        parameter.mul_(1.5)
    after = stepper.step(model.start(SRC), TOKENS[:, 0])
    assert_near(after, model.step(model.start(SRC), TOKENS[:, 0]))
    assert (after - before).abs().max() > 1e-3


def test_taps_see_a_step_and_may_change_it() -> None:
    model = tiny_model()
    stepper, state = Stepper(model), model.start(SRC)
    with record("decoder.*", "logits") as trace:
        stepper.step(state, TOKENS[:, 0])
    assert len(trace) == 1 + 3 + 1 + 2 * 21  # two taps of the cross-attention, k and v, fire in `encode` only
    assert all(len(trace.all(address)) == 1 for address in trace)
    change = {"decoder.layers.1.cross_attention.weights": torch.zeros_like}
    with intervene(change):
        changed = stepper.step(model.start(SRC), TOKENS[:, 0])
        assert torch.equal(changed, model.step(model.start(SRC), TOKENS[:, 0]))
    assert (changed - stepper.step(model.start(SRC), TOKENS[:, 0])).abs().max() > 1e-4


def test_dropout_takes_place_while_training() -> None:
    model = tiny_model(dropout=0.5)
    stepper = Stepper(model)
    quiet = stepper.step(model.start(SRC), TOKENS[:, 0])
    state = model.start(SRC)
    model.train()
    assert (stepper.step(state, TOKENS[:, 0]) - quiet).abs().max() > 1e-3


def test_the_longest_and_one_more() -> None:
    model = tiny_model(max_length=3)
    stepper, state = Stepper(model), model.start(SRC[:, :3])
    for t in range(3):
        stepper.step(state, TOKENS[:, t])
    with pytest.raises(ValueError, match="4 tokens are too many: the model has positions for 3"):
        stepper.step(state, TOKENS[:, 3])


def test_threads_share_one_stepper() -> None:
    model = tiny_model()
    stepper, whole = Stepper(model), model(SRC, TOKENS)

    def decode(_: int) -> Tensor:
        with torch.inference_mode():
            state = stepper.start(SRC)
            return torch.stack([stepper.step(state, TOKENS[:, t]) for t in range(T)], dim=1)

    with ThreadPoolExecutor(4) as pool:
        for logits in pool.map(decode, range(12)):
            assert_near(logits, whole)


class TestMatricesInHalf:
    @pytest.mark.skipif("fbgemm" not in torch.backends.quantized.supported_engines, reason="needs FBGEMM")
    def test_are_read_by_every_product_until_they_change(self, monkeypatch: pytest.MonkeyPatch) -> None:
        product, widths = torch.fbgemm_linear_fp16_weight_fp32_activation, []
        model = lay_out(model_of(torch.float32))
        stepper = Stepper(model)

        def count(x: Tensor, *args: Tensor) -> Tensor:
            widths.append(x.size(-1))
            return product(x, *args)

        monkeypatch.setattr(torch, "fbgemm_linear_fp16_weight_fp32_activation", count)
        before = stepper.step(model.start(SRC), TOKENS[:, 0])
        # 6 for each layer of the encoder and 2 for the keys and values of each decoder layer, 6 for those, the output.
        assert len(widths) == 2 * 6 + 2 * 2 + 2 * 6 + 1
        for parameter in model.parameters():
            parameter.mul_(1.7)
        after = stepper.step(model.start(SRC), TOKENS[:, 0])
        assert len(widths) == 2 * 6 + 2 * 2 + 2 * 6 + 1
        assert_near(after, model(SRC, TOKENS[:, :1])[:, 0])
        assert (after - before).abs().max() > 1e-3

    def test_are_left_out_of_copies(self) -> None:
        model = lay_out(model_of(torch.float32, "untied"))
        before = model(SRC, TOKENS)
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert_near(other(SRC, TOKENS), before)
            for parameter in other.output.parameters():
                parameter.mul_(2)
            assert_near(other(SRC, TOKENS), 2 * before)
            assert torch.equal(model(SRC, TOKENS), before)

    def test_leave_gradients_as_they_are(self) -> None:
        model, other = lay_out(model_of(torch.float32)), model_of(torch.float32)
        with torch.enable_grad():
            for transformer in (model, other):
                transformer(SRC, TOKENS).square().sum().backward()
        for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
            assert mine.grad.abs().sum() > 0
            assert_near(mine.grad, theirs.grad)


class TestTheMemoryOfMovedRows:
    def test_is_not_copied_where_rows_stay_in_their_sentences(self) -> None:
        model = tiny_model()
        state = model.reorder(model.start(SRC), torch.tensor([0, 0, 1, 1]))
        model.step(state, torch.tensor([5, 6, 7, 8]))
        moved = model.reorder(state, torch.tensor([1, 0, 3, 3]))
        assert moved.cross is state.cross
        assert_near(moved.decoder_self[0][0], state.decoder_self[0][0][[1, 0, 3, 3]])

    def test_follows_rows_that_leave_them(self) -> None:
        model = tiny_model()
        state = model.start(SRC)
        for rows in ([1, 0], [0], [1, 1, 0]):
            moved = model.reorder(state, torch.tensor(rows))
            assert_near(moved.cross[1][0], state.cross[1][0][rows])
            assert torch.equal(moved.cross_mask, state.cross_mask[rows])
            assert torch.equal(moved.sentences, torch.tensor(rows))

    def test_a_fresh_cache_starts_again_over_the_same_memory(self) -> None:
        model = tiny_model()
        state = model.start(SRC)
        first = model.step(state, TOKENS[:, 0])
        fresh = state.fresh()
        assert fresh.length == 0 and state.length == 1 and fresh.cross is state.cross
        assert fresh.cross[0][0].shape == (B, H, S, K)
        assert_near(model.step(fresh, TOKENS[:, 0]), first)


class Near(MultiHeadAttention):
    """Attention that falls with the distance of query and key (Press et al. 2022), as somebody might add it."""

    fuses = False

    def equations(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        n, s = q.size(2), k.size(2)
        distance = torch.arange(s - n, s)[:, None] - torch.arange(s)
        scores = q @ k.transpose(-2, -1) / self.d_head**0.5 - distance.abs()
        return self.tap_context(self.tap_weights(masked_softmax(scores.masked_fill(~mask, -torch.inf))) @ v)


def test_attention_with_equations_of_its_own_is_neither_fused_nor_stepped_without_them() -> None:
    model = model_of(torch.float64)
    plain = model(SRC, TOKENS)
    for layer in model.decoder.layers:
        layer.self_attention.__class__ = Near
    with record():
        recorded = model(SRC, TOKENS)
    assert_near(model(SRC, TOKENS), recorded)
    assert (recorded - plain).abs().max() > 1e-3
    stepper, state = Stepper(model), model.start(SRC)
    for t in range(T):
        assert_near(stepper.step(state, TOKENS[:, t]), recorded[:, t])
