"""Subword regularisation and typing errors, drawn from a seeded generator.

BPE-dropout (Provilkov et al. 2020) is drawn here and not in the `tokenizers` library, whose own ignores seeds and is
saved into tokenizer.json, where it would make translations random.
"""

from __future__ import annotations

import json
import random

from model.text.special import BYTE_TOKENS, MARK
from model.text.subwords import Tokenizer
from model.text.words import WordTokenizer

# Enough to differ between the occurrences of a word in a pass, few enough to be drawn once and reused.
_VARIANTS = 12
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class SubwordSampler:
    """Cuts words into subwords, leaving out each possible merge with probability `dropout`; words have none."""

    def __init__(self, tokenizer: Tokenizer | WordTokenizer, dropout: float) -> None:
        self.tokenizer = tokenizer
        self.dropout = dropout
        model = json.loads(tokenizer.to_json())["model"] if dropout else {"vocab": {}, "merges": []}
        self._vocab: dict[str, int] = model["vocab"]
        self._ranks = {tuple(merge): rank for rank, merge in enumerate(model["merges"])}
        self._whole: dict[str, list[int]] = {}
        self._variants: dict[str, list[list[int]]] = {}

    def restart(self) -> None:
        """Forget what was drawn: what follows depends on the generator alone."""
        self._variants.clear()

    def piece_ids(self, piece: str, rng: random.Random) -> list[int]:
        """The ids of one of `Tokenizer.pieces`."""
        whole = self._whole.get(piece)
        if whole is None:
            whole = self._whole[piece] = self.tokenizer.piece_ids(piece)
        if self.dropout == 0 or len(piece) < 3 or piece[0] == "<":
            return whole
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
                for i, pair in enumerate(zip(symbols, symbols[1:], strict=False))
                if (rank := self._ranks.get(pair)) is not None and rng.random() >= self.dropout
            ]
            if not candidates:
                return [self._vocab[symbol] for symbol in symbols]
            _, i = min(candidates)
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]


def misspell(piece: str, rng: random.Random) -> str:
    """One of `Tokenizer.pieces` with a letter (not the first) left out, doubled, replaced or swapped with the one
    before.

    Words under four letters, numbers and punctuation stay.
    """
    letters = piece.lstrip(MARK)
    if len(letters) < 4 or not letters.isalpha():
        return piece
    at = len(piece) - len(letters) + 1 + int(rng.random() * (len(letters) - 1))  # not the first letter
    kind = int(rng.random() * 4)
    if kind == 0:
        return piece[:at] + piece[at + 1 :]
    if kind == 1:
        return piece[:at] + piece[at] + piece[at:]
    if kind == 2:
        return piece[:at] + _LETTERS[int(rng.random() * len(_LETTERS))] + piece[at + 1 :]
    return piece[: at - 1] + piece[at] + piece[at - 1] + piece[at + 1 :]


def recase(piece: str) -> str:
    """One of `Tokenizer.pieces` with the other case of its first letter, if that has one.

    Example:
        >>> recase("▁Because"), recase("▁it"), recase("▁7")
        ('▁because', '▁It', '▁7')
    """
    at = len(piece) - len(piece.lstrip(MARK))
    swapped = piece[at : at + 1].swapcase()
    return piece[:at] + swapped + piece[at + 1 :] if len(swapped) == 1 else piece
