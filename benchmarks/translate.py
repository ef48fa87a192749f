"""Translating a 12-word sentence with everything recorded, without that, and with a MarianMT of the very same sizes.

    python -m benchmarks.translate [--checkpoint NAME] [--rounds N] [--threads 1 2]

Ours is `Translator.translate`, whole: text to tokens, search, recording (every tensor at every tap, not only the
weights), arrays, tokens to text. Theirs is `generate(output_attentions=True, return_dict_in_generate=True)` with eager
attention, its cache and its defaults, on ready token ids: turning text into tokens and back is left out there, which
favours them. Their weights are random; the work is the same: as many layers, heads, source tokens and words in the
vocabulary, the same widths, tied embeddings, and as many decoder steps as our search made for that sentence, forced by
min_new_tokens = max_new_tokens and counted in what comes back. (On both sides the first step reads the start token and
each step predicts one token. Our beam may go on after its best hypothesis has ended: those steps count.)

Not recorded is `Translator.translate_lines` of one line, which does the same (text to tokens, encoder, search, tokens
to text) except for recording the encoder, what the steps keep for the taps of the decoder, and the arrays.

All sides translate the same sentence, which was never used before. Which of our two goes first alternates.
"""

from __future__ import annotations

import statistics
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import torch

from benchmarks.common import arguments, conditions, ratio, sentences, spread, table, timed, translator_of
from benchmarks.peers import random_marian
from model.decoding import SearchTree
from model.running.translator import Translator
from model.text.special import EOS_ID

BEAMS = (1, 4)
HEADS = ("threads", "beam", "source tokens", "steps", "recorded, ms", "not recorded, ms", "recorded / not")
HEADS += ("MarianMT, ms", "MarianMT / recorded")


def steps_of(tree: SearchTree) -> int:
    """How many decoder steps a search made: the depth of its tree.

    Example:
        >>> steps_of(SearchTree(parent=[-1, 0, 0, 2]))
        2
    """
    depth = [0]
    for parent in tree.parent[1:]:
        depth.append(depth[parent] + 1)
    return max(depth)


def generate(model: Any, n_source: int, steps: int, beam: int, cpu: bool) -> float:
    """Time their translation of random tokens.

    Args:
        model: their model.
        n_source: source tokens, the end token counted.
        steps: decoder steps to make.
        beam: width of the search.
        cpu: whether to count processor time.

    Returns:
        Seconds.

    Raises:
        RuntimeError: if another number of steps was made.
    """
    ids = torch.randint(EOS_ID + 1, model.config.vocab_size, (1, n_source))
    ids[0, -1] = EOS_ID
    options = {"num_beams": beam, "min_new_tokens": steps, "max_new_tokens": steps}
    options |= {"output_attentions": True, "return_dict_in_generate": True}
    time, output = timed(lambda: model.generate(ids, attention_mask=torch.ones_like(ids), **options), cpu)
    if len(output.cross_attentions) != steps or output.cross_attentions[0][0].size(-1) != n_source:
        raise RuntimeError(f"{len(output.cross_attentions)} steps were made instead of {steps}")
    return time


def measure(translator: Translator, theirs: Any, texts: Iterator[str], beam: int, options: Namespace) -> list[str]:
    """Time all sides in turns; return the cells of the table after threads and beam."""
    rows = []
    for i in range(options.warmup + options.rounds):
        text, times = next(texts), {}
        for recorded in (True, False) if i % 2 else (False, True):
            if recorded:
                times[True], result = timed(lambda text=text: translator.translate(text, beam=beam), options.cpu)
            else:
                times[False], _ = timed(lambda text=text: translator.translate_lines([text], beam=beam), options.cpu)
        n_source, steps = len(result.source_tokens), steps_of(result.search.tree)
        marian = generate(theirs, n_source, steps, beam, options.cpu)
        rows.append((n_source, steps, times[True], times[False], marian))
    n_source, steps, recorded, plain, marian = zip(*rows[options.warmup :])
    counts = [f"{statistics.mean(count):.1f}" for count in (n_source, steps)]
    ours = [spread(recorded), spread(plain), ratio(recorded, plain)]
    return [*counts, *ours, spread(marian), ratio(marian, recorded)]


def main() -> None:
    """Measure and print the table."""
    options = arguments(__doc__.splitlines()[0], rounds=25)
    translator = translator_of(options)
    torch.manual_seed(0)
    theirs = random_marian(translator.config)
    texts, rows = sentences(), []
    for threads in options.threads:
        torch.set_num_threads(threads)
        for beam in BEAMS:
            rows.append([str(threads), str(beam), *measure(translator, theirs, texts, beam, options)])
    print(conditions(options))
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
