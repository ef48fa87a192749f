"""What a head does in the rows of one text, against plain transformers and the index that has histograms of it."""

from __future__ import annotations

import numpy as np
import pytest

from model import attach
from model.interventions.edits import Head
from model.measures.corpus import index
from model.measures.corpus.row_numbers import read_rows
from tests.support.architectures import Numbers, build
from tests.test_model.test_measures.test_corpus import TEXTS, plain_parts

TEXT = max(TEXTS, key=len)


@pytest.mark.parametrize("head", [Head("decoder_self", 0, 1), Head("decoder_self", 2, 3)])
def test_rows_are_those_of_plain_transformers(head: Head) -> None:
    ids = list(map(int, TEXT.split()))
    parts = {name: part[head.layer, head.head] for name, part in plain_parts(build("llama", "eager"), ids).items()}
    with attach(build("llama"), Numbers()) as reader:
        numbers = read_rows(reader, TEXT, head)
    rows = np.arange(1, len(ids))  # the first has no choice
    weights = parts["weight"][rows]
    entropies = [-(row[row > 0] * np.log(row[row > 0])).sum() for row in weights]
    np.testing.assert_array_equal(numbers.rows, rows)
    np.testing.assert_allclose(numbers.activity, parts["activity"][rows], rtol=1e-4)
    np.testing.assert_array_equal(numbers.distance, parts["written"][rows].argmax(-1) - rows)
    np.testing.assert_allclose(numbers.largest, weights.max(-1), atol=1e-5)
    np.testing.assert_allclose(numbers.spread, entropies / np.log(rows + 1), atol=1e-5)


def test_rows_fall_where_an_index_counts_them() -> None:
    with attach(build("llama"), Numbers()) as reader:
        counts = index.measure(reader, [TEXT])["kinds"]["decoder_self"]
        for layer, head in np.ndindex(3, 4):
            numbers = read_rows(reader, TEXT, Head("decoder_self", layer, head))
            for name in ("largest", "spread"):
                histogram = np.array(counts[name][layer][head])
                bins = (getattr(numbers, name) * len(histogram)).astype(int).clip(0, len(histogram) - 1)
                np.testing.assert_array_equal(np.bincount(bins, minlength=len(histogram)), histogram)


def test_a_text_that_cannot_be_read_is_an_error() -> None:
    with attach(build("llama"), Numbers()) as reader, pytest.raises(ValueError):
        read_rows(reader, "", Head("decoder_self", 0, 0))
