"""How long it takes to put what was in one text into another: all heads and all positions, exactly and by gradient.

    python -m benchmarks.patching [--model DIR] [--rounds N] [--threads 1 2] [--cpu]

First the translator, for two sentences that differ in a word: every head of every kind, the streams of both sides, and
the estimate of all heads, beside the translation of one of them. Then a model of transformers: SmolLM2-135M where its
folder is given, else a Llama of its sizes with random weights; of two texts of 14 tokens that differ in one, beside
reading one with everything recorded, and beside the importance of every head, which is as many passes. Each round
measures every side once, in turns. The last lines say how well the estimate ranks heads: Spearman's correlation with
the exact shares.
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
from model.config import DEFAULT_CHECKPOINT
from model.measures.agreement import spearman
from model.running.patching import Patching

PLACE = 5  # of the token in which both texts differ
# Pairs that differ in one word; each round another.
SENTENCES = (
    ("Where is my brother?", "Where is my sister?"),
    ("I saw the man yesterday.", "I saw the woman yesterday."),
    ("The dog is sleeping.", "The dogs are sleeping."),
    ("She reads a book.", "She read a book."),
    ("He has a new car.", "He has an old car."),
    ("The children play in the garden.", "The child plays in the garden."),
    ("My father works here.", "My mother works here."),
    ("I can see the house.", "I cannot see the house."),
)


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


def pairs_of_translator(name: str, rounds: int) -> tuple[list[Sides], list[Patching]]:
    """What is timed of a translator, one pair for each round, and its patchings."""
    translator = load_translator(name)
    every, patchings = [], []
    for number in range(rounds):
        texts = SENTENCES[number % len(SENTENCES)]
        a, b = (translator.translate(text) for text in texts)
        patchings.append(translator.patching(a, b))
        every.append(sides_of(patchings[-1], translation=partial(translator.translate, texts[1])))
    return every, patchings


def pairs_of_reader(folder: str | None, rounds: int) -> tuple[list[Sides], list[Patching]]:
    """What is timed of a model of transformers, for two random texts that differ in one token for each round."""
    reader = attach(*(load(folder) if folder else random_llama()))
    every, patchings = [], []
    for _ in range(rounds):
        ids = torch.randint(5, reader.config.vocab_size, (1, TOKENS))
        other = ids.clone()
        other[0, PLACE] = (other[0, PLACE] + 1) % reader.config.vocab_size
        a, b = reader.read(input_ids=ids), reader.read(input_ids=other)
        best, second = b.logits[-1].argsort()[::-1][:2].tolist()
        patchings.append(reader.patching(a, b, answer=second, against=best))
        first = {"reading": partial(reader.read, input_ids=ids), "importance": partial(reader.importance, b, [-1])}
        every.append(sides_of(patchings[-1], **first))
    return every, patchings


def correlations(patchings: list[Patching]) -> str:
    """The rank correlation of estimates with exact shares: of each pair, the mean and the range."""
    values = [spearman(heads_of(patching), estimates_of(patching)) for patching in patchings]
    return f"{np.mean(values):.2f} ({min(values):.2f} to {max(values):.2f}) over {len(values)} pairs"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    parser.add_argument("--model", help="the folder of a model of transformers (default: random weights)")
    parser.add_argument("--rounds", type=int, default=5, help="timed calls of each side (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=1, help="untimed calls of each side first (default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="threads of torch (default: 1 2)")
    parser.add_argument("--cpu", action="store_true", help="count processor time: on a busy machine, with 1 thread")
    options = parser.parse_args()
    rows, ranks = [], {}
    rounds = options.warmup + options.rounds
    for threads in options.threads:
        torch.set_num_threads(threads)
        every, patchings = pairs_of_translator(options.checkpoint, rounds)
        rows += measure(threads, options.checkpoint, every, options.warmup, options.cpu)
        ranks[options.checkpoint] = correlations(patchings[: len(SENTENCES)])
        name = options.model or "random Llama"
        every, patchings = pairs_of_reader(options.model, rounds)
        rows += measure(threads, name, every, options.warmup, options.cpu)
        ranks[name] = correlations(patchings[:2])
    print(conditions(options))
    print(table(HEADS, rows))
    for name, rank in ranks.items():
        print(f"rank correlation of the estimate of all heads with the exact shares, {name}: {rank}")


if __name__ == "__main__":
    main()
