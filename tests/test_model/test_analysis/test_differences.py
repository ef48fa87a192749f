"""Two recordings compared: pairs of tokens, and differences, by hand."""

from __future__ import annotations

import numpy as np

from model.analysis import comparison


def test_tokens_pair_where_they_are_equal_or_replace_each_other():
    a, b = ["<s>", "▁a", "▁man", "▁is", "▁here"], ["<s>", "▁a", "▁young", "▁woman", "▁is", "▁here", "."]
    pairs = comparison.pairs(a, b)
    assert [(i, j) for i, j in pairs if a[i] == b[j]] == [(0, 0), (1, 1), (3, 4), (4, 5)]
    assert (2, 3) in pairs or (2, 2) in pairs
    assert len(pairs) == 5


def test_sentences_without_a_common_token_still_pair_what_replaces():
    assert comparison.pairs(["x"], ["y", "z"]) in ([(0, 0)], [(0, 1)])


def test_the_difference_is_taken_at_the_pairs_only():
    a = np.arange(2 * 3 * 4, dtype=float).reshape(2, 3, 4)
    b = -np.arange(2 * 2 * 5, dtype=float).reshape(2, 2, 5)
    result = comparison.difference(a, b, [(0, 0), (2, 1)], [(1, 0), (2, 4), (3, 3)])
    assert result.shape == (2, 2, 3)
    for head in range(2):
        for r, (i, k) in enumerate([(0, 0), (2, 1)]):
            for c, (j, m) in enumerate([(1, 0), (2, 4), (3, 3)]):
                assert result[head, r, c] == a[head, i, j] - b[head, k, m]
