"""Scores and differences: centred colours, masked cells."""

import numpy as np
import pytest

from tests.test_viz.test_attention import boxes
from viz.figures import difference_heatmap, scores_heatmap

Q, K = ["a", "b"], ["x", "y", "z"]
SCORES = np.array([[1.5, -np.inf, -4.0], [0.0, 2.0, -np.inf]])


def test_masked_scores_are_hatched_and_do_not_stretch_the_colours():
    figure = scores_heatmap(SCORES, Q, K)
    trace = figure.data[0]
    np.testing.assert_array_equal(trace.z, np.where(np.isinf(SCORES), np.nan, SCORES).astype(np.float32))
    assert boxes(figure.data[1]) == {(0, 1), (1, 2)}
    assert (trace.zmin, trace.zmid, trace.zmax) == (-4, 0, 4)
    said = np.asarray(trace.customdata)[..., 2]
    assert said[0, 1] == "not allowed (masked)" and said[0, 2] == "-4.000" and said[1, 0] == "0.000"


def test_a_mask_hatches_raw_scores_and_keeps_their_number_in_the_hover():
    raw = np.array([[1.5, 9.0, -4.0], [0.0, 2.0, -9.0]])
    figure = scores_heatmap(raw, Q, K, np.isfinite(SCORES))
    np.testing.assert_array_equal(figure.data[0].z, raw.astype(np.float32))
    assert boxes(figure.data[1]) == {(0, 1), (1, 2)}
    assert figure.data[0].zmax == 4, "masked cells do not stretch the colours"
    assert figure.data[0].customdata[0][1][2] == "9.000, not allowed (masked)"


def test_without_masked_cells_nothing_is_hatched():
    figure = scores_heatmap(np.ones((2, 3)), Q, K)
    assert len(figure.data) == 1 and "%{z:.3f}" in figure.data[0].hovertemplate
    assert "Hatched" not in figure.layout.meta["description"]


def test_all_masked_and_all_zero_have_a_range():
    assert scores_heatmap(np.full((2, 3), -np.inf), Q, K).data[0].zmax == 1
    for nothing in (0.0, 2e-7):  # the second is what float32 makes of it
        assert difference_heatmap(np.full((2, 3), nothing), Q, K).data[0].zmax == 1
    assert difference_heatmap(np.full((2, 3), 1e-3), Q, K).data[0].zmax == pytest.approx(1e-3)


def test_differences_are_symmetric_about_0_and_name_both_sides():
    values = np.array([[0.1, -0.7, 0.0], [0.2, 0.3, 0.4]])
    figure = difference_heatmap(values, Q, K, a="head <1>", b="head 2")
    trace = figure.data[0]
    np.testing.assert_array_equal(trace.z, values.astype(np.float32))
    assert trace.zmax == pytest.approx(0.7) and trace.zmin == -trace.zmax and trace.zmid == 0
    assert trace.colorbar.title.text.startswith("head &lt;1&gt;<br>− head 2")
    assert "head <1> minus head 2" in figure.layout.meta["description"]
    assert "%{z:+.3f}" in trace.hovertemplate


def test_differences_may_not_be_masked():
    with pytest.raises(ValueError, match=r"a_minus_b is -inf at \(0, 1\) \(2 such cells\); allowed are finite numbers"):
        difference_heatmap(SCORES, Q, K)


def test_the_scale_is_palest_at_0_and_different_at_its_ends():
    scale = dict(difference_heatmap(np.ones((2, 3)), Q, K).data[0].colorscale)
    lightness = {place: sum(int(color[i : i + 2], 16) for i in (1, 3, 5)) for place, color in scale.items()}
    assert max(lightness, key=lightness.get) == 0.5
    assert scale[0] != scale[1]
