"""Code and files beside a figure in a real browser: pictures, pages, numbers, and the stage with its report."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.support import PATIENCE
from tests.test_app.test_browser.test_pages import plot
from tests.test_app.test_translate import EXAMPLE

pytestmark = pytest.mark.slow


def download(page: Page, button, folder: Path) -> Path:
    """Clicks a button and keeps the file that comes."""
    with page.expect_download(timeout=PATIENCE) as coming:
        button.click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def test_a_figure_is_taken_away(page, app_server, recorded, tmp_path, offline):
    page.set_default_timeout(PATIENCE)
    page.goto(f"{app_server}/atlas?part=contribution&layer=1&head=2")
    expect(plot(page, "weights")).to_be_visible()
    assert_tab_goes_into_what_the_button_opens(page)
    page.locator(".st-key-beside-weights button").first.click()
    png = download(page, page.get_by_role("button", name="PNG", exact=True), tmp_path)
    assert png.name.startswith("headlight-") and png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    svg = download(page, page.get_by_role("button", name="SVG", exact=True), tmp_path).read_text("utf-8")
    assert EXAMPLE in svg and "en-de" in svg
    table = download(page, page.get_by_role("button", name="CSV", exact=True), tmp_path).read_text("utf-8")
    weights = np.array([float(row["weight"]) for row in csv.DictReader(table.splitlines())], np.float32)
    expected = recorded.translate(EXAMPLE, beam=4).attention("cross")[1, 2]
    np.testing.assert_allclose(weights.reshape(expected.shape), expected, rtol=1e-6)
    file = download(page, page.get_by_role("button", name="HTML", exact=True), tmp_path)
    alone, complaints = offline
    alone.goto(file.as_uri())
    expect(alone.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=PATIENCE)
    assert not complaints


def test_the_report_of_a_sentence_needs_no_network(page, app_server, tmp_path, offline):
    page.set_default_timeout(PATIENCE)
    page.goto(app_server)
    expect(page.locator(".hl-stage[data-ready] .main-svg").first).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    file = download(page, page.get_by_role("button", name="Web page (HTML)", exact=True), tmp_path)
    alone, complaints = offline
    alone.goto(file.as_uri())
    expect(alone.locator(".hl-stage[data-ready] .main-svg").first).to_be_visible(timeout=PATIENCE)
    alone.locator("[data-layer='1'][data-head='3']").click()
    expect(alone.locator(".hl-title").first).to_contain_text("Cross-attention · layer 1 · head 3", timeout=PATIENCE)
    assert alone.locator(".hl-report a").get_attribute("href").startswith(app_server)
    expect(alone.locator(".hl-report table").last).to_contain_text("probability")
    assert not complaints


def assert_tab_goes_into_what_the_button_opens(page: Page) -> None:
    button = page.locator(".st-key-beside-weights button").first
    button.focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('[data-testid=stPopoverBody]')") is None
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="CSV", exact=True)).to_be_visible()
    for _ in range(2):
        page.keyboard.press("Tab")
        assert page.evaluate("!!document.activeElement.closest('[data-testid=stPopoverBody]')")
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
