"""A forced attention, an edited cell, and what each does at a tap: functions of one tensor, for `model.taps.intervene`.

Shape letters: B batch, H heads, T queries, S keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor

from model.taps import Change


@dataclass(frozen=True, order=True)
class Force:
    """Attention from a query to a key: w' = (1 - strength) w + strength onehot(key).

    Attributes:
        query: row of the maps: a source token in the encoder; in the decoder the step t that reads target_tokens[t] and
            predicts predicted_tokens[t].
        key: column: a source token; in the decoder's self-attention one of target_tokens, at most the query.
        strength: from 0 (nothing changes) to 1 (nothing else is read), kept to four decimals.
        heads: (layer, head) of the heads that are forced; empty: all heads of all layers.
        kind: of attention.
    """

    query: int
    key: int
    strength: float = 1.0
    heads: tuple[tuple[int, int], ...] = ()
    kind: str = "cross"

    def __post_init__(self) -> None:
        if not 0 <= self.strength <= 1:
            raise ValueError(f"the strength of a forced attention must be from 0 to 1, got {self.strength}")
        if self.kind == "decoder_self" and self.key > self.query:
            raise ValueError(f"step {self.query} of the decoder cannot attend to the later step {self.key}")
        object.__setattr__(self, "strength", round(float(self.strength), 4))
        object.__setattr__(self, "heads", tuple(sorted(set(self.heads))))


@dataclass(frozen=True, order=True)
class Cell:
    """One cell of a mask, the same in every layer and head.

    Attributes:
        kind: of attention.
        query, key: row and column of the mask.
        open: True = may attend, whatever the mask said; False = blocked.
    """

    kind: str
    query: int
    key: int
    open: bool

    @property
    def shows_future(self) -> bool:
        """Whether it lets a step of the decoder read a later one, which while decoding does not exist yet."""
        return self.kind == "decoder_self" and self.open and self.key > self.query


class Seen:
    """What the changes of one mapping know of the pass that is running."""

    def __init__(self) -> None:
        self.first = 0  # the position of the decoder's first query of this pass
        self.masks: dict[str, Tensor] = {}

    def count_steps(self, mask: Tensor) -> Tensor:
        """Note where the decoder is, at the mask of its self-attention."""
        # Keys are all positions so far, queries the last of them: also with a cache.
        self.first = mask.size(-1) - mask.size(-2)
        return mask

    def _row(self, kind: str, query: int) -> int:
        return query if kind == "encoder_self" else query - self.first

    def remember(self, module: str) -> Change:
        """Note the mask of a module of attention, for `uniform`."""

        def change(mask: Tensor) -> Tensor:
            self.masks[module] = mask
            return mask

        return change

    def cells(self, cells: list[Cell]) -> Change:
        """Set cells of a mask; those that this pass does not have are left alone."""

        def change(mask: Tensor) -> Tensor:  # (B, 1, T, S)
            for cell in cells:
                row = self._row(cell.kind, cell.query)
                if 0 <= row < mask.size(-2) and cell.key < mask.size(-1):
                    mask[..., row, cell.key] = cell.open
            return mask

        return change

    def uniform(self, module: str, heads: list[int]) -> Change:
        """Let heads read all that the mask of their module allows equally, or nothing where it allows nothing."""

        def change(weights: Tensor) -> Tensor:  # (B, H, T, S)
            allowed = self.masks[module].to(weights.dtype)  # (B, 1, T, S)
            weights[:, heads] = allowed / allowed.sum(-1, keepdim=True).clamp(min=1)
            return weights

        return change

    def force(self, forced: list[tuple[Force, list[int] | None]]) -> Change:
        """Move attention to a key, in some heads or in all (None): w' = (1 - strength) w + strength onehot."""

        def change(weights: Tensor) -> Tensor:  # (B, H, T, S)
            for force, heads in forced:
                row = self._row(force.kind, force.query)
                if 0 <= row < weights.size(-2):
                    some = slice(None) if heads is None else torch.tensor(heads)
                    weights[:, some, row] *= 1 - force.strength
                    weights[:, some, row, force.key] += force.strength
            return weights

        return change


def zero(heads: list[int]) -> Change:
    """Switch heads off."""

    def change(weights: Tensor) -> Tensor:  # (B, H, T, S)
        weights[:, heads] = 0
        return weights

    return change


def in_order(changes: list[Change]) -> Change:
    """One change that makes several, the first first."""
    return lambda value: reduce(lambda value, change: change(value), changes, value)
