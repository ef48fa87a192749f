"""The twin of a figure in words: each sentence names what the array holds there."""

from __future__ import annotations

import re

import numpy as np
import pytest

from viz import figures
from viz.figures import head_board
from viz.figures.labels import visible

QUERIES = ["<s>", "der", "der", "</s>"]
KEYS = ["the", "dog", "<b>", "\n", "</s>"]
T, S = len(QUERIES), len(KEYS)


def weights(*shape: int) -> np.ndarray:
    values = np.random.default_rng(3).random(shape).astype(np.float32)
    return values / values.sum(-1, keepdims=True)


def test_a_row_names_the_two_it_reads_most():
    values = weights(T, S)
    said = figures.attention_heatmap(values, QUERIES, KEYS).table.in_words()
    assert len(said) == T
    for row, (sentence, query) in enumerate(zip(said, QUERIES, strict=True)):
        first, second = np.argsort(-values[row])[:2]
        assert sentence.startswith(f"“{query}” (query {row}): ")
        assert f"(key {first}) = {values[row, first]:.3g}, then " in sentence
        assert sentence.endswith(f"(key {second}) = {values[row, second]:.3g}.")
        assert "\n" not in sentence


def test_what_is_blank_is_never_named():
    shown = np.ones((T, S), bool)
    shown[0], shown[1, 1:] = False, False
    said = figures.attention_heatmap(weights(T, S), QUERIES, KEYS, shown=shown).table.in_words()
    assert said[0] == "“<s>” (query 0): blank."
    assert "then" not in said[1] and "“the” (key 0)" in said[1]


def test_a_mask_says_what_may_be_read():
    mask = np.tri(T, S, dtype=bool)
    mask[3] = False
    said = figures.mask_heatmap(mask, QUERIES, KEYS).table.in_words()
    assert said[1] == "“der” (query 1) may attend to 2 of 5: “the” (key 0), “dog” (key 1)."
    assert said[3] == "“</s>” (query 3) may attend to nothing."


def test_numbers_with_a_sign_have_both_ends():
    values = np.random.default_rng(0).normal(size=(T, S)).astype(np.float32)
    for row, sentence in enumerate(figures.difference_heatmap(values, QUERIES, KEYS).table.in_words()):
        high, low = values[row].argmax(), values[row].argmin()
        assert f"largest “{visible(KEYS[high])}”" in sentence
        assert f"(key {high}) = {values[row, high]:.3g}" in sentence
        assert f"(key {low}) = {values[row, low]:.3g}" in sentence


def test_an_overview_says_where_every_head_is_surest():
    values = weights(2, 3, T, S)
    said = figures.head_overview(values).table.in_words()
    assert len(said) == 6
    for number, (layer, head) in enumerate(np.ndindex(2, 3)):
        query, key = np.unravel_index(values[layer, head].argmax(), (T, S))
        where = f"layer {layer}, head {head}: largest weight {values[layer, head].max():.3g}"
        assert said[number] == f"{where}, at query {query} and key {key}."


def test_lines_name_the_strongest_of_every_head():
    values = weights(2, T, S)
    said = figures.attention_lines(values, QUERIES, KEYS).table.in_words()
    assert [sentence.split(":")[0] for sentence in said] == ["head 0", "head 1"]
    for head, sentence in enumerate(said):
        found = [
            (int(q), int(k), float(w)) for q, k, w in re.findall(r"query (\d+).*?key (\d+)\) ([\d.]+)[,.]", sentence)
        ]
        strongest = np.argsort(-values[head].ravel())[: len(found)]
        assert [q * S + k for q, k, _ in found] == strongest.tolist()
        np.testing.assert_allclose([w for *_, w in found], values[head].ravel()[strongest], atol=1e-3)


def test_curves_have_their_ends():
    line = np.array([[0, 1, 2, 3], [5.0, 2.0, 9.0, 4.0]])
    (said,) = figures.curves({"loss": line}, y_axis="loss").table.in_words()
    assert said == "loss: 4 points, lowest 2 at 1, highest 9 at 2."


def test_a_board_says_what_is_written_on_every_head():
    texts = [["on", "off"], ["even", "<on>"]]
    board = head_board(None, texts, value="no number")
    assert board.table.in_words() == ["layer 0: head 0 on, head 1 off.", "layer 1: head 0 even, head 1 <on>."]
    assert "orange" not in board.description
    header, rows = board.table.header, list(board.table.rows())
    assert header == ["layer", "head", "no number", "written"] and rows[1] == [0, 1, None, "off"]
    with_numbers = head_board(np.array([[0.5, -0.25]], np.float32))
    assert with_numbers.table.in_words() == ["layer 0: head 0 +0.5, head 1 -0.25."]
    assert list(with_numbers.table.rows()) == [[0, 0, 0.5, "+0.5"], [0, 1, -0.25, "-0.25"]]


def test_a_board_of_nothing_is_refused():
    with pytest.raises(ValueError, match="values or texts"):
        head_board(None)
