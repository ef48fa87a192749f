"""Importance of every head of a sentence: all heads of a layer as rows of one batch, against one pass per head."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import torch
from torch.nn import functional as F

from benchmarks.common import arguments, conditions, ratio, sentences, spread, table, timed, translator_of
from model.interventions.edits import Edits, all_heads
from model.measures.agreement import without_each_head
from model.running.translator import Translator
from model.taps import intervene
from model.text.special import BOS_ID, EOS_ID
from model.transformer import Transformer

HEADS = ["threads", "heads", "tokens", "batched ms", "one by one ms", "ratio"]
_NEAR = 1e-3  # nats: both sides must find the same


def batched(model: Transformer, source: list[int], output_ids: list[int]) -> dict:
    """The log-probability without each head, as the page computes it."""
    importance = {}
    for heads, scores in without_each_head(model, source, output_ids):
        importance |= dict(zip(heads, scores.sum(1).tolist(), strict=True))
    return importance


@torch.inference_mode()
def one_by_one(model: Transformer, source: list[int], output_ids: list[int]) -> dict:
    """The log-probability without each head, by a teacher-forced pass for each."""
    src, tgt, targets = (torch.tensor(ids) for ids in ([source], [[BOS_ID, *output_ids[:-1]]], output_ids))
    importance = {}
    for head in all_heads(model.config):
        with intervene(Edits(off=(head,)).changes(model.config)):
            logits = model(src, tgt)[0]
        importance[head] = -F.cross_entropy(logits, targets, reduction="sum").item()
    return importance


def measure(translator: Translator, texts: Iterator[str], options) -> list[str]:
    """Time both sides in turns; return the cells of the table after threads."""
    model, rows = translator.model, []
    for _ in range(options.warmup + options.rounds):
        result = translator.translate(next(texts))
        source = [*translator.tokenizer.source.encode(result.source), EOS_ID]
        sides = [
            timed(lambda side=side, source=source, ids=result.predicted_ids: side(model, source, ids), options.cpu)
            for side in (batched, one_by_one)
        ]
        (ours, estimates), (theirs, expected) = sides
        worst = max(abs(estimates[head] - expected[head]) for head in expected)
        if worst > _NEAR:
            raise RuntimeError(f"the two sides differ by {worst} nats")
        rows.append((len(source) + len(result.predicted_ids), ours, theirs))
    tokens, ours, theirs = zip(*rows[options.warmup :])
    counts = [str(len(all_heads(model.config))), f"{statistics.mean(tokens):.1f}"]
    return [*counts, spread(ours), spread(theirs), ratio(theirs, ours)]


def main() -> None:
    """Measure and print the table."""
    options = arguments(__doc__.splitlines()[0], rounds=15)
    translator = translator_of(options)
    texts, rows = sentences(), []
    for threads in options.threads:
        torch.set_num_threads(threads)
        rows.append([str(threads), *measure(translator, texts, options)])
    print(conditions(options))
    print(table(HEADS, rows))


if __name__ == "__main__":
    main()
