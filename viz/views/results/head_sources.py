"""What is known of heads, as tables of numbers; pages and the site without a server read it alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from viz.text import words
from viz.text.language import say
from viz.text.roles import role_name
from viz.views.snippets import Code

REPORT = """
from model.measures import atlas
report = atlas.read(translator.folder, translator.config)
"""


@dataclass(frozen=True)
class Source:
    """What heads do, and how that is computed."""

    # By kind: numbers (L, H) by measure of `model.measures.atlas`, the "role" of each, "divergence" of every pair
    # (L * H, L * H), None of too many; where they were measured, "aligns" and "examples" (L, H) as in an atlas.
    kinds: dict[str, dict[str, Any]]
    variable: str  # what holds them by kind and measure, in Python
    code: str  # the snippet that computes it
    # By kind the number in the model of each layer, where these are not 0, 1, 2, ...
    layers: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def number(self, kind: str, layer: int) -> int:
        """How the model numbers a layer of the table."""
        return self.layers[kind][layer] if kind in self.layers else layer

    def name(self, kind: str, layer: int, head: int) -> str:
        """What a head is called, its layer numbered as in the model."""
        return name_of(kind, self.number(kind, layer), head)

    def title(self, kind: str, layer: int, head: int) -> str:
        """What a head is called in a sentence; of models with one kind of attention without the kind."""
        if len(self.kinds) == 1:
            return say("Layer {layer}, head {head}", layer=self.number(kind, layer), head=head)
        return self.name(kind, layer, head)

    def having(self, measure: str, kinds: Sequence[str]) -> list[str]:
        """The kinds of whose heads a measure is known and means something."""
        with_measure = [kind for kind in kinds if measure in self.kinds.get(kind, ())]
        # What comes next, and last, no decoder can read.
        return [kind for kind in with_measure if kind != "decoder_self" or measure not in ("next", "last")]

    def table(self, measure: str, kinds: Sequence[str]) -> np.ndarray:
        """A measure of all heads of some kinds, their layers in rows, (layers of all, H)."""
        return np.concatenate([self.kinds[kind][measure] for kind in kinds])

    def table_code(self, measure: str, kinds: Sequence[str]) -> Code:
        """Python for the same table."""
        return Code(f"np.concatenate([{', '.join(f'{self.variable}[{kind!r}][{measure!r}]' for kind in kinds)}])")

    def places(self, kinds: Sequence[str]) -> list[tuple[str, int, int]]:
        """Kind, layer and head of every head of these kinds, in order."""
        return [(kind, *place) for kind in kinds for place in np.ndindex(np.shape(self.kinds[kind]["role"]))]

    def mark(self, kind: str, layer: int, head: int) -> str:
        """Where a head is read as a word aligner, in words; "" where nowhere."""
        at = self.kinds[kind]["aligns"][layer][head] if "aligns" in self.kinds[kind] else ""
        return at and (say("⇄ output") if at == "output" else say("⇄ input"))

    def code_of(self, kind: str, layer: int, head: int) -> str:
        """The shortest name of a head: a letter for its kind, its layer and number."""
        return f"{say(words.SHORT_KINDS[kind])[0]} {self.number(kind, layer)}.{head}"

    def short_mark(self, kind: str, layer: int, head: int) -> str:
        """A sign for a head that aligns words, or keeps one distance; roles have no room in a cell."""
        is_positional = role_name(self.kinds[kind]["role"][layer][head], short=True).startswith("★")
        return self.mark(kind, layer, head)[:1] or ("★" if is_positional else "")

    def about(self, kind: str, layer: int, head: int, name: str = "") -> str:
        """Name and role of a head, and where it is read as a word aligner."""
        role = role_name(self.kinds[kind]["role"][layer][head])
        return " · ".join(filter(None, (name, role, self.mark(kind, layer, head))))


def name_of(kind: str, layer: int, head: int) -> str:
    """What a head is called.

    >>> name_of("cross", 1, 5)
    'Cross-attention, layer 1, head 5'
    """
    return say("{kind}, layer {layer}, head {head}", kind=say(words.KINDS[kind].title), layer=layer, head=head)


def of_report(report: dict[str, Any]) -> Source:
    """What heads do in the held-out sentences of an atlas."""
    return Source(report["kinds"], "report['kinds']", REPORT)
