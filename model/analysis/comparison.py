"""Texts side by side: which of their words or tokens belong together, and how their attention differs."""

from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from model.analysis import maps as analysis
from model.text.special import Vocabulary
from model.text.words import WordTokenizer

Pairs = list[tuple[int, int]]
_REPLACED, _MOVED = 3, 2  # what an edit costs: words that are equal but for case find each other


def words_of(tokenizer: Vocabulary, tokens: Sequence[str]) -> analysis.Words:
    """The words that tokens make up; of a tokenizer of words each token is one."""
    if isinstance(tokenizer, WordTokenizer):
        return analysis.Words(list(tokens), list(range(len(tokens))))
    return analysis.words(tokens)


def align(texts: Sequence[Sequence[str]]) -> list[tuple[int | None, ...]]:
    """Lay texts side by side, word by word: each with the first, by the cheapest edits (Levenshtein 1966).

    Returns:
        Rows: for each of the texts the number of its word in this row, or None. Every word is in one row, in order.

    Example:
        >>> align([["a", "red", "car"], ["a", "car", "!"]])
        [(0, 0), (1, None), (2, 1), (None, 2)]
    """
    first = texts[0]
    partners: list[list[int | None]] = []  # for each text: its word beside each word of the first
    insertions: list[list[list[int]]] = []  # for each text: its words before each word of the first, and at the end
    for text in texts:
        beside_first: list[int | None] = []
        between: list[list[int]] = [[]]
        for i, j in _pairs(first, text):
            if i is not None:
                beside_first.append(j)
                between.append([])
            elif j is not None:
                between[-1].append(j)
        partners.append(beside_first)
        insertions.append(between)
    rows: list[tuple[int | None, ...]] = []
    for i, inserted in enumerate(zip(*insertions)):
        rows += zip_longest(*inserted)
        if i < len(first):
            rows.append(tuple(beside_first[i] for beside_first in partners))
    return rows


def beside(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """The words of two texts as `align` lays them side by side; "" where one of them has no word."""
    return [
        ("" if first is None else before[first], "" if second is None else after[second])
        for first, second in align((before, after))
    ]


def pairs(a: Sequence[str], b: Sequence[str]) -> Pairs:
    """The places of equal tokens of two sentences, and of those that replace each other."""
    return [(i, j) for i, j in _pairs(a, b) if i is not None and j is not None]


def difference(a: np.ndarray, b: np.ndarray, rows: Pairs, columns: Pairs) -> np.ndarray:
    """a (..., T, S) minus b (..., T', S') at R pairs of rows and C of columns: (..., R, C)."""
    rows_a, rows_b = np.transpose(rows)
    columns_a, columns_b = np.transpose(columns)
    return a[..., rows_a[:, None], columns_a] - b[..., rows_b[:, None], columns_b]


def _pairs(a: Sequence[str], b: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """The cheapest way from one list of words to another: pairs of places, None where there is no partner."""
    a, b = [word.casefold() for word in a], [word.casefold() for word in b]
    cost = [[_MOVED * (i + j) for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            paired = cost[i - 1][j - 1] + _REPLACED * (a[i - 1] != b[j - 1])
            cost[i][j] = min(paired, cost[i - 1][j] + _MOVED, cost[i][j - 1] + _MOVED)
    pairs: list[tuple[int | None, int | None]] = []
    i, j = len(a), len(b)
    while i or j:
        if i and j and cost[i][j] == cost[i - 1][j - 1] + _REPLACED * (a[i - 1] != b[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((i, j))
        elif j and cost[i][j] == cost[i][j - 1] + _MOVED:
            j -= 1
            pairs.append((None, j))
        else:
            i -= 1
            pairs.append((i, None))
    return pairs[::-1]
