"""The decoder's step on bare tensors: what a search runs when nobody looks.

A step reads one token a row. On a CPU half of its time went into Python, modules, masks that hide nothing and dropouts
that drop nothing. Here are the equations of `layers.DecoderLayer` without these, for one position; the tests hold every
step equal to that of `Transformer`, for every choice a configuration has. What remains is reading the matrices.

What the steps of a search computed can be kept and handed to the taps afterwards, as one pass over the whole target
would hand it to them: recording a translation then repeats none of its products but the scores and the contexts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, scaled_dot_product_attention

from model import masks
from model.attention import MultiHeadAttention
from model.layers import DecoderLayer, Residual
from model.taps import Trace, addresses, observed
from model.text.special import PAD_ID
from model.transformer import Cache, Transformer

See = Callable[[str, Tensor], None]  # is told an address and what was computed there


class Stepper:
    """Decodes from a Transformer (the protocol of `model.decoding`); safe to share between threads.

    Args:
        model: whose parameters are used, as they are now. While something records or intervenes, or while it is
            trained, it makes the steps itself, so that taps see them and dropout takes place.

    Attributes:
        kept: about how many numbers a step keeps for each row of the batch, where it keeps them.
    """

    @torch.no_grad()
    def __init__(self, model: Transformer) -> None:
        self.model = model
        decoder = model.decoder
        self.embedding, self.scale = decoder.input.embedding.weight, decoder.input.scale
        self.positions = decoder.input.table
        self.layers = [_Layer.of(layer, f"decoder.layers.{i}") for i, layer in enumerate(decoder.layers)]
        self.norm = _Norm.of(decoder.norm) if isinstance(decoder.norm, nn.LayerNorm) else None
        self.output = _Linear.of(model.output)
        self.taps = addresses(model)
        config = model.config
        self.kept = config.vocab_size + config.n_decoder_layers * (10 * config.d_model + config.d_ff)

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
        see = _ignore if state.seen is None else state.seen.add
        words = embedding(tokens, self.embedding) * self.scale  # (B, D)
        see("decoder.input.tokens", words)
        x = words + self.positions[state.length]
        see("decoder.input.stream", x)
        for i, layer in enumerate(self.layers):
            x = layer.step(x, state, i, see)
        state.length += 1
        x = self.norm(x) if self.norm else x
        see("decoder.output", x)
        logits = self.output(x)  # (B, V)
        see("logits", logits)
        return logits

    def keeping(self, state: Cache) -> Cache:
        """A state that has decoded nothing yet, made to keep what its steps will compute, for `replay`.

        Steps that the model makes itself, because something records or intervenes, keep nothing.
        """
        return replace(state, seen=Trace())

    def replay(self, state: Cache, tgt: Tensor, rows: Sequence[int]) -> Tensor:
        """Hand what the steps computed to the taps, as `Transformer.read` does in its one pass over the target.

        Every product is the one that the search saw; only raw scores, scores, weights and contexts are computed again,
        from the queries, keys and values of the steps, by the equations of the model: the steps never had them whole.

        Args:
            state: of one sentence, from `keeping`, decoded from since.
            tgt: (1, T) the ids that the steps read, the start token first.
            rows: for each step which row of the batch read the id.

        Returns:
            (1, T, V) logits.
        """
        n_steps, decoder = tgt.size(1), self.model.decoder
        greedy = all(len(logits) == 1 for logits in state.seen.all("logits")[:n_steps])

        def pass_on(address: str) -> Tensor:
            """The rows of all steps through the tap: (1, T, ...), or with heads (1, H, T, ...)."""
            tap, steps = self.taps[address], state.seen.all(address)[:n_steps]
            if not greedy:
                steps = [step[row : row + 1] for step, row in zip(steps, rows, strict=True)]
            values = torch.cat(steps)  # (T, ...)
            return tap(values.squeeze(2).transpose(0, 1)[None] if " H " in tap.shape else values[None])

        pass_on("decoder.input.tokens")
        decoder.input.tap_positions(self.positions[None, :n_steps])
        pass_on("decoder.input.stream")
        mask = masks.decoder_mask(tgt, PAD_ID)
        for at, layer, cross in zip(self.layers, decoder.layers, state.cross, strict=True):
            k, v, q = (pass_on(at.address[f"self_attention.{name}"]) for name in "kvq")
            layer.self_attention.equations(q, k, v, mask)
            pass_on(at.address["self_attention.output"])
            pass_on(at.address["residual_self.stream"])
            q = pass_on(at.address["cross_attention.q"])
            layer.cross_attention.equations(q, *cross, state.cross_mask)
            for name in _AFTER_CROSS:
                pass_on(at.address[name])
        pass_on("decoder.output")
        return pass_on("logits")


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


def _ignore(address: str, value: Tensor) -> None:
    """What a step computes is let go."""


_AFTER_CROSS = (
    "cross_attention.output",
    "residual_cross.stream",
    "feed_forward.hidden",
    "feed_forward.output",
    "residual_ff.stream",
)
_STREAMS = ("residual_self.stream", "residual_cross.stream", "residual_ff.stream")
_SEEN = (
    *(f"self_attention.{name}" for name in ("q", "k", "v", "output")),
    "residual_self.stream",
    "cross_attention.q",
    *_AFTER_CROSS,
)


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
    address: dict[str, str]

    @classmethod
    def of(cls, layer: DecoderLayer, path: str) -> _Layer:
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
            address={name: f"{path}.{name}" for name in _SEEN},
        )

    def step(self, x: Tensor, state: Cache, i: int, see: See) -> Tensor:
        """Pass one position (B, D) through the layer, the i-th of the decoder; tell `see` what is computed."""
        n_rows, at = x.size(0), self.address

        def self_attention(x: Tensor) -> Tensor:
            q, k, v = self.self_qkv(x).view(n_rows, 3, self.n_heads, 1, -1).unbind(1)  # (B, H, 1, K)
            for name, value in (("q", q), ("k", k), ("v", v)):
                see(at["self_attention." + name], value)
            k, v = state.append(i, (k, v))  # (B, H, length, K)
            context = scaled_dot_product_attention(q, k, v)  # (B, H, 1, K); what was read is past: nothing to mask
            output = self.self_output(context.reshape(n_rows, -1))  # (B, D)
            see(at["self_attention.output"], output)
            return output

        def cross_attention(x: Tensor) -> Tensor:
            q = self.cross_q(x).view(n_rows, self.n_heads, 1, -1)  # (B, H, 1, K)
            see(at["cross_attention.q"], q)
            context = scaled_dot_product_attention(q, *state.cross[i], attn_mask=state.needed_cross_mask)
            output = self.cross_output(context.reshape(n_rows, -1))  # (B, D)
            see(at["cross_attention.output"], output)
            return output

        def feed_forward(x: Tensor) -> Tensor:
            hidden = self.activation(self.inner(x))  # (B, F)
            see(at["feed_forward.hidden"], hidden)
            output = self.outer(hidden)  # (B, D)
            see(at["feed_forward.output"], output)
            return output

        sublayers = (self_attention, cross_attention, feed_forward)
        for norm, sublayer, stream in zip(self.norms, sublayers, _STREAMS):
            x = self.around(x, norm, sublayer)
            see(at[stream], x)
        return x


def _pre(x: Tensor, norm: _Norm, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    return x + sublayer(norm(x))


def _post(x: Tensor, norm: _Norm, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(x + sublayer(x))
