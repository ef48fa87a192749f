"""Clauses of pairs of sentences, joined again.

A main clause gets the subordinate clause of another pair (Jia and Liang 2016, "Data Recombination for Neural Semantic
Parsing"): before one, it keeps its word order in English and German. Pieces are those of `Tokenizer.pieces`.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from model.text.special import MARK
from model.training.data.noise import Pieces

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

_COPULAS = {"is": "ist", "was": "war", "are": "sind", "were": "waren"}
_COPULA_WORDS = frozenset([*_COPULAS, *_COPULAS.values()])
_SUBJECTS = frozenset("he she we they the a an my his her our their this that".split())
_GERMAN_SUBJECTS = frozenset(
    "er sie wir der die das ein eine mein meine sein seine ihr ihre unser unsere dieser".split()
)


class Recombination:
    """The subordinate clauses of pairs, to be put after the main clauses of others."""

    def __init__(self, pairs: Sequence[Pieces]) -> None:
        self._clauses = _all_of(subordinate_clause, pairs)
        self._copular = _all_of(copular_clause, pairs)
        # "Because studying is hard": the verb as a noun is rare, and hard to translate.
        self._gerunds = [clause for clause in self._copular if any(side[1].endswith("ing") for side in clause)]

    def extend(self, pair: Pieces, rng: random.Random) -> Pieces:
        """The pair with a random clause after it, at times as a sentence of its own; as it is where none fits."""
        main = main_clause(pair)
        number = rng.random()
        copular = self._gerunds if number < 0.1 else self._copular if number < 0.2 else []
        if main is None or not (copular or self._clauses):
            return pair
        clause = rng.choice(copular or self._clauses)
        if copular and rng.random() < 0.5:
            sentence = as_sentence(clause)
            return [*main[0], ".", *sentence[0]], [*main[1], ".", *sentence[1]]
        return main[0] + clause[0], main[1] + clause[1]


def _all_of(find: Callable[[Pieces], Pieces | None], pairs: Iterable[Pieces]) -> list[Pieces]:
    return [clause for pair in pairs if (clause := find(pair))]


def main_clause(pair: Pieces) -> Pieces | None:
    """Both sides without the full stop, if they are one statement of three words or more; else None."""
    for side in pair:
        if len(side) < 4 or side[-1] != "." or not all(_is_word(piece) for piece in side[:-1]):
            return None
        if not _WORDS.isdisjoint(map(_word, side)):
            return None
    return pair[0][:-1], pair[1][:-1]


def subordinate_clause(pair: Pieces) -> Pieces | None:
    """Both sides from their one conjunction, in German from the comma before it, to the full stop; else None.

    A main clause must come before, and the German must not depend on it ("it", "you").
    """
    if any(side[-1:] != ["."] for side in pair):  # most pairs of a dictionary, at once
        return None
    words = [[_word(piece) for piece in side] for side in pair]
    places = [[i for i, word in enumerate(side) if word in _WORDS] for side in words]
    if any(len(conjunctions) != 1 or conjunctions[0] == 0 for conjunctions in places):
        return None
    at = [conjunctions[0] for conjunctions in places]
    conjunction = tuple(side[i] for side, i in zip(words, at))
    if conjunction not in CONJUNCTIONS and conjunction[::-1] not in CONJUNCTIONS:
        return None
    if not all(_is_word(piece) for side, i in zip(pair, at) for piece in side[i:-1]):
        return None
    english = 0 if conjunction in CONJUNCTIONS else 1
    german = 1 - english
    if _BOUND & set(words[english][at[english] :]) or words[german][at[german] - 1] != ",":
        return None
    at[german] -= 1
    if words[english][at[english] - 1] == ",":
        at[english] -= 1
    return (pair[0][at[0] :], pair[1][at[1] :]) if min(at) >= 2 else None


def copular_clause(pair: Pieces) -> Pieces | None:
    """A statement with "is" and "ist" as a subordinate clause: "because ...", ", weil ... ist."; else None.

    In German the verb moves to the end: ("Swimming is healthy.", "Schwimmen ist gesund.") gives ("because swimming is
    healthy.", ", weil Schwimmen gesund ist."). The subject must come first on both sides, and after the verb only
    adverbs and adjectives, which German writes small.
    """
    clause = main_clause(pair)
    if clause is None:
        return None
    english = 0 if any(_word(piece) in _COPULAS for piece in clause[0]) else 1
    verbs = [[i for i, piece in enumerate(side) if _word(piece) in _COPULA_WORDS] for side in clause]
    if any(len(places) != 1 for places in verbs):
        return None
    words = [_word(piece) for piece in clause[english]]
    german, verb_at = clause[1 - english], verbs[1 - english][0]
    subject = german[:verb_at]
    verb = german[verb_at]
    predicate = german[verb_at + 1 :]
    if _COPULAS.get(words[verbs[english][0]]) != _word(verb):
        return None
    if _BOUND & set(words) or not (words[0] in _SUBJECTS or words[0].endswith("ing")):
        return None
    if len(subject) > 3 or any(piece != piece.lower() or _word(piece) in _GERMAN_SUBJECTS for piece in predicate):
        return None
    if _word(subject[0]) in _GERMAN_SUBJECTS:
        subject = [subject[0].lower(), *subject[1:]]
    elif len(subject) > 1 or not subject[0].endswith(("en", "ung")):
        return None
    sides: Pieces = (
        [MARK + "because", clause[english][0].lower(), *clause[english][1:], "."],
        [",", MARK + "weil", *subject, *predicate, verb, "."],
    )
    return sides if english == 0 else (sides[1], sides[0])


def as_sentence(clause: Pieces) -> Pieces:
    """A subordinate clause as a sentence of its own, begun with a capital letter and without the comma before it."""
    source, target = (side[1:] if side[0] == "," else side for side in clause)
    return [source[0].title(), *source[1:]], [target[0].title(), *target[1:]]


@cache
def _word(piece: str) -> str:
    return piece.lstrip(MARK).lower()


def _is_word(piece: str) -> bool:
    bare = piece.lstrip(MARK)
    return bare == "'" or bare.isalnum()
