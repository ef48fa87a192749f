"""Random changes of the text of pairs, from a seeded generator: subwords, typing errors, case, clauses.

A main clause is joined with the subordinate clause of another pair (Jia and Liang 2016, "Data Recombination for Neural
Semantic Parsing"): before one, it keeps its word order in English and German. Pieces are those of `Tokenizer.pieces`.
"""

import json
import random
from functools import cache
from string import ascii_lowercase
from typing import Any

from model.text.special import BYTE_TOKENS, MARK
from model.text.subwords import Tokenizer
from model.text.words import WordTokenizer

Pieces = tuple[list[str], list[str]]

_VARIANTS = 12  # of a word in a pass, drawn once and reused

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


class SubwordSampler:
    """Cuts pieces into subwords, leaving out each possible merge with probability `dropout` (Provilkov et al. 2020).

    The library's own ignores seeds, and is saved into tokenizer.json, where it would make translations random.
    """

    def __init__(self, tokenizer: Tokenizer | WordTokenizer, dropout: float) -> None:
        self.tokenizer = tokenizer
        self.dropout = dropout
        model: dict[str, Any] = {"vocab": {}, "merges": []}
        if dropout:
            assert isinstance(tokenizer, Tokenizer)  # words have no merges
            model = json.loads(tokenizer.to_json())["model"]
        self._vocab: dict[str, int] = model["vocab"]
        self._ranks = {tuple(merge): rank for rank, merge in enumerate(model["merges"])}
        self._whole: dict[str, list[int]] = {}
        self._variants: dict[str, list[list[int]]] = {}

    def restart(self) -> None:
        """Forget all variants drawn so far: further ones depend on the generator alone."""
        self._variants.clear()

    def piece_ids(self, piece: str, rng: random.Random) -> list[int]:
        """The ids of a piece, cut at random if `dropout` is set."""
        ids = self._whole.get(piece)
        if ids is None:
            ids = self._whole[piece] = self.tokenizer.piece_ids(piece)
        if self.dropout == 0 or len(piece) < 3 or piece[0] == "<":
            return ids
        variants = self._variants.setdefault(piece, [])
        if len(variants) < _VARIANTS:
            variants.append(self._draw(piece, rng))
            return variants[-1]
        return variants[int(rng.random() * _VARIANTS)]

    def _draw(self, piece: str, rng: random.Random) -> list[int]:
        symbols: list[str] = []
        for character in piece:
            symbols += [character] if character in self._vocab else [BYTE_TOKENS[byte] for byte in character.encode()]
        while True:
            # Every merge that applies now is dropped for this round with the given probability.
            candidates = [
                (rank, i)
                for i, pair in enumerate(zip(symbols, symbols[1:]))
                if (rank := self._ranks.get(pair)) is not None and rng.random() >= self.dropout
            ]
            if not candidates:
                return [self._vocab[symbol] for symbol in symbols]
            _, i = min(candidates)
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]


def misspell(piece: str, rng: random.Random) -> str:
    """Leave out, double or replace a letter (not the first), or swap it with the one before, of four or more."""
    letters = piece.lstrip(MARK)
    if len(letters) < 4 or not letters.isalpha():
        return piece
    at = len(piece) - len(letters) + 1 + int(rng.random() * (len(letters) - 1))
    before, letter, after = piece[:at], piece[at], piece[at + 1 :]
    match int(rng.random() * 4):
        case 0:
            return before + after
        case 1:
            return before + 2 * letter + after
        case 2:
            return before + ascii_lowercase[int(rng.random() * 26)] + after
    return before[:-1] + letter + before[-1] + after


def recase(piece: str) -> str:
    """Give the first letter its other case, if it has one: "▁It" for "▁it"."""
    at = len(piece) - len(piece.lstrip(MARK))
    swapped = piece[at : at + 1].swapcase()
    return piece[:at] + swapped + piece[at + 1 :] if len(swapped) == 1 else piece


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


@cache
def _word(piece: str) -> str:
    return piece.lstrip(MARK).lower()


def _is_word(piece: str) -> bool:
    bare = piece.lstrip(MARK)
    return bare == "'" or bare.isalnum()
