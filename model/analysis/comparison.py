"""Texts of several models side by side: which of their words belong together."""

from __future__ import annotations

from collections.abc import Sequence

from model.analysis import maps as analysis
from model.text.subwords import Tokenizer
from model.text.words import WordTokenizer

_REPLACED, _MOVED = 3, 2  # what an edit costs


def words_of(tokenizer: Tokenizer | WordTokenizer, tokens: Sequence[str]) -> analysis.Words:
    """How the tokens of a side make up words, whatever the tokenizer cuts.

    Args:
        tokenizer: of that side.
        tokens: its token strings.
    """
    if isinstance(tokenizer, WordTokenizer):
        return analysis.Words(list(tokens), list(range(len(tokens))))
    return analysis.words(tokens)


def align(texts: Sequence[Sequence[str]]) -> list[tuple[int | None, ...]]:
    """Lay texts side by side, word by word: each with the first, by the cheapest edits (Levenshtein 1966).

    A replacement costs 3, an insertion or a deletion 2, so that words which are equal find each other; upper and lower
    case do not differ.

    Args:
        texts: N lists of words.

    Returns:
        Rows of N: for each text the number of its word in this row, or None. Every word is in one row, in order.

    Example:
        >>> align([["a", "red", "car"], ["a", "car", "!"]])
        [(0, 0), (1, None), (2, 1), (None, 2)]
    """
    first = texts[0]
    partner: list[dict[int, int]] = []  # for each text: word of the first to its own word
    extra: list[list[list[int]]] = []  # for each text and each word of the first: its own words before that one
    for text in texts:
        pairs: dict[int, int] = {}
        between: list[list[int]] = [[] for _ in range(len(first) + 1)]
        at = 0
        for i, j in _pairs(first, text):
            if i is None:
                between[at].append(j)
            else:
                at = i + 1
                if j is not None:
                    pairs[i] = j
        partner.append(pairs)
        extra.append(between)
    rows: list[tuple[int | None, ...]] = []
    for i in range(len(first) + 1):
        for place in range(max(len(between[i]) for between in extra)):
            rows.append(tuple(between[i][place] if place < len(between[i]) else None for between in extra))
        if i < len(first):
            rows.append(tuple(pairs.get(i) for pairs in partner))
    return rows


def beside(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """Lay two lists of words side by side as `align` does; "" where one of them has no word.

    Example:
        >>> beside("a big dog runs".split(), "a dog runs fast".split())
        [('a', 'a'), ('big', ''), ('dog', 'dog'), ('runs', 'runs'), ('', 'fast')]
    """
    texts = (before, after)
    return [tuple("" if n is None else text[n] for text, n in zip(texts, row, strict=True)) for row in align(texts)]


def _pairs(a: Sequence[str], b: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """The cheapest way from one list of words to another: pairs of places, None where a word has no partner."""
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
