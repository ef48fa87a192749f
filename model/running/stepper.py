"""The decoder's steps for a search that records nothing: the equations of the model alone.

A step of one token per row takes as long as reading its matrices and making its calls takes: so matrices are read as
float16 where that changes no number, and nn.Module, taps and dropouts are left out.
"""

import warnings
from collections.abc import Iterable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import MultiHeadAttention
from model.layers import DecoderLayer
from model.taps import observed
from model.transformer import Cache, Transformer

FEW = 64  # rows; with more a product takes as long with matrices in float32


class Stepper:
    """Decodes from a Transformer (the protocol of `model.decoding`); safe to share between threads.

    While something records or intervenes, or while it is trained, the model makes the steps itself, so that taps see
    them and dropout takes place; and always where its layers have other equations than those of 2017.
    """

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.start = model.start
        self.reorder = model.reorder
        attentions = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
        self._is_plain = model.config.is_of_2017 and all(module.fuses for module in attentions)
        self._input = model.decoder.input
        self._output = _product(model.output)
        layers = cast(Iterable[DecoderLayer], model.decoder.layers) if self._is_plain else ()
        self._layers = [_Layer(i, layer) for i, layer in enumerate(layers)]

    @torch.no_grad()
    def step(self, state: Cache, tokens: Tensor) -> Tensor:
        """Tokens (B,) to logits (B, V); the state is extended."""
        if observed() or self.model.training or not self._is_plain:
            return self.model.step(state, tokens)
        entry = self._input
        if state.length == len(entry.table):
            entry(tokens[:, None], state.length)  # says that there is no such position
        x = cast(nn.Embedding, entry.embedding).weight[tokens] * entry.scale + entry.table[state.length]  # (B, D)
        for layer in self._layers:
            x = layer(x, state)
        state.length += 1
        return self._output(self.model.decoder.norm.forward(x))


class _Layer:
    """A decoder layer as a function of one position per row (B, D) and the cache; all positions are past: no mask."""

    def __init__(self, index: int, layer: DecoderLayer) -> None:
        attention = layer.self_attention
        cross = layer.cross_attention
        feed_forward = layer.feed_forward
        self.index = index
        self.heads = attention.n_heads, 1, attention.d_head
        self.self_qkv = _product(attention.q_projection, attention.k_projection, attention.v_projection)
        self.self_output = _product(attention.output_projection)
        self.cross_q = _product(cross.q_projection)
        self.cross_output = _product(cross.output_projection)
        self.inner = _product(feed_forward.inner)
        self.outer = _product(feed_forward.outer)
        self.activation = feed_forward.activation
        residuals = layer.residual_self, layer.residual_cross, layer.residual_ff
        self.is_pre = residuals[0].is_pre
        self.norms = [residual.norm.forward for residual in residuals]

    def __call__(self, x: Tensor, cache: Cache) -> Tensor:
        for norm, sublayer in zip(self.norms, (self._self_attention, self._cross_attention, self._feed_forward)):
            x = x + sublayer(norm(x), cache) if self.is_pre else norm(x + sublayer(x, cache))
        return x

    def _self_attention(self, x: Tensor, cache: Cache) -> Tensor:
        q, k, v = self.self_qkv(x).view(len(x), 3, *self.heads).unbind(1)  # each (B, H, 1, K)
        k, v = cache.append(self.index, (k, v))  # (B, H, length, K)
        return self.self_output(F.scaled_dot_product_attention(q, k, v).reshape(x.shape))

    def _cross_attention(self, x: Tensor, cache: Cache) -> Tensor:
        q = self.cross_q(x).view(len(x), *self.heads)  # (B, H, 1, K)
        context = F.scaled_dot_product_attention(q, *cache.cross[self.index], attn_mask=cache.hides)
        return self.cross_output(context.reshape(x.shape))

    def _feed_forward(self, x: Tensor, _: Cache) -> Tensor:
        return self.outer(self.activation(self.inner(x)))


class Product:
    """The outputs of linear layers for the same input, side by side: (..., in_features) to (..., all out_features).

    Where all numbers of the matrix are float16 numbers, as those of a saved checkpoint are, it is read as such; the
    product is still computed in float32 (FBGEMM, x86 only). Parameters that change in place later are seen.
    """

    def __init__(self, *linears: nn.Linear) -> None:
        self._linears = [(linear.weight, linear.bias) for linear in linears]
        self._packed = None
        self._parameters = [parameter for pair in self._linears for parameter in pair if parameter is not None]
        weights, biases = zip(*self._linears)
        if all(_is_half(weight) for weight in weights):
            self._packed = _packed(torch.cat(weights).detach())
            self._seen = self._state()
            self._bias = None if biases[0] is None else torch.cat(biases).detach()

    def __call__(self, x: Tensor) -> Tensor:
        """Apply the layer to x (..., D)."""
        few = x.numel() <= FEW * x.size(-1) and not torch.is_grad_enabled()
        if few and self._packed is not None and self._seen == self._state():
            return torch.fbgemm_linear_fp16_weight_fp32_activation(x, self._packed, self._bias)
        outputs = [F.linear(x, *linear) for linear in self._linears]
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=-1)

    def __reduce__(self) -> tuple:
        """Copies and files of a model have None instead: the packed matrix is a pointer."""
        return type(None), ()

    def _state(self) -> list[tuple[int, int]]:
        return [(parameter._version, parameter.data_ptr()) for parameter in self._parameters]


class Linear(nn.Linear):
    """A linear layer of a model after `lay_out`."""

    product: Product | None  # pyright: ignore[reportIncompatibleUnannotatedOverride]

    def forward(self, input: Tensor) -> Tensor:
        """input (..., in_features) to (..., out_features)."""
        return F.linear(input, self.weight, self.bias) if self.product is None else self.product(input)


def lay_out(model: nn.Module) -> nn.Module:
    """Have all linear layers of a model, changed in place, read their matrices fastest; values and sharing stay."""
    for module in model.modules():
        if type(module) is nn.Linear:
            if not _is_half(module.weight):  # libraries read W^T faster than W in x W^T
                module.weight.data = module.weight.data.t().contiguous().t()
            product = Product(module)
            module.__class__ = Linear
            cast(Linear, module).product = product
    return model


def _product(*linears: nn.Linear) -> Product:
    """The product of linear layers; of a single layer that `lay_out` changed its own."""
    product = getattr(linears[0], "product", None) if len(linears) == 1 else None
    return product or Product(*linears)


def _is_half(weight: Tensor) -> bool:
    if weight.dtype != torch.float32 or weight.device.type != "cpu" or weight.is_inference():
        return False
    return torch.equal(weight.half().float(), weight)


def _packed(weight: Tensor) -> Tensor | None:
    """The matrix as the library's product takes it, or None where the library has no such product."""
    with warnings.catch_warnings():  # that a later version may be without; the version is pinned
        warnings.simplefilter("ignore")
        try:
            packed = torch.fbgemm_pack_gemm_matrix_fp16(weight)
            torch.fbgemm_linear_fp16_weight_fp32_activation(weight[:1], packed, None)
        except RuntimeError:
            return None
    return packed
