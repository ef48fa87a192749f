"""The decoder's step on bare tensors: what a search runs when nobody looks.

A step reads one token a row. On a CPU half of its time went into Python, modules, masks that hide nothing and dropouts
that drop nothing. Here are the equations of `layers.DecoderLayer` without these, for one position; the tests hold every
step equal to that of `Transformer`, for every choice a configuration has. What remains is reading the matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, scaled_dot_product_attention

from model.attention import MultiHeadAttention
from model.layers import DecoderLayer, Residual
from model.taps import observed
from model.transformer import Cache, Transformer


class Stepper:
    """Decodes from a Transformer (the protocol of `model.decoding`); safe to share between threads.

    Args:
        model: whose parameters are used, as they are now. While something records or intervenes, or while it is
            trained, it makes the steps itself, so that taps see them and dropout takes place.
    """

    @torch.no_grad()
    def __init__(self, model: Transformer) -> None:
        self.model = model
        decoder = model.decoder
        self.embedding, self.scale = decoder.input.embedding.weight, decoder.input.scale
        self.positions = decoder.input.table
        self.layers = [_Layer.of(layer) for layer in decoder.layers]
        self.norm = _Norm.of(decoder.norm) if isinstance(decoder.norm, nn.LayerNorm) else None
        self.output = _Linear.of(model.output)

    def start(self, src: Tensor) -> Cache:
        """Begin decoding the sources (B, S)."""
        return self.model.start(src)

    def reorder(self, state: Cache, rows: Tensor) -> Cache:
        """The state with its rows taken from the given rows (an index tensor)."""
        return self.model.reorder(state, rows)

    def step(self, state: Cache, tokens: Tensor) -> Tensor:
        """Read one token a row (B,), extend the state, return the logits (B, V) of the next."""
        if observed() or self.model.training or state.length >= len(self.positions):  # too long: the model says so
            return self.model.step(state, tokens)
        x = embedding(tokens, self.embedding) * self.scale + self.positions[state.length]  # (B, D)
        for i, layer in enumerate(self.layers):
            x = layer.step(x, state, i)
        state.length += 1
        return self.output(self.norm(x) if self.norm else x)  # (B, V)


def lay_out(model: Transformer) -> Transformer:
    """Store a model's matrices so that products with few rows read them fastest; values, shapes and sharing stay.

    A product with few rows takes as long as its matrix takes to be read, and libraries of linear algebra read W^T
    faster than W in x W^T (measured with MKL: a tenth to a half of the time less, for 1 to 20 rows).

    Args:
        model: it is changed in place.

    Returns:
        The model.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.weight.data = module.weight.data.t().contiguous().t()
    return model


@dataclass(frozen=True, slots=True)
class _Linear:
    """x W^T + b without a module around it."""

    transposed: Tensor
    bias: Tensor | None

    @classmethod
    def of(cls, *modules: nn.Linear) -> _Linear:
        """One matrix, or several that read the same x, side by side."""
        if len(modules) == 1:
            return cls(modules[0].weight.t(), modules[0].bias)
        bias = None if modules[0].bias is None else torch.cat([module.bias for module in modules])
        return cls(torch.cat([module.weight.t() for module in modules], dim=1).contiguous(), bias)

    def __call__(self, x: Tensor) -> Tensor:
        return x @ self.transposed if self.bias is None else torch.addmm(self.bias, x, self.transposed)


@dataclass(frozen=True, slots=True)
class _Norm:
    """Layer normalisation without a module around it."""

    shape: tuple[int, ...]
    weight: Tensor
    bias: Tensor
    eps: float

    @classmethod
    def of(cls, module: nn.LayerNorm) -> _Norm:
        return cls(module.normalized_shape, module.weight, module.bias, module.eps)

    def __call__(self, x: Tensor) -> Tensor:
        return torch.layer_norm(x, self.shape, self.weight, self.bias, self.eps)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The parameters of one decoder layer."""

    n_heads: int
    around: Callable[[Tensor, _Norm, Callable[[Tensor], Tensor]], Tensor]
    norms: tuple[_Norm, _Norm, _Norm]
    self_qkv: _Linear
    self_output: _Linear
    cross_q: _Linear
    cross_output: _Linear
    inner: _Linear
    activation: Callable[[Tensor], Tensor]
    outer: _Linear

    @classmethod
    def of(cls, layer: DecoderLayer) -> _Layer:
        own: MultiHeadAttention = layer.self_attention
        residuals: tuple[Residual, ...] = (layer.residual_self, layer.residual_cross, layer.residual_ff)
        return cls(
            n_heads=own.n_heads,
            around=_pre if layer.residual_self.is_pre else _post,
            norms=tuple(_Norm.of(residual.norm) for residual in residuals),
            self_qkv=_Linear.of(own.q_projection, own.k_projection, own.v_projection),
            self_output=_Linear.of(own.output_projection),
            cross_q=_Linear.of(layer.cross_attention.q_projection),
            cross_output=_Linear.of(layer.cross_attention.output_projection),
            inner=_Linear.of(layer.feed_forward.inner),
            activation=layer.feed_forward.activation,
            outer=_Linear.of(layer.feed_forward.outer),
        )

    def step(self, x: Tensor, state: Cache, i: int) -> Tensor:
        """Pass one position (B, D) through the layer, the i-th of the decoder."""
        n_rows = x.size(0)

        def self_attention(x: Tensor) -> Tensor:
            q, k, v = self.self_qkv(x).view(n_rows, 3, self.n_heads, 1, -1).unbind(1)  # (B, H, 1, K)
            k, v = state.append(i, (k, v))  # (B, H, length, K)
            context = scaled_dot_product_attention(q, k, v)  # (B, H, 1, K); what was read is past: nothing to mask
            return self.self_output(context.reshape(n_rows, -1))  # (B, D)

        def cross_attention(x: Tensor) -> Tensor:
            q = self.cross_q(x).view(n_rows, self.n_heads, 1, -1)  # (B, H, 1, K)
            context = scaled_dot_product_attention(q, *state.cross[i], attn_mask=state.needed_cross_mask)
            return self.cross_output(context.reshape(n_rows, -1))  # (B, D)

        def feed_forward(x: Tensor) -> Tensor:
            return self.outer(self.activation(self.inner(x)))  # (B, D)

        sublayers = (self_attention, cross_attention, feed_forward)
        for norm, sublayer in zip(self.norms, sublayers):
            x = self.around(x, norm, sublayer)
        return x


def _pre(x: Tensor, norm: _Norm, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    return x + sublayer(norm(x))


def _post(x: Tensor, norm: _Norm, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(x + sublayer(x))
