"""Numbers and roles of heads on maps whose roles are known, divergences against scipy's definition by hand."""

from __future__ import annotations

import numpy as np
import pytest

from model.analysis import head_roles
from model.analysis.head_roles import divergences, layout, roles, tally

KEYS = ["▁a", "▁b", "▁c", "▁d", ".", "▁e", "</s>"]
N = len(KEYS)
OPEN = np.ones((N, N), bool)
CAUSAL = np.tril(OPEN)


def shifted(offset: int) -> np.ndarray:
    """All mass on the key at an offset, on the own token where there is none."""
    rows = np.zeros((N, N))
    for query in range(N):
        rows[query, query + offset if 0 <= query + offset < N else query] = 1
    return rows


def on(column: int) -> np.ndarray:
    return np.eye(N)[np.full(N, column)]


def role(map_: np.ndarray, mask: np.ndarray = OPEN, kind: str = "encoder_self") -> str:
    return roles(tally(map_[None, None], mask, KEYS), kind)[0][0]


@pytest.mark.parametrize(
    ("map_", "name"),
    [
        (shifted(-1), "positional: previous token"),
        (shifted(1), "positional: next token"),
        (shifted(0), "positional: same token"),
        (shifted(-2), "positional: 2 before"),
        (shifted(3), "positional: 3 after"),
        (on(0), "first token"),
        (on(N - 1), "last token"),
        (on(4), "punctuation"),
        (np.full((N, N), 1 / N), "broad"),
    ],
)
def test_known_roles(map_: np.ndarray, name: str) -> None:
    assert role(map_) == name


def test_a_neighbour_in_the_source_is_a_place_and_half_the_mass_on_no_special_place_is_mixed() -> None:
    assert role(shifted(-1), kind="cross") == "positional: place before"
    often = 0.4 * shifted(-1) + 0.5 * on(5) + 0.1 / N  # the largest weight lies elsewhere
    assert role(often, kind="cross") == "place before" and role(often) == "previous token"
    assert role(0.6 * on(1) + 0.4 / N) == "mixed"


def test_nine_tenths_of_the_rows_that_can_make_a_position() -> None:
    """The first row has no token before it, and a single row elsewhere is too many among six."""
    map_ = shifted(-1)
    map_[3] = np.eye(N)[6]
    assert role(map_) != "positional: previous token"
    statistics = tally(map_[None, None], OPEN, KEYS)
    assert statistics.offsets()[0, 0, 2] == pytest.approx(5 / 6)


def test_numbers_by_hand() -> None:
    rng = np.random.default_rng(0)
    weights = rng.random((2, 3, N, N)) * CAUSAL
    weights /= weights.sum(-1, keepdims=True)
    statistics = tally(weights, CAUSAL, KEYS)
    numbers = statistics.numbers()
    assert (statistics.rows == N - 1).all()  # the first row can read itself only
    rows = range(1, N)
    head = weights[1, 2]
    assert numbers["previous"][1, 2] == pytest.approx(np.mean([head[q, q - 1] for q in rows]))
    assert numbers["same"][1, 2] == pytest.approx(np.mean([head[q, q] for q in rows]))
    assert numbers["next"][1, 2] == 0
    assert numbers["first"][1, 2] == pytest.approx(np.mean([head[q, 0] for q in rows]))
    assert numbers["punctuation"][1, 2] == pytest.approx(np.mean([head[q, 4] for q in rows]))
    distances = [sum(head[q, k] * abs(q - k) for k in range(N)) for q in rows]
    assert numbers["distance"][1, 2] == pytest.approx(np.mean(distances))
    entropies = [-sum(p * np.log(p) for p in head[q, : q + 1]) for q in rows]
    assert numbers["entropy"][1, 2] == pytest.approx(np.mean(entropies))
    relative = [value / np.log(q + 1) for q, value in zip(rows, entropies)]
    assert numbers["relative_entropy"][1, 2] == pytest.approx(np.mean(relative))
    assert numbers["sharpness"][1, 2] == pytest.approx(0.5 - np.mean(relative))
    assert set(numbers) == set(head_roles.NUMBERS)


def test_tallies_add_up() -> None:
    parts = [tally(np.eye(n)[None, None], np.ones((n, n), bool), KEYS[:n]) for n in (2, 5)]
    together = parts[0] + parts[1]
    assert together.rows.tolist() == [[7]]
    assert together.numbers()["same"][0, 0] == 1
    assert together.offsets()[0, 0].tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert together.possible[0, 0, 3] == 7 and together.possible[0, 0, 2] == 5


def test_a_single_token_counts_nothing() -> None:
    statistics = tally(np.ones((1, 2, 1, 1)), np.ones((1, 1), bool), ["</s>"])
    assert not statistics.rows.any() and not statistics.numbers()["same"].any()
    assert roles(statistics, "encoder_self") == [["no choice", "no choice"]]


def test_divergences_by_hand() -> None:
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(N), size=(2, 3, 5))
    heads = weights.reshape(6, 5, N)

    def kl(p, q):
        return (p * np.log(p / q)).sum(-1)

    result = divergences(weights)
    for i in range(6):
        for j in range(6):
            middle = (heads[i] + heads[j]) / 2
            expected = ((kl(heads[i], middle) + kl(heads[j], middle)) / 2).mean()
            assert result[i, j] == pytest.approx(expected, abs=1e-12)
    weights[0, 0, 0], weights[0, 1, 0] = np.eye(N)[:2]  # zeros, too, and in the precision of recordings
    np.testing.assert_allclose(divergences(weights.astype(np.float32)), divergences(weights), atol=1e-6)
    apart = divergences(np.stack([on(0), on(1)])[None])
    assert apart[0, 1] == pytest.approx(np.log(2))


def test_a_layout_keeps_distances_that_fit_a_plane() -> None:
    points = np.random.default_rng(0).normal(size=(7, 2))
    squared = ((points[:, None] - points[None]) ** 2).sum(-1)
    coordinates, share = layout(squared)
    np.testing.assert_allclose(((coordinates[:, None] - coordinates[None]) ** 2).sum(-1), squared, atol=1e-4)
    assert share == pytest.approx(1)
    np.testing.assert_array_equal(layout(squared)[0], coordinates)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_heads_that_are_all_alike_lie_on_one_point(n: int) -> None:
    points, share = layout(np.zeros((n, n)))
    assert points.shape == (n, 2) and not points.any() and share == 1


def test_a_head_that_reads_nothing_does_nothing() -> None:
    weights = np.stack([on(0), np.zeros((N, N))])[None]
    assert roles(tally(weights, OPEN, KEYS), "encoder_self") == [["first token", "nothing"]]
    together = tally(weights, OPEN, KEYS) + tally(np.ones((1, 2, N, N)) / N, OPEN, KEYS)
    assert roles(together, "encoder_self")[0][1] != "nothing", "it reads in another sentence"


def test_rows_of_zeros_are_not_counted() -> None:
    """They look at nothing, also not at their largest weight, which would be that of the first key."""
    weights = np.full((1, 2, N, N), 1 / N)
    weights[0, 0, 3:] = 0
    statistics = tally(weights, OPEN, KEYS)
    assert statistics.rows.tolist() == [[3, N]]
    np.testing.assert_allclose(statistics.numbers()["relative_entropy"], 1)
    assert roles(statistics, "encoder_self") == [["broad", "broad"]]
    last = np.full((4, 4), 0.25)
    last[3] = 0
    assert roles(tally(last[None, None], np.ones((4, 4), bool), KEYS[:4]), "encoder_self") == [["broad"]]


def test_how_many_heads_can_be_compared() -> None:
    assert head_roles.comparable(np.broadcast_to(np.float32(0), (12, 12, 166, 166)))
    assert not head_roles.comparable(np.broadcast_to(np.float32(0), (100, 128, 2, 2)))
    assert not head_roles.comparable(np.broadcast_to(np.float32(0), (32, 32, 62, 62)))


def test_a_single_row_that_can_makes_no_position() -> None:
    """In four tokens only the last row can read three before it."""
    weights = np.full((4, 4), 0.25)
    weights[3] = 0.7, 0.1, 0.1, 0.1
    statistics = tally(weights[None, None], np.ones((4, 4), bool), KEYS[:4])
    assert statistics.largest.sum() == 1, "even rows have no largest weight"
    assert roles(statistics, "encoder_self") == [["first token"]]
