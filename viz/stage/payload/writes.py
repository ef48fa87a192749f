"""What a head writes when it looks at a word: the words whose logits it raises and lowers most."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from model.analysis.head_words import HeadWords, WordLogit
from model.results.translation import KINDS
from viz.stage.payload.payloads import (
    CellWordsPayload,
    KindCode,
    NoWritesPayload,
    WordLogitsPayload,
    WordsPlace,
    WritesPayload,
)
from viz.views import codes

IN_DICTIONARY = 5  # words of each key


class Place(NamedTuple):
    """A head, and what it looks at: a cell, or what is left out of it (`model.analysis.head_words.cell_of`).

    Without a query and a key it is all keys, each with the query that looks most at it.
    """

    kind: KindCode
    layer: int
    head: int
    row: int | None = None
    key: int | None = None


_READERS = {"view": codes.one_of(["writes"]), "kind": codes.one_of(KINDS), **dict.fromkeys(Place._fields[1:], int)}


def place_of(query: Mapping[str, str]) -> Place | None:
    """What an address asks for, if anything."""
    values, _ = codes.read(query, _READERS)
    if not values.keys() >= _READERS.keys() - {"row", "key"}:
        return None
    return Place(**{name: values[name] for name in Place._fields if name in values})


def payload(place: Place, cells: Sequence[HeadWords]) -> WritesPayload:
    """What travels of the words that a head writes in cells: in one, or from each key."""
    return {"place": WordsPlace(**place._asdict()), "cells": [_of_cell(words) for words in cells]}


def no_payload(place: Place, reason: str) -> NoWritesPayload:
    """What travels where a head writes no words."""
    return {"place": WordsPlace(**place._asdict()), "reason": reason}


def _of_cell(words: HeadWords) -> CellWordsPayload:
    return {
        "row": words.query,
        "key": words.key,
        "weight": words.weight,
        "raised": _of_words(words.raised),
        "lowered": _of_words(words.lowered),
    }


def _of_words(words: Sequence[WordLogit]) -> WordLogitsPayload:
    logits = np.array([word.logit for word in words], np.float32)
    return {"tokens": [word.word for word in words], "logits": logits}
