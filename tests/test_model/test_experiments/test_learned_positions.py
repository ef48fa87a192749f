"""The small table that is learned: it begins as said, solves its task, and leaves the random state alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from model.experiments.learned_positions import INITIAL_STD, LEARNED, MAX_STEPS, learn


@pytest.mark.parametrize(("n_positions", "d_model"), [(2, 4), (12, 8), (50, 64)])
def test_the_head_finds_the_place_before(n_positions, d_model) -> None:
    result = learn(n_positions, d_model)
    assert result.initial.shape == result.trained.shape == (n_positions, d_model)
    assert result.losses[0] == pytest.approx(math.log(n_positions), abs=0.1)
    assert result.losses[-1] < LEARNED and len(result.losses) <= MAX_STEPS
    assert (result.losses[:-1] >= LEARNED).all() and result.hits == 1
    assert result.initial.dtype == np.float64 and not np.allclose(result.initial, result.trained)


def test_it_begins_at_random_and_the_same_seed_gives_the_same() -> None:
    first, again, other = learn(30, 16, 3), learn(30, 16, 3), learn(30, 16, 3, seed=1)
    np.testing.assert_array_equal(first.trained, again.trained)
    assert not np.allclose(first.initial, other.initial)
    assert first.initial.std() == pytest.approx(INITIAL_STD, rel=0.15)
    assert len(first.losses) == 3


def test_the_callers_random_numbers_are_not_touched() -> None:
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    learn(4, 4, 2)
    assert torch.equal(torch.rand(2), expected)


def test_one_position_has_none_before_it() -> None:
    with pytest.raises(ValueError, match="with 1 positions there is no place before another"):
        learn(1, 4)
