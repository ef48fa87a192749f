"""How long it takes to put what was in one text into another: all heads and all positions, exactly and by gradient.

    python -m benchmarks.patching [--model DIR] [--rounds N] [--threads 1 2] [--cpu] [--pairs-only]

First the translator, for the pairs of `model.experiments.text_pairs`: every head of every kind, the streams of both
sides, and the estimate of all heads, beside the translation of one text. Then a model of transformers: SmolLM2-135M
where its folder is given, else a Llama of its sizes with random weights; of two texts of 14 tokens that differ in one,
beside reading one with everything recorded, and beside the importance of every head, which is as many passes. Each
round measures every side once, in turns.

The last table has every pair: the compared words, the logit of the first less that of the second in either text, of
each kind the head that brings most back, the positions at which the stream brings most back after a layer, and how
well the estimate ranks heads and positions of streams: Spearman's correlation with the exact shares. The pairs for
language models are measured where --model is given. `--pairs-only` measures no time.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.any_model import random_llama
from benchmarks.common import conditions, table
from benchmarks.why import HEADS, TOKENS, Sides, measure
from model import attach, load_translator
from model.adapters.loading import load
from model.adapters.readers.reader import Reader
from model.config import DEFAULT_CHECKPOINT
from model.experiments.text_pairs import LANGUAGE_MODEL_PAIRS, PAIRS, TextPair
from model.measures.agreement import spearman
from model.running.patching import Patching

PLACE = 5  # of the token in which both texts differ
OF_PAIRS = ("pair", "words", "A", "B", "strongest heads", "strongest in the stream", "heads", "streams")


def heads_of(patching: Patching) -> np.ndarray:
    """Every head of every kind, one after the other."""
    return np.concatenate([patching.heads(kind).ravel() for kind in patching.kinds])


def estimates_of(patching: Patching) -> np.ndarray:
    """The estimates of every head, in the order of `heads_of`."""
    return np.concatenate([patching.estimate(kind).ravel() for kind in patching.kinds])


def sides_of(patching: Patching, **first: Any) -> Sides:
    """What is timed of one pair; `first` by name what it is compared with."""
    return first | {
        "all heads": partial(heads_of, patching),
        "all streams": lambda: [patching.streams(side) for side in patching.sides],
        "estimate of all heads": partial(estimates_of, patching),
    }


def pairs_of_translator(name: str, rounds: int) -> list[Sides]:
    """What is timed of a translator, one pair for each round."""
    translator = load_translator(name)
    pairs = [pair for pair in PAIRS if pair.model == translator.name] or PAIRS
    every = []
    for number in range(rounds):
        pair = pairs[number % len(pairs)]
        a, b = (translator.translate(text) for text in (pair.clean, pair.corrupted))
        every.append(sides_of(translator.patching(a, b), translation=partial(translator.translate, pair.corrupted)))
    return every


def pairs_of_reader(reader: Any, rounds: int) -> list[Sides]:
    """What is timed of a model of transformers, for two random texts that differ in one token for each round."""
    every = []
    for _ in range(rounds):
        ids = torch.randint(5, reader.config.vocab_size, (1, TOKENS))
        other = ids.clone()
        other[0, PLACE] = (other[0, PLACE] + 1) % reader.config.vocab_size
        a, b = reader.read(input_ids=ids), reader.read(input_ids=other)
        best, second = b.logits[-1].argsort()[::-1][:2].tolist()
        patching = reader.patching(a, b, answer=second, against=best)
        first = {"reading": partial(reader.read, input_ids=ids), "importance": partial(reader.importance, b, [-1])}
        every.append(sides_of(patching, **first))
    return every


def patching_of(model: Any, pair: TextPair) -> Patching:
    """Patch between the texts of a pair, which a translator writes and a reader reads."""
    run = model.read if isinstance(model, Reader) else model.translate
    a, b = (run(text) for text in (pair.clean, pair.corrupted))
    return model.patching(a, b, answer=pair.answer or None, against=pair.against or None)


def strongest_heads(patching: Patching) -> list[str]:
    """Of each kind of attention the head that brings most back."""
    found = []
    for kind in patching.kinds:
        shares = patching.heads(kind)
        row, head = np.unravel_index(shares.argmax(), shares.shape)
        found.append(f"{kind} {patching.layers(kind)[row]}.{head} {shares.max():.0%}")
    return found


def strongest_places(patching: Patching, side: str, count: int = 2) -> list[str]:
    """The tokens at which the stream brings most back after a layer, and after which one; a language model's last token
    is left out: in the end all comes back there."""
    shares = patching.streams(side)[1:]
    tokens = patching.tokens(side)
    largest = np.nan_to_num(shares).max(0)[: len(tokens) - (patching.sides == ["decoder"])]
    return [
        f"{tokens[place].strip('▁')} {largest[place]:.0%} after {np.nanargmax(shares[:, place])}"
        for place in largest.argsort()[::-1][:count]
    ]


def correlation(exact: np.ndarray, estimate: np.ndarray) -> float:
    """The rank correlation of estimates with exact shares, where there are any."""
    is_there = ~np.isnan(exact)
    return spearman(exact[is_there], estimate[is_there])


def row_of(model: Any, pair: TextPair) -> list[str]:
    """The row of a pair in the last table."""
    patching = patching_of(model, pair)
    side = patching.sides[0]
    return [
        pair.title,
        " / ".join(word.strip("▁") for word in patching.words),
        f"{patching.clean:.2f}",
        f"{patching.corrupted:.2f}",
        ", ".join(strongest_heads(patching)),
        ", ".join(strongest_places(patching, side)),
        f"{correlation(heads_of(patching), estimates_of(patching)):.2f}",
        f"{correlation(patching.streams(side), patching.estimate(side)):.2f}",
    ]


def rows_of_pairs(reader: Any | None) -> list[list[str]]:
    """The rows of all pairs, and what their correlations are together."""
    translators = {name: load_translator(name) for name in {pair.model for pair in PAIRS}}
    rows = [row_of(translators[pair.model], pair) for pair in PAIRS]
    if reader is not None:
        rows += [row_of(reader, pair) for pair in LANGUAGE_MODEL_PAIRS]
    return rows


def summary(rows: list[list[str]]) -> str:
    """Mean and range of the correlations of the translators' pairs."""
    parts = []
    for column in (-2, -1):
        values = [float(row[column]) for row in rows[: len(PAIRS)]]
        parts.append(f"of {OF_PAIRS[column]} {np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f})")
    return f"rank correlation of estimates with exact shares, over {len(PAIRS)} pairs: {', '.join(parts)}"


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    parser.add_argument("--model", help="the folder of a model of transformers (default: random weights)")
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each side (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=1, help="untimed calls of each side first (default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="threads of torch (default: 1 2)")
    parser.add_argument("--cpu", action="store_true", help="count processor time: on a busy machine, with 1 thread")
    parser.add_argument("--pairs-only", action="store_true", help="measure no time, only what comes back of each pair")
    options = parser.parse_args()
    reader = attach(*load(options.model)) if options.model else None
    if not options.pairs_only:
        rows = []
        rounds = options.warmup + options.rounds
        for threads in options.threads:
            torch.set_num_threads(threads)
            every = pairs_of_translator(options.checkpoint, rounds)
            rows += measure(threads, options.checkpoint, every, options.warmup, options.cpu)
            every = pairs_of_reader(reader or attach(*random_llama()), rounds)
            rows += measure(threads, options.model or "random Llama", every, options.warmup, options.cpu)
        print(conditions(options))
        print(table(HEADS, rows))
        print()
    pairs = rows_of_pairs(reader)
    print(table(OF_PAIRS, pairs))
    print(summary(pairs))


if __name__ == "__main__":
    main()
