"""Quality by length of sentence: groups of sentences, and the scores of each as a checkpoint's card keeps them.

A length is a number of words with spaces between them, so that it is the same for every system, however it cuts text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

# The least number of words of each group: about as many image captions in one as in the next, but for the last.
STARTS = (1, 7, 9, 11, 13, 15, 18)
KEY = "by_length"  # among the scores of a test set


@dataclass(frozen=True)
class Group:
    """The scores of the sentences of about one length.

    Attributes:
        words: how many the sources have on average.
        shortest, longest: how many the shortest and the longest of them have.
        sentences: how many there are.
        bleu, chrf: of these sentences.
    """

    words: float
    shortest: int
    longest: int
    sentences: int
    bleu: float
    chrf: float

    def to_dict(self) -> dict[str, Any]:
        """The group as a JSON object."""
        return asdict(self)


def numbers_by_length(sources: Sequence[str]) -> list[list[int]]:
    """Which sentences belong together.

    Args:
        sources: sentences.

    Returns:
        Their numbers in groups, the shortest sentences first; no group is empty.

    Example:
        >>> numbers_by_length(["one", "one two three four five six seven", "one two"])
        [[0, 2], [1]]
    """
    groups: list[list[int]] = [[] for _ in STARTS]
    for number, source in enumerate(sources):
        words = len(source.split())
        groups[max(0, sum(start <= words for start in STARTS) - 1)].append(number)
    return [group for group in groups if group]


def read(card: dict[str, Any]) -> dict[str, list[Group]]:
    """The groups that a card has.

    Args:
        card: of a checkpoint; anything may be missing.

    Returns:
        By test set the groups, the shortest sentences first.

    Raises:
        ValueError: if there are some that cannot be read.
    """
    found = {}
    scores = card.get("scores")
    for test, score in scores.items() if isinstance(scores, dict) else ():
        if isinstance(score, dict) and KEY in score:
            try:
                found[test] = [Group(**row) for row in score[KEY]]
            except TypeError:
                raise ValueError(f"the scores by length of {test!r} have other keys than those of a group") from None
            _check(test, found[test])
    return found


def _check(test: str, groups: list[Group]) -> None:
    if not groups:
        raise ValueError(f"the scores by length of {test!r} are empty")
    for group in groups:
        for name, value in group.to_dict().items():
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not math.isfinite(value) or value < 0:
                raise ValueError(f"the scores by length of {test!r}: {name} must be a number from 0 up, got {value!r}")
