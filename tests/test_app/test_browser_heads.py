"""The importance of heads in a real browser: it can be stopped, and what was found before stays."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.support.server import ROOT, serve
from tests.test_app.test_browser import DRAWN
from tests.test_app.test_browser_pages import PATIENCE, plot

COLOURED = """() => document.querySelector('.st-key-board-cross .js-plotly-plot')?._fullData?.[0].z
  .some(row => Array.from(row).some(Boolean))"""


def numbers(page: Page) -> np.ndarray:
    """What the board of the cross-attention shows."""
    expect(plot(page, "board-cross")).to_be_visible()
    board = page.locator(".st-key-board-cross .js-plotly-plot")
    expect(board).to_have_count(1)  # the one of the run before goes when that run is over
    return np.array(board.evaluate(DRAWN))


def translate(page: Page, text: str) -> None:
    """Enters another sentence and waits for its translation."""
    box = page.locator(".st-key-text input")
    box.fill(text)
    box.press("Enter")
    page.wait_for_url(f"**text={text}*")


@pytest.mark.long
def test_a_click_on_cancel_stops_the_work_and_keeps_what_was_found(profile, tiny_checkpoint):
    with serve(module="tests.support.slow_server", environment={"PYTHONPATH": str(ROOT)}) as url:
        page = profile.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{url}/heads?text=Tired")
        button = page.get_by_role("button", name="Importance of every head")
        cancel = page.get_by_role("button", name="Cancel", exact=True)
        button.click()
        page.wait_for_function(COLOURED)
        expect(button).to_be_disabled()
        expect(cancel).to_have_count(0)
        found = numbers(page)
        translate(page, "Street")
        expect(button).to_be_enabled()
        page.wait_for_function(f"() => !({COLOURED})()")  # the board is drawn a moment after the button
        button.click()
        cancel.click()
        expect(cancel).to_have_count(0)
        page.wait_for_timeout(7_500)  # longer than all layers would take
        assert not numbers(page).any()
        expect(button).to_be_enabled()
        translate(page, "Tired")
        expect(button).to_be_disabled()
        page.wait_for_function(COLOURED)
        np.testing.assert_array_equal(numbers(page), found)
        page.close()
