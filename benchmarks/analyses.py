"""What analyses of a translation cost: direct effects and the importance of every head.

    python -m benchmarks.analyses [--checkpoint NAME] [--rounds N] [--threads 1 2]

Direct effects are timed beside translating the same sentence; the result that is split was made before, untimed, and
which goes first alternates. Importance is timed with all heads of a layer as rows of one batch, as the app computes it,
beside a teacher-forced pass for each head; both must find the same numbers. Each row of a table is of other sentences.
"""

from __future__ import annotations

import statistics
from argparse import Namespace
from collections.abc import Iterator

import torch
from torch.nn import functional as F

from benchmarks.common import arguments, conditions, ratio, sentences, spread, table, timed, translator_of
from model.interventions.edits import Edits, Head, all_heads
from model.measures.agreement import without_each_head
from model.running.translator import Translator
from model.taps import intervene
from model.text.special import BOS_ID, EOS_ID
from model.transformer import Transformer

EFFECTS = ("threads", "compared with", "target tokens", "effects, ms", "translation, ms", "effects / translation")
IMPORTANCE = ("threads", "heads", "tokens", "in a batch, ms", "one by one, ms", "one by one / in a batch")
_NEAR = 1e-3  # nats: both ways must find the same


def measure_effects(translator: Translator, texts: Iterator[str], against: str | None, options: Namespace) -> list[str]:
    """Time effects and translation in turns; return the cells after threads and what is compared with."""
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


def in_a_batch(model: Transformer, source: list[int], output_ids: list[int]) -> dict[Head, float]:
    """The log-probability of a translation without each head, all heads of a layer in one batch."""
    importance = {}
    for heads, scores in without_each_head(model, source, output_ids):
        importance |= dict(zip(heads, scores.sum(1).tolist(), strict=True))
    return importance


@torch.inference_mode()
def one_by_one(model: Transformer, source: list[int], output_ids: list[int]) -> dict[Head, float]:
    """The log-probability of a translation without each head, by a teacher-forced pass for each."""
    src, tgt, targets = (torch.tensor(ids) for ids in ([source], [[BOS_ID, *output_ids[:-1]]], output_ids))
    importance = {}
    for head in all_heads(model.config):
        with intervene(Edits(off=(head,)).changes(model.config)):
            logits = model(src, tgt)[0]
        importance[head] = -F.cross_entropy(logits, targets, reduction="sum").item()
    return importance


def measure_importance(translator: Translator, texts: Iterator[str], options: Namespace) -> list[str]:
    """Time both ways in turns; return the cells after threads."""
    model, rows = translator.model, []
    for _ in range(options.warmup + options.rounds):
        result = translator.translate(next(texts))
        source = [*translator.tokenizer.source.encode(result.source), EOS_ID]
        (batched, estimates), (single, expected) = (
            timed(lambda way=way, source=source, ids=result.predicted_ids: way(model, source, ids), options.cpu)
            for way in (in_a_batch, one_by_one)
        )
        worst = max(abs(estimates[head] - expected[head]) for head in expected)
        if worst > _NEAR:
            raise RuntimeError(f"the two ways differ by {worst} nats")
        rows.append((len(source) + len(result.predicted_ids), batched, single))
    tokens, batched, single = zip(*rows[options.warmup :])
    counts = [str(len(all_heads(model.config))), f"{statistics.mean(tokens):.1f}"]
    return [*counts, spread(batched), spread(single), ratio(single, batched)]


def main() -> None:
    """Measure and print both tables."""
    options = arguments(__doc__.splitlines()[0], rounds=30)
    translator = translator_of(options)
    effects, importance = [], []
    texts = {analysis: sentences(seed) for seed, analysis in enumerate(("importance", "effects"))}
    for threads in options.threads:
        torch.set_num_threads(threads)
        for against in (None, "runner-up"):
            cells = measure_effects(translator, texts["effects"], against, options)
            effects.append([str(threads), against or "mean", *cells])
        importance.append([str(threads), *measure_importance(translator, texts["importance"], options)])
    print(conditions(options))
    print(table(EFFECTS, effects))
    print()
    print(table(IMPORTANCE, importance))


if __name__ == "__main__":
    main()
