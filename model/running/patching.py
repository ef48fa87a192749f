"""Activation patching: what part of a model carries what two texts differ in (Vig et al. 2020; Wang et al. 2022).

Into the pass over one text is put, part by part, what the pass over another had, and the logit of a word less that of
another says how much of the difference between the texts comes with it. How to read it: Heimersheim and Nanda 2024.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from model.decoding.protocol import between_steps
from model.interventions.edits import Edits
from model.interventions.growing_batch import GrowingBatch, RowChange, groups
from model.interventions.patches import (
    STACKS,
    Donor,
    Pairs,
    Patch,
    Patcher,
    check_stack,
    check_what,
    patched_weights,
    split_pairs,
    stream_address,
)
from model.results.translation import IN_WORDS, KINDS, MODULES, SIDES
from model.text.errors import Problem

MOST = 64_000_000  # logits at a time: 256 MB
MOST_TOKENS = 1024  # of all rows of a batch
LEAST = 1e-4  # logits; a smaller difference between two texts is not one that could come back
Hook = Callable[[str, Tensor], Tensor]
Progress = Callable[[float], object]
SUBLAYERS = {"attention": "self_attention", "cross": "cross_attention", "feed-forward": "feed_forward"}
_KEPT = (".context", ".weights", ".v", ".output", "input.stream", "residual_ff.stream")


@dataclass
class Pass:
    """One pass of a model over a text, which can be repeated with changes, up to the logits at one position.

    Attributes:
        run: makes the pass with a hook on its taps, its inputs repeated as often as said; the logits (rows, V).
        tokens: by side, "source" and "target", what is read; empty where the model has no such side.
        place: the position of the logits, in the tokens of the last stack.
        grows: whether rows can join between layers; not where layers share a module.
        edits: those that `run` makes, too.
    """

    run: Callable[[Hook, int], Tensor] = field(repr=False)
    tokens: dict[str, list[str]]
    place: int
    grows: bool = True
    edits: Edits = field(default_factory=Edits)

    @cached_property
    def trace(self) -> dict[str, Tensor]:
        """By address what passed the taps that patches are taken from and put to, without the batch axis."""
        return self._recorded[0]

    @cached_property
    def logits(self) -> np.ndarray:
        """float64 (V,)."""
        return self._recorded[1][0].double().cpu().numpy()

    @cached_property
    def _recorded(self) -> tuple[dict[str, Tensor], Tensor]:
        trace: dict[str, Tensor] = {}

        def keep(address: str, value: Tensor) -> Tensor:
            if address.endswith(_KEPT):
                trace[address] = value[0].clone()
            return value

        with torch.inference_mode():
            return trace, self.run(keep, 1)


class Patching:
    """What comes back of text A in text B, part by part: 0 is as in B, 1 is as in A.

    Every share is measured by a pass in which that part was replaced, but those of `estimate`. Positions of B that
    belong to no position of A are left alone: `unaligned` says which they are, and their share is NaN.

    Attributes:
        words: the word that A writes and the one of B that it is compared with, as they are written on axes.
        answer, against: their ids.
        step: how many words, the same for both texts, were written before.
        clean, corrupted: the logit of the answer less that of the other word, in A and in B.
        is_reverse: whether what B had is put into A: 0 is then as in A, 1 as in B.
        donor: what `edits` take patches from.
    """

    def __init__(
        self,
        a: Pass,
        b: Pass,
        answer: int,
        against: int,
        words: tuple[str, str],
        step: int,
        donor: Donor,
        reverse: bool,
    ) -> None:
        """Compare two passes of one model at the same step; see `Translator.patching`, which makes them.

        Raises:
            ValueError: if the words are the same, or differ as much in A as in B.
        """
        if answer == against:
            raise Problem("“{word}” would be compared with itself: name another word to compare it with", word=words[0])
        self.answer, self.against = answer, against
        self.words = words
        self.step = step
        self.is_reverse = reverse
        self.donor = donor
        self.clean = self._difference(a.logits)
        self.corrupted = self._difference(b.logits)
        if abs(self.clean - self.corrupted) < LEAST:
            raise Problem(
                "“{answer}” and “{against}” are as far apart in one text as in the other: nothing can come back",
                answer=words[0],
                against=words[1],
            )
        self._donor, self._own = (b, a) if reverse else (a, b)
        self._pairs = {side: self._pairs_of(side) for side in STACKS.values()}

    @property
    def kinds(self) -> list[str]:
        """The kinds of attention that can be patched."""
        return [kind for kind in KINDS if self._modules(kind)]

    def layers(self, kind: str) -> list[int]:
        """The number in the model of each layer of `heads(kind)`."""
        return [layer for layer, _ in self._modules_of(kind)]

    @property
    def sides(self) -> list[str]:
        """The stacks whose streams can be patched: "encoder", "decoder"."""
        return [stack for stack in STACKS if f"{stack}.input.stream" in self._own.trace]

    def tokens(self, side: str) -> list[str]:
        """The tokens of the text that is changed that the "encoder" or the "decoder" reads: columns of `streams`."""
        check_stack(side)
        return self._own.tokens[STACKS[side]]

    def unaligned(self, side: str) -> list[int]:
        """The positions of the text that is changed that are left alone."""
        places = {j for _, j in self._pairs[STACKS[side]]}
        return [j for j in range(len(self.tokens(side))) if j not in places]

    def edits(self, *patches: Patch) -> Edits:
        """Patches as edits of the text that is changed, to have it read or written with them, and with its own edits.

        A ValueError refuses a text that was itself read with patches.
        """
        own = self._own.edits
        if own.patched:
            raise ValueError("the text was itself read with patches: patch it as it was read without them")
        return replace(own, patched=patches, donor=self.donor)

    def heads(self, kind: str, what: str = "both", progress: Progress = lambda share: None) -> np.ndarray:
        """float64 (L, H): the share that comes back with each head, of a kind of attention.

        Args:
            kind: of KINDS.
            what: is taken of the head: "both", its output; "weights", only where it looks; "values", only what it
                carries.
            progress: called with the share of the heads that are done, from 0 to 1.
        """
        modules = self._modules_of(kind)
        changes = []
        for layer, module in modules:
            replaced = self._context(kind, module, what)  # (H, T, K)
            changes += [
                RowChange(MODULES[kind][0], layer, {f"{module}.context": _putting(head, value)})
                for head, value in enumerate(replaced)
            ]
        return self._shares(changes, progress).reshape(len(modules), -1)

    def together(self, *patches: Patch) -> float:
        """The share that comes back with several patches in one pass; a ValueError as from `Donor.check`."""
        n_source, n_target = (len(self._own.tokens[side]) for side in ("source", "target"))
        for patch in patches:
            self.donor.check(patch, n_source, max(n_target, self.donor.n_target))
        with torch.inference_mode():
            logits = self._own.run(Patcher(patches, self.donor).pass_tap, 1)[0].double().cpu().numpy()
        return (self._difference(logits) - self._difference(self._own.logits)) / self._whole

    def streams(self, side: str, progress: Progress = lambda share: None) -> np.ndarray:
        """float64 (layers + 1, T): the share that comes back with the residual stream at one position.

        After the embedding and each layer of the "encoder" or the "decoder"; T counts `tokens(side)`.
        """
        places = self._places(side)
        n_layers = self._n_layers(side)
        shares = np.full((n_layers + 1, len(self.tokens(side))), np.nan)
        addresses = [[stream_address(side, layer)] for layer in range(n_layers + 1)]
        self._fill(shares, side, addresses, [*range(n_layers + 1)], places, progress)
        return shares

    def sublayers(self, side: str, progress: Progress = lambda share: None) -> dict[str, np.ndarray]:
        """By name float64 (L, T): the share that comes back with what one sublayer writes at one position.

        The names are "attention", in a decoder that reads a source "cross", and "feed-forward". NaN where a layer has
        no such sublayer.
        """
        places = self._places(side)
        shares = {}
        for name, module in SUBLAYERS.items():
            addresses = [self._outputs(f"{side}.layers.{layer}.{module}") for layer in range(self._n_layers(side))]
            if any(addresses):
                shares[name] = np.full((len(addresses), len(self.tokens(side))), np.nan)
                self._fill(shares[name], side, addresses, [*range(len(addresses))], places, lambda share: None)
            progress((list(SUBLAYERS).index(name) + 1) / len(SUBLAYERS))
        return shares

    def estimate(self, name: str, what: str = "both") -> np.ndarray:
        """An estimate of `heads(kind, what)`, or of `streams(side)`, of all parts by one gradient: no part is patched.

        Attribution patching (Nanda 2023): the shares if the model were linear in each part. How far it is from them:
        docs/limits.md. Where it misleads: Kramár et al. 2024.

        Args:
            name: a kind of attention, or "encoder" or "decoder".
        """
        if name in STACKS:
            n_layers = self._n_layers(name)
            pairs = self._places(name)
            gradients = self._gradients([stream_address(name, layer) for layer in range(n_layers + 1)])
            shares = np.full((n_layers + 1, len(self.tokens(name))), np.nan)
            for layer, gradient in enumerate(gradients):
                donor, own = (passed.trace[stream_address(name, layer)].double() for passed in (self._donor, self._own))
                for i, j in pairs:
                    shares[layer, j] = float((donor[i] - own[j]) @ gradient[j])
            return shares / self._whole
        modules = self._modules_of(name)
        gradients = self._gradients([f"{module}.context" for _, module in modules])
        rows = []
        for (_, module), gradient in zip(modules, gradients, strict=True):
            change = self._context(name, module, what).double() - self._own.trace[f"{module}.context"].double()
            rows.append((change * gradient).sum((1, 2)).cpu().numpy())  # (H,)
        return np.stack(rows) / self._whole

    @property
    def _whole(self) -> float:
        """The difference that can come back."""
        return self._difference(self._donor.logits) - self._difference(self._own.logits)

    def _difference(self, logits: np.ndarray) -> float:
        return float(logits[self.answer] - logits[self.against])

    def _pairs_of(self, side: str) -> Pairs:
        """The positions that belong together, those of the pass that is changed second, of the donor's first."""
        n_donor, n_own = len(self._donor.tokens[side]), len(self._own.tokens[side])
        if n_donor == n_own:
            return [(i, i) for i in range(n_own)]
        n_written = self.step if side == "target" else 0  # the same words, after both texts
        return [*self.donor.pairs[side], *((n_donor - n, n_own - n) for n in range(n_written, 0, -1))]

    def _modules(self, kind: str) -> list[tuple[int, str]]:
        """The layers with a kind of attention, and the address of the attention of each."""
        stack, name = MODULES[kind]
        matches = (re.fullmatch(rf"({stack}\.layers\.(\d+)\.{name})\.context", address) for address in self._own.trace)
        return [(int(match[2]), match[1]) for match in matches if match]

    def _modules_of(self, kind: str) -> list[tuple[int, str]]:
        if kind not in KINDS:
            raise ValueError(f"the kind of attention is one of {', '.join(KINDS)}, got {kind!r}")
        if not (modules := self._modules(kind)):
            raise Problem("this model has no {kind}-attention", kind=IN_WORDS[kind])
        return modules

    def _outputs(self, module: str) -> list[str]:
        """The addresses of what a sublayer writes: of some models a feed-forward has several."""
        return [
            address for address in self._own.trace if re.fullmatch(rf"{re.escape(module)}(\.\d+)?\.output", address)
        ]

    def _n_layers(self, side: str) -> int:
        check_stack(side)
        if side not in self.sides:
            raise Problem("this model has no {side} whose stream is seen between its layers", side=side)
        return sum(
            address.startswith(f"{side}.") and address.endswith("residual_ff.stream") for address in self._own.trace
        )

    def _places(self, side: str) -> Pairs:
        check_stack(side)
        return self._pairs[STACKS[side]]

    def _context(self, kind: str, module: str, what: str) -> Tensor:
        """The contexts (H, T, K) of all heads of an attention, what is taken of the other text put in its place."""
        check_what(what)
        rows, columns = (self._pairs[side] for side in SIDES[kind])
        donor, own = self._donor.trace, self._own.trace
        (origins, places), (from_columns, to_columns) = map(split_pairs, (rows, columns))
        if what == "both":
            context = own[f"{module}.context"].clone()
            context[:, places] = donor[f"{module}.context"][:, origins]
            return context
        weights, values = own[f"{module}.weights"].clone(), own[f"{module}.v"].clone()
        if what == "weights":
            taken = donor[f"{module}.weights"][:, origins]
            weights[:, places] = patched_weights(weights[:, places], taken, columns)
        else:
            values[:, to_columns] = donor[f"{module}.v"][:, from_columns]
        values = values.repeat_interleave(len(weights) // len(values), dim=0)
        return weights.to(values.dtype) @ values

    def _fill(
        self,
        shares: np.ndarray,
        side: str,
        addresses: Sequence[Sequence[str]],
        layers: Sequence[int],
        places: Pairs,
        progress: Progress,
    ) -> None:
        """Measure shares (N, T) of single positions: row n is of what passes `addresses[n]`, which are of a layer."""
        changes: list[RowChange] = []
        cells: list[tuple[int, int]] = []
        for row, (passed, layer) in enumerate(zip(addresses, layers, strict=True)):
            for i, j in places if passed else ():
                values = {address: self._donor.trace[address][i] for address in passed}
                shares[row, j] = 0.0
                is_equal = all(torch.equal(value, self._own.trace[address][j]) for address, value in values.items())
                if not is_equal and self._is_read(side, passed[0], layer, j):
                    at = {address: _putting(j, value) for address, value in values.items()}
                    changes.append(RowChange(side, layer, at))
                    cells.append((row, j))
        for (row, j), share in zip(cells, self._shares(changes, progress), strict=True):
            shares[row, j] = share

    def _is_read(self, side: str, address: str, layer: int, position: int) -> bool:
        """Whether anything reads the stream at a position after this: of the last stack, after its last attention, only
        the words at that position follow from it."""
        if side != self.sides[-1] or position == self._own.place:
            return True
        return layer < self._n_layers(side) - (not address.endswith(".stream"))

    def _shares(self, changes: Sequence[RowChange], progress: Progress) -> np.ndarray:
        """The share (N,) that comes back with each of N changes."""
        differences = np.zeros(len(changes))
        n_tokens = max(map(len, self._own.tokens.values()))
        most = max(1, min(MOST // len(self._own.logits), MOST_TOKENS // n_tokens))
        n_done = 0
        for numbers in groups(changes, most):
            between_steps()
            batch = GrowingBatch([changes[number] for number in numbers])
            with torch.inference_mode():
                logits = self._own.run(batch.pass_tap, 1 if self._own.grows else batch.begin_with_all())
            measured = logits[:, [self.answer, self.against]].double().cpu().numpy()  # (rows, 2)
            measured = measured[:, 0] - measured[:, 1]
            differences[numbers] = measured[1:] - measured[0]
            n_done += len(numbers)
            progress(n_done / len(changes))
        return differences / self._whole

    @torch.inference_mode(False)
    @torch.enable_grad()
    def _gradients(self, addresses: Sequence[str]) -> list[Tensor]:
        """float64, of the compared logits by what passes each address, in the text that is changed."""
        leaves: dict[str, Tensor] = {}

        def add_leaf(address: str, value: Tensor) -> Tensor:
            if address not in addresses:
                return value
            leaves[address] = torch.zeros_like(value, requires_grad=True)
            return value + leaves[address]

        logits = self._own.run(add_leaf, 1)[0]
        difference = logits[self.answer] - logits[self.against]
        gradients = torch.autograd.grad(difference, [leaves[address] for address in addresses], allow_unused=True)
        return [
            (torch.zeros_like(leaves[address]) if gradient is None else gradient)[0].double()
            for address, gradient in zip(addresses, gradients, strict=True)
        ]


def _putting(place: int, value: Tensor) -> Callable[[Tensor], Tensor]:
    """A change of a row that puts a value to a place of its first axis, a head or a position."""

    def replace(row: Tensor) -> Tensor:
        row[place] = value
        return row

    return replace
