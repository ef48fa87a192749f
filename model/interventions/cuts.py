"""One path cut: a part of the residual stream that one head's queries or keys, and nothing else, do without.

Path patching (Wang et al. 2022; Goldowsky-Dill et al. 2023). Parts have the names of `model.analysis.score_parts`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from model.analysis.score_parts import BIAS, DISTANCE, by_module
from model.results.translation import IN_WORDS, KINDS, MODULES
from model.text.errors import Phrase, Problem

SIDES_IN_WORDS = {"queries": Phrase("queries"), "keys": Phrase("keys")}
_LETTERS = {kind[0]: kind for kind in KINDS}
_SIDES = {side[0]: side for side in SIDES_IN_WORDS}
_CODE = re.compile(r"([qk])([edc])(\d{1,3})-(\d{1,3})-([a-z.-]{1,40}?)(?:\.(\d{1,3}(?:\.\d{1,3})?))?", re.ASCII)
_PART = re.compile(r"([a-z]+(?:[ -][a-z]+)*)( \d{1,3}(?:\.\d{1,3})?)?", re.ASCII)


@dataclass(frozen=True, order=True)
class Cut:
    """One head's queries or keys without one part of the stream that they are made of.

    Example:
        >>> Cut("decoder_self", 18, 6, "keys", "head 16.0").code
        'kd18-6-head.16.0'
    """

    kind: str  # of attention, of KINDS
    layer: int
    head: int
    side: str  # "queries" or "keys"; in cross-attention the keys are made of the encoder's stream
    part: str  # "tokens", "positions", "head 16.0", "cross head 1.2", "attention 16", "feed-forward 3"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"the kind of attention is one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.side not in SIDES_IN_WORDS:
            raise ValueError(f"a part is cut from the queries or the keys of a head, got {self.side!r}")
        if self.part in (BIAS, DISTANCE):
            raise Problem("only a part that stands in the stream can be cut, and {part!r} does not", part=self.part)
        if not _PART.fullmatch(self.part):
            raise ValueError(f"{self.part!r} is not the name of a part; names are for example tokens or head 16.0")

    @property
    def stack(self) -> str:
        """The stack whose stream the queries or keys are made of, "encoder" or "decoder"."""
        return "encoder" if self.kind == "cross" and self.side == "keys" else MODULES[self.kind][0]

    @property
    def target(self) -> tuple[str, int, int, str]:
        """What is changed: kind, layer, head and side."""
        return self.kind, self.layer, self.head, self.side

    @property
    def code(self) -> str:
        """The cut as a short text that `from_code` reads."""
        part = self.part.replace(" ", ".")
        return f"{self.side[0]}{self.kind[0]}{self.layer}-{self.head}-{part}"

    @classmethod
    def from_code(cls, code: str) -> Self | None:
        """Read a `code`; None if it is not one."""
        match = _CODE.fullmatch(code)
        if match is None:
            return None
        side, letter, layer, head, words, number = match.groups()
        part = words.replace(".", " ") + (f" {number}" if number else "")
        return cls(_LETTERS[letter], int(layer), int(head), _SIDES[side], part)


def leaves_out(parts: Iterable[str], name: str) -> bool:
    """Whether the part `name` is among parts, by itself or with all that its module wrote ("attention 16")."""
    parts = set(parts)
    return name in parts or by_module(name) in parts


def check_parts(cuts: Iterable[Cut], names: Iterable[str]) -> None:
    """Raise a ValueError for a cut of a part that does not stand in the stream of its head; `names` are those that do.

    A module can be named for all that it wrote.
    """
    names = list(names)
    folded = list(dict.fromkeys(map(by_module, names)))
    heads = [name for name in names if name not in folded]
    for cut in cuts:
        if cut.part not in (*names, *folded):
            raise Problem(
                "the {side} of head {layer}.{head} ({kind}-attention) have no part {part!r}; they have {parts}",
                side=SIDES_IN_WORDS[cut.side],
                layer=cut.layer,
                head=cut.head,
                kind=IN_WORDS[cut.kind],
                part=cut.part,
                parts=", ".join([*folded, *(f"{name} ..." for name in heads[:1])]),
            )
