"""A page with Plotly in it, shared by the tests that look at what is drawn: loading Plotly takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from tests.support import forget_other_models

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Forgets, before fixtures of a file compute, what other tests have of other models."""
    forget_other_models()


@pytest.fixture(scope="session")
def plotly_page(browser: Browser) -> Iterator[Page]:
    """An empty page with Plotly loaded."""
    tab = browser.new_page(viewport={"width": 1000, "height": 700})
    tab.set_content("<!doctype html><body style='margin:0'><div id=g></div>")
    tab.add_script_tag(content=get_plotlyjs())
    yield tab
    tab.close()


@pytest.fixture
def plot(browser: Browser, plotly_page: Page) -> Callable[[go.Figure], Page]:
    """Draws a figure as `g` on the page, which then keeps its clicks in `events`."""

    def draw(figure: go.Figure) -> Page:
        plotly_page.mouse.move(999, 699)
        plotly_page.evaluate(
            """async json => {
                const figure = JSON.parse(json);
                Plotly.purge('g');
                window.events = [];
                await Plotly.newPlot('g', figure.data, figure.layout);
                g.on('plotly_click', ({points}) => events.push(
                    ['click', points.map(p => p.customdata), points.map(p => [p.y, p.x])]));
            }""",
            figure.to_json(),
        )
        return plotly_page

    return draw
