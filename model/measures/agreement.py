"""Do weights agree with direct effects, and both with what happens when something is taken away? Rank correlations."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from model import masks
from model.analysis.effects import RUNNER_UP
from model.measures.contribution import contributions
from model.measures.head_importance import without_each_head
from model.taps import intervene
from model.text.special import BOS_ID
from model.transformer import Transformer
from model.translation import KINDS, Translation
from model.translator import Translator

DECODER = ("decoder_self", "cross")
AGAINST = {"mean": None, RUNNER_UP: RUNNER_UP}


def kendall(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Kendall's rank correlation tau-b along the last axis (Kendall 1945); NaN where all values of a or b are equal.

    Example:
        >>> round(float(kendall(np.array([1, 2, 2, 3]), np.array([1, 3, 2, 4]))), 4)
        0.9129
    """
    one, two = (np.sign(x[..., :, None] - x[..., None, :]).astype(np.float64) for x in (a, b))
    pairs = np.sqrt((one**2).sum((-2, -1)) * (two**2).sum((-2, -1)))
    both = (one * two).sum((-2, -1))
    return np.divide(both, pairs, out=np.full_like(both, np.nan), where=pairs > 0)


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's rank correlation of two lists (N,); equal values share the mean of their ranks."""

    uniques = (np.unique(values, return_inverse=True, return_counts=True) for values in (a, b))
    ranks = [(counts.cumsum() - (counts - 1) / 2)[place] for _, place, counts in uniques]
    return float(np.corrcoef(*ranks)[0, 1])


def gradient_times_input(model: Transformer, source: Sequence[int], written: Sequence[int]) -> np.ndarray:
    """The gradient of each written word's log-probability by a source embedding, times that embedding: (T, S), in nats.

    `source` are ids with the end token, `written` without the start token.
    """
    steps = torch.arange(len(written))
    both = torch.tensor([source]), torch.tensor([[BOS_ID, *written[:-1]]])
    src, tgt = (ids.expand(len(steps), -1) for ids in both)  # row t is for step t
    seen: list[Tensor] = []

    def follow(embeddings: Tensor) -> Tensor:
        seen.append(embeddings.requires_grad_())  # (T, S, D)
        return embeddings

    with torch.enable_grad(), intervene({"encoder.input.tokens": lambda tokens: follow(tokens.detach())}):
        hidden = model.decoder(tgt, masks.decoder_mask(tgt), model.start(src))[steps, steps]  # (T, D)
        chosen = model.output(hidden).log_softmax(-1)[steps, torch.tensor(written)]  # (T,)
        (gradient,) = torch.autograd.grad(chosen.sum(), seen)
    return (gradient * seen[0]).sum(-1).detach().numpy()


def of_words(translator: Translator, result: Translation) -> dict[str, dict[str, np.ndarray]]:
    """What every head does for each word of a translation without edits, and how far its weights say so.

    Returns:
        By kind of attention and measure (L, H, T). "log_probability": the word's change without that head, in nats. Of
        decoder heads also "mean" and "runner-up", the direct effect over all keys against these, in logits; "effect",
        the size of the latter; "agreement" and "norms", the rank correlation (`kendall`) of a row of weights with its
        direct effects (against the runner-up) and with its `contributions`. Of cross-attention also "occlusion" and
        "input_gradient", the same with these, which are of the whole model.
    """
    source, written = translator.source_ids(result.source), result.predicted_ids
    found = {kind: {"log_probability": np.zeros((*result.attention(kind).shape[:2], len(written)))} for kind in KINDS}
    for heads, without in without_each_head(translator.model, source, written):
        for head, value in zip(heads, without, strict=True):
            found[head.kind]["log_probability"][head.layer, head.head] = value - result.log_probabilities
    effects = {name: translator.effects(result, against) for name, against in AGAINST.items()}
    for kind in DECODER:
        weights, mask, own = result.attention(kind), result.mask(kind), found[kind]
        own |= {name: one.heads(kind).sum(-1) for name, one in effects.items()}
        own["effect"] = np.abs(own[RUNNER_UP])
        added = {"agreement": effects[RUNNER_UP].heads(kind), "norms": contributions(translator.model, result, kind)}
        for name, values in added.items():  # keys that a row may not read are not ties
            rows = [kendall(weights[:, :, t, may], values[:, :, t, may]) for t, may in enumerate(mask)]
            own[name] = np.stack(rows, axis=-1)
    gradient = gradient_times_input(translator.model, source, written)
    found["cross"]["occlusion"] = kendall(weights, translator.occlusion(result))
    found["cross"]["input_gradient"] = kendall(weights, gradient)
    return found
