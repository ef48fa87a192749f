"""Mistakes with a model's input: positions, embedding, dropout, tokenizer."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from model.experiments import pitfalls
from model.positional import literal_loop, sinusoidal
from viz.figures import bars, values_heatmap
from viz.pages.pitfalls.common import DROPOUT, Demo, Sentence, both, both_drawn, gap, pitfall, rounded
from viz.text.language import message, say

TABLE_SIZES = (58_101, 512)  # vocabulary and d_model


@pitfall(
    name="Positions by the literal loop",
    explanation="The paper's exponent is 2i/d for the pair number i, but a loop over 0, 2, 4, … already counts 2i. "
    "Doubling it again makes the waves slow down twice as fast and gives sine and cosine of a pair different "
    "frequencies, so a shift is no longer a rotation.",
    wrong_line="for i in range(0, d_model, 2):\n"
    "    pe[pos, i] = sin(pos / 10000 ** (2 * i / d_model))\n"
    "    pe[pos, i + 1] = cos(pos / 10000 ** (2 * (i + 1) / d_model))",
    right_line="for i in range(0, d_model, 2):\n"
    "    pe[pos, i] = sin(pos / 10000 ** (i / d_model))\n"
    "    pe[pos, i + 1] = cos(pos / 10000 ** (i / d_model))",
    wrong_picture="The literal loop",
    right_picture="The paper's encoding",
)
def loop(sentence: Sentence) -> Demo:
    tokens = sentence.result.source_tokens
    width = 2 * (sentence.translator.config.d_model // 2)
    right, wrong = (make(len(tokens), width) for make in (sinusoidal, literal_loop))
    return Demo(
        both(values_heatmap, wrong, right, tokens, value=message("encoding"), limit=1.0),
        say("Largest difference of the two encodings of this sentence"),
        gap(right, wrong),
        ((say("Numbers that differ by more than 0.1"), f"{((right - wrong).abs() > 0.1).float().mean():.0%}"),),
    )


@pitfall(
    name="The missing √d_model",
    explanation="The paper multiplies the embedding by √d_model before it adds the positions. With a Xavier-uniform "
    "table of 58,101 × 512 and no factor, the words are about 120 times smaller than the positions, so at the start of "
    "training the input is almost only positions.",
    wrong_line="nn.init.xavier_uniform_(embedding.weight)\nx = embedding(ids) + positions",
    right_line="nn.init.normal_(embedding.weight, std=d_model ** -0.5)\nx = embedding(ids) * sqrt(d_model) + positions",
    wrong_picture="Xavier table, no factor: the input of the first layer",
    right_picture="Table of deviation 1/√d_model, times √d_model",
)
def scale(sentence: Sentence) -> Demo:
    tokens = sentence.result.source_tokens
    vocab_size, d_model = TABLE_SIZES
    positions = sinusoidal(len(tokens), d_model).float()
    wrong = pitfalls.bare_embedding(len(tokens), vocab_size, d_model)
    right = torch.randn(wrong.shape, generator=torch.Generator().manual_seed(0)) * d_model**-0.5 * math.sqrt(d_model)
    encoding = _rms(positions)
    return Demo(
        both_drawn(wrong + positions, right + positions, tokens, message("input"), 2.0),
        say("Positions ÷ embedding (root mean squares), wrong version"),
        encoding / _rms(wrong),
        (
            (say("Root mean square of the positions"), encoding),
            (say("Root mean square of the embedding"), _rms(right), _rms(wrong)),
            (say("The same for the wrong table with the factor"), _rms(wrong * math.sqrt(d_model))),
        ),
    )


@pitfall(
    name="Dropout that is never applied",
    explanation="The paper applies dropout to the sum of embedding and position; a common slip builds that dropout and "
    "never calls it. Training then sees the whole input, while in evaluation dropout does nothing, so a trained model "
    "translates the same with either code.",
    wrong_line="self.dropout = nn.Dropout(0.1)\nreturn x + self.pe[:, : x.size(1)]",
    right_line="self.dropout = nn.Dropout(0.1)\nreturn self.dropout(x + self.pe[:, : x.size(1)])",
    wrong_picture="Built, never applied: the input in training",
    right_picture="Applied: the input in training",
)
def dropout(sentence: Sentence) -> Demo:
    words, positions = (sentence.tensor(f"encoder.input.{name}") for name in ("tokens", "positions"))
    wrong = words + positions
    # What nn.Dropout computes, which draws from the one generator that all visitors share.
    kept = torch.rand(words.shape, generator=torch.Generator().manual_seed(0)) >= DROPOUT
    right = (words + positions) * kept / (1 - DROPOUT)
    evaluated = nn.Dropout(DROPOUT).eval()(words + positions)
    limit = torch.stack([right, wrong]).abs().max().item() or 1.0
    return Demo(
        both_drawn(wrong, right, sentence.result.source_tokens, message("input"), limit),
        say("Largest difference in training"),
        gap(right, wrong),
        (
            (say("Largest difference in evaluation, where dropout does nothing"), f"{gap(evaluated, wrong):g}"),
            (say("Set to 0"), *(f"{(table == 0).float().mean():.1%}" for table in (right, wrong))),
        ),
    )


@pitfall(
    name="One side's tokenizer for both",
    explanation="A subword model learned on one language cuts another into many small pieces, because its words and "
    "some of its letters are unknown. The sentences get longer and each piece says less; the two small tokenizers here "
    "have the same size and learned from the same few sentences, each in its own language.",
    wrong_line="labels = tokenizer(targets)                  # the source side's model",
    right_line="labels = tokenizer(text_target=targets)      # the target side's model",
    wrong_picture="Cut by the source side's tokenizer: pieces per word",
    right_picture="Cut by its own tokenizer: pieces per word",
)
def tokenizer(sentence: Sentence) -> Demo:
    card, known = sentence.translator.card, tuple(pitfalls.SAMPLES)
    languages = [card[side] if card.get(side) in known else one for side, one in zip(("source", "target"), known)]
    words = sentence.result.text.split() or pitfalls.SAMPLES[languages[1]].split()[:12]
    counts, pieces = [], []
    for cutter in map(pitfalls.sample_tokenizer, languages):
        cut = [cutter.tokens(cutter.encode(word)) for word in words]
        counts.append(np.array([[len(one)] for one in cut]))
        pieces.append(" ".join("·".join(one) for one in cut))
    wrong, right = counts
    return Demo(
        both(bars, wrong, right, words, value=message("pieces"), top=float(np.max(counts))),
        say("Pieces in all: wrong minus right"),
        float(wrong.sum() - right.sum()),
        ((say("Pieces per word"), *(rounded(one.mean(), ".2f") for one in (right, wrong))),),
        tuple(pieces),
    )


def _rms(x: Tensor) -> float:
    return x.square().mean().sqrt().item()
