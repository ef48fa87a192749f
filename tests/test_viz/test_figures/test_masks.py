"""The mask drawing: which of two colours, and the words."""

import numpy as np
import pytest

from viz import theme
from viz.figures import mask_heatmap

MASK = np.array([[True, False, True], [False, False, True]])


def test_true_is_1_and_has_the_colour_of_may_attend():
    trace = mask_heatmap(MASK, ["a", "b"], ["x", "y", "z"]).data[0]
    assert trace.z.dtype == np.uint8
    np.testing.assert_array_equal(trace.z, [[1, 0, 1], [0, 0, 1]])
    assert (trace.zmin, trace.zmax) == (0, 1)
    scale = list(trace.colorscale)
    assert scale[0][1] == theme.BLOCKED and scale[-1][1] == theme.MAY_ATTEND
    assert {color for _, color in scale} == {theme.BLOCKED, theme.MAY_ATTEND}, "two colours and nothing between"


def test_the_bar_names_the_colours_where_they_are():
    bar = mask_heatmap(MASK, ["a", "b"], ["x", "y", "z"]).data[0].colorbar
    low, high = zip(*sorted(zip(bar.tickvals, bar.ticktext, strict=True)), strict=True)
    assert low[0] < 0.5 < low[1] and "blocked" in high[0] and "may attend" in high[1]


def test_hover_is_a_sentence():
    figure = mask_heatmap(MASK, ["a", "b"], ["x", "y", "z"])
    hovers = [figure.data[0].hovertemplate.replace("<extra></extra>", "").replace("<br>", " ")] * 2
    rows, columns = figure.layout.yaxis2.ticktext, figure.layout.xaxis2.ticktext
    for k, (i, j) in enumerate([(0, 2), (1, 0)]):
        for place, part in (("y", rows[i]), ("x", columns[j]), ("customdata", figure.data[0].customdata[i][j])):
            hovers[k] = hovers[k].replace(f"%{{{place}}}", part)
    assert hovers == ["query 0 “a” may attend key 2 “z”", "query 1 “b” is blocked from key 0 “x”"]


def test_hover_says_which_part_of_a_mask_blocks_a_cell():
    padding, future = np.array([[True, False, True]] * 2), np.array([[True, False, False], [True, True, True]])
    trace = mask_heatmap(padding & future, ["a", "b"], ["x", "y", "z"], padding=padding, look_ahead=future).data[0]
    both = ", the key is padding, the key lies in the future"
    assert trace.text.tolist() == [["", both, ", the key lies in the future"], ["", ", the key is padding", ""]]
    assert trace.hovertemplate.endswith("key %{x}%{text}<extra></extra>")
    with pytest.raises(ValueError, match=r"padding has shape \(2, 2\)"):
        mask_heatmap(MASK, ["a", "b"], ["x", "y", "z"], padding=padding[:, :2])


def test_the_description_counts():
    assert "3 of 6 cells" in mask_heatmap(MASK, ["a", "b"], ["x", "y", "z"]).description


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int64])
def test_numbers_are_refused_because_1_may_mean_blocked(dtype):
    with pytest.raises(ValueError, match=rf"mask has type {np.dtype(dtype)}; allowed is bool, where True means may"):
        mask_heatmap(MASK.astype(dtype), ["a", "b"], ["x", "y", "z"])


def test_a_convention_is_written_into_small_masks_and_every_hover_text():
    cell_texts = np.where(MASK, "0", "-inf")
    trace, _, texts = mask_heatmap(MASK, ["a", "b"], ["x", "y", "z"], cell_texts=cell_texts).data
    assert [list(row) for row in trace.text] == cell_texts.tolist() and list(texts.text) == cell_texts.ravel().tolist()
    assert "written as %{text}" in trace.hovertemplate
    large = np.ones((2, 40), bool)
    trace, _ = mask_heatmap(large, ["a", "b"], ["k"] * 40, cell_texts=np.where(large, "1", "0")).data
    assert "written as %{text}" in trace.hovertemplate
    assert mask_heatmap(MASK, ["a", "b"], ["x", "y", "z"]).data[0].text is None


def test_the_legend_can_be_left_to_the_page():
    assert mask_heatmap(MASK, ["a", "b"], ["x", "y", "z"]).data[0].showscale
    assert mask_heatmap(MASK, ["a", "b"], ["x", "y", "z"], legend=False).data[0].showscale is False
