"""What the page Pitfalls computes about a model's input: tokenizer, embedding, positions, dropout."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from model.experiments import pitfalls
from model.positional import literal_loop, sinusoidal
from viz.figures import bars, values_heatmap
from viz.pages.pitfalls.common import DROPOUT, Demo, Sentence, both_drawn, both_written
from viz.text.language import message, say

TABLE_SIZES = (58_101, 512)  # vocabulary and d_model


def tokenizer(sentence: Sentence) -> Demo:
    """The translation cut by a tokenizer of its own language and by one of the source's."""
    card = sentence.translator.card
    known = tuple(pitfalls.SAMPLES)
    source = card.get("source") if card.get("source") in known else known[0]
    target = card.get("target") if card.get("target") in known else known[1]
    words = sentence.result.text.split() or pitfalls.SAMPLES[target].split()[:12]
    counts, pieces = [], []
    for language in (source, target):
        cutter = pitfalls.sample_tokenizer(language)
        cut = [cutter.tokens(cutter.encode(word)) for word in words]
        counts.append(np.array([[len(one)] for one in cut]))
        pieces.append(" ".join("·".join(one) for one in cut))
    wrong, right = counts
    shared = {"value": message("pieces"), "top": float(max(wrong.max(), right.max()))}
    return Demo(
        bars(wrong, words, **shared, say=say),
        bars(right, words, **shared, say=say),
        say("Pieces in all: wrong minus right"),
        float(wrong.sum() - right.sum()),
        ((say("Pieces per word"), say("{x:.2f}", x=right.mean()), say("{x:.2f}", x=wrong.mean())),),
        (pieces[0], pieces[1]),
    )


def loop(sentence: Sentence) -> Demo:
    """The literal loop against the paper's encoding."""
    tokens = sentence.result.source_tokens
    width = 2 * (sentence.translator.config.d_model // 2)
    right, wrong = (make(len(tokens), width).numpy() for make in (sinusoidal, literal_loop))
    gap = np.abs(right - wrong)
    shared = {"value": message("encoding"), "limit": 1.0}
    return Demo(
        values_heatmap(wrong, tokens, **shared, say=say),
        values_heatmap(right, tokens, **shared, say=say),
        say("Largest difference of the two encodings of this sentence"),
        float(gap.max()),
        ((say("Numbers that differ by more than 0.1"), f"{(gap > 0.1).mean():.0%}"),),
        both_written(sentence, "loop"),
    )


def scale(sentence: Sentence) -> Demo:
    """Embedding and positions at the start of training, with and without the factor."""
    tokens = sentence.result.source_tokens
    vocab_size, d_model = TABLE_SIZES
    positions = sinusoidal(len(tokens), d_model).float()
    wrong = pitfalls.bare_embedding(len(tokens), vocab_size, d_model)
    right = torch.randn(wrong.shape, generator=torch.Generator().manual_seed(0)) * d_model**-0.5 * math.sqrt(d_model)
    encoding = _rms(positions)
    return Demo(
        *both_drawn(wrong + positions, right + positions, tokens, message("input"), 2.0),
        say("Positions ÷ embedding (root mean squares), wrong version"),
        encoding / _rms(wrong),
        (
            (say("Root mean square of the positions"), say("{x:.3f}", x=encoding)),
            (say("Root mean square of the embedding"), say("{x:.3f}", x=_rms(right)), say("{x:.3f}", x=_rms(wrong))),
            (say("The same for the wrong table with the factor"), say("{x:.3f}", x=_rms(wrong * math.sqrt(d_model)))),
        ),
        both_written(sentence, "scale"),
    )


def dropout(sentence: Sentence) -> Demo:
    """The input of the encoder in training, with its dropout applied or forgotten."""
    tokens = sentence.result.source_tokens
    words, positions = (sentence.tensor(f"encoder.input.{name}") for name in ("tokens", "positions"))
    wrong = words + positions
    # What nn.Dropout computes, which draws from the one generator that all visitors share.
    kept = torch.rand(words.shape, generator=torch.Generator().manual_seed(0)) >= DROPOUT
    right = (words + positions) * kept / (1 - DROPOUT)
    evaluated = nn.Dropout(DROPOUT).eval()(words + positions)
    return Demo(
        *both_drawn(wrong, right, tokens, message("input"), torch.stack([right, wrong]).abs().max().item() or 1.0),
        say("Largest difference in training"),
        (right - wrong).abs().max().item(),
        (
            (
                say("Largest difference in evaluation, where dropout does nothing"),
                f"{(evaluated - wrong).abs().max():g}",
            ),
            (say("Set to 0"), *(f"{(table == 0).float().mean():.1%}" for table in (right, wrong))),
        ),
    )


def _rms(x: Tensor) -> float:
    return x.square().mean().sqrt().item()
