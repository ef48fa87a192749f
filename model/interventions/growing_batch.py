"""Many changed passes at once: a batch that grows from layer to layer, each row with a change of its own.

Until a row's change comes it would be equal to the unchanged pass: so it joins the batch before the layer that it
changes, as a copy of the first row, and all rows share the layers before theirs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from model.decoding.protocol import between_steps

Replace = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class RowChange:
    """What one row of a batch has changed."""

    stack: str  # "encoder" or "decoder"
    layer: int  # before which the row joins; a stream after layer i is changed by a row that joins at i + 1
    at: Mapping[str, Replace]  # by the address of a tap a function of the row's value, a copy without the batch axis


class GrowingBatch:
    """One pass in which rows join before the layers that they change; row 0 is the unchanged pass."""

    def __init__(self, changes: Sequence[RowChange]) -> None:
        """The changes are all of one stack, in the order of their layers; change n is made in row n + 1."""
        self._stack = changes[0].stack
        self._waiting = list(changes)
        self._rows = 1
        self._at: dict[str, list[tuple[int, Replace]]] = {}  # by address the rows that are changed there

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """As a hook of `model.taps.hooked`."""
        if address.endswith(".stream"):
            between_steps()
            value = self._grow(address, value)
        if address in self._at:
            value = value.clone()
            for row, replace in self._at[address]:
                value[row] = replace(value[row].clone())
        return value

    def begin_with_all(self) -> int:
        """Let every row join before the pass, where the stream between layers is not seen; returns how many there are.

        The inputs must be repeated as often.
        """
        while self._waiting:
            self._add_row()
        return self._rows

    def _grow(self, address: str, stream: Tensor) -> Tensor:
        stack, _, place = address.partition(".")
        if stack != self._stack:  # a decoder after an encoder that is changed has as many rows
            return stream.expand(max(self._rows, stream.size(0)), -1, -1) if stack == "decoder" else stream
        if place == "input.stream":
            following = 0
        elif place.endswith("residual_ff.stream"):
            following = int(place.split(".")[1]) + 1
        else:
            return stream
        before = self._rows
        while self._waiting and self._waiting[0].layer <= following:
            self._add_row()
        n_added = self._rows - before
        return torch.cat([stream, stream[:1].expand(n_added, -1, -1)]) if n_added else stream

    def _add_row(self) -> None:
        for address, replace in self._waiting.pop(0).at.items():
            self._at.setdefault(address, []).append((self._rows, replace))
        self._rows += 1


def groups(changes: Sequence[RowChange], most: int) -> Iterator[list[int]]:
    """The numbers of changes, in groups of at most `most` that are one batch: of one stack, in the order of layers."""
    for stack in dict.fromkeys(change.stack for change in changes):
        numbers = [number for number, change in enumerate(changes) if change.stack == stack]
        numbers.sort(key=lambda number: changes[number].layer)
        for start in range(0, len(numbers), most):
            yield numbers[start : start + most]
