"""Well-known mistakes that training runs with, without an error. WRONG ON PURPOSE: to be shown, never to be built upon.

Each changes a model, its loss or its tokenizer in one place, so that the same mistake can be trained with
(`grid.mistake_cells`) and can be made afterwards, in a model that was trained without it (`experiments.pitfalls`).
"""

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

from torch import Tensor, nn

from model import masks
from model.attention import MultiHeadAttention
from model.gru import GruModel
from model.layers import FeedForward
from model.positional import literal_loop
from model.text.subwords import Tokenizer
from model.training.data.corpora import Pair
from model.training.losses import TranslationLoss
from model.transformer import InputEmbedding, Transformer

NO_MISTAKE, GRU_WITHOUT = "none", "gru-right"  # runs to compare with: of a Transformer, of a recurrent model


def forgotten_transpose(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Weights (..., T, H, H) and context (..., T, H, K) of (..., T, H, K): heads were never moved before the tokens."""
    weights = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))).softmax(-1)  # (..., T, H, H)
    return weights, weights @ v


def own_layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """A layer norm of x (..., D): bias in the denominator, unbiased deviation, eps outside the root.

    Right is `nn.LayerNorm`.
    """
    mean = x.mean(-1, keepdim=True)
    deviation = x.std(-1, keepdim=True)
    return weight * (x - mean) / (deviation + eps + bias)


def row_padding_mask(ids: Tensor) -> Tensor:
    """Padding of ids (B, T) over the rows, bool (B, 1, T, 1): pads are blanked as queries, not as keys."""
    return masks.padding_mask(ids).transpose(-2, -1)


class UntransposedAttention(MultiHeadAttention):
    """Self-attention whose heads attend to the heads of their own token, as `forgotten_transpose`; no mask fits."""

    fuses = False

    def equations(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        """The context (B, H, T, K) of q, k and v (B, H, T, K)."""
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))  # (B, T, H, K)
        weights, _ = forgotten_transpose(q, k, v)  # (B, T, H, H)
        return (self.dropout(weights) @ v).transpose(1, 2)


def _inputs(model: Transformer) -> tuple[InputEmbedding, InputEmbedding]:
    return model.encoder.input, model.decoder.input


def _modules(model: nn.Module, kind: type[nn.Module]) -> list[Any]:
    return [module for module in model.modules() if isinstance(module, kind)]


def _literal_positions(model: Transformer) -> None:
    for module in _inputs(model):
        module.table = literal_loop(*module.table.shape).to(module.table)


def _small_embedding(model: Transformer) -> None:
    for module in _inputs(model):
        module.scale /= math.sqrt(model.config.d_model)


def _no_input_dropout(model: Transformer) -> None:
    for module in _inputs(model):
        module.register_module("dropout", nn.Identity())


def _heads_behind_tokens(model: Transformer) -> None:
    # Of the encoder only: the decoder's masks would not fit, which is an error that nobody overlooks.
    for module in _modules(model.encoder, MultiHeadAttention):
        module.__class__ = UntransposedAttention


def _unscaled_scores(model: Transformer) -> None:
    factor = math.sqrt(model.config.d_head)
    for module in _modules(model, MultiHeadAttention):
        module.q_norm.register_forward_hook(lambda _, inputs, q: q * factor)


def _padded_rows(model: Transformer) -> None:
    def blank_rows(_: nn.Module, inputs: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        ids = inputs[0]
        return ids, row_padding_mask(ids)

    def hide_nothing(_: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, mask, cross, _, remember = inputs
        return x, mask, cross, None, remember

    model.encoder.register_forward_pre_hook(blank_rows)
    for layer in model.decoder.layers:
        layer.register_forward_pre_hook(hide_nothing)


def _double_residual(model: Transformer) -> None:
    for module in _modules(model, FeedForward):
        module.register_forward_hook(lambda _, inputs, output: inputs[0] + output)


def _own_norms(model: Transformer) -> None:
    def normed(norm: nn.LayerNorm, inputs: tuple[Tensor], _: Tensor) -> Tensor:
        (x,) = inputs
        return own_layer_norm(x, norm.weight, norm.bias, norm.eps).to(x.dtype)

    for module in _modules(model, nn.LayerNorm):
        module.register_forward_hook(normed)


def _run_over_padding(model: GruModel) -> None:
    model.config = replace(model.config, run_over_padding=True)


# Functions that build a mistake into a right model, by the names of the page Pitfalls; parameters stay as they are.
IN_TRANSFORMER: dict[str, Callable[[Transformer], None]] = {
    "loop": _literal_positions,
    "scale": _small_embedding,
    "dropout": _no_input_dropout,
    "transpose": _heads_behind_tokens,
    "scaling": _unscaled_scores,
    "rows": _padded_rows,
    "residual": _double_residual,
    "norm": _own_norms,
}
IN_GRU: dict[str, Callable[[GruModel], None]] = {"gru": _run_over_padding}
IN_MODEL: dict[str, Callable[[Any], None]] = {**IN_TRANSFORMER, **IN_GRU}  # each for models of its kind
TRAINED = (*IN_TRANSFORMER, "start", "tokenizer", *IN_GRU)  # those that training can have, also in loss or tokenizer


Network = TypeVar("Network", bound=nn.Module)


def with_mistake(mistake: str, model: Network) -> Network:
    """A copy of a right model with a mistake of `IN_MODEL` and the same weights."""
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    mistaken = copy.deepcopy(model, shared)
    IN_MODEL[mistake](mistaken)
    return mistaken


class LossWithoutStart(TranslationLoss):
    """Reads targets without their start token: the first word is read and never predicted."""

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """The mean loss in nats per token of src (B, S) and tgt (B, T)."""
        return super().forward(src, tgt[:, 1:])


def source_tokenizer(pairs: Iterable[Pair], vocab_size: int) -> Tokenizer:
    """Subwords of the source side alone, for both sides."""
    return Tokenizer.train((source for source, _ in pairs), vocab_size)
