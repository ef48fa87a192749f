"""The page Masks of the site in a browser: recorded at first, then computed for what a visitor flips and types."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.support import PATIENCE, masks_by_hand
from tests.test_viz.test_site import test_browser_site as site
from tests.test_viz.test_site.test_browser_sheets import opened

pytestmark = pytest.mark.slow

visitor = site.visitor


def answer_of(state: dict[str, str]) -> str:
    """What is to be said at an address."""
    return masks_by_hand.answer(masks_by_hand.seen_at(state))


def test_a_visitor_leaves_masks_out_flips_cells_and_types(visitor, address) -> None:
    page = visitor.page
    opened(page, address, "masks", "")
    answer = page.get_by_test_id("answer")
    expect(answer).to_have_text(answer_of({}))
    page.get_by_role("radio", name="Cross").click()
    page.get_by_role("tab", name="Neither").click()
    page.get_by_role("tab", name="3", exact=True).click()
    state = {"mask": "cross", "without": "both", "sentence": "3"}
    expect(answer).to_have_text(answer_of(state))
    head = page.get_by_role("radio", name="Layer 2, head 5")
    head.click()
    expect(answer).to_have_text(answer_of(state | {"layer": "2", "head": "5"}))
    expect(head).to_be_focused()
    assert not [request.url for request in visitor.requests if "safetensors" in request.url], "all of it is recorded"

    page.get_by_role("tab", name="Mask, large").click()
    cell = page.locator(".hl-sheet-cursor")
    cell.focus()
    page.keyboard.press("ArrowRight")
    expect(cell).to_have_accessible_name(re.compile("may attend to"))
    page.keyboard.press("Enter")
    flipped = state | {"layer": "2", "head": "5", "cells": "0-1"}
    expect(page).to_have_url(re.compile(r"cells=0-1"))
    expect(answer).to_have_text(answer_of(flipped), timeout=PATIENCE)
    expect(cell).to_have_accessible_name(re.compile("may not attend to"))
    expect(cell).to_be_focused()
    assert [request.url for request in visitor.requests if "safetensors" in request.url]
    page.get_by_role("radio", name="Padding, source").click()
    expect(answer).to_have_text(answer_of({"mask": "encoder_self", "without": "both", "sentence": "3"}))
    assert not re.search("(cells|layer|head)=", page.url), "they are of the mask before"
    page.go_back()
    expect(answer).to_have_text(answer_of(flipped))

    box = page.get_by_label("English 3")
    box.fill("No, thank you.")
    typed = flipped | {"source3": "No, thank you."}
    expect(answer).to_have_text(answer_of(typed))
    expect(box).to_be_focused()
    box.fill("word " * 80)
    expect(page.get_by_test_id("stage-sheet-warning")).to_have_text(re.compile("^Source 3 has 80 tokens; at most 63"))
    box.fill("No.")
    expect(answer).to_have_text(answer_of(flipped))
    page.get_by_role("link", name="Translate with these cells on Steer").click()
    expect(page.get_by_test_id("stage-changes").locator(".hl-chip")).to_have_count(1)
    expect(page.get_by_test_id("stage-changes")).to_contain_text("blocked")
