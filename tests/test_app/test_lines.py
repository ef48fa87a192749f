"""Attention as lines, on the page Open, in a browser: pointing, clicking, keys."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.test_app.test_open_page import WEIGHTS, WHOLE
from viz.figures.lines import LEAST_WEIGHT


def visible(page: Page) -> set[tuple[int, int, int]]:
    """The lines that can be seen: head, query, key."""
    found = page.locator(".lines .body line").evaluate_all(
        "all => all.filter(e => e.style.display !== 'none').map(e => [e.dataset.head, e.dataset.query, e.dataset.key])"
    )
    return {tuple(map(int, place)) for place in found}


@pytest.fixture
def lines_page(page, app_server):
    page.goto(f"{app_server}/open_file?kind=encoder_self&view=lines")
    page.locator("input[type=file]").set_input_files(
        {"name": "mine.npz", "mimeType": "application/octet-stream", "buffer": WHOLE}
    )
    expect(page.locator(".lines .head")).to_have_count(4)
    return page


def test_pointing_isolates_a_token_and_a_click_keeps_it(lines_page):
    page, everything = lines_page, visible(lines_page)
    expected = np.argwhere(WEIGHTS["encoder_self"][0] >= LEAST_WEIGHT)
    assert everything == {tuple(place) for place in expected.tolist()}
    query = page.locator(".column.query .token").nth(1)
    query.hover()
    assert visible(page) == {line for line in everything if line[1] == 1}
    expect(page.locator(".lines .said")).to_contain_text(f"“{query.text_content()}” attends to “")
    page.mouse.move(0, 0)
    assert visible(page) == everything
    key = page.locator(".column.key .token").nth(2)
    key.click()
    page.mouse.move(0, 0)
    assert visible(page) == {line for line in everything if line[2] == 2}
    expect(key).to_have_attribute("aria-pressed", "true")
    key.focus()
    page.keyboard.press("Escape")
    assert visible(page) == everything


def test_a_click_switches_a_head_a_double_click_solos_it(lines_page):
    page, everything = lines_page, visible(lines_page)
    head = page.locator(".lines .head").nth(2)
    head.click()
    assert visible(page) == {line for line in everything if line[0] != 2}
    expect(head).to_have_attribute("aria-pressed", "false")
    page.locator(".lines .head").nth(2).dblclick()
    assert {line[0] for line in visible(page)} == {2}
    page.locator(".lines .head").nth(2).press("Shift+Enter")
    assert {line[0] for line in visible(page)} == {0, 1, 2}
    page.locator(".lines .head").nth(1).click()
    page.locator(".lines .every").click()
    assert {line[0] for line in visible(page)} == {0, 1, 2}
