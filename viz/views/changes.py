"""What is changed while a sentence is translated, as one value, and how it stands in an address.

Actions are what a visitor does on the stage: small dictionaries that the browser sends, checked here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from model.errors import Phrase, Problem
from model.experiments.positions import MAX_SCALE, MAX_SHIFT
from model.interventions.edits import VERSION, Cell, Edits, Force, Head
from viz.text.language import message, say

NAMES = ("edits", "prefix", "scale", "shift", "stacks")  # in an address
STACKS = {"both": ("encoder", "decoder"), "encoder": ("encoder",), "decoder": ("decoder",)}
STACK_NAMES = {"both": message("encoder and decoder"), "encoder": message("encoder"), "decoder": message("decoder")}
MAX_PREFIX = 600  # tokens
MANY = 4  # edited cells of a mask from which on they share a chip
_PREFIX = re.compile(rf"{VERSION}_(\d{{1,6}}(?:-\d{{1,6}})*)")


@dataclass(frozen=True)
class Changes:
    """Everything that is changed.

    Attributes:
        locked: ids of the tokens that the translation begins with.
        scale, shift: of the positional encoding, as for `model.experiments.positions.changed_positions`.
        stacks: a key of STACKS: where positions are changed.
    """

    edits: Edits = Edits()
    locked: tuple[int, ...] = ()
    scale: float = 1.0
    shift: int = 0
    stacks: str = "both"

    def __bool__(self) -> bool:
        return bool(self.edits or self.locked or self.moves)

    @property
    def moves(self) -> bool:
        """Whether positions are changed."""
        return (self.scale, self.shift) != (1, 0)

    @property
    def wordless(self) -> Changes:
        """Those that name no word of the sentence, and so hold for any."""
        return replace(self, edits=replace(self.edits, forced=(), cells=()), locked=())

    @property
    def moved(self) -> str:
        """How positions are changed, as it is said; "" where they are not."""
        said = [say(_OFF if self.scale == 0 else _SCALED, scale=self.scale)] if self.scale != 1 else []
        said += [say(_SHIFTED, shift=self.shift)] if self.shift else []
        return ", ".join([*said, say(STACK_NAMES[self.stacks])] if said and self.stacks != "both" else said)

    def address(self) -> dict[str, str]:
        """The parameters of an address, without what is not changed."""
        said = {"edits": self.edits.code, "prefix": prefix_code(self.locked)}
        if self.moves:
            said |= {"scale": f"{self.scale:g}", "shift": str(self.shift) if self.shift else ""}
            said |= {"stacks": self.stacks if self.stacks != "both" else ""}
        return {name: value for name, value in said.items() if value}


def read(query: Mapping[str, str]) -> Changes:
    """Read the parameters of an address; a ValueError names what cannot be read."""
    try:
        scale, shift = float(query.get("scale") or 1), int(query.get("shift") or 0)
    except ValueError:
        scale, shift = -1.0, 0
    if not 0 <= scale <= MAX_SCALE or not 0 <= shift <= MAX_SHIFT:
        allowed = f"scale 0 - {MAX_SCALE:g}, shift 0 - {MAX_SHIFT}"
        raise ValueError(f"the change of positions cannot be read: allowed is {allowed}")
    stacks = query.get("stacks") or "both"
    if stacks not in STACKS:
        raise ValueError(f"the change of positions cannot be read: allowed is {', '.join(STACKS)}")
    return Changes(Edits.from_code(query.get("edits", "")), read_prefix(query.get("prefix", "")), scale, shift, stacks)


def prefix_code(ids: Sequence[int]) -> str:
    """A locked beginning as a short text; empty for none.

    Example:
        >>> prefix_code([12, 7]), read_prefix("v1_12-7")
        ('v1_12-7', (12, 7))
    """
    return f"{VERSION}_{'-'.join(map(str, ids))}" if ids else ""


def read_prefix(code: str) -> tuple[int, ...]:
    """Read what `prefix_code` wrote; a ValueError says what such a code looks like."""
    if not code:
        return ()
    match = _PREFIX.fullmatch(code)
    if not match:
        raise ValueError(f"the locked beginning {code[:20]!r} cannot be read: it is written like {VERSION}_12-7")
    ids = tuple(map(int, match[1].split("-")))
    if len(ids) > MAX_PREFIX:
        what = Phrase("the locked beginning")
        raise Problem("{what} has {n} tokens; at most {most} are allowed", what=what, n=len(ids), most=MAX_PREFIX)
    return ids


@dataclass(frozen=True)
class Sentence:
    """The translation on which an action was made.

    Attributes:
        candidate_ids: by step, the most probable first.
        heads: by kind of attention (layers, heads).
        encode: the ids of a text that the translation could go on with.
    """

    source_tokens: Sequence[str]
    predicted_tokens: Sequence[str]
    predicted_ids: Sequence[int]
    candidate_ids: Sequence[Sequence[int]]
    heads: Mapping[str, tuple[int, int]]
    encode: Callable[[str], list[int]]


def after(changes: Changes, action: Mapping, on: Sentence) -> Changes:
    """The changes after an action; a switch that is used a second time is back as it was.

    Args:
        changes: those before.
        action: `do` and what belongs to it: "off", "uniform", "alone" with kind, layer, head; "layer" with kind, layer;
            "force" with kind, row, key, strength, heads ([[layer, head], ...], [] for all); "cells" with kind, cells
            ([[row, key], ...]), open; "write" with step, rank; "type" with step, text; "keep" with step; "lock" with
            ids; "positions" with some of scale, shift, stacks; "drop" with code, as of `chips`; "reset".
        on: the translation that was shown.

    Raises:
        ValueError: for what is not an action.
    """
    try:
        return _DO[action["do"]](changes, action, on)
    except (KeyError, IndexError, TypeError):
        raise ValueError(f"this change cannot be made here: {str(dict(action))[:80]}") from None


def _switched(changes: Changes, action: Mapping, on: Sentence) -> Changes:
    kind, what = action["kind"], action["do"]
    n_layers, n_heads = on.heads[kind]
    edits, head = changes.edits, Head(kind, int(action["layer"]), int(action.get("head", 0)))
    layer = {Head(kind, head.layer, one) for one in range(n_heads)}
    others = {Head(kind, one, other) for one in range(n_layers) for other in range(n_heads)} - {head}
    off, uniform = set(edits.off), set(edits.uniform)
    if what == "off":
        off ^= {head}
    elif what == "layer":
        off = off - layer if layer <= off else off | layer
    elif what == "uniform":
        uniform ^= {head}
        off -= uniform
    else:
        alone = others <= off and head not in off
        off = {one for one in off if one.kind != kind} | (set() if alone else others)
    return replace(changes, edits=replace(edits, off=tuple(off), uniform=tuple(uniform - off)))


def _forced(changes: Changes, action: Mapping, on: Sentence) -> Changes:
    heads = tuple((int(layer), int(head)) for layer, head in action["heads"])
    new = Force(int(action["row"]), int(action["key"]), float(action["strength"]), heads, action.get("kind", "cross"))
    kept = [one for one in changes.edits.forced if not _same_row(one, new)]
    # What stands before a step stays as it is, so that the cell means the same step.
    locked = changes.locked if new.kind == "encoder_self" else tuple(on.predicted_ids[: new.query])
    return replace(changes, edits=replace(changes.edits, forced=(*kept, new)), locked=locked)


def _same_row(one: Force, other: Force) -> bool:
    """Whether both are of the same row of the same head."""
    shared = not one.heads or not other.heads or bool(set(one.heads) & set(other.heads))
    return (one.kind, one.query) == (other.kind, other.query) and shared


def _painted(changes: Changes, action: Mapping, on: Sentence) -> Changes:
    kind, is_open = action["kind"], bool(action["open"])
    places = {(int(row), int(key)) for row, key in action["cells"]}
    edited = {(cell.query, cell.key): cell for cell in changes.edits.cells if cell.kind == kind}
    kept = [cell for cell in changes.edits.cells if cell.kind != kind or (cell.query, cell.key) not in places]
    # A cell that was edited is as it was before when it is flipped back.
    new = [Cell(kind, *place, is_open) for place in places if place not in edited or edited[place].open == is_open]
    return replace(changes, edits=replace(changes.edits, cells=(*kept, *new)))


def _written(changes: Changes, action: Mapping, on: Sentence) -> Changes:
    step = int(action["step"])
    return replace(changes, locked=(*on.predicted_ids[:step], on.candidate_ids[step][int(action["rank"])]))


def _typed(changes: Changes, action: Mapping, on: Sentence) -> Changes:
    step, text = int(action["step"]), str(action["text"]).strip()
    if not 0 <= step < len(on.predicted_ids) or not text:
        raise KeyError
    return replace(changes, locked=(*on.predicted_ids[:step], *on.encode(text)))


def _kept(changes: Changes, action: Mapping, on: Sentence) -> Changes:
    return replace(changes, locked=tuple(on.predicted_ids[: int(action["step"]) + 1]))


def _moved(changes: Changes, action: Mapping, on: Sentence) -> Changes:
    said = {name: str(action[name]) for name in ("scale", "shift", "stacks") if action.get(name) is not None}
    return read(changes.address() | {"stacks": changes.stacks} | said)


def _dropped(changes: Changes, action: Mapping, on: Sentence) -> Changes:
    code = action["code"]
    if not isinstance(code, str):
        raise TypeError
    if code == "prefix":
        return replace(changes, locked=())
    if code == "positions":
        return replace(changes, scale=1.0, shift=0)
    if code in _CELLS:  # all opened, or all blocked cells
        return replace(changes, edits=replace(changes.edits, cells=_cells(changes, code != "a")))
    kept = [item for item in changes.edits.code.split("_") if item != code]
    return replace(changes, edits=Edits.from_code("_".join(kept) if len(kept) > 1 else ""))


def _cells(changes: Changes, is_open: bool) -> tuple[Cell, ...]:
    return tuple(cell for cell in changes.edits.cells if cell.open == is_open)


_DO = {
    "off": _switched,
    "uniform": _switched,
    "alone": _switched,
    "layer": _switched,
    "force": _forced,
    "cells": _painted,
    "write": _written,
    "type": _typed,
    "keep": _kept,
    "lock": lambda changes, action, on: replace(changes, locked=tuple(map(int, action["ids"]))),
    "positions": _moved,
    "drop": _dropped,
    "reset": lambda changes, action, on: Changes(),
}

_KIND_NAMES = {"cross": message("cross"), "encoder_self": message("encoder"), "decoder_self": message("decoder")}
_SWITCHED = {"off": message("{kind} {layer}.{head} off"), "uniform": message("{kind} {layer}.{head} uniform")}
_FORCE = message("step {step} attends to “{key}” × {strength:g}, {heads}")
_FORCE_ENCODER = message("“{query}” attends to “{key}” × {strength:g}, {heads}")
_BLOCKED, _OPENED = message("{kind} “{query}” → “{key}” blocked"), message("{kind} “{query}” → “{key}” open")
_CELLS = {"b": message("{n} mask cells blocked"), "a": message("{n} mask cells open")}
_WRITTEN = message("word {step} → “{token}”")
_LOCKED = message("first {n} tokens locked")
_SCALED, _SHIFTED, _OFF = message("positions × {scale:g}"), message("positions + {shift}"), message("positions off")


def _tokens(on: Sentence, kind: str) -> tuple[Sequence[str], Sequence[str]]:
    """The tokens of the rows and of the columns of a kind's maps."""
    rows = on.source_tokens if kind == "encoder_self" else on.predicted_tokens
    return rows, ["<s>", *on.predicted_tokens] if kind == "decoder_self" else on.source_tokens


def chips(changes: Changes, on: Sentence, locked: Sequence[str]) -> list[tuple[str, str]]:
    """Every change as a code, by which it can be taken back, and a short text.

    Args:
        changes: them.
        on: the translation with them.
        locked: the tokens of the locked beginning.
    """
    edits = changes.edits
    made = [
        (_code(**{name: (head,)}), say(text, kind=say(_KIND_NAMES[head.kind]), layer=head.layer, head=head.head))
        for name, text in _SWITCHED.items()
        for head in getattr(edits, name)
    ]
    for force in edits.forced:
        heads = ", ".join(f"{layer}.{head}" for layer, head in force.heads)
        heads = say("head {head}", head=heads) if heads else say("all heads")
        rows, keys = _tokens(on, force.kind)
        row = {"query": _name(rows, force.query)} if force.kind == "encoder_self" else {"step": force.query + 1}
        text = _FORCE_ENCODER if "query" in row else _FORCE
        said = say(text, **row, key=_name(keys, force.key), strength=force.strength, heads=heads)
        made.append((_code(forced=(force,)), said))
    for letter, is_open, text in (("b", False, _BLOCKED), ("a", True, _OPENED)):
        cells = _cells(changes, is_open)
        if len(cells) >= MANY:
            made.append((letter, say(_CELLS[letter], n=len(cells))))
            continue
        for cell in cells:
            rows, keys = _tokens(on, cell.kind)
            names = {"kind": say(_KIND_NAMES[cell.kind]), "query": _name(rows, cell.query)}
            made.append((_code(cells=(cell,)), say(text, **names, key=_name(keys, cell.key))))
    if changes.locked and all(force.kind == "encoder_self" for force in edits.forced):
        made.append(("prefix", say(_WRITTEN, step=len(locked), token=_name(locked, len(locked) - 1))))
    elif changes.locked:
        made.append(("prefix", say(_LOCKED, n=len(locked))))
    return [*made, ("positions", changes.moved)] if changes.moves else made


def _code(**one: tuple) -> str:
    """How a single edit is written."""
    return Edits(**one).code.split("_")[1]


def _name(tokens: Sequence[str], place: int) -> str:
    return tokens[place].lstrip("▁") or tokens[place] if place < len(tokens) else str(place)
