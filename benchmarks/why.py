"""How long it takes to say why a head looks where it looks, beside a translation, or beside reading a text.

    python -m benchmarks.why [--model DIR] [--rounds N] [--threads 1 2] [--cpu]

First the translator: one head of a sentence that it has translated (each round another sentence; cross-attention of the
last layer, which has most parts), and the shares of all heads, beside the translation itself. Then a model of
transformers: SmolLM2-135M where its folder is given, else a Llama of its sizes with random weights; of a text of 14
tokens one head of the last layer, one of the middle, and the shares of all heads, beside reading the text with
everything recorded. Each round measures every side once, in turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch

from benchmarks.any_model import random_llama
from benchmarks.common import conditions, ratio, sentences, spread, table, timed
from model import attach, load_translator
from model.adapters.loading import load
from model.config import DEFAULT_CHECKPOINT
from model.results.translation import Translation

TOKENS = 14
HEADS = ("threads", "model", "side", "ms", "times the pass")
Sides = dict[str, Callable[[], object]]  # by name; the pass itself first


def sides_of_translator(name: str, rounds: int) -> list[Sides]:
    """What is timed of a translator, one sentence for each round."""
    translator = load_translator(name)
    last = translator.config.n_decoder_layers - 1

    def head(result: Translation) -> object:
        return translator.score_parts(result, "cross", last, 0).shares

    every = []
    for text in (text for text, _ in zip(sentences(seed=3), range(rounds))):
        result = translator.translate(text)
        every.append(
            {
                "translation": lambda text=text: translator.translate(text),
                "head of the last layer": lambda result=result: head(result),
                "shares of all heads": lambda result=result: translator.score_shares(result),
            }
        )
    return every


def sides_of_reader(folder: str | None, rounds: int) -> list[Sides]:
    """What is timed of a model of transformers, for one random text for each round."""
    loaded = load(folder) if folder else random_llama()
    reader = attach(*loaded)
    last = reader.config.layers("decoder_self")[-1].layer
    every = []
    for _ in range(rounds):
        ids = torch.randint(5, reader.config.vocab_size, (1, TOKENS))
        result = reader.read(input_ids=ids)

        def head(layer: int, result=result) -> object:
            return reader.score_parts(result, "decoder_self", layer, 0).shares

        every.append(
            {
                "reading": lambda ids=ids: reader.read(input_ids=ids),
                "head of the last layer": lambda head=head: head(last),
                "head of the middle": lambda head=head: head(last // 2),
                "shares of all heads": lambda result=result: reader.score_shares(result),
            }
        )
    return every


def measure(threads: int, model: str, every: list[Sides], warmup: int, cpu: bool) -> list[list[str]]:
    """Time all sides in turns; return the rows of the table."""
    times: dict[str, list[float]] = {name: [] for name in every[0]}
    for number, sides in enumerate(every):
        for name in list(sides) if number % 2 else list(sides)[::-1]:
            seconds = timed(sides[name], cpu)[0]
            if number >= warmup:
                times[name].append(seconds)
    base = next(iter(times.values()))
    return [[str(threads), model, name, spread(seconds), ratio(seconds, base)] for name, seconds in times.items()]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint", default=DEFAULT_CHECKPOINT, help="name or path (default: %(default)s)")
    parser.add_argument("--model", help="the folder of a model of transformers (default: random weights)")
    parser.add_argument("--rounds", type=int, default=10, help="timed calls of each side (default: %(default)s)")
    parser.add_argument("--warmup", type=int, default=2, help="untimed calls of each side first (default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="threads of torch (default: 1 2)")
    parser.add_argument("--cpu", action="store_true", help="count processor time: on a busy machine, with 1 thread")
    options = parser.parse_args()
    rows = []
    for threads in options.threads:
        torch.set_num_threads(threads)
        rounds = options.warmup + options.rounds
        translator = sides_of_translator(options.checkpoint, rounds)
        rows += measure(threads, options.checkpoint, translator, options.warmup, options.cpu)
        reader = sides_of_reader(options.model, rounds)
        rows += measure(threads, options.model or "random Llama", reader, options.warmup, options.cpu)
    print(conditions(options))
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
