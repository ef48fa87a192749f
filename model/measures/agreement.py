"""What each head contributes to a translation, and whether its weights, direct effects and gradients agree with it."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model import masks
from model.analysis.effects import RUNNER_UP
from model.interventions.edits import Head, all_heads, layer_counts
from model.measures.contribution import contributions
from model.results.translation import KINDS, Translation, module_of
from model.running.translator import Translator
from model.taps import Change, intervene, record
from model.text.special import BOS_ID
from model.transformer import Transformer

DECODER = ("decoder_self", "cross")
AGAINST = {"mean": None, RUNNER_UP: RUNNER_UP}


def kendall(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Kendall's rank correlation tau-b along the last axis (Kendall 1945); NaN where all values of a or b are equal.

    Example:
        >>> round(float(kendall(np.array([1, 2, 2, 3]), np.array([1, 3, 2, 4]))), 4)
        0.9129
    """
    order_a = np.sign(a[..., :, None] - a[..., None, :]).astype(np.float64)  # (..., N, N), of every pair of values
    order_b = np.sign(b[..., :, None] - b[..., None, :]).astype(np.float64)
    untied = np.sqrt((order_a**2).sum((-2, -1)) * (order_b**2).sum((-2, -1)))
    concordant = (order_a * order_b).sum((-2, -1))  # less the discordant ones
    return np.divide(concordant, untied, out=np.full_like(concordant, np.nan), where=untied > 0)


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's rank correlation of two lists (N,); equal values share the mean of their ranks."""

    def ranks(values: np.ndarray) -> np.ndarray:
        """The rank of each value (N,), from 1."""
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        return (counts.cumsum() - (counts - 1) / 2)[place]

    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


# Below, `source` are ids with the end token and `output_ids` without the start token.


def _inputs(source: Sequence[int], output_ids: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The ids that encoder (1, S) and decoder (1, T) read."""
    return torch.tensor([source]), torch.tensor([[BOS_ID, *output_ids[:-1]]])


@torch.inference_mode()
def without_each_head(
    model: Transformer, source: Sequence[int], output_ids: Sequence[int]
) -> Iterator[tuple[list[Head], np.ndarray]]:
    """Score a translation with every head switched off in turn, all heads of a layer as the rows of one batch.

    Yields:
        The heads of a layer, and the log-probability of each word without each of them, float64 (heads, T), in nats.
    """
    src, tgt = _inputs(source, output_ids)
    mask = masks.decoder_mask(tgt)
    heads = all_heads(model.config)
    with record("decoder.*.stream") as trace:
        cache = model.start(src)
        model.read(tgt, cache.fresh())
    for layer in range(model.config.n_encoder_layers):
        of_layer = [head for head in heads if (head.kind, head.layer) == ("encoder_self", layer)]
        with intervene(_row_changes(of_layer)):
            states = model.start(src.expand(len(of_layer), -1))
        yield of_layer, _scores(model.read(tgt.expand(len(of_layer), -1), states), output_ids)
    x = trace["decoder.input.stream"]  # (1, T, D)
    for layer in range(model.config.n_decoder_layers):
        of_layer = [head for head in heads if head.kind != "encoder_self" and head.layer == layer]
        with intervene(_row_changes(of_layer)):
            hidden = model.decoder.from_layer(layer, x.expand(len(of_layer), -1, -1), mask, cache.fresh())
        yield of_layer, _scores(model.output(hidden), output_ids)
        x = trace[f"decoder.layers.{layer}.residual_ff.stream"]


def _scores(logits: Tensor, output_ids: Sequence[int]) -> np.ndarray:
    """The log-probability of each written word in each row of logits (B, T, V), float64 (B, T)."""
    losses = F.cross_entropy(logits.flatten(0, 1), torch.tensor(output_ids).repeat(len(logits)), reduction="none")
    return -losses.view(len(logits), -1).double().numpy()


def _row_changes(heads: list[Head]) -> dict[str, Change]:
    """Interventions that switch each head off in its own row of the batch."""

    def zero(weights: Tensor, kind: str) -> Tensor:  # (B, H, T, S)
        for row, head in enumerate(heads):
            if head.kind == kind:
                weights[row, head.head] = 0
        return weights

    return {f"{module_of(head.kind, head.layer)}.weights": partial(zero, kind=head.kind) for head in heads}


def gradient_estimates(model: Transformer, source: Sequence[int], output_ids: Sequence[int]) -> dict[str, np.ndarray]:
    """|dL / d gate| of every head, where a gate of 1 scales what the head returns (Michel et al. 2019, equation 2).

    L is the negative log-probability of the translation, so this is what `without_each_head` would measure if the model
    were linear in the gate: by kind float64 (layers, H), in nats.
    """
    src, tgt = _inputs(source, output_ids)
    like = {"dtype": model.output.weight.dtype, "requires_grad": True}
    counts = layer_counts(model.config).items()
    n_heads = model.config.n_heads
    gates = {kind: torch.ones(n_layers, n_heads, 1, 1, **like) for kind, n_layers in counts}
    with torch.enable_grad():
        scaled = {
            f"{module_of(kind, layer)}.context": partial(torch.mul, gate)
            for kind, of_kind in gates.items()
            for layer, gate in enumerate(of_kind)
        }
        with intervene(scaled):
            loss = F.cross_entropy(model(src, tgt)[0], torch.tensor(output_ids), reduction="sum")
        gradients = torch.autograd.grad(loss, list(gates.values()))  # (L, H, 1, 1)
    return {kind: gradient[..., 0, 0].abs().double().numpy() for kind, gradient in zip(gates, gradients)}


def gradient_times_input(model: Transformer, source: Sequence[int], output_ids: Sequence[int]) -> np.ndarray:
    """The gradient of each written word's log-probability by a source embedding, times it: (T, S), in nats."""
    steps = torch.arange(len(output_ids))
    src, tgt = (ids.expand(len(steps), -1) for ids in _inputs(source, output_ids))  # row t is for step t
    embeddings: list[Tensor] = []

    def track(tokens: Tensor) -> Tensor:  # (T, S, D)
        embeddings.append(tokens.detach().requires_grad_())
        return embeddings[-1]

    with torch.enable_grad(), intervene({"encoder.input.tokens": track}):
        hidden = model.decoder(tgt, masks.decoder_mask(tgt), model.start(src))[steps, steps]  # (T, D)
        log_probabilities = model.output(hidden).log_softmax(-1)[steps, torch.tensor(output_ids)]  # (T,)
        (gradient,) = torch.autograd.grad(log_probabilities.sum(), embeddings)
    return (gradient * embeddings[0]).sum(-1).detach().numpy()


def of_words(translator: Translator, result: Translation) -> dict[str, dict[str, np.ndarray]]:
    """The contribution of every head to each word of a translation without edits, and how far its weights agree.

    Returns:
        By kind of attention and measure (L, H, T). "log_probability": the word's change without that head, in nats. Of
        decoder heads also "mean" and "runner-up", the direct effect against these, in logits; "effect", the size of the
        latter; "agreement" and "norms", the rank correlation (`kendall`) of a row of weights with its direct effects
        and with its `contributions`; of cross-attention also "occlusion" and "input_gradient", the same with these.
    """
    source = translator.source_ids(result.source)
    output_ids = result.predicted_ids
    measures: dict[str, dict[str, np.ndarray]] = {}
    for kind in KINDS:
        n_layers, n_heads = result.attention(kind).shape[:2]
        measures[kind] = {"log_probability": np.zeros((n_layers, n_heads, len(output_ids)))}
    for heads, without in without_each_head(translator.transformer, source, output_ids):
        for head, value in zip(heads, without, strict=True):
            measures[head.kind]["log_probability"][head.layer, head.head] = value - result.log_probabilities
    effects = {name: translator.effects(result, against) for name, against in AGAINST.items()}
    for kind in DECODER:
        weights = result.attention(kind)
        mask = result.mask(kind)
        of_kind = measures[kind]
        for name, effect in effects.items():
            of_kind[name] = effect.heads(kind).sum(-1)
        of_kind["effect"] = np.abs(of_kind[RUNNER_UP])
        norms = contributions(translator.transformer, result, kind)
        compared = {"agreement": effects[RUNNER_UP].heads(kind), "norms": norms}
        for name, values in compared.items():  # keys that a row may not read are not ties
            rows = [kendall(weights[:, :, t, may], values[:, :, t, may]) for t, may in enumerate(mask)]
            of_kind[name] = np.stack(rows, axis=-1)
    gradient = gradient_times_input(translator.transformer, source, output_ids)
    cross = result.attention("cross")
    measures["cross"]["occlusion"] = kendall(cross, translator.occlusion(result))
    measures["cross"]["input_gradient"] = kendall(cross, gradient)
    return measures
