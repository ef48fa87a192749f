"""Changes to a running Transformer as plain data: heads switched off, attention forced, masks edited.

They hold in a teacher-forced pass and in cached decoding alike, for any number of batch rows.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Protocol, Self, cast

from torch import Tensor, nn

from model.config import HeadsByLayer
from model.interventions.cut_streams import cut_paths
from model.interventions.cuts import Cut
from model.interventions.patches import Donor, HeadPatch, Patch, Patcher, StreamPatch, read_patch
from model.results.translation import IN_WORDS, KINDS, SIDES, module_of
from model.taps import Change, hooked, intervene
from model.text.errors import Problem

VERSION = "v1"
MAX_CODE = 8000  # characters
_LETTERS = {kind[0]: kind for kind in KINDS}
_FORCE = re.compile(r"f([ed]?)(\d{1,3})-(\d{1,3})-(\d(?:\.\d{1,4})?)((?:h\d{1,2}-\d{1,2})*)", re.ASCII)
_PLACE = re.compile(r"([ouab])([edc])(\d{1,3})-(\d{1,3})", re.ASCII)


class Changeable(Protocol):
    """The configuration of a model whose attention can be changed: ours, or that of a model that was attached."""

    @property
    def heads_by_layer(self) -> HeadsByLayer:
        """The number of heads, by kind of attention and layer that has it; empty if nothing can be changed."""
        ...


@dataclass(frozen=True, order=True)
class Head:
    """The address of one attention head."""

    kind: str  # of attention, of KINDS
    layer: int
    head: int


@dataclass(frozen=True, order=True)
class Force:
    """Attention from a query to a key: w' = (1 - strength) w + strength onehot(key)."""

    query: int  # row of the maps; in the decoder the step t that reads target_tokens[t]
    key: int  # column; in the decoder's self-attention at most the query
    strength: float = 1.0  # from 0 (nothing changes) to 1 (nothing else is read), kept to four decimals
    heads: tuple[tuple[int, int], ...] = ()  # (layer, head) of those that are forced; empty: all of all layers
    kind: str = "cross"

    def __post_init__(self) -> None:
        if not 0 <= self.strength <= 1:
            raise ValueError(f"the strength of a forced attention must be from 0 to 1, got {self.strength}")
        if self.kind == "decoder_self" and self.key > self.query:
            raise ValueError(f"step {self.query} of the decoder cannot attend to the later step {self.key}")
        object.__setattr__(self, "strength", round(float(self.strength), 4))
        object.__setattr__(self, "heads", tuple(sorted(set(self.heads))))

    def heads_of(self, layer: int) -> list[int] | slice:
        """The index of the heads of a layer that are forced; all of them as a slice."""
        return [head for at, head in self.heads if at == layer] if self.heads else slice(None)


@dataclass(frozen=True, order=True)
class Cell:
    """One cell of a mask, the same in every layer and head, open (may attend, whatever the mask) or blocked."""

    kind: str
    query: int
    key: int
    open: bool

    @property
    def shows_future(self) -> bool:
        """Whether it lets a step of the decoder read a later step, which while decoding does not exist yet."""
        return self.kind == "decoder_self" and self.open and self.key > self.query


@dataclass(frozen=True)
class Edits:
    """All changes of one run, in any order; a ValueError for edits that contradict each other.

    Example:
        >>> Edits(off=(Head("cross", 0, 3),), forced=(Force(4, 2, 0.8),)).code
        'v1_oc0-3_f4-2-0.8'
    """

    off: tuple[Head, ...] = ()  # their weights become 0, which equals zeroing their slice of the output projection
    uniform: tuple[Head, ...] = ()  # they read everything equally that their mask lets them read
    forced: tuple[Force, ...] = ()  # a head that is off stays off
    cells: tuple[Cell, ...] = ()
    cut: tuple[Cut, ...] = ()  # paths into the queries or keys of single heads; those of one head are cut together
    patched: tuple[Patch, ...] = ()  # heads and streams that are as they were in another text
    donor: Donor | None = None  # what these are taken from; not part of the code

    def __post_init__(self) -> None:
        for name, items in self._items().items():
            object.__setattr__(self, name, tuple(sorted(set(items), key=_order)))
        for both in sorted(set(self.off) & set(self.uniform)):
            place = f"{IN_WORDS[both.kind]}, layer {both.layer}, head {both.head}"
            raise ValueError(f"a head is either switched off or made uniform, but both are set for {place}")
        for cell in self.cells:
            if replace(cell, open=not cell.open) in self.cells:
                where = f"{IN_WORDS[cell.kind]} cell in row {cell.query}, column {cell.key}"
                raise ValueError(f"the {where} cannot be both open and blocked")
        for first, second in combinations(self.forced, 2):
            share_a_head = not first.heads or not second.heads or set(first.heads) & set(second.heads)
            if (first.kind, first.query) == (second.kind, second.query) and share_a_head:
                raise ValueError(f"the attention of step {first.query} is forced twice in the same head")
        self._check_patched_heads()

    def _check_patched_heads(self) -> None:
        places = [Head(patch.kind, patch.layer, patch.head) for patch in self.patched if isinstance(patch, HeadPatch)]
        changed = {*self.off, *self.uniform, *(head for head in places if places.count(head) > 1)}
        for both in sorted(changed & set(places)):
            place = f"{IN_WORDS[both.kind]}, layer {both.layer}, head {both.head}"
            raise ValueError(f"a head that is patched is patched once and not changed otherwise, but not so {place}")

    def __bool__(self) -> bool:
        return any(self._items().values())

    def _items(self) -> dict[str, tuple[Any, ...]]:
        """The changes by field."""
        return {name: items for name, items in vars(self).items() if name != "donor"}

    @property
    def without_future(self) -> Self:
        """The edits that a decoder which writes token by token can make: no cells that open the future."""
        return replace(self, cells=tuple(cell for cell in self.cells if not cell.shows_future))

    @property
    def code(self) -> str:
        """The edits as a short text of letters, digits and "-_." that `from_code` reads; empty for no edits."""
        items = [f"o{head.kind[0]}{head.layer}-{head.head}" for head in self.off]
        items += [f"u{head.kind[0]}{head.layer}-{head.head}" for head in self.uniform]
        for force in self.forced:
            strength = f"{force.strength:.4f}".rstrip("0").rstrip(".")
            heads = "".join(f"h{layer}-{head}" for layer, head in force.heads)
            kind = "" if force.kind == "cross" else force.kind[0]
            items.append(f"f{kind}{force.query}-{force.key}-{strength}{heads}")
        items += [f"{'a' if cell.open else 'b'}{cell.kind[0]}{cell.query}-{cell.key}" for cell in self.cells]
        items += [cut.code for cut in self.cut]
        items += [patch.code for patch in self.patched]
        return "_".join([VERSION, *items]) if items else ""

    @classmethod
    def from_code(cls, code: str) -> Self:
        """Read a `code`, perhaps typed by hand; a ValueError names the part that cannot be read."""
        if not code:
            return cls()
        if len(code) > MAX_CODE:
            raise ValueError(f"the code of the edits has {len(code)} characters; at most {MAX_CODE} are allowed")
        version, *items = code.split("_")
        if version != VERSION:
            raise ValueError(f"the code of edits begins with {VERSION!r}, got {version[:20]!r}")
        edits: dict[str, Any] = {}  # by field
        for item in items:
            name, edit = _read_edit(item)
            edits[name] = (*edits.get(name, ()), edit)
        return cls(**edits)

    def check(self, config: Changeable, n_source: int | None = None, n_target: int | None = None) -> None:
        """Raise a ValueError for heads or cells that the model, or its pass over one sentence, does not have.

        Args:
            config: of the model.
            n_source, n_target: source tokens and decoder steps of the sentence. Without them, edits of single cells,
                which hold for one sentence only, are a ValueError.
        """
        if not config.heads_by_layer:
            raise Problem("this model has no attention heads that can be changed")
        forced = (Head(force.kind, *head) for force in self.forced for head in force.heads)
        cut = (Head(cut.kind, cut.layer, cut.head) for cut in self.cut)
        patched = (Head(patch.kind, patch.layer, patch.head) for patch in self.patched if isinstance(patch, HeadPatch))
        for head in (*self.off, *self.uniform, *forced, *cut, *patched):
            check_head(config, head)
        for patch in self.patched:
            if self.donor is None:
                raise Problem("a patch needs a recording of another text, from which it is taken")
            self.donor.check(patch, n_source, n_target)
        for cell in (*self.cells, *self.forced):
            _layers_of(config, cell.kind)
            if n_source is None or n_target is None:
                raise ValueError("single cells can be changed for one sentence only, not for many at a time")
            lengths = {"source": n_source, "target": n_target}
            query_side, key_side = SIDES[cell.kind]
            n_queries, n_keys = lengths[query_side], lengths[key_side]
            _check_place(cell.kind, "row", cell.query, n_queries, " here")
            _check_place(cell.kind, "column", cell.key, n_keys, " here")

    def changes(self, config: Changeable) -> dict[str, Change]:
        """The interventions that make these edits, by address, as `model.taps.intervene` takes them.

        The edits must fit the model (`check`). The changes share state: a mapping is for one pass or search at a time,
        in one thread. Cuts of paths need the model, and patches count positions, so they are not among them: `applied`
        makes them, and so do readers.
        """
        first = 0  # the position of the decoder's first query in the pass that is running
        heads = config.heads_by_layer
        has_steps = any(edit.kind != "encoder_self" for edit in (*self.forced, *self.cells))
        masks: dict[str, Tensor] = {}

        def row_of(edit: Cell | Force, tensor: Tensor) -> int | None:
            """The row of an edit in this pass; None if it is not among them."""
            row = edit.query if edit.kind == "encoder_self" else edit.query - first
            return row if 0 <= row < tensor.size(-2) else None

        def changes_of_layer(kind: str, layer: int) -> Iterator[tuple[str, Change]]:
            module = module_of(kind, layer)
            off = [head.head for head in self.off if (head.kind, head.layer) == (kind, layer)]
            uniform = [head.head for head in self.uniform if (head.kind, head.layer) == (kind, layer)]
            cells = [cell for cell in self.cells if cell.kind == kind]
            forced = [force for force in self.forced if force.kind == kind and force.heads_of(layer)]
            counts = has_steps and kind == "decoder_self" and layer == min(heads[kind])

            def change_mask(mask: Tensor) -> Tensor:  # (B, 1, T, S)
                nonlocal first
                if counts:
                    # Keys are all positions so far, queries the last of them: also with a cache.
                    first = mask.size(-1) - mask.size(-2)
                for cell in cells:
                    row = row_of(cell, mask)
                    if row is not None and cell.key < mask.size(-1):
                        mask[..., row, cell.key] = cell.open
                masks[module] = mask
                return mask

            def change_weights(weights: Tensor) -> Tensor:  # (B, H, T, S)
                if uniform:
                    allowed = masks[module].to(weights.dtype)  # (B, 1, T, S)
                    weights[:, uniform] = allowed / allowed.sum(-1, keepdim=True).clamp(min=1)
                for force in forced:
                    row = row_of(force, weights)
                    if row is not None:
                        weights[:, force.heads_of(layer), row] *= 1 - force.strength
                        weights[:, force.heads_of(layer), row, force.key] += force.strength
                weights[:, off] = 0
                return weights

            if counts or cells or uniform:
                yield f"{module}.mask", change_mask
            if off or uniform or forced:
                yield f"{module}.weights", change_weights

        return dict(change for kind in heads for layer in heads[kind] for change in changes_of_layer(kind, layer))

    @contextmanager
    def patching(self) -> Iterator[None]:
        """Make the patches, in one whole pass or one search in this block and thread."""
        if not self.patched:
            yield
            return
        assert self.donor is not None  # which `check` makes sure of
        with hooked(Patcher(self.patched, self.donor).pass_tap):
            yield

    @contextmanager
    def applied(self, model: nn.Module, stack: str) -> Iterator[None]:
        """Make the edits of the "encoder" or the "decoder" of a model of ours, which must run in the block.

        They hold in this thread only. Cuts of cross-attention keys are made where the encoder runs. Patches hold in one
        whole pass or one search.
        """
        changes = self.changes(cast(Any, model).config).items() if self else ()
        of_stack = {address: change for address, change in changes if address.startswith(f"{stack}.")}
        with ExitStack() as block:
            block.enter_context(self.patching())
            if of_stack:  # with nothing to change the fast paths stay open
                block.enter_context(intervene(of_stack))
            if self.cut:
                block.enter_context(cut_paths(model, self.cut, stack))
            yield


def layer_counts(config: Changeable) -> dict[str, int]:
    """The number of layers with each kind of attention."""
    return {kind: len(layers) for kind, layers in config.heads_by_layer.items()}


def all_heads(config: Changeable, kind: str | None = None) -> list[Head]:
    """Every head of a model, or of one kind, in the order of KINDS, layers and heads."""
    return [
        Head(name, layer, head)
        for name, layers in config.heads_by_layer.items()
        if kind in (None, name)
        for layer, n_heads in layers.items()
        for head in range(n_heads)
    ]


def _layers_of(config: Changeable, kind: str) -> Mapping[int, int]:
    """The number of heads of each layer with a kind of attention; a ValueError if no layer has it."""
    if kind not in config.heads_by_layer:
        raise Problem("this model has no {kind}-attention", kind=IN_WORDS[kind])
    return config.heads_by_layer[kind]


def check_head(config: Changeable, head: Head) -> None:
    """Raise a ValueError for a head that a model does not have."""
    if head.kind not in KINDS:
        raise ValueError(f"the kind of attention is one of {', '.join(KINDS)}, got {head.kind!r}")
    n_heads = _layers_of(config, head.kind)
    _check_place(head.kind, "layer", head.layer, max(n_heads) + 1)
    if head.layer not in n_heads:  # the model has other layers between those with attention
        layers = ", ".join(map(str, n_heads))
        raise ValueError(f"layer {head.layer} has no {IN_WORDS[head.kind]}-attention; the layers {layers} have it")
    _check_place(head.kind, "head", head.head, n_heads[head.layer])


def _check_place(kind: str, name: str, place: int, count: int, where: str = "") -> None:
    if not 0 <= place < count:
        allowed = f"{name}s of the {IN_WORDS[kind]}-attention are 0 to {count - 1}{where}"
        raise ValueError(f"{allowed}, got {name} {place}")


def _order(edit: Head | Force | Cell | Cut | Patch) -> tuple[bool, Any]:
    """Edits of one field in their order; streams stand after heads."""
    return isinstance(edit, StreamPatch), edit


def _read_edit(item: str) -> tuple[str, Head | Force | Cell | Cut | Patch]:
    """The field of `Edits` and the edit that one part of a code stands for."""
    if match := _PLACE.fullmatch(item):
        operation, letter, row, column = match.groups()
        place = _LETTERS[letter], int(row), int(column)
        if operation in "ou":
            return {"o": "off", "u": "uniform"}[operation], Head(*place)
        return "cells", Cell(*place, operation == "a")
    if match := _FORCE.fullmatch(item):
        letter, query, key, strength, heads = match.groups()
        pairs = [pair.split("-") for pair in heads.split("h")[1:]]
        forced_heads = tuple((int(layer), int(head)) for layer, head in pairs)
        return "forced", Force(int(query), int(key), float(strength), forced_heads, _LETTERS[letter or "c"])
    if cut := Cut.from_code(item):
        return "cut", cut
    if patch := read_patch(item):
        return "patched", patch
    raise ValueError(f"the edits cannot be read: {item[:20]!r} is not a valid edit")
