"""What is written into cells stands out from them, whatever their colour."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.colors import make_colorscale, sample_colorscale

from viz import theme
from viz.figures import candidates_heatmap, head_board, heatmap, mask_heatmap

SHARES = np.linspace(0, 1, 12, dtype=np.float32)[None]


def luminance(red: float, green: float, blue: float) -> float:
    """WCAG 2.2, "relative luminance", channels from 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (red, green, blue)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    """WCAG 2.2, "contrast ratio"."""
    low, high = sorted((luminance(*first), luminance(*second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scale", [theme.SEQUENTIAL, theme.DIVERGING, theme.MASK_SCALE])
@pytest.mark.parametrize("reverse", [False, True])
def test_every_colour_of_a_scale_can_carry_its_text(scale, reverse):
    shares = np.linspace(0, 1, 401)
    cells = go.Heatmap(z=[shares * 6 - 2], zmin=-2, zmax=4, colorscale=scale, reversescale=reverse)
    colors = heatmap.colors_of(cells)[0]
    places, names = zip(*cells.colorscale, strict=True)
    if scale is not theme.MASK_SCALE:  # its halves do not blend, which Plotly's own function cannot take
        at = (1 - shares if reverse else shares).tolist()
        expected = sample_colorscale(make_colorscale(list(names), list(places)), at, colortype="tuple")
        np.testing.assert_allclose(colors, np.array(expected), atol=1 / 255)
    inks = heatmap.cell_texts(cells, [[""] * 401]).textfont.color
    for color, ink in zip(colors, inks, strict=True):
        assert contrast(tuple(color), (0, 0, 0) if ink == "#000" else (1, 1, 1)) >= 4.5
    assert set(inks) == {"#000", "#fff"} if scale is theme.SEQUENTIAL else "#000" in inks


@pytest.mark.parametrize(
    "figure",
    [
        head_board(SHARES - 0.5, ["row"], list("abcdefghijkl"), signed=True),
        head_board(SHARES, ["row"], list("abcdefghijkl"), low_is_good=True),
        candidates_heatmap(SHARES, ["a"], [["b"] * 12]),
        mask_heatmap(SHARES > 0.3, ["a"], ["k"] * 12, cell_texts=np.full((1, 12), "0")),
    ],
    ids=["signed board", "board where low is good", "candidates_heatmap", "mask_heatmap"],
)
def test_texts_stand_on_their_cells_and_take_no_clicks(figure):
    (texts,) = [trace for trace in figure.data if trace.name == heatmap.WRITTEN]
    np.testing.assert_array_equal(texts.x, np.arange(12))
    assert not np.any(texts.y) and len(texts.text) == 12 and all(texts.text)
    assert texts.hoverinfo == "skip" and figure.data[0].texttemplate is None
