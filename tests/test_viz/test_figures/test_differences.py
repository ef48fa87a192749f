"""Differences: centred colours."""

import numpy as np
import pytest

from viz.figures import difference_heatmap

Q, K = ["a", "b"], ["x", "y", "z"]
MASKED = np.array([[1.5, -np.inf, -4.0], [0.0, 2.0, -np.inf]])


def test_nothing_but_rounding_has_a_range():
    for nothing in (0.0, 2e-7):  # the second is what float32 makes of it
        assert difference_heatmap(np.full((2, 3), nothing), Q, K).data[0].zmax == 1
    assert difference_heatmap(np.full((2, 3), 1e-3), Q, K).data[0].zmax == pytest.approx(1e-3)


def test_differences_are_symmetric_about_0_and_name_both_sides():
    values = np.array([[0.1, -0.2, 0.0], [0.2, 0.3, 0.7]])
    figure = difference_heatmap(values, Q, K, a="head <1>", b="head 2")
    trace = figure.data[0]
    np.testing.assert_array_equal(trace.z, values.astype(np.float32))
    assert trace.zmax == pytest.approx(0.7) and trace.zmin == -trace.zmax and trace.zmid == 0
    assert trace.colorbar.title.text.startswith("head &lt;1&gt;<br>− head 2")
    assert "Orange where head <1> is larger, blue where head 2 is." in figure.description
    assert "%{z:+.3f}" in trace.hovertemplate


def test_differences_may_not_be_masked():
    with pytest.raises(ValueError, match=r"a_minus_b is -inf at \(0, 1\) \(2 such cells\); allowed are finite numbers"):
        difference_heatmap(MASKED, Q, K)


def test_the_scale_is_palest_at_0_and_different_at_its_ends():
    scale = dict(difference_heatmap(np.ones((2, 3)), Q, K).data[0].colorscale)
    lightness = {place: sum(int(color[i : i + 2], 16) for i in (1, 3, 5)) for place, color in scale.items()}
    assert max(lightness, key=lightness.get) == 0.5
    assert scale[0] != scale[1]
