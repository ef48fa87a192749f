"""From sentence pairs to padded batches of about equal size, in a seeded order."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from model.text.special import BOS_ID, EOS_ID, PAD_ID, pad_ids
from model.text.words import PairTokenizer
from model.training.config import TrainingConfig
from model.training.data.clauses import main_clause, subordinate_clause
from model.training.data.corpora import Pair
from model.training.data.learn_subwords import SubwordSampler, misspell, recase

# Sentences are sorted by length inside pools of this size: nearly no padding, and an order that stays random.
_POOL = 8192
# Two sentences are joined only when both are short; long training examples are there by themselves.
_JOIN_PIECES = 20

Example = tuple[list[int], list[int]]


@dataclass(frozen=True)
class Batch:
    """Padded src (B, S) and tgt (B, T): both end with the end token, tgt begins with the start token."""

    src: Tensor
    tgt: Tensor

    @property
    def n_tokens(self) -> int:
        """Without padding, source and target."""
        return int((self.src != PAD_ID).sum() + (self.tgt != PAD_ID).sum())

    @property
    def n_targets(self) -> int:
        return int((self.tgt[:, 1:] != PAD_ID).sum())


class TrainingStream:
    """An endless, reproducible sequence of batches of corpora with weights, with the noise of a configuration.

    A weight says how often a corpus is seen in one pass; fractions draw at random.
    """

    def __init__(
        self, corpora: Sequence[tuple[Sequence[Pair], float]], tokenizer: PairTokenizer, config: TrainingConfig
    ) -> None:
        self._corpora = [([_cut(pair, tokenizer) for pair in pairs], weight) for pairs, weight in corpora]
        self._config = config
        self._source = SubwordSampler(tokenizer.source, config.bpe_dropout)
        self._target = SubwordSampler(tokenizer.target, config.bpe_dropout_target)

    def epoch(self, number: int, weights: Sequence[float] | None = None) -> Iterator[Batch]:
        """A pass from 0; the same number and weights (the constructor's unless given) give the same batches."""
        config = self._config
        rng = random.Random(f"{config.seed}/{number}")
        self._source.restart()
        self._target.restart()
        chosen: list[tuple[list[str], list[str]]] = []
        usual = [weight for _, weight in self._corpora]
        for (pairs, _), weight in zip(self._corpora, weights or usual, strict=True):
            chosen += self._join(self._recombine(_repeat(pairs, weight, rng), rng), rng)
        rng.shuffle(chosen)
        for start in range(0, len(chosen), _POOL):
            pool = [self._encode(pair, rng) for pair in chosen[start : start + _POOL]]
            pool = [example for example in pool if max(map(len, example)) <= config.max_length]
            batches = list(group_by_length(pool, config.batch_tokens, config.batch_pairs))
            rng.shuffle(batches)
            yield from (pad(batch) for batch in batches)

    def _recombine(self, pairs: list, rng: random.Random) -> list:
        rate = self._config.clause_rate
        clauses = [clause for pair in pairs if (clause := subordinate_clause(pair))] if rate else []
        if not clauses:
            return pairs
        recombined = []
        for pair in pairs:
            if rng.random() < rate and (main := main_clause(pair)):
                clause = rng.choice(clauses)
                pair = main[0] + clause[0], main[1] + clause[1]
            recombined.append(pair)
        return recombined

    def _join(self, pairs: list, rng: random.Random) -> list:
        rate = self._config.join_rate
        joined = []
        for pair in pairs:
            if joined and rng.random() < rate and len(pair[0]) + len(joined[-1][0]) <= 2 * _JOIN_PIECES:
                joined[-1] = (joined[-1][0] + pair[0], joined[-1][1] + pair[1])
            else:
                joined.append(pair)
        return joined

    def _encode(self, pair: tuple[list[str], list[str]], rng: random.Random) -> Example:
        source, target = pair
        typos, recased = self._config.typo_rate, self._config.recase_rate
        if typos:
            source = [misspell(piece, rng) if rng.random() < typos else piece for piece in source]
        if recased:
            source = [recase(piece) if rng.random() < recased else piece for piece in source]
        src = [index for piece in source for index in self._source.piece_ids(piece, rng)]
        tgt = [index for piece in target for index in self._target.piece_ids(piece, rng)]
        return src, tgt


def group_by_length(examples: Sequence[Example], batch_tokens: int, batch_pairs: int = 0) -> Iterator[list[Example]]:
    """Batches of examples (ids without start and end) of about equal length, the shortest first.

    At most batch_tokens ids in each, padding, start and end included (one example always fits), and batch_pairs
    examples, if not 0.
    """
    batch: list[Example] = []
    source_length = target_length = 0
    for example in sorted(examples, key=lambda example: (len(example[1]), len(example[0]))):
        longer = max(source_length, len(example[0]) + 1), max(target_length, len(example[1]) + 2)
        is_full = len(batch) == (batch_pairs or -1) or (len(batch) + 1) * sum(longer) > batch_tokens
        if batch and is_full:
            yield batch
            batch, longer = [], (len(example[0]) + 1, len(example[1]) + 2)
        batch.append(example)
        source_length, target_length = longer
    if batch:
        yield batch


def pad(examples: Sequence[Example]) -> Batch:
    return Batch(
        src=pad_ids([src + [EOS_ID] for src, _ in examples]),
        tgt=pad_ids([[BOS_ID, *tgt, EOS_ID] for _, tgt in examples]),
    )


def _cut(pair: Pair, tokenizer: PairTokenizer) -> tuple[list[str], list[str]]:
    sides = zip((tokenizer.source, tokenizer.target), pair)
    return tuple([sys.intern(piece) for piece in side.pieces(text)] for side, text in sides)


def _repeat(pairs: list, weight: float, rng: random.Random) -> list:
    """In a new order, as often as the weight says; of its fraction, that share drawn at random."""
    chosen = pairs * int(weight) + rng.sample(pairs, round(len(pairs) * (weight - int(weight))))
    rng.shuffle(chosen)
    return chosen
