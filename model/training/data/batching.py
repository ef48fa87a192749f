"""From sentence pairs to padded batches of about equal size, in a seeded order."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from model.text.special import BOS_ID, EOS_ID, PAD_ID, pad_ids
from model.text.subwords import Tokenizer
from model.text.words import WordTokenizer, WordTokenizers
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
    """Padded: src (B, S) ends with the end token; tgt (B, T) begins with the start token, ends with the end token."""

    src: Tensor
    tgt: Tensor

    @property
    def n_tokens(self) -> int:
        """Tokens that are not padding, source and target."""
        return int((self.src != PAD_ID).sum() + (self.tgt != PAD_ID).sum())

    @property
    def n_targets(self) -> int:
        """Tokens that are to be predicted."""
        return int((self.tgt[:, 1:] != PAD_ID).sum())


@dataclass(frozen=True)
class Noise:
    """What training changes about the text, each with a probability.

    Attributes:
        bpe_dropout: of leaving out a merge of a source word.
        bpe_dropout_target: the same in the target.
        typo_rate: of a typing error in a source word.
        recase_rate: of the other case for the first letter of a source word.
        join_rate: of joining a pair with the next into one of two sentences.
        clause_rate: of giving a main clause the subordinate clause of another pair (see `clauses`).
    """

    bpe_dropout: float = 0.0
    bpe_dropout_target: float = 0.0
    typo_rate: float = 0.0
    join_rate: float = 0.0
    recase_rate: float = 0.0
    clause_rate: float = 0.0


class TrainingStream:
    """An endless, reproducible sequence of training batches.

    Args:
        corpora: (pairs, weight): how often each corpus is seen in one pass; fractions draw at random.
        tokenizer: cuts the text.
        noise: what is changed about it.
        batch_tokens: at most so many ids, padding included, source and target, in a batch.
        max_length: pairs with a side of more tokens are left out.
        seed: of everything random here.
        batch_pairs: at most so many pairs in a batch; 0: any number.
    """

    def __init__(
        self,
        corpora: Sequence[tuple[Sequence[Pair], float]],
        tokenizer: Tokenizer | WordTokenizers,
        noise: Noise,
        batch_tokens: int,
        max_length: int,
        seed: int,
        batch_pairs: int = 0,
    ) -> None:
        self._corpora = [([_cut(pair, tokenizer) for pair in pairs], weight) for pairs, weight in corpora]
        self._noise = noise
        self._source = SubwordSampler(tokenizer.source, noise.bpe_dropout)
        self._target = SubwordSampler(tokenizer.target, noise.bpe_dropout_target)
        self._batch_tokens, self._batch_pairs = batch_tokens, batch_pairs
        self._max_length = max_length
        self._seed = seed

    def epoch(self, number: int, weights: Sequence[float] | None = None) -> Iterator[Batch]:
        """The batches of one pass over the data; the same number and weights give the same batches.

        Args:
            number: of the pass, from 0.
            weights: how often each corpus is seen in this pass, where not as the constructor was told.
        """
        rng = random.Random(f"{self._seed}/{number}")
        self._source.restart()
        self._target.restart()
        chosen: list[tuple[list[str], list[str]]] = []
        usual = [weight for _, weight in self._corpora]
        for (pairs, _), weight in zip(self._corpora, weights or usual, strict=True):
            chosen += self._join(self._recombine(_repeat(pairs, weight, rng), rng), rng)
        rng.shuffle(chosen)
        for start in range(0, len(chosen), _POOL):
            pool = [self._encode(pair, rng) for pair in chosen[start : start + _POOL]]
            pool = [example for example in pool if max(map(len, example)) <= self._max_length]
            batches = list(group_by_length(pool, self._batch_tokens, self._batch_pairs))
            rng.shuffle(batches)
            yield from (pad(batch) for batch in batches)

    def _recombine(self, pairs: list, rng: random.Random) -> list:
        rate = self._noise.clause_rate
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
        rate = self._noise.join_rate
        joined = []
        for pair in pairs:
            if joined and rng.random() < rate and len(pair[0]) + len(joined[-1][0]) <= 2 * _JOIN_PIECES:
                joined[-1] = (joined[-1][0] + pair[0], joined[-1][1] + pair[1])
            else:
                joined.append(pair)
        return joined

    def _encode(self, pair: tuple[list[str], list[str]], rng: random.Random) -> Example:
        source, target = pair
        if self._noise.typo_rate:
            source = [misspell(piece, rng) if rng.random() < self._noise.typo_rate else piece for piece in source]
        if self._noise.recase_rate:
            source = [recase(piece) if rng.random() < self._noise.recase_rate else piece for piece in source]
        src = [index for piece in source for index in self._source.piece_ids(piece, rng)]
        tgt = [index for piece in target for index in self._target.piece_ids(piece, rng)]
        return src, tgt


def group_by_length(examples: Sequence[Example], batch_tokens: int, batch_pairs: int = 0) -> Iterator[list[Example]]:
    """Put examples of about equal length together.

    Args:
        examples: source and target ids without start and end tokens.
        batch_tokens: at most so many ids in a batch, padding, start and end included (one example always fits).
        batch_pairs: at most so many examples in a batch; 0: any number.

    Yields:
        The batches, shortest first.
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
    """Add start and end tokens, pad to the longest, make tensors."""
    return Batch(
        src=pad_ids([src + [EOS_ID] for src, _ in examples]),
        tgt=pad_ids([[BOS_ID, *tgt, EOS_ID] for _, tgt in examples]),
    )


def _cut(pair: Pair, tokenizer: Tokenizer | WordTokenizers) -> tuple[list[str], list[str]]:
    sides: tuple[Tokenizer | WordTokenizer, ...] = (tokenizer.source, tokenizer.target)
    return tuple([sys.intern(piece) for piece in side.pieces(text)] for side, text in zip(sides, pair))


def _repeat(pairs: list, weight: float, rng: random.Random) -> list:
    """The pairs in a new order, as often as the weight says; of its fraction, that share drawn at random."""
    chosen = pairs * int(weight) + rng.sample(pairs, round(len(pairs) * (weight - int(weight))))
    rng.shuffle(chosen)
    return chosen
