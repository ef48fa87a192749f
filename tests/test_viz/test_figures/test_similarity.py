"""Similarity of positions and wavelengths: what is drawn where."""

import numpy as np
import pytest

from viz.figures import offset_lines, positional_heatmap, similarity_heatmap, wavelength_lines

PRODUCTS = np.array([[2.0, 1.0, -3.0], [1.0, 2.0, 1.0], [-3.0, 1.0, 2.0]])
CURVES = np.array([[4.0, 2.0, -1.0, 0.5], [1.0, 1.0, 1.0, 1.0]])


def test_the_map_is_the_products_on_colours_about_zero():
    figure = similarity_heatmap(PRODUCTS)
    np.testing.assert_array_equal(figure.data[0].z, PRODUCTS.astype(np.float32))
    assert (figure.data[0].zmin, figure.data[0].zmid, figure.data[0].zmax) == (-3, 0, 3)
    assert list(figure.layout.yaxis.range) == [2.5, -0.5] and list(figure.layout.xaxis.range) == [-0.5, 2.5]


@pytest.mark.parametrize("draw", [offset_lines, wavelength_lines])
def test_each_line_is_its_row_under_its_name(draw):
    values = np.abs(CURVES)
    figure = draw(values, ["paper", "<b>"])
    assert [trace.name for trace in figure.data] == ["paper", "&lt;b&gt;"]
    for trace, row in zip(figure.data, values, strict=True):
        np.testing.assert_array_equal(trace.y, row.astype(np.float32))
        np.testing.assert_array_equal(trace.x, np.arange(4))
    first, second = (trace.line for trace in figure.data)
    assert first.color != second.color and first.dash != second.dash
    with pytest.raises(ValueError, match="names has 1 labels for 2 entries"):
        draw(values, ["a"])


def test_wavelengths_are_drawn_on_a_logarithmic_axis():
    assert wavelength_lines(np.abs(CURVES), ["a", "b"]).layout.yaxis.type == "log"
    assert offset_lines(CURVES, ["a", "b"]).layout.yaxis.type is None


def test_a_difference_of_encodings_says_so():
    figure = positional_heatmap(CURVES, value="difference")
    assert "difference %{z:.3f}" in figure.data[0].hovertemplate
    assert figure.data[0].colorbar.title.text.startswith("difference")
    assert ": difference, colours from -4 to 4" in figure.description
