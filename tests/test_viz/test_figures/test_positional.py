"""Positional tables and waves."""

import numpy as np

from viz.figures import positional_heatmap, positional_waves

TABLE = np.sin(np.arange(5)[:, None] / 2.0 ** np.arange(8))


def test_the_map_is_the_table_on_minus_1_to_1():
    trace = positional_heatmap(TABLE * 0.5).data[0]
    np.testing.assert_array_equal(trace.z, (TABLE * 0.5).astype(np.float32))
    assert (trace.zmin, trace.zmid, trace.zmax) == (-1, 0, 1)


def test_larger_values_widen_the_range_on_both_sides():
    table = TABLE.copy()
    table[2, 3] = -3
    assert (positional_heatmap(table).data[0].zmin, positional_heatmap(table).data[0].zmax) == (-3, 3)
    low, high = positional_waves(table, [0, 3]).layout.yaxis.range
    assert low < -3 and high == -low
    assert positional_waves(table, [0]).layout.yaxis.range[1] < 1.5, "only what is drawn counts"


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


def test_each_line_is_its_dimension_in_the_order_asked_for():
    figure = positional_waves(TABLE, [6, 0, 3])
    assert [trace.name for trace in figure.data] == ["dimension 6", "dimension 0", "dimension 3"]
    for trace, dimension in zip(figure.data, [6, 0, 3], strict=True):
        np.testing.assert_array_equal(trace.y, TABLE[:, dimension].astype(np.float32))
        np.testing.assert_array_equal(trace.x, np.arange(5))
        assert trace.name == f"dimension {dimension}" and "%{fullData.name}<br>position" in trace.hovertemplate
    assert [line.partition(":")[0] for line in figure.table.in_words()] == [trace.name for trace in figure.data]


def test_lines_differ_in_more_than_colour():
    looks = [(t.line.color, t.line.dash) for t in positional_waves(TABLE, list(range(8))).data]
    assert len(set(looks)) == 8 and len({dash for _, dash in looks}) > 2
