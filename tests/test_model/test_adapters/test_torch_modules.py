"""The attention of PyTorch's own modules: against PyTorch's slow path, which hands out the weights of every head."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_hooks

from model import record_attention
from model.adapters.outputs import attention_from

D, HEADS = 16, 4


def encoder(**options: Any) -> nn.TransformerEncoder:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(D, HEADS, 32, **({"batch_first": True} | options))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of layers for which there is no nested tensor
        return nn.TransformerEncoder(layer, 2).eval()


def asked(module: nn.Module, *arguments: Any, **keywords: Any) -> list[Tensor]:
    """The weights (B, H, T, S) that each attention hands out when asked for, one after the other, in the slow path."""
    weights = []

    def ask(attention: nn.Module, given: Any, options: dict[str, Any]) -> Any:
        return given, options | {"need_weights": True, "average_attn_weights": False}

    def keep(attention: nn.Module, given: Any, output: Any) -> Any:
        weights.append(output[1] if output[1].dim() == 4 else output[1][None])

    attentions = [part for part in module.modules() if isinstance(part, nn.MultiheadAttention)]
    handles = [part.register_forward_pre_hook(ask, with_kwargs=True) for part in attentions]
    handles += [part.register_forward_hook(keep) for part in attentions]
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad():
            module(*arguments, **keywords)
    finally:
        torch.backends.mha.set_fastpath_enabled(True)
        for handle in handles:
            handle.remove()
    return weights


def hooks_left(module: nn.Module) -> int:
    parts = list(module.modules())
    own = sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in parts)
    return own + len(torch_hooks._global_forward_hooks) + len(torch_hooks._global_forward_pre_hooks)


def causal(count: int) -> Tensor:
    return nn.Transformer.generate_square_subsequent_mask(count)


class TestEncoder:
    @pytest.mark.parametrize("grad", [False, True])
    @pytest.mark.parametrize(
        "options", [{}, {"norm_first": True}, {"batch_first": False}, {"nhead": 1}, {"bias": False}, {"dropout": 0.5}]
    )
    def test_weights_are_those_of_the_slow_path_and_outputs_stay(self, options: dict[str, Any], grad: bool) -> None:
        heads = options.get("nhead", HEADS)
        torch.manual_seed(0)
        values = {"d_model": D, "nhead": heads, "dim_feedforward": 32, "batch_first": True} | options
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = nn.TransformerEncoder(nn.TransformerEncoderLayer(**values), 2).eval()
        x = torch.randn(3, 5, D)
        for keywords in ({}, {"mask": causal(3 if options.get("batch_first") is False else 5)}):
            with torch.set_grad_enabled(grad):
                before = model(x, **keywords)
                with record_attention(model) as maps:
                    output = model(x, **keywords)
            assert torch.equal(output, before)
            assert list(maps) == ["layers.0.self_attn", "layers.1.self_attn"]
            for recorded, weights in zip(maps.values(), asked(model, x, **keywords), strict=True):
                assert recorded.shape[1] == heads
                torch.testing.assert_close(recorded, weights, rtol=0, atol=1e-5)
        assert not hooks_left(model)

    @torch.inference_mode()
    def test_padding_in_the_fast_path_stays_zeros_and_is_left_out(self) -> None:
        model = encoder()
        x, padding = torch.randn(2, 6, D), torch.tensor([[False] * 4 + [True] * 2, [False] * 5 + [True]])
        before = model(x, src_key_padding_mask=padding)
        with record_attention(model) as maps:
            output = model(x, src_key_padding_mask=padding)
        assert torch.equal(output, before)
        assert not output[0, 4:].any()  # only the fast path, with nested tensors, leaves zeros
        for sequence, count in enumerate((4, 5)):
            recording = attention_from(maps, list("abcdef")[:count], sequence)
            expected = asked(model, x, src_key_padding_mask=padding)
            for layer, weights in enumerate(expected):
                kept = weights[sequence, :, :count, :count].numpy()
                np.testing.assert_allclose(recording.attention("encoder_self")[layer], kept, atol=1e-5)
            assert recording.mask("encoder_self").all()

    @torch.inference_mode()
    def test_a_language_model_on_it_is_a_decoder_with_its_mask(self) -> None:
        model = encoder()
        with record_attention(model) as maps:
            model(torch.randn(1, 4, D), mask=causal(4), is_causal=True)
        recording = attention_from(maps, list("abcd"))
        assert recording.kinds == ["decoder_self"]
        assert recording.target_tokens == list("abcd")
        np.testing.assert_array_equal(recording.mask("decoder_self"), np.broadcast_to(np.tri(4, dtype=bool), (2, 4, 4)))

    def test_training_draws_the_same_dropout(self) -> None:
        model = encoder(dropout=0.5).train()
        x = torch.randn(2, 5, D)
        torch.manual_seed(7)
        before = model(x)
        torch.manual_seed(7)
        with record_attention(model) as maps:
            output = model(x)
        assert torch.equal(output, before)
        np.testing.assert_allclose(maps["layers.0.self_attn"].sum(-1).numpy(), 1, atol=1e-5)
        output.sum().backward()


class TestTransformer:
    @torch.inference_mode()
    def test_three_kinds_of_a_whole_transformer(self) -> None:
        torch.manual_seed(0)
        model = nn.Transformer(D, HEADS, 1, 2, 32, batch_first=True).eval()
        src, tgt = torch.randn(2, 5, D), torch.randn(2, 5, D)
        padding = torch.tensor([[False] * 3 + [True] * 2, [False] * 5])
        target_padding = torch.tensor([[False] * 4 + [True], [False] * 5])
        keywords = {
            "tgt_mask": causal(5).isinf(),
            "memory_key_padding_mask": padding,
            "tgt_key_padding_mask": target_padding,
            "src_key_padding_mask": padding,
        }
        with record_attention(model) as maps:
            model(src, tgt, **keywords)
            model(src, tgt, **keywords)  # of several passes the last one
        source, target = list("abc"), list("wxyz")
        recording = attention_from(maps, {"source": source, "target": target})
        expected = asked(model, src, tgt, **keywords)
        weights = {
            "encoder_self": expected[:1],
            "decoder_self": expected[1::2],
            "cross": expected[2::2],
        }
        for kind, layers in weights.items():
            rows, columns = (3 if kind == "encoder_self" else 4), (4 if kind == "decoder_self" else 3)
            kept = torch.stack(layers)[:, 0, :, :rows, :columns].numpy()
            np.testing.assert_allclose(recording.attention(kind), kept, atol=1e-5)
        with pytest.raises(ValueError, match="one list of tokens does not name"):
            attention_from(maps, list("abcde"))


class TestAttentionAlone:
    @pytest.mark.parametrize(
        "options",
        [{}, {"kdim": 6, "vdim": 10}, {"batch_first": True}, {"add_bias_kv": True}, {"add_zero_attn": True}],
    )
    def test_of_every_form(self, options: dict[str, Any]) -> None:
        torch.manual_seed(0)
        module = nn.MultiheadAttention(D, HEADS, **options).eval()
        width, out = options.get("kdim", D), options.get("vdim", D)
        shape = (2, 7) if options.get("batch_first") else (7, 2)
        queries = torch.randn(*((2, 5) if options.get("batch_first") else (5, 2)), D)
        keys, values = torch.randn(*shape, width), torch.randn(*shape, out)
        bias = torch.randn(2 * HEADS, 5, 7)
        with record_attention(module) as maps:
            output, weights = module(queries, keys, values, attn_mask=bias)
        assert weights.shape[:2] == (2, 5)  # averaged for whoever called, as without
        (expected,) = asked(module, queries, keys, values, attn_mask=bias)
        torch.testing.assert_close(maps[""], expected[..., :7], rtol=0, atol=1e-5)
        recording = attention_from(maps, {"source": list("abcdefg"), "target": list("vwxyz")}, 1)
        np.testing.assert_allclose(recording.attention("cross")[0], expected[1, ..., :7].numpy(), atol=1e-5)

    def test_a_single_sequence_and_rows_without_a_key(self) -> None:
        module = nn.MultiheadAttention(D, HEADS)
        x, mask = torch.randn(3, D), torch.zeros(3, 3, dtype=torch.bool)
        mask[1] = True
        with record_attention(module) as maps:
            module(x, x, x, attn_mask=mask)
        recording = attention_from(maps, list("abc"))
        assert recording.nan_rows == {"encoder_self": HEADS}
        assert not recording.mask("encoder_self")[..., 1, :].any()


class TestBlocks:
    def test_after_an_error_everything_is_as_before(self) -> None:
        model = encoder()
        with pytest.raises(ZeroDivisionError), record_attention(model):
            model(torch.randn(1, 3, D))
            raise ZeroDivisionError
        with record_attention(model) as maps, pytest.raises(AssertionError):
            model(torch.randn(1, 3, D + 1))
        with pytest.raises(ValueError, match="no attention of the TransformerEncoder was called"):
            attention_from(maps, list("abc"))
        assert not hooks_left(model)

    def test_blocks_nest_and_each_sees_its_own_module(self) -> None:
        model, other = encoder(), encoder()
        x = torch.randn(1, 3, D)
        with record_attention(model) as outer, record_attention(model.layers[1]) as inner:
            other(x)
            model(x)
        assert list(outer) == ["layers.0.self_attn", "layers.1.self_attn"]
        assert list(inner) == ["self_attn"]
        assert torch.equal(inner["self_attn"], outer["layers.1.self_attn"])

    def test_threads_see_only_their_own_calls(self) -> None:
        model = encoder()
        texts = [torch.randn(1, 3 + number, D) for number in range(4)]
        wrong = []

        def work(x: Tensor) -> None:
            for _ in range(10):
                with torch.no_grad(), record_attention(model) as maps:
                    model(x)
                if maps["layers.0.self_attn"].size(-1) != x.size(1):
                    wrong.append(x)

        threads = [threading.Thread(target=work, args=(x,)) for x in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong and not hooks_left(model)

    @torch.inference_mode()
    def test_parts_called_by_themselves_give_their_last_call(self) -> None:
        torch.manual_seed(0)
        model = nn.Transformer(D, HEADS, 1, 1, 32, batch_first=True).eval()
        with record_attention(model) as maps:
            memory = model.encoder(torch.randn(1, 4, D))
            for count in (1, 2, 3):  # token by token
                model.decoder(torch.randn(1, count, D), memory, tgt_mask=causal(count))
        recording = attention_from(maps, {"source": list("abcd"), "target": list("xyz")})
        assert recording.attention("cross").shape == (1, HEADS, 3, 4)
        assert recording.attention("decoder_self").shape == (1, HEADS, 3, 3)

    def test_a_module_that_is_several_layers_has_all_of_them(self) -> None:
        class Universal(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.layer = nn.TransformerEncoderLayer(D, HEADS, 32, batch_first=True)

            def forward(self, x: Tensor) -> Tensor:
                return self.layer(self.layer(x))

        model = Universal().eval()
        with record_attention(model) as maps:
            model(torch.randn(1, 3, D))
        assert attention_from(maps, list("abc")).attention("encoder_self").shape == (2, HEADS, 3, 3)

    @pytest.mark.parametrize(
        ("module", "words"),
        [
            (nn.Linear(2, 2), "there is no nn.MultiheadAttention in the Linear"),
            ("a model", "takes a module of PyTorch, got str"),
            (type("Own", (nn.MultiheadAttention,), {"forward": lambda self, x: x})(D, HEADS), "a forward of its own"),
        ],
    )
    def test_what_cannot_be_recorded_is_said_in_one_sentence(self, module: Any, words: str) -> None:
        with pytest.raises(ValueError, match=words) as error, record_attention(module):
            pass
        assert "\n" not in str(error.value)
