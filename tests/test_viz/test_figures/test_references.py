"""The main figures look as they did: drawn by Plotly in a browser, and laid beside references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from PIL import Image

from tests.support.reference_images import CAUSAL, FIGURES, TOKENS, draw, open_page, path_of
from tests.support.repeated import first_quick
from viz import figures

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FAR = 40  # levels out of 255, by which a part of ten by ten pixels looks different
MOST = 0.02  # of the parts may: fonts are not the same on all machines


@pytest.fixture(scope="module")
def figures_page(browser: Browser) -> Iterator[Page]:
    tab = open_page(browser)
    yield tab
    tab.close()


def different(picture: np.ndarray, name: str) -> float:
    """Which part of a picture is not as in its reference."""
    reference = np.asarray(Image.open(path_of(name)).convert("RGB"))
    far = np.abs(picture.astype(int) - reference.astype(int)).max(axis=-1) > FAR
    return far.mean()


@pytest.mark.parametrize("name", first_quick(FIGURES))
def test_a_figure_looks_as_its_reference(figures_page, name: str) -> None:
    assert different(draw(figures_page, FIGURES[name]()), name) <= MOST


def test_a_mask_upside_down_does_not(figures_page) -> None:
    upside_down = figures.mask_heatmap(CAUSAL[::-1], TOKENS, TOKENS, look_ahead=~CAUSAL[::-1])
    assert different(draw(figures_page, upside_down), "mask") > 10 * MOST
