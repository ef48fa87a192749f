"""One long text as windows of equal length in parallel columns, as a language model is trained and measured."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from model.language_model import LanguageModel
from model.training.batching import Batch
from model.training.config import TrainingConfig


class Window(Batch):
    """What is read, src (B, T), and what follows each of it, tgt (B, T)."""

    @property
    def n_tokens(self) -> int:
        return self.src.numel()

    n_targets = n_tokens


def batchify(ids: Tensor, columns: int) -> Tensor:
    """A text (N,) as (columns, length); what is left over is dropped. Nothing is learnt across columns.

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
    """The columns (B, length) from beginning to end, `size` tokens at a time, then what is left."""
    for start in range(0, table.size(1) - 1, size):
        end = min(start + size, table.size(1) - 1)
        yield Window(table[:, start:end], table[:, start + 1 : end + 1])


class WindowStream:
    """Batches of one text (N,); shuffled, a pass begins somewhere in its first window and has another order."""

    def __init__(self, ids: Tensor, config: TrainingConfig) -> None:
        self._ids, self._config = ids, config

    def epoch(self, number: int, weights: Sequence[float] | None = None) -> Iterator[Window]:
        """The pass of a number from 0; weights are not used."""
        columns, size = self._config.columns, self._config.window
        if not self._config.shuffle_windows:
            yield from windows(batchify(self._ids, columns), size)
            return
        rng = random.Random(f"{self._config.seed}/{number}")
        first = rng.randrange(min(size, max(1, len(self._ids) // (2 * columns))))
        batches = list(windows(batchify(self._ids[first:], columns), size))
        rng.shuffle(batches)
        yield from batches


class TextValidation:
    """Perplexity on the validation text of a name: ids (N,), none turn it off; `first` is read before them."""

    def __init__(self, name: str, ids: Tensor, first: int) -> None:
        self._name, self._ids, self._first = name, ids, first

    def run(self, model: LanguageModel) -> dict[str, float]:
        if len(self._ids) == 0:
            return {}
        return {f"valid_perplexity.{self._name}": round(text_perplexity(model, self._ids, self._first), 3)}


@torch.no_grad()
def text_perplexity(model: LanguageModel, ids: Tensor, first: int) -> float:
    """exp of the mean cross entropy of all of ids (N,), in windows that do not overlap.

    A window's first token is predicted from the one before it alone, at the beginning from the id `first`.
    """
    device, size = next(model.parameters()).device, model.config.max_length
    stream = torch.cat([torch.tensor([first]), ids])
    whole = (len(ids) // size) * size
    parts = [(start, min(start + size * 16, whole), size) for start in range(0, whole, size * 16)]
    parts += [(whole, len(ids), len(ids) - whole)] if whole < len(ids) else []
    total = 0.0
    for start, end, width in parts:
        inputs, targets = (text[start:end].view(-1, width).to(device) for text in (stream, ids))
        total += model.loss(inputs, targets).item() * targets.numel()
    return math.exp(min(total / len(ids), 700.0))
