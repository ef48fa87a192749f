"""Rows that are moved apart keep their numbers, names and hover texts."""

from __future__ import annotations

import numpy as np

from viz.figures import aligned_rows, attention_heatmap, values_heatmap

QUERIES, KEYS = ["a", "<b>", "a"], ["x", "y"]
WEIGHTS = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]], dtype=np.float32)


def test_rows_stand_where_they_are_put_and_the_others_are_blank():
    alone = attention_heatmap(WEIGHTS, QUERIES, KEYS)
    figure = aligned_rows(attention_heatmap(WEIGHTS, QUERIES, KEYS), [1, 2, 4], 6)
    z = figure.data[0].z
    np.testing.assert_array_equal(z[[1, 2, 4]], WEIGHTS)
    assert z.shape == (6, 2) and np.isnan(z[[0, 3, 5]]).all()
    assert list(figure.layout.yaxis.tickvals) == [1, 2, 4]
    assert list(figure.layout.yaxis.ticktext) == ["a", "&lt;b&gt;", "a"]
    assert list(figure.layout.yaxis.range) == [5.5, -0.5]
    assert figure.layout.yaxis2.ticktext == alone.layout.yaxis2.ticktext
    assert figure.layout.yaxis2.tickvals == figure.layout.yaxis.tickvals
    assert figure.table.values.shape == (6, 2) and figure.description.endswith("that only another system has.")


def test_two_maps_with_as_many_rows_are_equally_high():
    many = attention_heatmap(np.full((20, 2), 0.5), ["w"] * 20, KEYS)
    few = aligned_rows(attention_heatmap(WEIGHTS, QUERIES, KEYS), [0, 7, 19], 20)
    assert few.layout.height == many.layout.height


def test_rows_of_numbers_too():
    figure = aligned_rows(values_heatmap(np.ones((2, 5)), ["a", "b"]), [0, 2], 3)
    assert np.isnan(figure.data[0].z[1]).all() and figure.table.row_names == ["a", "", "b"]
