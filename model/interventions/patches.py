"""Activation patching: what a pass computed for one text, put into a pass over another.

Vig et al. 2020; Meng et al. 2022. Of one head its output, its weights alone (where it looks) or its values alone (what
it carries); of the residual stream one position. What is put where is plain data; a `Donor` has the arrays, and says
which positions of the two texts belong together. All other positions are left alone.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from model.analysis.comparison import Pairs, pairs
from model.results.translation import KINDS, SIDES, module_of
from model.text.errors import Problem

WHAT = ("both", "weights", "values")  # of a head: its output, where it looks, what it carries
STACKS = {"encoder": "source", "decoder": "target"}  # and the side whose tokens are its positions
_LETTERS = {kind[0]: kind for kind in KINDS}
_OF_WHAT = {"": "both", "w": "weights", "v": "values"}
_HEAD = re.compile(r"p([wv]?)([edc])(\d{1,3})-(\d{1,3})", re.ASCII)
_STREAM = re.compile(r"s([ed])(\d{1,3})-(\d{1,4})", re.ASCII)


@dataclass(frozen=True, order=True)
class HeadPatch:
    """One head gets what it had in the other text.

    Example:
        >>> HeadPatch("cross", 2, 2, "weights").code
        'pwc2-2'
    """

    kind: str  # of attention, of KINDS
    layer: int
    head: int
    what: str = "both"  # of WHAT

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"the kind of attention is one of {', '.join(KINDS)}, got {self.kind!r}")
        check_what(self.what)

    @property
    def code(self) -> str:
        """The patch as a short text that `read_patch` reads."""
        letter = next(letter for letter, what in _OF_WHAT.items() if what == self.what)
        return f"p{letter}{self.kind[0]}{self.layer}-{self.head}"


@dataclass(frozen=True, order=True)
class StreamPatch:
    """The residual stream at one position gets what it was in the other text.

    Example:
        >>> StreamPatch("encoder", 1, 3).code
        'se1-3'
    """

    stack: str  # "encoder" or "decoder"
    layer: int  # how many layers it has passed: 0 is the embedding
    position: int  # in the text that is changed

    def __post_init__(self) -> None:
        check_stack(self.stack)

    @property
    def address(self) -> str:
        """Where the stream passes."""
        return stream_address(self.stack, self.layer)

    @property
    def code(self) -> str:
        """The patch as a short text that `read_patch` reads."""
        return f"s{self.stack[0]}{self.layer}-{self.position}"


Patch = HeadPatch | StreamPatch


def read_patch(code: str) -> Patch | None:
    """Read the `code` of a patch; None if it is not one."""
    if match := _HEAD.fullmatch(code):
        what, letter, layer, head = match.groups()
        return HeadPatch(_LETTERS[letter], int(layer), int(head), _OF_WHAT[what])
    if match := _STREAM.fullmatch(code):
        letter, layer, position = match.groups()
        return StreamPatch("encoder" if letter == "e" else "decoder", int(layer), int(position))
    return None


def check_what(what: str) -> None:
    """Raise a ValueError for what a head does not have."""
    if what not in WHAT:
        raise ValueError(f"what is taken from a head is one of {', '.join(WHAT)}, got {what!r}")


def check_stack(stack: str) -> None:
    """Raise a ValueError for what is not a stack."""
    if stack not in STACKS:
        raise ValueError(f'the side is "encoder" or "decoder", got {stack!r}')


def stream_address(stack: str, layer: int) -> str:
    """The address of the stream after so many layers."""
    return f"{stack}.layers.{layer - 1}.residual_ff.stream" if layer else f"{stack}.input.stream"


def pairs_of(a: Sequence[str], b: Sequence[str]) -> Pairs:
    """The positions of two texts that belong together: each with its like where both have as many tokens, else those
    that `comparison.pairs` finds, equal tokens and tokens that replace each other.

    Example:
        >>> pairs_of(["a", "red", "car"], ["a", "car"])
        [(0, 0), (2, 1)]
    """
    return [(i, i) for i in range(len(a))] if len(a) == len(b) else pairs(a, b)


@dataclass(frozen=True, eq=False)
class Donor:
    """A recording from which patches are taken, for passes over one other text; equal to one of equal content."""

    trace: Mapping[str, np.ndarray] = field(repr=False)  # of the recording, by address, without the batch axis
    pairs: Mapping[str, Pairs]  # by side, "source" and "target": a position of the recording, and one of the other text
    n_source: int  # tokens of the other text, 0 without a source
    n_target: int  # of the other text, at least; 0 where its target is written freely

    @classmethod
    def between(cls, a: Any, b: Any) -> Self:
        """Take from the recording `a` for passes over the text of `b`, two results of one model.

        Of a model that translates, steps of the decoder belong together by their number.
        """
        source = pairs_of(a.source_tokens, b.source_tokens)
        target = pairs_of(a.target_tokens, b.target_tokens)
        if is_pair := bool(a.source_tokens and a.target_tokens):
            target = [(step, step) for step in range(len(a.target_tokens))]
        n_target = 0 if is_pair else len(b.target_tokens)
        return cls(a.trace, {"source": source, "target": target}, len(b.source_tokens), n_target)

    def check(self, patch: Patch, n_source: int | None, n_target: int | None) -> None:
        """Raise a ValueError for a patch that cannot be taken from here, or a pass over a text of another length."""
        if isinstance(patch, HeadPatch):
            module = module_of(patch.kind, patch.layer)
            missing = [name for name in ("context", "weights", "v") if f"{module}.{name}" not in self.trace]
            missing = [f"{module}.{name}" for name in missing]
        else:
            self._check_layer(patch)
            missing = [patch.address][: patch.address not in self.trace]
        if missing:
            raise Problem("the other recording has no {address}: it was made by another model", address=missing[0])
        if n_source is None or n_target is None:
            raise ValueError("patches hold for one sentence only, not for many at a time")
        if n_source != self.n_source or n_target < self.n_target:
            raise Problem("the patches were made for another text: their positions are not those of this one")
        if isinstance(patch, StreamPatch):
            side = STACKS[patch.stack]
            if patch.position not in {place for _, place in self.pairs[side]}:
                raise Problem(
                    "position {position} has no like in the other text, so nothing can be put there",
                    position=patch.position,
                )

    def _check_layer(self, patch: StreamPatch) -> None:
        """Refuse a layer of a stream that was recorded without it."""
        layers = [
            address
            for address in self.trace
            if address.startswith(f"{patch.stack}.layers.") and address.endswith(".residual_ff.stream")
        ]
        if layers and not 0 <= patch.layer <= len(layers):
            raise ValueError(f"layers of the {patch.stack}'s stream are 0 to {len(layers)}, got {patch.layer}")

    @cached_property
    def digest(self) -> bytes:
        """What differs between donors of different content: of all that patches are made of."""
        content = hashlib.sha256(repr((sorted(self.pairs.items()), self.n_source, self.n_target)).encode())
        for address in sorted(self.trace):
            if address.endswith((".context", ".weights", ".v", ".stream")):
                content.update(address.encode())
                content.update(self.trace[address].tobytes())
        return content.digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Donor) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def patched_weights(own: Tensor, other: Tensor, columns: Pairs) -> Tensor:
    """Rows of weights (..., S) with those of another text (..., S') in their place.

    Columns that belong to no column of the other text keep their weight, and the others share what remains of the row
    as they do there.
    """
    origins, places = split_pairs(columns)
    taken = other[..., origins]
    room = own[..., places].sum(-1, keepdim=True)
    mass = taken.sum(-1, keepdim=True)
    is_whole = (_left_over(own, places) == 0) & (_left_over(other, origins) == 0)  # then they are copied
    scaled = torch.where(is_whole, taken, taken * (room / mass.clamp(min=torch.finfo(mass.dtype).tiny)))
    result = own.clone()
    result[..., places] = torch.where(is_whole | (mass > 0), scaled, own[..., places])
    return result


def _left_over(weights: Tensor, places: Sequence[int]) -> Tensor:
    """What rows of weights (..., S) have outside of some columns, (..., 1)."""
    is_outside = torch.ones(weights.size(-1), dtype=torch.bool, device=weights.device)
    is_outside[list(places)] = False
    return weights[..., is_outside].sum(-1, keepdim=True)


def split_pairs(both: Pairs) -> tuple[list[int], list[int]]:
    """The first and the second of each pair."""
    return [i for i, _ in both], [j for _, j in both]


class Patcher:
    """Makes patches in passes that run one after the other, all of one text: whole, or step by step with a cache."""

    def __init__(self, patches: Sequence[Patch], donor: Donor) -> None:
        self._donor = donor
        self._at: dict[str, list[Patch]] = {}
        for patch in patches:
            self._at.setdefault(_address(patch), []).append(patch)
        self._first = 0  # the position of the decoder's first query in the pass that is running
        self._steps = 0  # how many it has

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """As a hook of `model.taps.hooked`."""
        if address == "decoder.input.stream":
            # Steps with a cache are of one position; passes over several begin with the first.
            self._first = self._first + self._steps if value.size(1) == 1 else 0
            self._steps = value.size(1)
        for patch in self._at.get(address, ()):
            value = value.clone()
            if isinstance(patch, StreamPatch):
                self._put_stream(patch, value)
            else:
                value = self._with_head(patch, value)
        return value

    def _put_stream(self, patch: StreamPatch, value: Tensor) -> None:
        row = patch.position - (self._first if patch.stack == "decoder" else 0)
        origin = next(i for i, j in self._donor.pairs[STACKS[patch.stack]] if j == patch.position)
        if 0 <= row < value.size(1):
            value[:, row] = self._taken(patch.address, value)[origin]

    def _with_head(self, patch: HeadPatch, value: Tensor) -> Tensor:
        """Contexts (B, H, T, K) or weights (B, H, T, S) with those of the head replaced; values for each of H heads."""
        address = _address(patch)
        rows, columns = (self._donor.pairs[side] for side in SIDES[patch.kind])
        is_self = patch.kind == "decoder_self"
        if patch.what == "values":
            weights = self._donor.trace[f"{module_of(patch.kind, patch.layer)}.weights"]  # (H, T, S)
            value = value.repeat_interleave(len(weights) // value.size(1), dim=1)
            # Keys of a cached decoder come one by one in our own models, all at once in others.
            first = self._first + self._steps - value.size(2) if is_self else 0
            origins, places = split_pairs(_within(columns, first, value.size(2)))
            taken = self._taken(address, value)  # (G, S, K)
            value[:, patch.head, places] = taken[patch.head * len(taken) // len(weights), origins]
            return value
        first = 0 if patch.kind == "encoder_self" else self._first
        origins, places = split_pairs(_within(rows, first, value.size(2)))
        taken = self._taken(address, value)[patch.head, origins]
        if patch.what == "weights":
            columns = _within(columns, 0, value.size(3))
            taken = patched_weights(value[:, patch.head, places], taken.expand(len(value), -1, -1), columns)
        value[:, patch.head, places] = taken
        return value

    def _taken(self, address: str, value: Tensor) -> Tensor:
        return torch.from_numpy(self._donor.trace[address]).to(value.device, value.dtype)


def _address(patch: Patch) -> str:
    if isinstance(patch, StreamPatch):
        return patch.address
    name = {"both": "context", "weights": "weights", "values": "v"}[patch.what]
    return f"{module_of(patch.kind, patch.layer)}.{name}"


def _within(both: Pairs, first: int, count: int) -> Pairs:
    """The pairs whose second position is in a pass over `count` positions from `first` on, counted from there."""
    return [(i, j - first) for i, j in both if first <= j < first + count]
