"""The twin of a figure in words: each sentence names what the array holds there."""

from __future__ import annotations

import numpy as np
import pytest

from viz import figures
from viz.figures import head_board, head_map
from viz.figures.labels import visible

QUERIES = ["<s>", "der", "der", "</s>"]
KEYS = ["the", "dog", "<b>", "\n", "</s>"]
T, S = len(QUERIES), len(KEYS)


def weights(*shape: int) -> np.ndarray:
    values = np.random.default_rng(3).random(shape).astype(np.float32)
    return values / values.sum(-1, keepdims=True)


def test_a_row_names_the_two_it_reads_most():
    values = weights(T, S)
    sentences = figures.attention_heatmap(values, QUERIES, KEYS).table.in_words()
    assert len(sentences) == T
    for row, (sentence, query) in enumerate(zip(sentences, QUERIES, strict=True)):
        first, second = np.argsort(-values[row])[:2]
        assert sentence.startswith(f"“{query}” (query {row}): ")
        assert f"(key {first}) = {values[row, first]:.3g}, then " in sentence
        assert sentence.endswith(f"(key {second}) = {values[row, second]:.3g}.")
        assert "\n" not in sentence


def test_what_is_blank_is_never_named():
    is_visible = np.ones((T, S), bool)
    is_visible[0], is_visible[1, 1:] = False, False
    sentences = figures.attention_heatmap(weights(T, S), QUERIES, KEYS, visible=is_visible).table.in_words()
    assert sentences[0] == "“<s>” (query 0): blank."
    assert "then" not in sentences[1] and "“the” (key 0)" in sentences[1]


def test_a_mask_says_what_may_be_read():
    mask = np.tri(T, S, dtype=bool)
    mask[3] = False
    sentences = figures.mask_heatmap(mask, QUERIES, KEYS).table.in_words()
    assert sentences[1] == "“der” (query 1) may attend to 2 of 5: “the” (key 0), “dog” (key 1)."
    assert sentences[3] == "“</s>” (query 3) may attend to nothing."


def test_numbers_with_a_sign_have_both_ends():
    values = np.random.default_rng(0).normal(size=(T, S)).astype(np.float32)
    for row, sentence in enumerate(figures.difference_heatmap(values, QUERIES, KEYS).table.in_words()):
        high, low = values[row].argmax(), values[row].argmin()
        assert f"largest “{visible(KEYS[high])}”" in sentence
        assert f"(key {high}) = {values[row, high]:.3g}" in sentence
        assert f"(key {low}) = {values[row, low]:.3g}" in sentence


def test_curves_have_their_ends():
    line = np.array([[0, 1, 2, 3], [5.0, 2.0, 9.0, 4.0]])
    (sentence,) = figures.curves({"loss": line}, y_axis="loss").table.in_words()
    assert sentence == "loss: 4 points, lowest 2 at 1, highest 9 at 2."


def test_a_board_says_what_is_written_on_every_head():
    values, names = np.array([[0.5, -0.25]], np.float32), [["Cross 0.0", "<b>"]]
    board = head_board(values, ["Cross 0"], ["0", "1"], texts=[["next", ""]], names=names, signed=True)
    assert board.table.in_words() == ["Cross 0.0: next; <b>."]
    assert list(board.table.rows()) == [["Cross 0.0", 0.5, "next"], ["<b>", -0.25, ""]]
    plain = head_board(values, value="worth")
    assert plain.table.header == ["head", "worth", "written"]
    assert plain.table.in_words() == ["layer 0, head 0: 0.5; layer 0, head 1: -0.25."]


def test_a_board_has_its_colours_and_its_frame():
    values = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.9]])
    figure = head_board(values, ["a", "b"], ["0", "1", "2"], low_is_good=True, selected=(1, 2))
    board, (frame,) = figure.data[0], figure.layout.shapes
    np.testing.assert_array_equal(board.z, values.astype(np.float32))
    assert (board.zmin, board.reversescale) == (0, True) and board.zmax == pytest.approx(0.9)
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (1.5, 2.5, 0.5, 1.5)
    assert list(figure.layout.yaxis.range) == [1.5, -0.5], "the first row is on top"
    assert "bright where it is small" in figure.description
    signed = head_board(values - 0.5, ["a", "b"], ["0", "1", "2"], signed=True).data[0]
    assert -signed.zmin == signed.zmax == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rows": ["a"]}, "rows"),
        ({"columns": ["0"]}, "columns"),
        ({"texts": [["x"], ["y"]]}, "texts has 1 labels for 2 entries"),
    ],
)
def test_a_board_that_does_not_fit_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        head_board(**{"values": np.zeros((2, 2)), "rows": ["a", "b"], "columns": ["0", "1"]} | changes)


def test_heads_are_points_that_name_their_place():
    points, places = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]), [(2, 0, 0), (2, 0, 1), (0, 1, 0)]
    figure = head_map(points, places, ["Cross", "Cross", "Encoder"], axes=("x", "y"), selected=(2, 0, 1))
    cross, encoder, ring = figure.data
    assert [list(map(list, trace.customdata)) for trace in (cross, encoder)] == [[[2, 0, 0], [2, 0, 1]], [[0, 1, 0]]]
    assert (list(cross.x), list(cross.y), list(cross.text)) == ([0, 2], [1, 3], ["0.0", "0.1"])
    assert (ring.x[0], ring.y[0]) == (2, 3)
