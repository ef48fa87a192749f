"""What each head is worth to a translation: its log-probability without the head, and the gradient estimate of it."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model import masks
from model.interventions.edits import Head, all_heads, layer_counts
from model.taps import Change, intervene, record
from model.text.special import BOS_ID
from model.transformer import Transformer
from model.translation import module_of


@torch.inference_mode()
def without_each_head(
    model: Transformer, source: Sequence[int], written: Sequence[int]
) -> Iterator[tuple[list[Head], np.ndarray]]:
    """Score a translation with every head switched off in turn, all heads of a layer as the rows of one batch.

    What lies below the layer runs once. `source` are ids with the end token, `written` without the start token.

    Yields:
        The heads of a layer, and the log-probability of each word without each of them, float64 (heads, T), in nats.
    """
    src, tgt = torch.tensor([source]), torch.tensor([[BOS_ID, *written[:-1]]])
    mask, heads = masks.decoder_mask(tgt), all_heads(model.config)
    with record("decoder.*.stream") as trace:
        cache = model.start(src)
        model.read(tgt, cache.fresh())
    for layer in range(model.config.n_encoder_layers):
        some = [head for head in heads if (head.kind, head.layer) == ("encoder_self", layer)]
        with intervene(_row_changes(some)):
            changed = model.start(src.expand(len(some), -1))
        yield some, _scores(model.read(tgt.expand(len(some), -1), changed), written)
    x = trace["decoder.input.stream"]  # (1, T, D)
    for layer in range(model.config.n_decoder_layers):
        some = [head for head in heads if head.kind != "encoder_self" and head.layer == layer]
        with intervene(_row_changes(some)):
            hidden = model.decoder.from_layer(layer, x.expand(len(some), -1, -1), mask, cache.fresh())
        yield some, _scores(model.output(hidden), written)
        x = trace[f"decoder.layers.{layer}.residual_ff.stream"]


def _scores(logits: Tensor, written: Sequence[int]) -> np.ndarray:
    """The log-probability of each word of a translation in each row of logits (B, T, V), float64 (B, T)."""
    losses = F.cross_entropy(logits.flatten(0, 1), torch.tensor(written).repeat(len(logits)), reduction="none")
    return -losses.view(len(logits), -1).double().numpy()


def _row_changes(heads: list[Head]) -> dict[str, Change]:
    """Interventions that switch head i, all of one layer, off in batch row i."""

    def zero(weights: Tensor, kind: str) -> Tensor:  # (B, H, T, S)
        for row, head in enumerate(heads):
            if head.kind == kind:
                weights[row, head.head] = 0
        return weights

    return {f"{module_of(head.kind, head.layer)}.weights": partial(zero, kind=head.kind) for head in heads}


def gradient_estimates(model: Transformer, source: Sequence[int], written: Sequence[int]) -> dict[str, np.ndarray]:
    """|dL / d gate| of every head, where a gate of 1 scales what the head returns (Michel et al. 2019, equation 2).

    L is the negative log-probability of the translation, so this is what `without_each_head` would measure if the model
    were linear in the gate: by kind float64 (layers, H).
    """
    src, tgt = torch.tensor([source]), torch.tensor([[BOS_ID, *written[:-1]]])
    like = {"dtype": model.output.weight.dtype, "requires_grad": True}
    counts, n_heads = layer_counts(model.config).items(), model.config.n_heads
    gates = {kind: torch.ones(n_layers, n_heads, 1, 1, **like) for kind, n_layers in counts}
    with torch.enable_grad():
        scaled = {
            f"{module_of(kind, layer)}.context": partial(torch.mul, gate)
            for kind, of_kind in gates.items()
            for layer, gate in enumerate(of_kind)
        }
        with intervene(scaled):
            loss = F.cross_entropy(model(src, tgt)[0], torch.tensor(written), reduction="sum")
        gradients = torch.autograd.grad(loss, list(gates.values()))  # (L, H, 1, 1)
    return {kind: one[..., 0, 0].abs().double().numpy() for kind, one in zip(gates, gradients)}
