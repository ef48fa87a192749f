"""Every rule against a count of single cells, written here from the tokens alone, on 50 texts in one batch."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from model.analysis import rules
from model.analysis.rules import Cells
from model.analysis.token_facts import TokenTable

WORDS = '▁the ▁cat s ▁sat ▁( ▁“ ▁„ “ ” ) ▁on . , ▁? \' ▁red ing ▁- ▁mat " ▁"'.split()
N_TEXTS = 50


def texts_of(seed: int, ends: list[str]) -> list[list[str]]:
    """Texts of 2 to 14 random tokens, many of which come again, that end so."""
    draw = random.Random(seed)
    return [draw.choices(WORDS, range(1, len(WORDS) + 1), k=draw.randint(2, 14)) + ends for _ in range(N_TEXTS)]


TEXTS, SOURCES = texts_of(1, ["</s>"]), texts_of(2, ["</s>"])
COUNTS = Counter(token for text in TEXTS + SOURCES for token in text)
TABLE = TokenTable(list(COUNTS), np.array(list(COUNTS.values()), dtype=float))
Text = list[str]


def padded_mask(queries: list[Text], keys: list[Text], causal: bool) -> np.ndarray:
    mask = np.zeros((len(queries), max(map(len, queries)), max(map(len, keys))), dtype=bool)
    for row, (query_text, key_text) in enumerate(zip(queries, keys, strict=True)):
        for query in range(len(query_text)):
            for key in range(len(key_text)):
                mask[row, query, key] = not causal or key <= query
    return mask


def cells_of(queries: list[Text], keys: list[Text], causal: bool = False, **fields) -> Cells:
    return Cells(TABLE.tokens(queries), TABLE.tokens(keys), padded_mask(queries, keys, causal), **fields)


def word_of(text: Text) -> list[int]:
    """The number of each token's word, by hand: a mark of a space, a change to punctuation or back, a special token."""
    numbers = []
    for place, token in enumerate(text):
        before = text[place - 1] if place else "</s>"
        marks = [not any(letter.isalnum() for letter in part.strip("▁")) for part in (before, token)]
        begins = token.startswith("▁") or "</s>" in (before, token) or marks[0] != marks[1]
        numbers.append((numbers[-1] if numbers else -1) + begins)
    return numbers


def opens(text: Text, key: int) -> bool:
    bare = text[key].strip("▁")
    if bare == '"':
        return [part.strip("▁") for part in text[:key]].count('"') % 2 == 0
    if bare == "“":
        before = [part.strip("▁") for part in text[:key] if part.strip("▁") in "„“"]
        # A low quote that is still open is closed by the first “ after it.
        return not before or before[-1] != "„"
    return bare in ("(", "„")


def is_rarest(text: Text, key: int, allowed: list[int]) -> bool:
    ordinary = {text[place] for place in allowed if text[place] != "</s>"}
    if text[key] not in ordinary:
        return False
    return all(COUNTS[other] > COUNTS[text[key]] for other in ordinary - {text[key]})


def is_mark(token: str) -> bool:
    return token != "</s>" and not any(letter.isalnum() for letter in token)


# By rule: whether it holds for a query and a key, given the text, and which keys are allowed.
SELF: dict[str, Callable[[Text, int, int, list[int]], bool]] = {
    "first token": lambda text, query, key, allowed: key == 0,
    "special token": lambda text, query, key, allowed: text[key] == "</s>" and key > 0,
    "same token": lambda text, query, key, allowed: key == query,
    "previous token": lambda text, query, key, allowed: key == query - 1,
    "next token": lambda text, query, key, allowed: key == query + 1,
    "induction": lambda text, query, key, allowed: (
        key > 0 and text[key - 1] == text[query] and key - 1 != query and key != query
    ),
    "duplicate token": lambda text, query, key, allowed: text[key] == text[query] and key != query,
    "same word": lambda text, query, key, allowed: word_of(text)[key] == word_of(text)[query] and key != query,
    "end of clause": lambda text, query, key, allowed: text[key].strip("▁") in (".", ",", "?"),
    "opening bracket or quote": lambda text, query, key, allowed: opens(text, key),
    "other punctuation": lambda text, query, key, allowed: (
        is_mark(text[key]) and text[key].strip("▁") not in (".", ",", "?") and not opens(text, key)
    ),
    "rarest token": lambda text, query, key, allowed: is_rarest(text, key, allowed),
}


@pytest.mark.parametrize("name", rules.OF_SELF)
@pytest.mark.parametrize("causal", [True, False], ids=["decoder", "encoder"])
def test_a_rule_holds_in_the_cells_that_a_count_by_hand_finds(name: str, causal: bool) -> None:
    cells = cells_of(TEXTS, TEXTS, causal)
    actual = np.broadcast_to(rules.OF_SELF[name](cells), cells.mask.shape) & cells.mask
    expected = np.zeros_like(cells.mask)
    for row, text in enumerate(TEXTS):
        for query in range(len(text)):
            allowed = [key for key in range(len(text)) if cells.mask[row, query, key]]
            for key in allowed:
                expected[row, query, key] = SELF[name](text, query, key, allowed)
    np.testing.assert_array_equal(actual, expected)
    assert expected.any() or (causal and name == "next token")


def test_rules_of_cross_attention_compare_the_word_that_is_written_with_the_source() -> None:
    together = np.random.default_rng(0).integers(0, 3, (N_TEXTS, max(map(len, TEXTS))))
    cells = cells_of(TEXTS, SOURCES, is_self=False, together=together)
    held = {name: np.broadcast_to(rule(cells), cells.mask.shape) & cells.mask for name, rule in rules.OF_CROSS.items()}
    for row, (text, source) in enumerate(zip(TEXTS, SOURCES, strict=True)):
        for query, key in np.ndindex(len(text), len(source)):
            assert held["duplicate token"][row, query, key] == (text[query] == source[key])
            assert held["heads together"][row, query, key] == (together[row, query] == key)
            assert held["same place"][row, query, key] == (query == key)
            assert held["place before"][row, query, key] == (key == query - 1)
            assert held["opening bracket or quote"][row, query, key] == opens(source, key)
    with pytest.raises(ValueError, match="is known of cross-attention only"):
        rules.looked_at_together(cells_of(TEXTS, TEXTS))


def test_a_bit_of_a_combination_is_a_rule_and_pads_have_none() -> None:
    cells = cells_of(TEXTS, TEXTS)
    codes = rules.combinations(cells, rules.OF_SELF)
    for bit, rule in enumerate(rules.OF_SELF.values()):
        np.testing.assert_array_equal((codes >> bit) & 1, np.broadcast_to(rule(cells), codes.shape) & cells.mask)
    assert not codes[~cells.mask].any()
