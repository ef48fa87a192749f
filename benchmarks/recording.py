"""What recording costs: the same translation with every tap recorded and without.

    python -m benchmarks.recording [--checkpoint NAME] [--rounds N] [--threads 1 2]

With it is `Translator.translate`; without it is `Translator.translate_lines` of one line, which does the same (text to
tokens, encoder, search, tokens to text) except for recording the encoder, what the steps keep for the taps of the
decoder, and the arrays. Both sides translate the same sentence, each pair another one; which goes first alternates.
"""

from __future__ import annotations

import statistics
from argparse import Namespace
from collections.abc import Iterator

import torch

from benchmarks.common import arguments, conditions, ratio, sentences, spread, table, timed, translator_of
from model.running.translator import Translator

BEAMS = (1, 4)
HEADS = ("threads", "beam", "target tokens", "recorded, ms", "not recorded, ms", "recorded / not")


def measure(translator: Translator, texts: Iterator[str], beam: int, options: Namespace) -> list[str]:
    """Time both sides in turns; return the cells of the table after threads and beam."""
    rows = []
    for i in range(options.warmup + options.rounds):
        text, times = next(texts), {}
        for recorded in (True, False) if i % 2 else (False, True):
            if recorded:
                times[True], result = timed(lambda text=text: translator.translate(text, beam=beam), options.cpu)
            else:
                times[False], _ = timed(lambda text=text: translator.translate_lines([text], beam=beam), options.cpu)
        rows.append((len(result.target_tokens), times[True], times[False]))
    n_target, recorded, plain = zip(*rows[options.warmup :])
    return [f"{statistics.mean(n_target):.1f}", spread(recorded), spread(plain), ratio(recorded, plain)]


def main() -> None:
    """Measure and print the table."""
    options = arguments(__doc__.splitlines()[0], rounds=40)
    translator = translator_of(options)
    texts, rows = sentences(seed=1), []
    for threads in options.threads:
        torch.set_num_threads(threads)
        for beam in BEAMS:
            rows.append([str(threads), str(beam), *measure(translator, texts, beam, options)])
    print(conditions(options))
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
