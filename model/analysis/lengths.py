"""Quality by length of sentence, as a checkpoint's card keeps it: a length is a number of words between spaces."""

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
    found = {}
    scores = card.get("scores")
    for test, score in scores.items() if isinstance(scores, dict) else ():
        if isinstance(score, dict) and KEY in score:
            try:
                found[test] = [Group(**row) for row in score[KEY]]
            except TypeError:
                raise ValueError(f"the scores by length of {test!r} have other keys than those of a group") from None
            if not found[test]:
                raise ValueError(f"the scores by length of {test!r} are empty")
            for name, value in (item for group in found[test] for item in vars(group).items()):
                if type(value) not in (int, float) or not 0 <= value < math.inf:
                    wrong = f"{name} must be a number from 0 up, got {value!r}"
                    raise ValueError(f"the scores by length of {test!r}: {wrong}")
    return found
