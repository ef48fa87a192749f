"""One head large: values, colours, and what the mask takes out."""

import numpy as np
import pytest

from viz import theme
from viz.figures import attention_heatmap
from viz.figures.heatmap import TICKS
from viz.text.language import say, using

QUERIES, KEYS = ["<s>", "ein", "Tier"], ["an", "animal", "!", "</s>"]


@pytest.fixture
def weights():
    values = np.random.default_rng(3).random((3, 4))
    return values / values.sum(-1, keepdims=True)


def boxes(trace):
    """The cells (row, column) that the boxes of a hatched trace cover."""
    xs, ys = np.asarray(trace.x).reshape(-1, 6)[:, :5], np.asarray(trace.y).reshape(-1, 6)[:, :5]
    cells = set()
    for x, y in zip(xs, ys, strict=True):
        assert y.max() - y.min() == 1
        cells |= {(int(y.min() + 0.5), column) for column in range(int(x.min() + 0.5), int(x.max() + 0.5))}
    return cells


def test_the_map_is_the_weights(weights):
    figure = attention_heatmap(weights, QUERIES, KEYS)
    np.testing.assert_array_equal(figure.data[0].z, weights.astype(np.float32))
    assert [trace.name for trace in figure.data[1:]] == [TICKS.name]
    assert figure.layout.xaxis.title.text == "key"
    assert figure.layout.yaxis.title.text == "query"


def test_hover_reads_query_key_weight_in_this_order(weights):
    figure = attention_heatmap(weights, QUERIES, KEYS)
    template = figure.data[0].hovertemplate
    assert template == "query %{y}<br>key %{x}<br>weight %{z:.3f}<extra></extra>"
    assert figure.layout.yaxis2.ticktext[2] == "2 “Tier”" and figure.layout.xaxis2.ticktext[1] == "1 “animal”"
    assert (figure.data[0].xaxis, figure.data[0].yaxis, figure.data[0].customdata) == ("x2", "y2", None)


def test_the_colours_end_at_1_unless_the_bar_says_otherwise(weights):
    fixed = attention_heatmap(weights * 0.1, QUERIES, KEYS).data[0]
    assert (fixed.zmin, fixed.zmax) == (0, 1) and fixed.colorbar.title.text.startswith("weight<br><span")
    scaled = attention_heatmap(weights * 0.1, QUERIES, KEYS, scale_to_max=True).data[0]
    assert scaled.zmax == pytest.approx(weights.max() * 0.1)
    assert f"largest<br>{weights.max() * 0.1:.3g}" in scaled.colorbar.title.text
    assert attention_heatmap(weights * 0, QUERIES, KEYS, scale_to_max=True).data[0].zmax == 1


def test_masked_cells_are_hatched_and_say_so_also_where_a_weight_is_left(weights):
    mask = np.array([[True, False, True, True], [True, True, True, True], [False, False, True, False]])
    weights[2, 3] = 0.25
    weights[~mask & (weights != 0.25)] = 0
    figure = attention_heatmap(weights, QUERIES, KEYS, mask=mask)
    np.testing.assert_array_equal(figure.data[0].z, weights.astype(np.float32))
    hatched = figure.data[1]
    assert boxes(hatched) == {(0, 1), (2, 0), (2, 1), (2, 3)}
    assert hatched.fillpattern.shape == theme.HATCH["fillpattern"]["shape"] and hatched.hoverinfo == "skip"
    assert hatched.name == "not allowed (masked)" and hatched.showlegend
    notes = figure.data[0].customdata
    assert notes[0, 1] == notes[2, 3] == ", not allowed (masked)" and notes[1, 1] == ""
    assert "%{z:.3f}%{customdata}" in figure.data[0].hovertemplate
    assert "Hatched cells are not allowed" in figure.description


def test_a_weight_of_0_that_is_allowed_looks_and_reads_different(weights):
    weights[0, 0] = 0
    mask = np.ones((3, 4), bool)
    mask[0, 1] = False
    figure = attention_heatmap(weights, QUERIES, KEYS, mask=mask)
    assert boxes(figure.data[1]) == {(0, 1)}
    assert figure.data[0].customdata[0][0] == ""


def test_a_mask_that_allows_all_changes_nothing(weights):
    with_mask = attention_heatmap(weights, QUERIES, KEYS, mask=np.ones((3, 4), bool))
    assert with_mask == attention_heatmap(weights, QUERIES, KEYS)


@pytest.mark.parametrize("value", [-0.002, 1.002])
def test_what_is_no_probability_is_refused(weights, value):
    weights[1, 1] = value
    with pytest.raises(
        ValueError, match=rf"weights has values from .*{value}.*; allowed are probabilities from 0 to 1"
    ):
        attention_heatmap(weights, QUERIES, KEYS)


def test_rounding_is_no_error(weights):
    weights[1, 1] = 1.0005
    attention_heatmap(weights, QUERIES, KEYS)


def test_a_mask_of_numbers_or_another_shape_is_refused(weights):
    with pytest.raises(ValueError, match="mask has type int64; allowed is bool, where True means may attend"):
        attention_heatmap(weights, QUERIES, KEYS, mask=np.ones((3, 4), dtype=np.int64))
    with pytest.raises(ValueError, match=r"mask has shape \(4, 3\); allowed is \(3, 4\)"):
        attention_heatmap(weights, QUERIES, KEYS, mask=np.ones((4, 3), bool))


def test_titles_are_drawn_literally(weights):
    figure = attention_heatmap(weights, QUERIES, KEYS, query_axis="<s>", key_axis="a & b")
    assert figure.layout.yaxis.title.text == "&lt;s&gt;" and figure.layout.xaxis.title.text == "a &amp; b"


def test_cells_below_the_threshold_are_blank_and_still_named():
    weights = np.array([[0.7, 0.2, 0.1], [0.0, 0.5, 0.5]], dtype=np.float32)
    visible = np.array([[True, True, False], [False, True, True]])
    allowed = np.array([[True, True, True], [False, True, True]])
    figure = attention_heatmap(weights, ["a", "b"], ["c", "d", "e"], visible=visible, mask=allowed)
    z = figure.data[0].z
    np.testing.assert_array_equal(np.isnan(z), ~visible)
    np.testing.assert_array_equal(z[visible], weights[visible])
    texts = figure.data[0].customdata.tolist()
    below = "not drawn (below the threshold)"
    assert texts == [["0.700", "0.200", f"0.100, {below}"], ["0.000, not allowed (masked)", "0.500", "0.500"]]


def test_hover_names_what_was_read_or_predicted_and_what_is_hidden():
    weights = np.full((2, 2), 0.25, dtype=np.float32)
    figure = attention_heatmap(weights, ["a", "b"], ["c", "d"], read=["<s>", "a"], removed=np.array([0.5, 0.125]))
    assert list(figure.layout.yaxis2.ticktext) == [
        "0 “a”, read “&lt;s&gt;”<br>0.500 of this row is hidden",
        "1 “b”, read “a”<br>0.125 of this row is hidden",
    ]


def test_names_of_numbers_are_drawn():
    weights = np.full((2, 2), 0.25, dtype=np.float32)
    large = attention_heatmap(weights, ["a", "b"], ["c", "d"], value="mean weight")
    assert "mean weight %{z:.3f}" in large.data[0].hovertemplate
    assert large.data[0].colorbar.title.text.startswith("mean weight")


def test_labels_travel_once_and_not_with_every_cell():
    """16 kB of numbers, a third more in base64, and 128 names."""
    names = [f"token number {i}" for i in range(64)]
    assert len(attention_heatmap(np.full((64, 64), 1 / 64), names, names).to_json()) < 40_000


def test_bytes_are_put_together_on_axes_in_hover_boxes_and_in_the_table(weights):
    queries = ["<s>", "<0xC3>", "<0xA9>"]
    figure = attention_heatmap(weights, queries, ["<0xE2>", "<0x98>", "<0x80>", "</s>"], read=queries)
    assert list(figure.layout.yaxis.ticktext) == ["&lt;s&gt;", "é 1/2", "é 2/2"]
    assert list(figure.layout.xaxis.ticktext)[:3] == ["☀ 1/3", "☀ 2/3", "☀ 3/3"]
    assert figure.layout.yaxis2.ticktext[1] == "1 “é 1/2”, read “é 1/2”"
    assert "<0x" not in figure.table.csv().decode() and "é 2/2" in figure.table.csv().decode()


def test_numbers_of_blank_cells_are_written_as_the_language_does(weights):
    with using("de"):
        figure = attention_heatmap(weights, QUERIES, KEYS, visible=weights > 0.2, say=say)
    assert figure.data[0].customdata[0][0].startswith(f"{weights[0, 0]:.3f}".replace(".", ","))
