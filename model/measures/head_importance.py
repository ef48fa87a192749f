"""What each head is worth to a translation: its log-probability without the head, and the gradient estimate of it."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model import masks
from model.interventions.edits import Head, all_heads, layer_counts
from model.taps import Change, intervene, record
from model.text.special import BOS_ID, PAD_ID
from model.transformer import Transformer
from model.translation import module_of


@torch.inference_mode()
def without_each_head(
    model: Transformer, source: Sequence[int], written: Sequence[int]
) -> Iterator[tuple[list[Head], np.ndarray]]:
    """Score a translation with every head switched off in turn, all heads of a layer as the rows of one batch.

    What lies below the layer is the same for all rows and runs once. `source` are ids with the end token, `written`
    without the start token.

    Yields:
        The heads of a layer, and the log-probability of each word without each of them, float64 (heads, T), in nats.
    """
    src, tgt = torch.tensor([source]), torch.tensor([[BOS_ID, *written[:-1]]])
    mask = masks.decoder_mask(tgt, PAD_ID)
    heads = all_heads(model.config)
    with record("decoder.*.stream") as trace:
        cache = model.start(src)
        model.read(tgt, cache.fresh())
    for layer in range(model.config.n_encoder_layers):
        some = [head for head in heads if (head.kind, head.layer) == ("encoder_self", layer)]
        with intervene(_row_changes(some)):
            changed = model.start(src.expand(len(some), -1))
        scores = _scores(model.read(tgt.expand(len(some), -1), changed), written)
        yield some, scores
    x = trace["decoder.input.stream"]  # (1, T, D)
    for layer in range(model.config.n_decoder_layers):
        some = [head for head in heads if head.kind != "encoder_self" and head.layer == layer]
        with intervene(_row_changes(some)):
            hidden = model.decoder.from_layer(layer, x.expand(len(some), -1, -1), mask, cache.fresh())
        scores = _scores(model.output(hidden), written)
        yield some, scores
        x = trace[f"decoder.layers.{layer}.residual_ff.stream"]


def _scores(logits: Tensor, written: Sequence[int]) -> np.ndarray:
    """The log-probability of each word of a translation in each row of logits (B, T, V), float64 (B, T)."""
    targets = torch.tensor(written).repeat(len(logits))
    losses = F.cross_entropy(logits.flatten(0, 1), targets, reduction="none")
    return -losses.view(len(logits), -1).double().numpy()


def _row_changes(heads: list[Head]) -> dict[str, Change]:
    """Interventions that switch head i off in batch row i."""
    places: dict[str, list[tuple[int, int]]] = {}
    for row, head in enumerate(heads):
        places.setdefault(f"{module_of(head.kind, head.layer)}.weights", []).append((row, head.head))

    def zero(rows: list[int], heads: list[int]) -> Change:
        def change(weights: Tensor) -> Tensor:  # (B, H, T, S)
            weights[rows, heads] = 0
            return weights

        return change

    return {address: zero(*map(list, zip(*pairs))) for address, pairs in places.items()}


def gradient_estimates(model: Transformer, source: Sequence[int], written: Sequence[int]) -> dict[str, np.ndarray]:
    """|dL / d gate| of every head, where a gate of 1 scales what the head returns (Michel et al. 2019, equation 2).

    L is the negative log-probability of the whole translation, so this is what `without_each_head` would measure if the
    model were linear in the gate: by kind float64 (layers, H).
    """
    src, tgt = torch.tensor([source]), torch.tensor([[BOS_ID, *written[:-1]]])
    kinds, size = layer_counts(model.config), (model.config.n_heads, 1, 1)
    names = {kind: [f"{module_of(kind, layer)}.context" for layer in range(n)] for kind, n in kinds.items()}
    like = {"dtype": model.output.weight.dtype, "requires_grad": True}
    gates = {name: torch.ones(size, **like) for of_kind in names.values() for name in of_kind}
    scaled = {name: lambda context, gate=gate: context * gate for name, gate in gates.items()}
    with torch.enable_grad(), intervene(scaled):
        loss = F.cross_entropy(model(src, tgt)[0], torch.tensor(written), reduction="sum")
    gradients = dict(zip(gates, torch.autograd.grad(loss, list(gates.values())), strict=True))  # (H, 1, 1)
    return {
        kind: torch.stack([gradients[name][:, 0, 0] for name in of_kind]).abs().double().numpy()
        for kind, of_kind in names.items()
    }
