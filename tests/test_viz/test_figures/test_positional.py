"""Positional tables."""

import numpy as np

from viz.figures import positional_heatmap

TABLE = np.sin(np.arange(5)[:, None] / 2.0 ** np.arange(8))


def test_the_map_is_the_table_on_minus_1_to_1():
    trace = positional_heatmap(TABLE * 0.5).data[0]
    np.testing.assert_array_equal(trace.z, (TABLE * 0.5).astype(np.float32))
    assert (trace.zmin, trace.zmid, trace.zmax) == (-1, 0, 1)


def test_larger_values_widen_the_range_on_both_sides():
    table = TABLE.copy()
    table[2, 3] = -3
    assert (positional_heatmap(table).data[0].zmin, positional_heatmap(table).data[0].zmax) == (-3, 3)


def test_rows_carry_numbers_without_tokens_and_tokens_with():
    plain = positional_heatmap(TABLE)
    assert list(plain.layout.yaxis.ticktext) == ["0", "1", "2", "3", "4"]
    assert "position %{y:d}" in plain.data[0].hovertemplate and "yaxis2" not in plain.layout
    named = positional_heatmap(TABLE, ["<s>", "a", "a", "b", "</s>"])
    assert list(named.layout.yaxis.ticktext)[0] == "&lt;s&gt;"
    assert named.layout.yaxis2.ticktext[2] == "2 “a”" and "position %{y}<br>" in named.data[0].hovertemplate


def test_dimensions_are_thinned_to_powers_of_two():
    values = list(positional_heatmap(np.zeros((2, 256))).layout.xaxis.tickvals)
    assert values == list(range(0, 256, 32))
