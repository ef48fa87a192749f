"""Quality by length of sentence, as a checkpoint's card holds it: a length is a number of words between spaces."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# The least number of words of each group: about as many image captions in one as in the next, but for the last.
STARTS = (1, 7, 9, 11, 13, 15, 18)
KEY = "by_length"  # among the scores of a test set


@dataclass(frozen=True)
class Group:
    """The scores of sentences of about one length."""

    words: float  # how many the sources have on average
    shortest: int  # words
    longest: int
    sentences: int
    bleu: float
    chrf: float


def numbers_by_length(sources: Sequence[str]) -> list[list[int]]:
    """The numbers of the sentences of each group, the shortest first; no group is empty.

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
    """The groups of a checkpoint's card, by test set; a ValueError if they are wrong."""
    scores = card.get("scores")
    if not isinstance(scores, dict):
        return {}
    return {
        test: _read_groups(test, score[KEY])
        for test, score in scores.items()
        if isinstance(score, dict) and KEY in score
    }


def _read_groups(test: str, rows: Any) -> list[Group]:
    """The groups of one test set; a ValueError if they are wrong."""
    try:
        groups = [Group(**row) for row in rows]
    except TypeError:
        raise ValueError(f"the scores by length of {test!r} have other keys than those of a group") from None
    if not groups:
        raise ValueError(f"the scores by length of {test!r} are empty")
    for group in groups:
        for name, value in vars(group).items():
            if type(value) not in (int, float) or not 0 <= value < math.inf:
                problem = f"{name} must be a number from 0 up, got {value!r}"
                raise ValueError(f"the scores by length of {test!r}: {problem}")
    return groups
