"""Main clauses joined with the subordinate clauses of other pairs, English and German (Jia and Liang 2016, "Data
Recombination for Neural Semantic Parsing"): before one, a main clause keeps its word order in both languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from model.text.special import MARK

Pieces = tuple[list[str], list[str]]

# Both words begin a subordinate clause, and each is the other's translation more often than not.
CONJUNCTIONS = (
    ("because", "weil"),
    ("because", "da"),
    ("if", "wenn"),
    ("if", "falls"),
    ("when", "als"),
    ("when", "wenn"),
    ("while", "während"),
    ("although", "obwohl"),
    ("though", "obwohl"),
    ("before", "bevor"),
    ("after", "nachdem"),
    ("until", "bis"),
)
_WORDS = frozenset(word for pair in CONJUNCTIONS for word in pair)
# Their German depends on the main clause: the gender of what is meant, or how somebody is spoken to.
_BOUND = frozenset(("it", "its", "itself", "you", "your", "yours", "yourself"))


def main_clause(pair: Pieces) -> Pieces | None:
    """The pieces of both sides without the full stop, if they are one statement of three words or more; else None.

    Example:
        >>> main_clause((["▁I", "▁am", "▁here", "."], ["▁Ich", "▁bin", "▁hier", "."]))
        (['▁I', '▁am', '▁here'], ['▁Ich', '▁bin', '▁hier'])
        >>> main_clause((["▁Are", "▁you", "▁here", "?"], ["▁Bist", "▁du", "▁hier", "?"])) is None
        True
    """
    for side in pair:
        if len(side) < 4 or side[-1] != "." or not all(_is_word(piece) for piece in side[:-1]):
            return None
        if _WORDS & set(_spoken(side)):
            return None
    return pair[0][:-1], pair[1][:-1]


def subordinate_clause(pair: Pieces) -> Pieces | None:
    """Both sides from their one conjunction, in German from the comma before it, to the full stop; else None.

    A main clause must come before, and the German must not depend on it ("it", "you"). Either direction.

    Example:
        >>> english, german = ["▁I", "▁sleep", "▁because", "▁I", "▁can", "."], ["▁Ich", "▁schlafe", ",", "▁weil"]
        >>> subordinate_clause((english, [*german, "▁ich", "▁kann", "."]))
        (['▁because', '▁I', '▁can', '.'], [',', '▁weil', '▁ich', '▁kann', '.'])
    """
    if any(side[-1:] != ["."] for side in pair):  # most pairs of a dictionary, at once
        return None
    spoken = [_spoken(side) for side in pair]
    places = [[i for i, word in enumerate(side) if word in _WORDS] for side in spoken]
    if any(len(found) != 1 or found[0] == 0 for found in places):
        return None
    at = [found[0] for found in places]
    words = tuple(side[i] for side, i in zip(spoken, at, strict=True))
    if words not in CONJUNCTIONS and words[::-1] not in CONJUNCTIONS:
        return None
    if not all(_is_word(piece) for side, i in zip(pair, at) for piece in side[i:-1]):
        return None
    english = 0 if words in CONJUNCTIONS else 1
    if _BOUND & set(spoken[english][at[english] :]) or spoken[1 - english][at[1 - english] - 1] != ",":
        return None
    at[1 - english] -= 1
    if spoken[english][at[english] - 1] == ",":
        at[english] -= 1
    if min(at) < 2:
        return None
    return pair[0][at[0] :], pair[1][at[1] :]


def _spoken(pieces: Sequence[str]) -> list[str]:
    return [_word(piece) for piece in pieces]


@cache
def _word(piece: str) -> str:
    return piece.lstrip(MARK).lower()


def _is_word(piece: str) -> bool:
    bare = piece.lstrip(MARK)
    return bare == "'" or bare.isalnum()
