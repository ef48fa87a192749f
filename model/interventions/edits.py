"""Changes to a running Transformer as plain data: heads switched off, attention forced, masks edited.

`Edits` says what to change, can be compared, hashed and written into an address, and knows nothing of a model until
`changes` turns it into interventions for the taps. These hold in a full teacher-forced pass and in step-by-step cached
decoding alike, for any number of batch rows (the hypotheses of a beam are rows).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from model.architectures import Config
from model.config import TransformerConfig
from model.errors import Problem
from model.interventions import edit_changes
from model.interventions.edit_changes import Cell, Force
from model.taps import Change, intervene
from model.translation import IN_WORDS, KINDS, MODULES, module_of

VERSION = "v1"
MAX_CODE = 8000  # characters
_LETTERS = {"e": "encoder_self", "d": "decoder_self", "c": "cross"}
_LETTER_OF = {kind: letter for letter, kind in _LETTERS.items()}
_HEAD = re.compile(r"([ou])([edc])(\d{1,2})-(\d{1,2})", re.ASCII)
_FORCE = re.compile(r"f([ed]?)(\d{1,3})-(\d{1,3})-(\d(?:\.\d{1,4})?)((?:h\d{1,2}-\d{1,2})*)", re.ASCII)
_CELL = re.compile(r"([ab])([edc])(\d{1,3})-(\d{1,3})", re.ASCII)


@dataclass(frozen=True, order=True)
class Head:
    """One head: kind of attention, layer and head, counted from 0."""

    kind: str
    layer: int
    head: int


@dataclass(frozen=True)
class Edits:
    """What is changed; the order in which things are given means nothing.

    Attributes:
        off: heads whose weights become 0, which equals zeroing their slice of the output projection.
        uniform: heads that read everything equally that their mask lets them read.
        forced: attention that is forced; a head that is off stays off.
        cells: edited cells of the masks.

    Raises:
        ValueError: for a kind of attention that does not exist, and for edits that contradict each other.

    Example:
        >>> edits = Edits(off=(Head("cross", 0, 3),), forced=(Force(4, 2, 0.8),))
        >>> edits.code
        'v1_oc0-3_f4-2-0.8'
        >>> Edits.from_code(edits.code) == edits
        True
    """

    off: tuple[Head, ...] = ()
    uniform: tuple[Head, ...] = ()
    forced: tuple[Force, ...] = ()
    cells: tuple[Cell, ...] = field(default=())

    def __post_init__(self) -> None:
        for name in ("off", "uniform", "forced", "cells"):
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)))))
        for item in (*self.off, *self.uniform, *self.forced, *self.cells):
            if item.kind not in KINDS:
                raise ValueError(f"the kind of attention is one of {', '.join(KINDS)}, got {item.kind!r}")
        both = sorted(set(self.off) & set(self.uniform))
        if both:
            what = f"{IN_WORDS[both[0].kind]}, layer {both[0].layer}, head {both[0].head}"
            raise ValueError(f"a head is either switched off or made uniform, but both are set for {what}")
        places = Counter((cell.kind, cell.query, cell.key) for cell in self.cells)
        for (kind, query, key), count in places.items():
            if count > 1:
                raise ValueError(
                    f"the {IN_WORDS[kind]} cell in row {query}, column {key} cannot be both open and blocked"
                )
        for i, one in enumerate(self.forced):
            for other in self.forced[i + 1 :]:
                shared = not one.heads or not other.heads or set(one.heads) & set(other.heads)
                if (one.kind, one.query) == (other.kind, other.query) and shared:
                    raise ValueError(f"the attention of step {one.query} is forced twice in the same head")

    def __bool__(self) -> bool:
        return bool(self.off or self.uniform or self.forced or self.cells)

    @property
    def without_future(self) -> Edits:
        """The same without the cells that open the future: what a decoder can do that writes token by token."""
        return replace(self, cells=tuple(cell for cell in self.cells if not cell.shows_future))

    @property
    def code(self) -> str:
        """All of it in a short text of letters, digits and "-_." that `from_code` reads; empty for no edits."""
        items = [f"o{_of_head(head)}" for head in self.off] + [f"u{_of_head(head)}" for head in self.uniform]
        for force in self.forced:
            strength = f"{force.strength:.4f}".rstrip("0").rstrip(".")
            heads = "".join(f"h{layer}-{head}" for layer, head in force.heads)
            kind = "" if force.kind == "cross" else _LETTER_OF[force.kind]
            items.append(f"f{kind}{force.query}-{force.key}-{strength}{heads}")
        for cell in self.cells:
            items.append(f"{'a' if cell.open else 'b'}{_LETTER_OF[cell.kind]}{cell.query}-{cell.key}")
        return "_".join([VERSION, *items]) if items else ""

    @classmethod
    def from_code(cls, code: str) -> Edits:
        """Read what `code` wrote.

        Args:
            code: any text, as from an address that somebody typed.

        Returns:
            The edits; none for the empty text.

        Raises:
            ValueError: if it is not such a code; the message names the part that cannot be read.
        """
        if not code:
            return cls()
        if len(code) > MAX_CODE:
            raise ValueError(f"the code of the edits has {len(code)} characters; at most {MAX_CODE} are allowed")
        version, *items = code.split("_")
        if version != VERSION:
            raise ValueError(f"the code of edits begins with {VERSION!r}, got {version[:20]!r}")
        found: dict[str, list] = {"off": [], "uniform": [], "forced": [], "cells": []}
        for item in items:
            name, edit = _read(item)
            found[name].append(edit)
        return cls(**{name: tuple(edits) for name, edits in found.items()})

    def check(self, config: Config, n_source: int | None = None, n_target: int | None = None) -> None:
        """Refuse what a model or a sentence does not have.

        Args:
            config: of the model.
            n_source: source tokens; None refuses edits of single cells, which need one sentence.
            n_target: steps of the decoder; likewise.

        Raises:
            ValueError: naming what is out of range and what is allowed.
        """
        if not isinstance(config, TransformerConfig):
            raise Problem("only the heads of an encoder-decoder Transformer can be changed")
        for head in (*self.off, *self.uniform):
            _check_head(head, config)
        for force in self.forced:
            for layer, head in force.heads:
                _check_head(Head(force.kind, layer, head), config)
        cells = [*self.cells, *(Cell(force.kind, force.query, force.key, True) for force in self.forced)]
        if cells and (n_source is None or n_target is None):
            raise ValueError("single cells can be changed for one sentence only, not for many at a time")
        for cell in cells:
            n_queries = n_source if cell.kind == "encoder_self" else n_target
            n_keys = n_target if cell.kind == "decoder_self" else n_source
            for name, place, count in (("row", cell.query, n_queries), ("column", cell.key, n_keys)):
                if not 0 <= place < count:
                    kind = IN_WORDS[cell.kind]
                    raise ValueError(f"{name}s of the {kind}-attention are 0 to {count - 1} here, got {name} {place}")

    def changes(self, config: TransformerConfig) -> dict[str, Change]:
        """The interventions that make these edits.

        Args:
            config: of the model, which the edits fit (`check`).

        Returns:
            Address to change, for `model.taps.intervene`. The changes of one mapping tell each other at which step the
            decoder is: a mapping serves one thread at a time, so make one for every block.
        """
        seen = edit_changes.Seen()
        lists: dict[str, list[Change]] = {}
        if self.forced or any(cell.kind != "encoder_self" for cell in self.cells):
            lists[f"{module_of('decoder_self', 0)}.mask"] = [seen.count_steps]
        for kind, n_layers in layer_counts(config).items():
            cells = [cell for cell in self.cells if cell.kind == kind]
            for layer in range(n_layers):
                module = module_of(kind, layer)
                off, uniform = (_of_layer(heads, kind, layer) for heads in (self.off, self.uniform))
                forced = [(force, _forced_heads(force, layer)) for force in self.forced if force.kind == kind]
                forced = [(force, heads) for force, heads in forced if heads != []]
                at_mask = [seen.cells(cells)] if cells else []
                at_mask += [seen.remember(module)] if uniform else []
                at_weights = [seen.uniform(module, uniform)] if uniform else []
                at_weights += [seen.force(forced)] if forced else []
                at_weights += [edit_changes.zero(off)] if off else []
                for tap, changes in (("mask", at_mask), ("weights", at_weights)):
                    lists.setdefault(f"{module}.{tap}", []).extend(changes)
        return {address: edit_changes.in_order(changes) for address, changes in lists.items() if changes}

    @contextmanager
    def applied(self, config: TransformerConfig, stack: str) -> Iterator[None]:
        """Make the edits of one stack while the block runs, in this thread only; nothing at all where there are none.

        Args:
            config: of the model.
            stack: "encoder" or "decoder", which must run in the block.
        """
        changes = self.changes(config) if self else {}
        changes = {address: change for address, change in changes.items() if address.startswith(f"{stack}.")}
        if not changes:  # so that the fast paths stay open
            yield
            return
        with intervene(changes):
            yield


def layer_counts(config: TransformerConfig) -> dict[str, int]:
    """How many layers each kind of attention has."""
    return {kind: getattr(config, f"n_{stack}_layers") for kind, (stack, _) in MODULES.items()}


def all_heads(config: TransformerConfig, kind: str | None = None) -> list[Head]:
    """Every head of a model, or of one kind, in the order of KINDS, layers and heads."""
    return [
        Head(name, layer, head)
        for name, n_layers in layer_counts(config).items()
        if kind in (None, name)
        for layer in range(n_layers)
        for head in range(config.n_heads)
    ]


def _of_layer(heads: tuple[Head, ...], kind: str, layer: int) -> list[int]:
    return [head.head for head in heads if (head.kind, head.layer) == (kind, layer)]


def _forced_heads(force: Force, layer: int) -> list[int] | None:
    """The heads of a layer that are forced; None for all."""
    return [head for at, head in force.heads if at == layer] if force.heads else None


def _check_head(head: Head, config: TransformerConfig) -> None:
    n_layers = layer_counts(config)[head.kind]
    for name, place, count in (("layer", head.layer, n_layers), ("head", head.head, config.n_heads)):
        if not 0 <= place < count:
            kind = IN_WORDS[head.kind]
            raise ValueError(f"{name}s of the {kind}-attention are 0 to {count - 1}, got {name} {place}")


def _of_head(head: Head) -> str:
    return f"{_LETTER_OF[head.kind]}{head.layer}-{head.head}"


def _read(item: str) -> tuple[str, Head | Force | Cell]:
    """One part of a code: the name of its list, and the edit."""
    if match := _HEAD.fullmatch(item):
        what, letter, layer, head = match.groups()
        return {"o": "off", "u": "uniform"}[what], Head(_LETTERS[letter], int(layer), int(head))
    if match := _FORCE.fullmatch(item):
        letter, query, key, strength, heads = match.groups()
        pairs = tuple(tuple(map(int, pair.split("-"))) for pair in heads.split("h")[1:])
        return "forced", Force(int(query), int(key), float(strength), pairs, _LETTERS[letter or "c"])
    if match := _CELL.fullmatch(item):
        what, letter, query, key = match.groups()
        return "cells", Cell(_LETTERS[letter], int(query), int(key), what == "a")
    raise ValueError(f"the edits cannot be read: {item[:20]!r} is not a valid edit")
