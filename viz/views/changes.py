"""What is changed while a sentence is translated, as one value, and how it stands in an address."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from model.errors import Phrase, Problem
from model.experiments.positions import MAX_SCALE, MAX_SHIFT
from model.interventions.edits import VERSION, Edits
from viz.text.language import message, say
from viz.views import codes

NAMES = ("edits", "prefix", "scale", "shift", "stacks")  # in an address
STACKS = {"both": ("encoder", "decoder"), "encoder": ("encoder",), "decoder": ("decoder",)}
STACK_NAMES = {"both": message("encoder and decoder"), "encoder": message("encoder"), "decoder": message("decoder")}
MAX_PREFIX = 600  # tokens


@dataclass(frozen=True)
class Changes:
    """Everything that is changed; positions as for `model.experiments.positions.changed_positions`."""

    edits: Edits = Edits()
    locked: tuple[int, ...] = ()  # ids of the tokens that the translation begins with
    scale: float = 1.0
    shift: int = 0
    stacks: str = "both"  # a key of STACKS: where positions are changed

    def __bool__(self) -> bool:
        return bool(self.edits or self.locked or self.moves)

    @property
    def moves(self) -> bool:
        return (self.scale, self.shift) != (1, 0)

    @property
    def wordless(self) -> Self:
        """Those that name no word of the sentence, and so hold for any."""
        return replace(self, edits=replace(self.edits, forced=(), cells=()), locked=())

    @property
    def moved(self) -> str:
        """How positions are changed, as it is said; "" where they are not."""
        said = []
        if self.scale != 1:
            said.append(say("positions × {scale:g}", scale=self.scale) if self.scale else say("positions off"))
        if self.shift:
            said.append(say("positions + {shift}", shift=self.shift))
        return ", ".join([*said, say(STACK_NAMES[self.stacks])] if said and self.stacks != "both" else said)

    def address(self) -> dict[str, str]:
        """The parameters of an address, without what is not changed."""
        said = {"edits": self.edits.code, "prefix": prefix_code(self.locked)}
        if self.moves:
            stacks = "" if self.stacks == "both" else self.stacks
            said |= {"scale": f"{self.scale:g}", "shift": str(self.shift or ""), "stacks": stacks}
        return {name: one for name, one in said.items() if one}


def read(query: Mapping[str, str]) -> Changes:
    """Read the parameters of an address; a ValueError names what cannot be read."""
    readers = {"scale": codes.number(0.0, MAX_SCALE), "shift": codes.number(0, MAX_SHIFT)}
    said = {name: one for name, one in query.items() if one}
    moved, problems = codes.read(said, readers | {"stacks": codes.one_of(STACKS)})
    if problems:
        allowed = f"scale 0 - {MAX_SCALE:g}, shift 0 - {MAX_SHIFT}, stacks {', '.join(STACKS)}"
        raise ValueError(f"the change of positions cannot be read: allowed is {allowed}")
    return Changes(Edits.from_code(query.get("edits", "")), read_prefix(query.get("prefix", "")), **moved)


def prefix_code(ids: Sequence[int]) -> str:
    """A locked beginning as a short text; empty for none.

    >>> prefix_code([12, 7]), read_prefix("v1_12-7")
    ('v1_12-7', (12, 7))
    """
    return f"{VERSION}_{'-'.join(map(str, ids))}" if ids else ""


def read_prefix(code: str) -> tuple[int, ...]:
    """Read what `prefix_code` wrote; a ValueError says what such a code looks like."""
    if not code:
        return ()
    match = re.fullmatch(rf"{VERSION}_(\d{{1,6}}(?:-\d{{1,6}})*)", code)
    if not match:
        raise ValueError(f"the locked beginning {code[:20]!r} cannot be read: it is written like {VERSION}_12-7")
    ids = tuple(map(int, match[1].split("-")))
    if len(ids) > MAX_PREFIX:
        what = Phrase("the locked beginning")
        raise Problem("{what} has {n} tokens; at most {most} are allowed", what=what, n=len(ids), most=MAX_PREFIX)
    return ids
