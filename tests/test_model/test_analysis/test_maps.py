"""Numbers over recorded arrays, against other ways to compute them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model.analysis import maps as analysis

RNG = np.random.default_rng(0)


def random_weights(*shape: int) -> np.ndarray:
    return RNG.dirichlet(np.ones(shape[-1]), size=shape[:-1]).astype(np.float32)


@pytest.mark.parametrize("how, reference", [("mean", "mean"), ("max", "amax"), ("standard deviation", "std")])
@pytest.mark.parametrize("over, axes", [(["layers"], (0,)), (["heads"], (1,)), (["layers", "heads"], (0, 1))])
def test_aggregate(how: str, reference: str, over: list[str], axes: tuple[int, ...]) -> None:
    weights = random_weights(2, 3, 5, 7)
    options = {"correction": 0} if reference == "std" else {}
    expected = getattr(torch, reference)(torch.from_numpy(weights), dim=axes, keepdim=True, **options)
    actual = analysis.aggregate(weights, how, over)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, expected.numpy(), atol=1e-6)


@pytest.mark.parametrize(
    "tokens, names, of_token",
    [
        (
            ["<s>", "▁an", "im", "al", "▁d", "id", "n", "'", "t", ".", "</s>"],
            ["<s>", "animal", "didn", "'", "t", ".", "</s>"],
            [0, 1, 1, 1, 2, 2, 2, 3, 4, 5, 6],
        ),
        (["▁a", "▁a", "a"], ["a", "aa"], [0, 1, 1]),
        (["▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "!"], ["😀", "!"], [0, 0, 0, 0, 0, 1]),
        (["<0xFF>", "</s>"], ["\ufffd", "</s>"], [0, 1]),
        (["▁", "▁x"], ["▁", "x"], [0, 1]),
        (["</s>", "</s>"], ["</s>", "</s>"], [0, 1]),
        ([], [], []),
    ],
)
def test_words(tokens: list[str], names: list[str], of_token: list[int]) -> None:
    assert analysis.words(tokens) == analysis.Words(names, of_token)


def test_merge_words_sums_keys_and_averages_queries() -> None:
    weights = random_weights(2, 3, 4, 5)
    queries, keys = analysis.Words(["a", "b"], [0, 0, 0, 1]), analysis.Words(["x", "y", "z"], [0, 1, 1, 2, 2])
    merged = analysis.merge_words(weights, queries, keys)
    assert merged.shape == (2, 3, 2, 3)
    expected = weights[:, :, :3, 1:3].sum(axis=-1).mean(axis=-1)
    np.testing.assert_allclose(merged[:, :, 0, 1], expected, atol=1e-6)
    np.testing.assert_allclose(merged[:, :, 1, 0], weights[:, :, 3, 0], atol=1e-6)
    np.testing.assert_allclose(merged.sum(-1), 1, atol=1e-6)


def test_hide_says_what_it_removed() -> None:
    weights = random_weights(2, 4, 5)
    rows, columns = np.array([True, False, False, False]), np.array([False, False, True, False, True])
    visible, removed = analysis.hide(weights, rows, columns)
    np.testing.assert_array_equal(visible, weights[:, 1:][:, :, [0, 1, 3]])
    np.testing.assert_allclose(visible.sum(-1) + removed, 1, atol=1e-6)
    assert analysis.is_special(["<s>", "▁s", "</s>", "<0x3C>", "<pad>"]).tolist() == [True, False, True, False, True]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75, 0.9, 1.0])
def test_top_share_is_the_smallest_set_that_reaches_it(share: float) -> None:
    weights = random_weights(3, 6, 9)
    top_cells = analysis.top_share(weights, share)
    for row, marks in zip(weights.reshape(-1, 9), top_cells.reshape(-1, 9), strict=True):
        ordered = np.sort(row)[::-1]
        fewest = next(n for n in range(1, 10) if ordered[:n].sum() >= share - 1e-6)
        assert marks.sum() == fewest
        assert row[marks].min() >= row[~marks].max(initial=0)


def test_top_share_of_equal_masked_and_empty_rows() -> None:
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=np.float32)
    assert analysis.top_share(rows, 0.5).tolist() == [
        [True, True, False, False],
        [False, True, False, False],
        [False] * 4,
    ]


def test_entropy_and_log_softmax_against_torch() -> None:
    weights = random_weights(4, 6)
    expected = torch.distributions.Categorical(torch.from_numpy(weights).double()).entropy()
    np.testing.assert_allclose(analysis.entropy(weights), expected.numpy(), atol=1e-5)
    assert analysis.entropy(np.zeros((1, 3), dtype=np.float32)).tolist() == [0.0]
    logits = RNG.normal(size=(3, 8)).astype(np.float32) * 50
    expected = torch.from_numpy(logits).double().log_softmax(-1)
    np.testing.assert_allclose(analysis.log_softmax(logits), expected.numpy(), atol=1e-9)


def test_candidates_are_the_most_probable_tokens() -> None:
    logits = RNG.normal(size=(4, 10)).astype(np.float32)
    ids, log_probabilities = analysis.candidates(logits, 3)
    expected = torch.from_numpy(logits).double().log_softmax(-1).topk(3)
    np.testing.assert_array_equal(ids, expected.indices.numpy())
    np.testing.assert_allclose(log_probabilities, expected.values.numpy(), atol=1e-9)
    ties = np.array([[1, 3, 2, 3, 3, 2], [0, 0, 0, 0, 0, 0], [-np.inf, 5, -np.inf, 4, 4, 5]], dtype=np.float32)
    for count in range(1, 7):
        np.testing.assert_array_equal(analysis.candidates(ties, count)[0], np.argsort(-ties, kind="stable")[:, :count])


def test_similarity_by_offset_of_an_encoding_and_of_anything_else() -> None:
    from model.positional import sinusoidal

    products, by_offset = analysis.by_offset(sinusoidal(40, 16).numpy())
    assert products.shape == (40, 40) and by_offset.residual < 1e-12
    np.testing.assert_allclose(by_offset.means, products[0], atol=1e-12)
    table = np.random.default_rng(0).normal(size=(6, 3))
    products, by_offset = analysis.by_offset(table)
    for offset in range(6):
        pairs = [table[i] @ table[i + offset] for i in range(6 - offset)]
        assert by_offset.means[offset] == pytest.approx(np.mean(pairs))
    largest = max(abs(table[i] @ table[j] - by_offset.means[j - i]) for i in range(6) for j in range(i, 6))
    assert by_offset.residual == pytest.approx(largest) and largest > 0.1


def test_words_of_an_axis_without_marks_are_cut_as_elsewhere_in_the_text() -> None:
    tokens = ["[CLS]", "eine", "Katze", "."]
    assert analysis.words(tokens).names == ["[CLS]", "eineKatze", "."]
    assert analysis.words(tokens, "##").names == tokens
    assert analysis.word_mark([*tokens, "s", "##itzt"]) == "##" and analysis.word_mark(tokens) is None
    assert analysis.words(["▁a", "b"], "##").names == ["ab"], "its own marks come first"


def test_breaks_of_lines_are_words_of_their_own() -> None:
    tokens = ["Ġwide", "Ċ", "The", "Ġend", "ĊĊ", "Ġx"]
    assert analysis.words(tokens).names == ["wide", "Ċ", "The", "end", "ĊĊ", "x"]
    tokens = ["▁wide", "<0x0A>", "The", "▁<0x09>", "end"]
    assert analysis.words(tokens).names == ["wide", "<0x0A>", "The", "▁<0x09>", "end"]
