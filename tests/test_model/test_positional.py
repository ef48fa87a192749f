"""Positional encodings against the formula, computed entry by entry in float64."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from model.positional import (
    TABLES,
    VARIANTS,
    frequencies,
    literal_loop,
    none,
    shifted,
    sinusoidal,
    sinusoidal_concatenated,
)
from tests.test_model.builders import assert_near

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


def test_the_literal_loop_is_that_of_the_tutorial_and_not_the_paper() -> None:
    """The tutorial's first version steps i by 2 and doubles it again: frequencies fall twice as fast (facts S1)."""
    literal = np.empty((N, D))
    for position in range(N):
        for i in range(0, D, 2):
            literal[position, i] = math.sin(position / 10000.0 ** (2 * i / D))
            literal[position, i + 1] = math.cos(position / 10000.0 ** (2 * (i + 1) / D))
    np.testing.assert_allclose(literal_loop(N, D).numpy(), literal, rtol=0, atol=1e-10)
    assert np.abs(sinusoidal(N, D).numpy() - literal).max() > 0.5
    assert "literal_loop" not in TABLES, "no model is built with a slip"


def test_literal_loop_slows_down_twice_as_fast_and_parts_sine_and_cosine() -> None:
    """Column 2i of the loop has the frequency that the paper gives column 4i; its cosine has another one."""
    right, wrong = sinusoidal(50, 16), literal_loop(50, 16)
    for i in range(0, 8, 2):
        assert_near(wrong[:, i], right[:, 2 * i])
    positions = torch.arange(50, dtype=torch.float64)
    for i in range(0, 16, 2):
        assert_near(wrong[:, i + 1], torch.cos(positions / 10000 ** (2 * (i + 1) / 16)))
    assert_near(wrong[:, 0], right[:, 0])
    pairs = wrong.unflatten(1, (8, 2)).square().sum(-1)
    assert (pairs - 1).abs().max() > 0.5, "sine and cosine of a pair are no longer on a circle"


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


@pytest.mark.parametrize("name", VARIANTS)
def test_every_column_turns_with_its_frequency(name: str) -> None:
    """Sine and cosine of position times frequency, column by column, whatever the layout."""
    table, turns = VARIANTS[name](N, D).numpy(), frequencies(name, D).numpy()
    assert turns.shape == (D,)
    for column, frequency in enumerate(turns):
        is_sine = column < D // 2 if name == "sinusoidal_concatenated" else column % 2 == 0
        wave = (np.sin if is_sine else np.cos)(np.arange(N) * frequency) if name != "none" else np.zeros(N)
        np.testing.assert_allclose(table[:, column], wave, rtol=0, atol=1e-10)


def test_frequencies_of_something_else_are_refused() -> None:
    with pytest.raises(ValueError, match="the positional encoding is one of sinusoidal, .*, got 'rope'"):
        frequencies("rope", D)
    with pytest.raises(ValueError, match="must be even to pair sine and cosine, got 7"):
        frequencies("literal_loop", 7)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("offset", [0, 1, 13])
def test_turned_encodings_are_those_further_on(name: str, offset: int) -> None:
    table = TABLES[name](N + offset, D)
    before = table.clone()
    torch.testing.assert_close(shifted(table[:N], name, offset), table[offset:], rtol=0, atol=1e-10)
    assert torch.equal(table, before)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_longer_table_begins_with_the_shorter_one(name: str) -> None:
    assert torch.equal(VARIANTS[name](9, D)[:4], VARIANTS[name](4, D))
    assert VARIANTS[name](9, D).shape == (9, D)


@pytest.mark.parametrize("table_of", [sinusoidal, sinusoidal_concatenated, literal_loop])
def test_odd_width_is_refused(table_of) -> None:
    with pytest.raises(ValueError, match="d_model must be even to pair sine and cosine, got 7"):
        table_of(3, 7)
