"""What is counted of the heads of one kind of attention over texts: sums, and the texts in which each does most."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from model.analysis import head_roles

MOST_EXAMPLES = 5  # texts of a head
_PLACES = 4  # decimals


@dataclass
class HeadCounts:
    """Sums over texts, of the heads of one kind."""

    tally: head_roles.Tally  # where they look
    sums: dict[str, np.ndarray] = field(default_factory=dict)  # by measure (2, L, H): what is summed, over how many
    divergence: np.ndarray | None = None  # (N, N) of every pair of heads, where pairs are compared

    def __add__(self, other: "HeadCounts") -> "HeadCounts":
        sums = {name: total + other.sums[name] for name, total in self.sums.items()}
        divergence = None
        if self.divergence is not None and other.divergence is not None:
            divergence = self.divergence + other.divergence
        return HeadCounts(self.tally + other.tally, sums, divergence)

    def numbers(self) -> dict[str, np.ndarray]:
        """The mean of every measure, (L, H), over the rows or words that have it."""
        return self.tally.numbers() | {name: total / np.maximum(n, 1) for name, (total, n) in self.sums.items()}


class Activity(NamedTuple):
    """What the heads of one kind do in one text: by its strength the texts of the examples are chosen."""

    strength: np.ndarray  # (L, H)
    values: np.ndarray  # (L, H, T, S), of which the largest is shown
    queries: Sequence[str]  # the T tokens that name the rows
    keys: Sequence[str]  # the S tokens that are read


def add_examples(examples: list[list[list]], text: int, activity: Activity) -> None:
    """Let the text of this number be an example of every head that does something in it: the strongest stay.

    Args:
        examples: by layer and head up to MOST_EXAMPLES, each as [strength, text, row, column, query, key, value] with
            the cell where the head does most; empty at first.
    """
    strength, values, queries, keys = activity
    if not examples:
        examples += [[[] for _ in of_layer] for of_layer in strength]
    cells = np.abs(values).reshape(*strength.shape, -1).argmax(axis=-1)
    for layer, head in np.ndindex(strength.shape):
        row, column = divmod(int(cells[layer, head]), len(keys))
        value = rounded(values[layer, head, row, column])
        if value:
            example = [float(strength[layer, head]), text, row, column, queries[row], keys[column], value]
            candidates = sorted([*examples[layer][head], example], key=lambda candidate: -candidate[0])
            examples[layer][head] = candidates[:MOST_EXAMPLES]


def rounded(values: np.ndarray | float) -> Any:
    """Numbers as a file has them."""
    return np.round(np.asarray(values, dtype=np.float64), _PLACES).tolist()
