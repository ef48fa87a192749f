"""How the next words of a text are drawn, and how that stands in an address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from viz.views import codes

TOP_KS = (0, 1, 5, 20, 100, 1000)
MOST_DRAWN = 100  # words
SEEDS = 10_000


@dataclass(frozen=True)
class Chance:
    """How a continuation is drawn; temperature, top_k and top_p as for `model.decoding.sampling.restrict`.

    Attributes:
        count: how many words are drawn.
        seed: the same draws the same words; None: none are drawn.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    count: int = 30
    seed: int | None = None


READERS = {
    "temperature": codes.number(0.0, 2.0),
    "top-k": codes.one_of(TOP_KS),
    "top-p": codes.number(0.05, 1.0),
    "count": codes.number(1, MOST_DRAWN),
    "seed": codes.number(0, SEEDS - 1),
}


def chance_of(query: Mapping[str, str]) -> tuple[Chance, list[str]]:
    """What an address says of drawing, and what in it is not allowed, as name=code."""
    chosen, problems = codes.read(query, READERS)
    return Chance(**{name.replace("-", "_"): value for name, value in chosen.items()}), problems
