"""Well-known mistakes of tutorials, made after training: in trained weights, in decoding, in pictures, in snapshots.

Those that training can have are in `training.sweeps.mistakes`. WRONG ON PURPOSE: to be shown, never to be built upon.
"""

import copy
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache

import torch
from torch import Tensor, nn

from model import masks
from model.results.translation import module_of
from model.storage.checkpoint import NoRandomNumbers
from model.taps import intervene
from model.text.special import BOS_ID, EOS_ID, PAD_ID
from model.text.subwords import Tokenizer
from model.training.sweeps import mistakes
from model.transformer import Cache, Transformer

# Written for this file: enough text for a small tokenizer of each language.
SAMPLES = {
    "en": (
        "The man and the woman are standing in front of the house, and the children are playing with a ball. "
        "A young girl with brown hair is sitting on the street and reading a book about animals. "
        "I do not know why he was so tired after the work, but he slept for a long time. "
        "She bought bread, milk and some apples in the morning and went home with her bicycle. "
        "They wanted to learn the language, which was hard at the beginning and easy in the end."
    ),
    "de": (
        "Der Mann und die Frau stehen vor dem Haus, und die Kinder spielen mit einem Ball. "
        "Ein junges Mädchen mit braunen Haaren sitzt auf der Straße und liest ein Buch über Tiere. "
        "Ich weiß nicht, warum er nach der Arbeit so müde war, aber er hat lange geschlafen. "
        "Sie kaufte am Morgen Brot, Milch und einige Äpfel und fuhr mit dem Fahrrad nach Hause. "
        "Sie wollten die Sprache lernen, was am Anfang schwierig und am Ende einfach war."
    ),
}


# What changes a translation: dropout does so in training only.
WRITTEN = (*(name for name in mistakes.IN_TRANSFORMER if name != "dropout"), "start")


@torch.inference_mode()
def write_with(mistake: str, model: Transformer, src: Tensor, limit: int, pads: int = 0) -> list[int]:
    """The ids, at most `limit`, that trained weights write greedily with a mistake of WRITTEN, less the end token.

    For "rows" there are `pads` after the source (1, S), as beside a longer sentence.
    """
    padded = torch.cat([src, torch.full((1, pads if mistake == "rows" else 0), PAD_ID)], dim=1)
    run = model if mistake == "start" else mistakes.with_mistake(mistake, model)
    return write(run, run.start(padded), limit, from_padding=mistake == "start")


def overfit(keep: Callable[[nn.Module], nn.Module] = copy.deepcopy) -> tuple[list[float], float]:
    """Train a linear model with more inputs than examples, keeping the best by validation: the mistake is an alias.

    Returns:
        The validation loss after every epoch, and at the end that of the model returned by `keep`.
    """
    generator = torch.Generator().manual_seed(5)
    truth = torch.randn(20, 1, generator=generator)
    inputs = torch.randn(58, 20, generator=generator)
    targets = inputs @ truth + 4 * torch.randn(58, 1, generator=generator)
    with NoRandomNumbers():
        model = nn.Linear(20, 1, bias=False)
    nn.init.zeros_(model.weight)
    best = model
    losses = []
    for _ in range(60):
        loss = (model(inputs[:18]) - targets[:18]).square().mean()
        (slope,) = torch.autograd.grad(loss, [model.weight])
        with torch.no_grad():
            model.weight -= 0.1 * slope
            losses.append((model(inputs[18:]) - targets[18:]).square().mean().item())
        if losses[-1] == min(losses):
            best = keep(model)
    with torch.no_grad():
        return losses, (best(inputs[18:]) - targets[18:]).square().mean().item()


def _filled_with_a_large_number(model: Transformer) -> AbstractContextManager[None]:
    scores = [f"{module_of('decoder_self', layer)}.scores" for layer in range(model.config.n_decoder_layers)]
    return intervene(dict.fromkeys(scores, lambda s: s.masked_fill(s == -math.inf, -1e9)))


@torch.inference_mode()
def decode_with(model: Transformer, tgt: Tensor, mask: Tensor, cache: Cache) -> Tensor:
    """The logits (1, T, V) of a pass of the decoder with any mask, masked scores filled with -1e9."""
    with _filled_with_a_large_number(model):
        return model.decode(tgt, mask, cache.fresh())


@torch.inference_mode()
def decode_step_by_step(model: Transformer, tgt: Tensor, mask: Tensor, cache: Cache) -> Tensor:
    """The logits (B, T, V) of `decode_with`, with cached keys and values: equal, unless a row reads a later one."""
    cache = cache.fresh()
    with _filled_with_a_large_number(model):
        steps = [model.decode(tgt[:, t : t + 1], mask[..., t : t + 1, : t + 1], cache) for t in range(tgt.size(1))]
    return torch.cat(steps, dim=1)


def start_from_padding(ids: Tensor) -> tuple[Tensor, Tensor]:
    """A target (1, T) with padding as its start token, and its mask (1, 1, T, T), whose first row is empty."""
    tgt = ids.clone()
    tgt[:, 0] = PAD_ID
    return tgt, masks.combine(mistakes.row_padding_mask(tgt), masks.causal_mask(tgt.size(1)))


@torch.inference_mode()
def write(model: Transformer, cache: Cache, limit: int, from_padding: bool = False) -> list[int]:
    """At most `limit` ids, written greedily from the cache of `model.start`, each step a full pass."""
    ids = [BOS_ID]
    while len(ids) <= min(limit, model.config.max_length - 1):
        tgt = torch.tensor([ids])
        if from_padding:
            logits = decode_with(model, *start_from_padding(tgt), cache)
        else:
            logits = model.read(tgt, cache.fresh())
        logits[..., [PAD_ID, BOS_ID]] = -math.inf
        ids.append(int(logits[0, -1].argmax()))
        if ids[-1] == EOS_ID:
            break
    return [index for index in ids[1:] if index != EOS_ID]


@lru_cache(maxsize=4)
def sample_tokenizer(language: str) -> Tokenizer:
    """A small tokenizer that has seen one language only, "en" or "de"."""
    return Tokenizer.train([SAMPLES[language]], 470, alphabet_size=64)


def unscaled_weights(raw_scores: Tensor, mask: Tensor) -> Tensor:
    """softmax(q k^T) of products (..., T, S), without the division by sqrt(d_k)."""
    return raw_scores.masked_fill(~mask, -math.inf).softmax(-1)


def weights_after_dropout(weights: Tensor, dropout: float) -> Tensor:
    """The weights (..., T, S) that a model in training multiplies with v: some 0, the others larger."""
    remain = torch.rand(weights.shape, generator=torch.Generator().manual_seed(0)) >= dropout
    return weights * remain / (1 - dropout)
