"""The Transformer against torch.nn.Transformer, and what must hold whatever the weights are."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from model.config import POSITIONS, TransformerConfig
from model.taps import addresses, intervene, record
from model.text.special import PAD_ID
from model.transformer import Transformer
from tests.support.repeated import first_quick
from tests.test_model.builders import (
    DTYPES,
    SRC,
    SRC_LENGTHS,
    TGT,
    TGT_LENGTHS,
    VARIANTS,
    B,
    D,
    F,
    H,
    T,
    V,
    assert_near,
    randomise,
    tiny_model,
)

EACH_DTYPE = pytest.mark.parametrize("dtype", DTYPES, ids=["float64", "float32"])
EACH_VARIANT = pytest.mark.parametrize("variant", VARIANTS)
# The library's remark that it will not use one of its shortcuts.
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
KINDS = {"encoder": ("self",), "decoder": ("self", "cross")}


# --- Parity with torch.nn.Transformer


def torch_transformer(ours: Transformer) -> nn.Transformer:
    """The library's model with our weights. It has no embeddings; where we have no final norm it gets none."""
    config = ours.config
    theirs = nn.Transformer(
        d_model=config.d_model,
        nhead=config.n_heads,
        num_encoder_layers=config.n_encoder_layers,
        num_decoder_layers=config.n_decoder_layers,
        dim_feedforward=config.d_ff,
        dropout=0.0,
        activation=config.activation,
        layer_norm_eps=config.norm_eps,
        batch_first=True,
        norm_first=config.norm == "pre",
        dtype=ours.output.weight.dtype,
    )
    with torch.no_grad():
        for stack, copy_layer in (("encoder", _copy_encoder_layer), ("decoder", _copy_decoder_layer)):
            our_stack, their_stack = getattr(ours, stack), getattr(theirs, stack)
            for our_layer, their_layer in zip(our_stack.layers, their_stack.layers, strict=True):
                copy_layer(our_layer, their_layer)
            if config.final_norm:
                their_stack.norm.load_state_dict(our_stack.norm.state_dict())
            else:
                their_stack.norm = None
    return theirs.eval()


def _copy_attention(ours: nn.Module, theirs: nn.MultiheadAttention) -> None:
    projections = (ours.q_projection, ours.k_projection, ours.v_projection)
    theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in projections]))
    theirs.out_proj.weight.copy_(ours.output_projection.weight)
    if ours.q_projection.bias is None:
        theirs.in_proj_bias.zero_()
        theirs.out_proj.bias.zero_()
    else:
        theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in projections]))
        theirs.out_proj.bias.copy_(ours.output_projection.bias)


def _copy_encoder_layer(ours: nn.Module, theirs: nn.TransformerEncoderLayer) -> None:
    _copy_attention(ours.self_attention, theirs.self_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    theirs.norm1.load_state_dict(ours.residual_self.norm.state_dict())
    theirs.norm2.load_state_dict(ours.residual_ff.norm.state_dict())


def _copy_decoder_layer(ours: nn.Module, theirs: nn.TransformerDecoderLayer) -> None:
    _copy_attention(ours.self_attention, theirs.self_attn)
    _copy_attention(ours.cross_attention, theirs.multihead_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    for number, kind in enumerate(("self", "cross", "ff"), start=1):
        norm = getattr(ours, f"residual_{kind}").norm
        getattr(theirs, f"norm{number}").load_state_dict(norm.state_dict())


def observe(theirs: nn.Transformer) -> dict[str, Tensor]:
    """Fills, at its next pass, with what the library's layers put out and with the weights of every head.

    The layers call their attention without asking for weights; a hook asks for them.
    """
    outputs: dict[str, Tensor] = {}

    def ask(module, args, kwargs):
        return args, kwargs | {"need_weights": True, "average_attn_weights": False}

    def keep(address: str, of: Callable):
        def hook(module, args, output):
            outputs[address] = of(output).detach()

        return hook

    for stack in ("encoder", "decoder"):
        for i, layer in enumerate(getattr(theirs, stack).layers):
            layer.register_forward_hook(keep(f"{stack}.layers.{i}.residual_ff.stream", lambda output: output))
            for kind in KINDS[stack]:
                attention = layer.self_attn if kind == "self" else layer.multihead_attn
                attention.register_forward_pre_hook(ask, with_kwargs=True)
                path = f"{stack}.layers.{i}.{kind}_attention"
                attention.register_forward_hook(keep(f"{path}.weights", lambda output: output[1]))
                attention.register_forward_hook(keep(f"{path}.output", lambda output: output[0]))
        getattr(theirs, stack).register_forward_hook(keep(f"{stack}.output", lambda output: output))
    return outputs


@pytest.mark.parametrize("activation", first_quick(["relu", "gelu"]))
@pytest.mark.parametrize("bias", first_quick([True, False]), ids=["bias", "no-bias"])
@pytest.mark.parametrize("final_norm", first_quick([True, False]), ids=["final-norm", "no-final-norm"])
@pytest.mark.parametrize("norm", first_quick(["pre", "post"]))
@EACH_DTYPE
def test_parity_with_torch(dtype: torch.dtype, norm: str, final_norm: bool, bias: bool, activation: str) -> None:
    """Every layer's stream, every head's weights and the outputs, at every real position of a padded batch."""
    ours = tiny_model(
        dtype, norm=norm, final_norm=final_norm, attention_bias=bias, activation=activation, n_decoder_layers=3
    )
    with record() as trace, torch.no_grad():
        logits = ours(SRC, TGT)
    theirs = torch_transformer(ours)
    outputs = observe(theirs)
    theirs(
        trace["encoder.input.stream"],
        trace["decoder.input.stream"],
        tgt_mask=torch.ones(T, T, dtype=torch.bool).triu(1),  # the library's True is "blocked"
        src_key_padding_mask=SRC == PAD_ID,
        tgt_key_padding_mask=TGT == PAD_ID,
        memory_key_padding_mask=SRC == PAD_ID,
    )
    assert len(outputs) == 2 * 3 + 3 * 5 + 2  # stream, weights, output a layer; the decoder has two attentions
    for address, expected in outputs.items():
        lengths = SRC_LENGTHS if address.startswith("encoder") else TGT_LENGTHS
        for b in range(B):
            real = (b, slice(None), slice(lengths[b])) if address.endswith("weights") else (b, slice(lengths[b]))
            assert_near(trace[address][real], expected[real])
    for b in range(B):
        real = (b, slice(TGT_LENGTHS[b]))
        projected = nn.functional.linear(outputs["decoder.output"][real], ours.output.weight, ours.output.bias)
        assert_near(logits[real], projected)


def test_gradients_agree_with_torch() -> None:
    ours = tiny_model(norm="post", final_norm=False)
    theirs = torch_transformer(ours)
    with record() as trace, torch.no_grad():
        ours(SRC[:1], TGT[:1])
    streams = {f"{stack}.input.stream": trace[f"{stack}.input.stream"] for stack in KINDS}
    blocked = torch.ones(T, T, dtype=torch.bool).triu(1)
    theirs(*streams.values(), tgt_mask=blocked).square().sum().backward()
    with record("decoder.output"), intervene({address: lambda _, x=x: x for address, x in streams.items()}):
        cache = ours.start(SRC[:1])
        hidden = ours.decoder(TGT[:1], ~blocked[None, None], cache)
    hidden.square().sum().backward()
    for stack in KINDS:
        for our_layer, their_layer in zip(getattr(ours, stack).layers, getattr(theirs, stack).layers):
            attention = our_layer.self_attention
            projections = (attention.q_projection, attention.k_projection, attention.v_projection)
            packed = torch.cat([linear.weight.grad for linear in projections])
            assert_near(packed, their_layer.self_attn.in_proj_weight.grad, 1e-9)
            assert_near(our_layer.feed_forward.inner.weight.grad, their_layer.linear1.weight.grad, 1e-9)
            assert_near(our_layer.residual_self.norm.weight.grad, their_layer.norm1.weight.grad, 1e-9)


def test_the_input_is_scaled_embedding_plus_positions() -> None:
    model = tiny_model()
    with record() as trace, torch.no_grad():
        model(SRC, TGT)
    for stack, ids in (("encoder", SRC), ("decoder", TGT)):
        table = getattr(model, stack).input.embedding.weight.detach()
        for b in range(B):
            for position, token in enumerate(ids[b].tolist()):
                tokens = table[token] * math.sqrt(D)
                assert_near(trace[f"{stack}.input.tokens"][b, position], tokens)
                waves = [position / 10000 ** (2 * (i // 2) / D) for i in range(D)]
                expected = [math.cos(angle) if i % 2 else math.sin(angle) for i, angle in enumerate(waves)]
                positions = trace[f"{stack}.input.positions"][0, position]
                assert_near(positions, torch.tensor(expected, dtype=torch.float64), 1e-6)  # the table is float32
                assert_near(trace[f"{stack}.input.stream"][b, position], tokens + positions)


def test_a_float64_model_has_a_float64_table() -> None:
    """Where a table of full precision is wanted, the default type says so when the model is made."""
    torch.set_default_dtype(torch.float64)
    try:
        table = tiny_model().encoder.input.table
    finally:
        torch.set_default_dtype(torch.float32)
    assert table.dtype == torch.float64
    assert table[7, 0].item() == pytest.approx(math.sin(7), abs=1e-15)


def test_embeddings_are_shared_or_not() -> None:
    tied, untied = tiny_model(), tiny_model(**VARIANTS["untied"])
    assert tied.encoder.input.embedding.weight is tied.decoder.input.embedding.weight is tied.output.weight
    tables = (untied.encoder.input.embedding.weight, untied.decoder.input.embedding.weight, untied.output.weight)
    assert len({table.data_ptr() for table in tables}) == 3
    assert untied.decoder.input.scale == 1


def test_number_of_parameters_is_the_sum_written_out() -> None:
    """One table; 4 projections an attention; two matrices a feed-forward; norms. No bias in the projections."""
    attention, feed_forward, norm = 4 * D * D, 2 * D * F + F + D, 2 * D
    encoder_layer = attention + feed_forward + 2 * norm
    decoder_layer = 2 * attention + feed_forward + 3 * norm
    count = sum(parameter.numel() for parameter in tiny_model(**VARIANTS["paper"]).parameters())
    assert count == V * D + 2 * encoder_layer + 2 * decoder_layer


def test_fresh_parameters() -> None:
    """Scaled embeddings have variance 1 also where the table is the output's matrix; biases are 0; matrices Xavier."""
    torch.manual_seed(0)
    model = Transformer(TransformerConfig(vocab_size=3000, d_model=64, n_heads=4, d_ff=96, n_encoder_layers=1))
    scaled = model.encoder.input.embedding.weight * model.encoder.input.scale
    assert scaled.std().item() == pytest.approx(1, rel=0.02)
    inner = model.encoder.layers[0].feed_forward.inner
    assert not inner.bias.any()
    bound = math.sqrt(6 / (64 + 96))
    assert 0.98 * bound < inner.weight.abs().max() <= bound


# --- What must hold whatever the weights are


def full(model: Transformer, src: Tensor = SRC, tgt: Tensor = TGT) -> Tensor:
    with torch.no_grad():
        return model(src, tgt)


def traced(model: Transformer, src: Tensor = SRC, tgt: Tensor = TGT) -> dict[str, Tensor]:
    with record() as trace:
        full(model, src, tgt)
    return dict(trace)


def real(logits: Tensor) -> Tensor:
    """The logits at real positions, one sentence after the other."""
    return torch.cat([logits[b, : TGT_LENGTHS[b]] for b in range(B)])


@EACH_VARIANT
@EACH_DTYPE
class TestInvariants:
    def test_rows_sum_to_one(self, dtype: torch.dtype, variant: str) -> None:
        trace = traced(tiny_model(dtype, **VARIANTS[variant]))
        weights = {address: value for address, value in trace.items() if address.endswith(".weights")}
        assert len(weights) == 2 + 2 * 2
        for address, value in weights.items():
            assert (value >= 0).all()
            sums = value.sum(-1)
            if (sink := address.replace(".weights", ".sink")) in trace:
                sums = sums + trace[sink]
            assert_near(sums, torch.ones_like(sums))

    def test_nothing_attends_the_future_or_padding(self, dtype: torch.dtype, variant: str) -> None:
        model = tiny_model(dtype, **VARIANTS[variant])
        window = model.config.attention_window or 100
        trace = traced(model)
        for address, value in trace.items():
            if not address.endswith(".weights"):
                continue
            is_decoder_self = "decoder" in address and "self_attention" in address
            lengths = TGT_LENGTHS if is_decoder_self else SRC_LENGTHS
            for b in range(B):
                for t in range(value.size(2)):
                    allowed = min(lengths[b], t + 1) if is_decoder_self else lengths[b]
                    assert not value[b, :, t, allowed:].any()
                    first, end = 0, allowed
                    if "self_attention" in address:
                        first, end = max(0, t - window + 1), min(allowed, t + window)
                    assert not value[b, :, t, :first].any() and not value[b, :, t, end:].any()
                    assert (value[b, :, t, first:end] > 0).all()

    def test_a_later_target_token_changes_nothing_before_it(self, dtype: torch.dtype, variant: str) -> None:
        model = tiny_model(dtype, **VARIANTS[variant])
        expected = full(model)
        for t in range(1, T):
            tgt = TGT.clone()
            tgt[:, t] = torch.where(tgt[:, t] == 4, 5, 4)
            changed = full(model, SRC, tgt)
            assert_near(changed[:, :t], expected[:, :t])
            assert (changed[:, t] - expected[:, t]).abs().max() > 1e-3

    def test_every_source_token_matters(self, dtype: torch.dtype, variant: str) -> None:
        model = tiny_model(dtype, **VARIANTS[variant])
        expected = full(model)
        for s in range(SRC_LENGTHS[1]):
            src = SRC.clone()
            src[:, s] = 4
            assert (full(model, src) - expected).abs().amax(dim=(1, 2)).min() > 1e-4

    def test_appended_padding_changes_nothing(self, dtype: torch.dtype, variant: str) -> None:
        model = tiny_model(dtype, **VARIANTS[variant])
        longer_src = torch.cat([SRC, torch.full((B, 3), PAD_ID)], dim=1)
        longer_tgt = torch.cat([TGT, torch.full((B, 2), PAD_ID)], dim=1)
        expected = real(full(model))
        for src, tgt in ((longer_src, TGT), (SRC, longer_tgt), (longer_src, longer_tgt)):
            assert_near(real(full(model, src, tgt)), expected)
            assert_near(real(traced(model, src, tgt)["logits"]), expected)

    def test_recording_changes_nothing(self, dtype: torch.dtype, variant: str) -> None:
        model = tiny_model(dtype, **VARIANTS[variant])
        assert_near(traced(model)["logits"], full(model))

    def test_batch_equals_single(self, dtype: torch.dtype, variant: str) -> None:
        model = tiny_model(dtype, **VARIANTS[variant])
        logits, trace = full(model), traced(model)
        for b in range(B):
            src, tgt = SRC[b : b + 1, : SRC_LENGTHS[b]], TGT[b : b + 1, : TGT_LENGTHS[b]]
            assert_near(full(model, src, tgt)[0], logits[b, : TGT_LENGTHS[b]])
            for address, alone in traced(model, src, tgt).items():
                if address.endswith(("weights", "raw_scores", ".mask")):
                    rows, columns = alone.shape[-2:]
                    assert_near(alone[0], trace[address][b, :, :rows, :columns])

    def test_cached_decoding_equals_the_full_pass(self, dtype: torch.dtype, variant: str) -> None:
        """At every step: the logits, and the row of every attention map that the step makes."""
        model = tiny_model(dtype, **VARIANTS[variant])
        tgt = TGT.masked_fill(TGT == PAD_ID, 4)  # cached decoding knows no padding in the target
        logits, trace = full(model, SRC, tgt), traced(model, SRC, tgt)
        with torch.no_grad():
            state, silent = model.start(SRC), model.start(SRC)
            for t in range(T):
                with record() as step:
                    assert_near(model.step(state, tgt[:, t]), logits[:, t])
                assert_near(model.step(silent, tgt[:, t]), logits[:, t])
                assert state.length == silent.length == t + 1
                for address in step:
                    assert_near(step[address], row_of(trace[address], address, t))

    def test_several_tokens_at_once_continue_a_cache(self, dtype: torch.dtype, variant: str) -> None:
        model = tiny_model(dtype, **VARIANTS[variant])
        tgt = TGT.masked_fill(TGT == PAD_ID, 4)
        later = torch.ones(1, 1, 3, T, dtype=torch.bool).tril(T - 3)
        with torch.no_grad():
            state = model.start(SRC)
            for t in range(2):
                model.step(state, tgt[:, t])
            assert_near(model.decode(tgt[:, 2:], later, state), full(model, SRC, tgt)[:, 2:])

    def test_reorder_takes_rows(self, dtype: torch.dtype, variant: str) -> None:
        """Beam search's use: three rows out of two, then each goes its own way; the old state is left as it was."""
        model = tiny_model(dtype, **VARIANTS[variant])
        rows = torch.tensor([1, 0, 1])
        histories = torch.tensor([[1, 6, 15], [1, 13, 14], [1, 6, 15]])
        tails = torch.tensor([[7, 8], [9, 10], [11, 12]])
        with torch.no_grad():
            state = model.start(SRC)
            for tokens in histories[[1, 0]].T:
                model.step(state, tokens)
            reordered = model.reorder(state, rows)
            steps = torch.stack([model.step(reordered, tokens) for tokens in tails.T], dim=1)
            expected = full(model, SRC[rows], torch.cat([histories, tails], dim=1))[:, 3:]
            assert_near(steps, expected)
            assert state.length == 3 and reordered.length == 5
            assert_near(model.step(state, tails[[1, 0], 0]), expected[[1, 0], 0])

    def test_a_target_that_begins_with_padding_gives_zeros_there(self, dtype: torch.dtype, variant: str) -> None:
        """A fully masked row in the midst of a model: no NaN in either path, nor in any gradient."""
        model = tiny_model(dtype, **VARIANTS[variant])
        tgt = TGT.clone()
        tgt[1] = torch.tensor([PAD_ID, PAD_ID, 1, 6, 15])
        trace = traced(model, SRC, tgt)
        for layer in range(2):
            assert not trace[f"decoder.layers.{layer}.self_attention.weights"][1, :, :2].any()
            assert not trace[f"decoder.layers.{layer}.self_attention.context"][1, :, :2].any()
        assert_near(full(model, SRC, tgt), trace["logits"])
        for recording in (False, True):
            model.zero_grad()
            if recording:
                with record():
                    loss = model(SRC, tgt).square().sum()
            else:
                loss = model(SRC, tgt).square().sum()
            loss.backward()
            assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())

    def test_a_source_of_padding_only(self, dtype: torch.dtype, variant: str) -> None:
        """Nothing to read anywhere: still finite, both ways alike."""
        model = tiny_model(dtype, **VARIANTS[variant])
        src = SRC.clone()
        src[1] = PAD_ID
        trace = traced(model, src)
        assert not trace["decoder.layers.0.cross_attention.weights"][1].any()
        assert torch.isfinite(trace["logits"]).all()
        assert_near(full(model, src), trace["logits"])
        assert_near(full(model, src)[0], full(model)[0])


def row_of(value: Tensor, address: str, t: int) -> Tensor:
    """What one step of cached decoding passes at a tap, cut out of the whole map."""
    name = address.rsplit(".", 1)[-1]
    if address.endswith("cross_attention.mask") or name in ("raw_scores", "scores", "weights", "mask", "bias"):
        row = value[:, :, t : t + 1]
        return row[..., : t + 1] if ".self_attention." in address else row
    if address.endswith("relative.k"):  # keys are turned when they are read
        return value[:, :, : t + 1]
    if name in ("q", "k", "v", "context", "sink"):
        return value[:, :, t : t + 1]
    return value[:, t : t + 1]


def test_cross_keys_and_values_are_computed_once() -> None:
    model = tiny_model(n_decoder_layers=2)
    with record() as trace, torch.no_grad():
        state = model.start(SRC)
        for t in range(T):
            model.step(state, TGT[:, t])
    for layer in range(2):
        for name in ("k", "v"):
            assert len(trace.all(f"decoder.layers.{layer}.cross_attention.{name}")) == 1
            assert len(trace.all(f"decoder.layers.{layer}.self_attention.{name}")) == T
        assert len(trace.all(f"decoder.layers.{layer}.cross_attention.q")) == T
    assert len(trace.all("encoder.output")) == 1
    assert [value.size(2) for value in trace.all("decoder.layers.0.self_attention.k")] == [1] * T  # none computed again


@EACH_VARIANT
def test_order_matters_because_of_positions_only(variant: str) -> None:
    """Without positions the encoder turns a permuted source into the permuted memory (section 3.5)."""
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    for positional in POSITIONS:
        blind = positional == "none"
        model = tiny_model(**(VARIANTS[variant] | {"positional": positional, "attention_window": 0}))
        memory = traced(model, SRC[:1])["encoder.output"]
        permuted = traced(model, SRC[:1, order])["encoder.output"]
        assert torch.allclose(permuted, memory[:, order], atol=1e-10) == blind


def test_the_longest_and_one_more() -> None:
    model = tiny_model(max_length=6)
    ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11]])
    assert full(model, ids[:, :6], ids[:, :6]).shape == (1, 6, V)
    for src, tgt in ((ids, ids[:, :6]), (ids[:, :6], ids)):
        with pytest.raises(ValueError, match="7 tokens are too many: the model has positions for 6"):
            full(model, src, tgt)
    with torch.no_grad():
        state = model.start(ids[:, :6])
        for t in range(6):
            model.step(state, ids[:, t])
        with pytest.raises(ValueError, match="7 tokens are too many"):
            model.step(state, ids[:, 6])


def test_dropout_works_in_training_only() -> None:
    model = tiny_model(dropout=0.3)
    assert torch.equal(full(model), full(model))
    model.train()
    assert not torch.equal(full(model), full(model))


def test_addresses_are_paths() -> None:
    model = tiny_model()
    cross = model.decoder.layers[1].cross_attention
    assert addresses(model)["decoder.layers.1.cross_attention.weights"] is cross.tap_weights
    assert addresses(model)["logits"] is model.tap_logits
    assert "H" in addresses(model)["encoder.layers.0.self_attention.q"].shape and H == model.config.n_heads


def test_builders_leave_nothing_at_its_start() -> None:
    """The tests above would prove less with norms of 1 and biases of 0."""
    model = tiny_model()
    randomise(model)
    for name, parameter in model.named_parameters():
        assert parameter.std() > 0.05, name
