"""Masks: the tutorial's worked example, and queries that come after cached keys."""

from __future__ import annotations

import pytest
import torch

from model.masks import causal_mask, combine, decoder_mask, padding_mask

# B=3, T=7, word id 2, padding id 1, as in the tutorial (facts S1).
LENGTHS = (4, 2, 6)
PAD = 0
IDS = torch.tensor([[2] * length + [PAD] * (7 - length) for length in LENGTHS])


def test_worked_example_padding() -> None:
    mask = padding_mask(IDS)
    assert mask.shape == (3, 1, 1, 7) and mask.dtype == torch.bool
    for row, length in zip(mask[:, 0, 0], LENGTHS):
        assert row.tolist() == [True] * length + [False] * (7 - length)


def test_worked_example_target() -> None:
    mask = decoder_mask(IDS)
    assert mask.shape == (3, 1, 7, 7) and mask.dtype == torch.bool
    # Counting from 1: sentence 1 rows 4-7 allow keys 1-4, sentence 2 rows 2-7 keys 1-2, sentence 3 row 7 keys 1-6.
    assert all(row == [1, 1, 1, 1, 0, 0, 0] for row in mask[0, 0, 3:].int().tolist())
    assert all(row == [1, 1, 0, 0, 0, 0, 0] for row in mask[1, 0, 1:].int().tolist())
    assert mask[2, 0, 6].int().tolist() == [1, 1, 1, 1, 1, 1, 0]
    for sentence, length in enumerate(LENGTHS):
        for query in range(7):
            for key in range(7):
                assert mask[sentence, 0, query, key] == (key <= query and key < length)


def test_causal_rows_are_queries() -> None:
    assert causal_mask(3)[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert causal_mask(3).shape == (1, 1, 3, 3)


@pytest.mark.parametrize(("n_queries", "n_keys"), [(1, 1), (1, 6), (2, 6), (5, 6), (6, 6)])
def test_causal_for_cached_queries_is_the_end_of_the_full_one(n_queries: int, n_keys: int) -> None:
    """The queries of cached decoding are the last positions: theirs are the last rows of the square mask."""
    mask = causal_mask(n_queries, n_keys)
    assert mask.shape == (1, 1, n_queries, n_keys)
    for row in range(n_queries):
        position = n_keys - n_queries + row
        assert mask[0, 0, row].tolist() == [key <= position for key in range(n_keys)]


def test_causal_refuses_fewer_keys_than_queries() -> None:
    with pytest.raises(ValueError, match="as many keys as queries or more, got 2 keys, 3 queries"):
        causal_mask(3, 2)


def test_causal_is_made_where_it_is_asked_for() -> None:
    assert causal_mask(2, device=torch.device("meta")).is_meta


def test_combine_allows_what_all_allow() -> None:
    values = torch.tensor([True, False])
    a, b, c = values[:, None, None], values[None, :, None], values[None, None, :]
    combined = combine(a, b, c)
    assert combined.shape == (2, 2, 2)
    assert combined.sum() == 1 and combined[0, 0, 0]
    assert torch.equal(combine(a), a)


def test_padding_that_comes_first_leaves_a_row_with_nothing() -> None:
    mask = decoder_mask(torch.tensor([[PAD, 2]]))
    assert mask[0, 0].int().tolist() == [[0, 0], [0, 1]]
