"""From sentence pairs, or one long text, to batches in a seeded order."""

import random
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from model.text.special import BOS_ID, EOS_ID, PAD_ID, pad_ids
from model.text.words import PairTokenizer
from model.training.config import TrainingConfig
from model.training.data.clauses import Recombination
from model.training.data.copying import Copying
from model.training.data.corpora import Pair
from model.training.data.noise import Pieces, SubwordSampler, misspell, recase

_POOL = 8192  # pairs are sorted by length inside pools of this size: nearly no padding, and a random order
_JOIN_PIECES = 20  # only short sentences are joined; long ones are there by themselves

Example = tuple[list[int], list[int]]  # ids without start and end


@dataclass(frozen=True)
class Batch:
    """Padded src (B, S) and tgt (B, T): both end with the end token, tgt begins with the start token."""

    src: Tensor
    tgt: Tensor

    @property
    def n_tokens(self) -> int:
        """The number of source and target tokens, without padding."""
        return int((self.src != PAD_ID).sum() + (self.tgt != PAD_ID).sum())

    @property
    def n_targets(self) -> int:
        """The number of tokens to predict: of the target, without start token and padding."""
        return int((self.tgt[:, 1:] != PAD_ID).sum())


class TrainingStream:
    """Reproducible passes over corpora with weights, with the noise of a configuration.

    A weight says how often a corpus is seen in one pass; fractions draw at random.
    """

    def __init__(
        self, corpora: Sequence[tuple[Sequence[Pair], float]], tokenizer: PairTokenizer, config: TrainingConfig
    ) -> None:
        self._corpora = [[_cut(pair, tokenizer) for pair in pairs] for pairs, _ in corpora]
        self._weights = [weight for _, weight in corpora]
        self._config = config
        pairs = (pair for corpus in self._corpora for pair in corpus)
        cuts = tokenizer.source.pieces, tokenizer.target.pieces
        self._copying = Copying(pairs, *cuts, source=config.source) if config.copy_rate else None
        self._source = SubwordSampler(tokenizer.source, config.bpe_dropout)
        self._target = SubwordSampler(tokenizer.target, config.bpe_dropout_target)

    def epoch(self, number: int, weights: Sequence[float] | None = None) -> Iterator[Batch]:
        """A pass; the same number and weights (the constructor's unless given) give the same batches."""
        config = self._config
        rng = random.Random(f"{config.seed}/{number}")
        self._source.restart()
        self._target.restart()
        sample: list[Pieces] = []
        for pairs, weight in zip(self._corpora, weights or self._weights, strict=True):
            sample += self._join(self._recombine(_repeat(pairs, weight, rng), rng), rng)
        rng.shuffle(sample)
        for start in range(0, len(sample), _POOL):
            pool = [self._encode(pair, rng) for pair in sample[start : start + _POOL]]
            pool = [example for example in pool if max(map(len, example)) <= config.max_length]
            batches = list(group_by_length(pool, config.batch_tokens, config.batch_pairs))
            rng.shuffle(batches)
            yield from (pad(batch) for batch in batches)

    def _recombine(self, pairs: list[Pieces], rng: random.Random) -> list[Pieces]:
        rate = self._config.clause_rate
        if not rate:
            return pairs
        recombination = Recombination(pairs)
        return [recombination.extend(pair, rng) if rng.random() < rate else pair for pair in pairs]

    def _join(self, pairs: list[Pieces], rng: random.Random) -> list[Pieces]:
        rate = self._config.join_rate
        joined_pairs: list[Pieces] = []
        for source, target in pairs:
            if joined_pairs and rng.random() < rate and len(source) + len(joined_pairs[-1][0]) <= 2 * _JOIN_PIECES:
                joined_pairs[-1] = joined_pairs[-1][0] + source, joined_pairs[-1][1] + target
            else:
                joined_pairs.append((source, target))
        return joined_pairs

    def _encode(self, pair: Pieces, rng: random.Random) -> Example:
        if self._copying and rng.random() < self._config.copy_rate:
            # Without noise: a span that is misspelt, or cut in another way than on the other side, is not copied.
            source, target = self._copying.change(pair, rng)
            src = [index for piece in source for index in self._source.whole_ids(piece)]
            tgt = [index for piece in target for index in self._target.whole_ids(piece)]
            return src, tgt
        source, target = pair
        if typos := self._config.typo_rate:
            source = [misspell(piece, rng) if rng.random() < typos else piece for piece in source]
        if recased := self._config.recase_rate:
            source = [recase(piece) if rng.random() < recased else piece for piece in source]
        src = [index for piece in source for index in self._source.piece_ids(piece, rng)]
        tgt = [index for piece in target for index in self._target.piece_ids(piece, rng)]
        return src, tgt


def group_by_length(examples: Sequence[Example], batch_tokens: int, batch_pairs: int = 0) -> Iterator[list[Example]]:
    """Batches of about equal length, of at most batch_tokens ids, padding, start and end included (one example always
    fits), and of at most batch_pairs examples, if not 0.
    """
    batch: list[Example] = []
    source_length = target_length = 0
    for example in sorted(examples, key=lambda example: (len(example[1]), len(example[0]))):
        lengths = len(example[0]) + 1, len(example[1]) + 2
        longer = max(source_length, lengths[0]), max(target_length, lengths[1])
        if batch and (len(batch) == (batch_pairs or -1) or (len(batch) + 1) * sum(longer) > batch_tokens):
            yield batch
            batch = []
            longer = lengths
        batch.append(example)
        source_length, target_length = longer
    if batch:
        yield batch


def pad(examples: Sequence[Example]) -> Batch:
    """Examples as one padded batch, with start and end tokens."""
    return Batch(
        src=pad_ids([src + [EOS_ID] for src, _ in examples]),
        tgt=pad_ids([[BOS_ID, *tgt, EOS_ID] for _, tgt in examples]),
    )


def _cut(pair: Pair, tokenizer: PairTokenizer) -> Pieces:
    source, target = pair
    return _interned(tokenizer.source.pieces(source)), _interned(tokenizer.target.pieces(target))


def _interned(pieces: Iterable[str]) -> list[str]:
    return [sys.intern(piece) for piece in pieces]


def _repeat(pairs: list[Pieces], weight: float, rng: random.Random) -> list[Pieces]:
    """The pairs in a new order, `weight` times each; its fraction draws a random share of them."""
    repeated = pairs * int(weight) + rng.sample(pairs, round(len(pairs) * (weight % 1)))
    rng.shuffle(repeated)
    return repeated


class Window(Batch):
    """The tokens to read, src (B, T), and the token that follows each, tgt (B, T)."""

    @property
    def n_tokens(self) -> int:
        """The number of tokens that are read, which is also the number to predict."""
        return self.src.numel()

    @property
    def n_targets(self) -> int:
        """How many target tokens the batch has, without padding."""
        return self.n_tokens


def batchify(ids: Tensor, columns: int) -> Tensor:
    """A text (N,) as (columns, length), a rest dropped. Nothing is learnt across columns.

    A ValueError if the text is shorter than the number of columns.
    """
    length = len(ids) // columns
    if length == 0:
        raise ValueError(f"{len(ids)} tokens cannot be cut into {columns} columns")
    return ids[: columns * length].view(columns, length)


def windows(table: Tensor, size: int) -> Iterator[Window]:
    """The columns (B, length) in windows of `size` tokens; the last may be shorter."""
    for start in range(0, table.size(1) - 1, size):
        yield Window(*(side[:, start : start + size] for side in (table[:, :-1], table[:, 1:])))


class WindowStream:
    """Batches of one text (N,); shuffled, a pass begins somewhere in its first window and has another order."""

    def __init__(self, ids: Tensor, config: TrainingConfig) -> None:
        self._ids, self._config = ids, config

    def epoch(self, number: int, weights: Sequence[float] | None = None) -> Iterator[Window]:
        """A pass; the same number gives the same batches. Weights, which one text does not need, are ignored."""
        columns, size = self._config.columns, self._config.window
        if not self._config.shuffle_windows:
            return windows(batchify(self._ids, columns), size)
        rng = random.Random(f"{self._config.seed}/{number}")
        first = rng.randrange(min(size, max(1, len(self._ids) // (2 * columns))))
        batches = list(windows(batchify(self._ids[first:], columns), size))
        rng.shuffle(batches)
        return iter(batches)
