"""Positional encodings against the formula, computed entry by entry in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from model.positional import TABLES, none, sinusoidal, sinusoidal_concatenated

N, D = 50, 12


def formula(n_positions: int, d_model: int) -> np.ndarray:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos(the same), one number at a time."""
    table = np.empty((n_positions, d_model))
    for position in range(n_positions):
        for i in range(d_model // 2):
            angle = position / 10000.0 ** (2 * i / d_model)
            table[position, 2 * i] = math.sin(angle)
            table[position, 2 * i + 1] = math.cos(angle)
    return table


@pytest.mark.parametrize(("n_positions", "d_model"), [(N, D), (1, 2), (400, 512)])
def test_sinusoidal_is_the_papers_formula(n_positions: int, d_model: int) -> None:
    table = sinusoidal(n_positions, d_model)
    assert table.dtype == torch.float64
    np.testing.assert_allclose(table.numpy(), formula(n_positions, d_model), rtol=0, atol=1e-10)


def test_it_is_not_the_literal_loop() -> None:
    """The tutorial's first version steps i by 2 and doubles it again: frequencies fall twice as fast (facts S1)."""
    literal = np.empty((N, D))
    for position in range(N):
        for i in range(0, D, 2):
            literal[position, i] = math.sin(position / 10000.0 ** (2 * i / D))
            literal[position, i + 1] = math.cos(position / 10000.0 ** (2 * (i + 1) / D))
    assert np.abs(sinusoidal(N, D).numpy() - literal).max() > 0.5


@pytest.mark.parametrize("table_of", [sinusoidal, sinusoidal_concatenated])
def test_dot_products_depend_on_the_offset_only(table_of) -> None:
    table = table_of(400, 64)
    gram = table @ table.T
    for offset in (0, 1, 7, 150):
        diagonal = gram.diagonal(offset)
        assert (diagonal - diagonal[0]).abs().max() < 1e-10
    assert (gram.diagonal() - 32).abs().max() < 1e-10  # sin^2 + cos^2 = 1 for each of the 32 waves
    assert gram[0, 1] < gram[0, 0] - 1


def test_concatenated_is_a_permutation_of_the_columns() -> None:
    interleaved, concatenated = sinusoidal(N, D), sinusoidal_concatenated(N, D)
    order = [*range(0, D, 2), *range(1, D, 2)]  # all sines, then all cosines
    assert torch.equal(concatenated, interleaved[:, order])
    assert not torch.equal(concatenated, interleaved)


def test_none_is_zeros() -> None:
    assert none(3, 5).shape == (3, 5)
    assert not none(3, 5).any()


@pytest.mark.parametrize("name", TABLES)
def test_a_longer_table_begins_with_the_shorter_one(name: str) -> None:
    assert torch.equal(TABLES[name](9, D)[:4], TABLES[name](4, D))
    assert TABLES[name](9, D).shape == (9, D)


@pytest.mark.parametrize("table_of", [sinusoidal, sinusoidal_concatenated])
def test_odd_width_is_refused(table_of) -> None:
    with pytest.raises(ValueError, match="d_model must be even to pair sine and cosine, got 7"):
        table_of(3, 7)
