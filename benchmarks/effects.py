"""What the direct effects on a translation cost beside translating it.

    python -m benchmarks.effects [--checkpoint NAME] [--rounds N] [--threads 1 2]

Both sides work on the same sentence, each pair on another one; which goes first alternates. The result that is split
was made before, untimed.
"""

from __future__ import annotations

import statistics
from argparse import Namespace
from collections.abc import Iterator

import torch

from benchmarks.common import arguments, conditions, ratio, sentences, spread, table, timed, translator_of
from model.running.translator import Translator

HEADS = ("threads", "compared with", "target tokens", "effects, ms", "translation, ms", "effects / translation")


def measure(translator: Translator, texts: Iterator[str], against: str | None, options: Namespace) -> list[str]:
    """Time both sides in turns; return the cells of the table after threads and what is compared with."""
    rows = []
    for i in range(options.warmup + options.rounds):
        text = next(texts)
        result = translator.translate(text)
        calls = [
            lambda result=result: translator.effects(result, against),
            lambda text=text: translator.translate(text),
        ]
        times = {side: timed(calls[side], options.cpu)[0] for side in ((0, 1) if i % 2 else (1, 0))}
        rows.append((len(result.target_tokens), times[0], times[1]))
    n_target, effects, translation = zip(*rows[options.warmup :])
    return [f"{statistics.mean(n_target):.1f}", spread(effects), spread(translation), ratio(effects, translation)]


def main() -> None:
    """Measure and print the table."""
    options = arguments(__doc__.splitlines()[0], rounds=40)
    translator = translator_of(options)
    texts, rows = sentences(seed=2), []
    for threads in options.threads:
        torch.set_num_threads(threads)
        for against in (None, "runner-up"):
            rows.append([str(threads), against or "mean", *measure(translator, texts, against, options)])
    print(conditions(options))
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
