"""One long text as windows of equal length in parallel columns, as a language model is trained and measured."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.language_model import LanguageModel


@dataclass(frozen=True)
class Window:
    """What is read, src (B, T), and what follows each of it, tgt (B, T)."""

    src: Tensor
    tgt: Tensor

    @property
    def n_tokens(self) -> int:
        """Tokens that are read."""
        return self.src.numel()

    @property
    def n_targets(self) -> int:
        """Tokens that are to be predicted."""
        return self.tgt.numel()


def batchify(ids: Tensor, columns: int) -> Tensor:
    """Cut a text into so many columns of equal length; what is left over is dropped.

    Nothing is learnt across columns: the second does not know that it follows the first.

    Args:
        ids: (N,).
        columns: how many.

    Returns:
        (columns, length): batch first, so that what the reference calls a column is a row here.

    Raises:
        ValueError: if there are fewer ids than columns.

    Example:
        >>> batchify(torch.arange(26), 4)[1].tolist()
        [6, 7, 8, 9, 10, 11]
    """
    length = len(ids) // columns
    if length == 0:
        raise ValueError(f"{len(ids)} tokens cannot be cut into {columns} columns")
    return ids[: columns * length].view(columns, length)


def windows(table: Tensor, size: int) -> Iterator[Window]:
    """The columns from beginning to end, `size` tokens at a time, the last time what is left.

    Args:
        table: (B, length), from `batchify`.
        size: how many tokens are read.
    """
    for start in range(0, table.size(1) - 1, size):
        end = min(start + size, table.size(1) - 1)
        yield Window(table[:, start:end], table[:, start + 1 : end + 1])


class WindowStream:
    """The training batches of one text.

    Args:
        ids: (N,).
        columns: rows of a batch.
        size: tokens per row.
        seed: of the order, where it is shuffled.
        shuffle: begin every pass somewhere within the first window, and take the windows in another order.
    """

    def __init__(self, ids: Tensor, columns: int, size: int, seed: int, shuffle: bool) -> None:
        self._ids, self._columns, self._size, self._seed, self._shuffle = ids, columns, size, seed, shuffle

    def epoch(self, number: int, weights: Sequence[float] | None = None) -> Iterator[Window]:
        """The batches of one pass; the same number gives the same batches.

        Args:
            number: of the pass, from 0.
            weights: not used: there is one text.
        """
        if not self._shuffle:
            yield from windows(batchify(self._ids, self._columns), self._size)
            return
        rng = random.Random(f"{self._seed}/{number}")
        first = rng.randrange(min(self._size, max(1, len(self._ids) // (2 * self._columns))))
        batches = list(windows(batchify(self._ids[first:], self._columns), self._size))
        rng.shuffle(batches)
        yield from batches


class TextValidation:
    """Perplexity on a validation text.

    Args:
        name: of the text.
        ids: (N,); none turn validation off.
        first: the id that comes before the text.
    """

    def __init__(self, name: str, ids: Tensor, first: int) -> None:
        self._name, self._ids, self._first = name, ids, first

    def run(self, model: LanguageModel) -> dict[str, float]:
        """Returns "valid_perplexity.NAME"."""
        if len(self._ids) == 0:
            return {}
        return {f"valid_perplexity.{self._name}": round(text_perplexity(model, self._ids, self._first), 3)}


@torch.no_grad()
def text_perplexity(model: LanguageModel, ids: Tensor, first: int) -> float:
    """exp of the mean cross entropy of every token, in windows that do not overlap.

    Args:
        model: in evaluation mode.
        ids: (N,), all of which are counted.
        first: the id that is read before them; a window's first token is predicted from this or from the token before
            it alone.

    Returns:
        The perplexity a token.
    """
    device, size = next(model.parameters()).device, model.config.max_length
    stream = torch.cat([torch.tensor([first]), ids])
    whole = (len(ids) // size) * size
    total = 0.0
    for start in range(0, whole, size * 16):
        inputs = stream[start : min(start + size * 16, whole)].view(-1, size)
        targets = ids[start : min(start + size * 16, whole)].view(-1, size)
        total += model.loss(inputs.to(device), targets.to(device)).item() * targets.numel()
    if whole < len(ids):
        rest = model.loss(stream[None, whole:-1].to(device), ids[None, whole:].to(device))
        total += rest.item() * (len(ids) - whole)
    return math.exp(min(total / len(ids), 700.0))
