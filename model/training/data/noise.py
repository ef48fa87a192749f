"""Random changes of the text of pairs, from a seeded generator: subwords, typing errors, case.

Pieces are those of `Tokenizer.pieces`.
"""

import json
import random
from string import ascii_lowercase
from typing import Any

from model.text.special import BYTE_TOKENS, MARK
from model.text.subwords import Tokenizer
from model.text.words import WordTokenizer

Pieces = tuple[list[str], list[str]]

_VARIANTS = 12  # of a word in a pass, drawn once and reused


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

    def whole_ids(self, piece: str) -> list[int]:
        """The ids of a piece with every merge, as it is cut in use."""
        ids = self._whole.get(piece)
        if ids is None:
            ids = self._whole[piece] = self.tokenizer.piece_ids(piece)
        return ids

    def piece_ids(self, piece: str, rng: random.Random) -> list[int]:
        """The ids of a piece, cut at random if `dropout` is set."""
        ids = self.whole_ids(piece)
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
    before = piece[:at]
    letter = piece[at]
    after = piece[at + 1 :]
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
