"""Every rule against a count of single cells, made from the tokens alone, on 50 texts in one batch."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from model.analysis import rules
from model.analysis.rules import Cells
from model.analysis.token_facts import TokenTable
from tests.support.rules_by_hand import Text, cross_rules, random_texts, self_rules

N_TEXTS = 50
TEXTS, SOURCES = random_texts(1, N_TEXTS), random_texts(2, N_TEXTS)
COUNTS = Counter(token for text in TEXTS + SOURCES for token in text)
TABLE = TokenTable(list(COUNTS), np.array(list(COUNTS.values()), dtype=float))


def padded_mask(queries: list[Text], keys: list[Text], causal: bool) -> np.ndarray:
    mask = np.zeros((len(queries), max(map(len, queries)), max(map(len, keys))), dtype=bool)
    for row, (query_text, key_text) in enumerate(zip(queries, keys, strict=True)):
        for query in range(len(query_text)):
            for key in range(len(key_text)):
                mask[row, query, key] = not causal or key <= query
    return mask


def cells_of(queries: list[Text], keys: list[Text], causal: bool = False, **fields) -> Cells:
    return Cells(TABLE.tokens(queries), TABLE.tokens(keys), padded_mask(queries, keys, causal), **fields)


@pytest.mark.parametrize("name", rules.OF_SELF)
@pytest.mark.parametrize("causal", [True, False], ids=["decoder", "encoder"])
def test_a_rule_holds_in_the_cells_that_a_count_by_hand_finds(name: str, causal: bool) -> None:
    cells = cells_of(TEXTS, TEXTS, causal)
    actual = np.broadcast_to(rules.OF_SELF[name](cells), cells.mask.shape) & cells.mask
    expected = np.zeros_like(cells.mask)
    by_hand = self_rules(COUNTS)[name]
    for row, text in enumerate(TEXTS):
        for query in range(len(text)):
            allowed = [key for key in range(len(text)) if cells.mask[row, query, key]]
            for key in allowed:
                expected[row, query, key] = by_hand(text, query, key, allowed)
    np.testing.assert_array_equal(actual, expected)
    assert expected.any() or (causal and name == "next token")


@pytest.mark.parametrize("name", rules.OF_CROSS)
def test_rules_of_cross_attention_compare_the_word_that_is_written_with_the_source(name: str) -> None:
    together = np.random.default_rng(0).integers(0, 3, (N_TEXTS, max(map(len, TEXTS))))
    cells = cells_of(TEXTS, SOURCES, is_self=False, together=together)
    actual = np.broadcast_to(rules.OF_CROSS[name](cells), cells.mask.shape) & cells.mask
    expected = np.zeros_like(cells.mask)
    by_hand = cross_rules(COUNTS)
    for row, (text, source) in enumerate(zip(TEXTS, SOURCES, strict=True)):
        for query, key in np.ndindex(len(text), len(source)):
            is_together = together[row, query] == key
            expected[row, query, key] = by_hand[name](text, source, query, key) if name in by_hand else is_together
    np.testing.assert_array_equal(actual, expected)
    assert expected.any()


def test_which_key_all_heads_look_at_is_known_of_cross_attention_only() -> None:
    with pytest.raises(ValueError, match="is known of cross-attention only"):
        rules.looked_at_together(cells_of(TEXTS, TEXTS))


def test_a_bit_of_a_combination_is_a_rule_and_pads_have_none() -> None:
    cells = cells_of(TEXTS, TEXTS)
    codes = rules.combinations(cells, rules.OF_SELF)
    for bit, rule in enumerate(rules.OF_SELF.values()):
        np.testing.assert_array_equal((codes >> bit) & 1, np.broadcast_to(rule(cells), codes.shape) & cells.mask)
    assert not codes[~cells.mask].any()
