"""What is changed while a sentence is translated, as one value, and how it stands in an address."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from model.experiments.positions import MAX_SCALE, MAX_SHIFT
from model.interventions.edits import VERSION, Edits
from model.text.errors import Phrase, check_tokens
from viz.text.language import messages, say
from viz.views import codes

NAMES = ("edits", "prefix", "scale", "shift", "stacks")  # in an address
STACK_NAMES = messages(both="encoder and decoder", encoder="encoder", decoder="decoder")
MAX_PREFIX = 600  # tokens


@dataclass(frozen=True)
class Changes:
    """Everything that is changed; positions as for `changed_positions`."""

    edits: Edits = Edits()
    locked: tuple[int, ...] = ()  # ids of the tokens that the translation begins with
    scale: float = 1.0
    shift: int = 0
    stacks: str = "both"  # a key of STACK_NAMES: where positions are changed

    def __bool__(self) -> bool:
        return bool(self.edits or self.locked or self.moves)

    @property
    def moves(self) -> bool:
        """Whether the encodings that are added are scaled or shifted."""
        return (self.scale, self.shift) != (1, 0)

    @property
    def positions(self) -> tuple[float, int, tuple[str, ...]]:
        """The scale and the shift of the encodings, and the stacks that they hold for."""
        return self.scale, self.shift, ("encoder", "decoder") if self.stacks == "both" else (self.stacks,)

    @property
    def wordless(self) -> Self:
        """These changes without those that name words of one sentence."""
        return replace(self, edits=replace(self.edits, forced=(), cells=()), locked=())

    @property
    def position_change(self) -> str:
        """How positions are changed, in words; "" where they are not."""
        parts = []
        if self.scale != 1:
            parts.append(say("positions × {scale:g}", scale=self.scale) if self.scale else say("positions off"))
        if self.shift:
            parts.append(say("positions + {shift}", shift=self.shift))
        return ", ".join([*parts, say(STACK_NAMES[self.stacks])] if parts and self.stacks != "both" else parts)

    def address(self) -> dict[str, str]:
        """The parameters of an address, without what is not changed."""
        parameters = {"edits": self.edits.code, "prefix": self.locked and f"{VERSION}_{codes.code(self.locked)}"}
        if self.moves:
            values = {name: getattr(self, name) for name in NAMES[2:]}
            parameters |= {name: codes.code(value) for name, value in values.items() if value != getattr(Changes, name)}
        return {name: text for name, text in parameters.items() if text}


def read(query: Mapping[str, str]) -> Changes:
    """Read the parameters of an address; a ValueError names what cannot be read."""
    readers = {"scale": codes.number(0.0, MAX_SCALE), "shift": codes.number(0, MAX_SHIFT)}
    readers["stacks"] = codes.one_of(STACK_NAMES)
    values, problems = codes.read({name: value for name, value in query.items() if value}, readers)
    if problems:
        allowed = f"scale 0 - {MAX_SCALE:g}, shift 0 - {MAX_SHIFT}, stacks {', '.join(STACK_NAMES)}"
        raise ValueError(f"the change of positions cannot be read: allowed is {allowed}")
    prefix = query.get("prefix", "")
    match = re.fullmatch(rf"{VERSION}_(\d{{1,6}}(?:-\d{{1,6}})*)|", prefix)
    if not match:
        raise ValueError(f"the locked beginning {prefix[:20]!r} cannot be read: it is written like {VERSION}_12-7")
    locked = tuple(map(int, match[1].split("-"))) if prefix else ()
    check_tokens(locked, MAX_PREFIX, Phrase("the locked beginning"))
    return Changes(Edits.from_code(query.get("edits", "")), locked, **values)
