"""The page Positions of the site in a browser: by keyboard, and with weights only where a sentence is shuffled."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support import PATIENCE
from tests.test_viz.test_site import test_browser_site as site
from tests.test_viz.test_site.test_browser_sheets import opened

pytestmark = pytest.mark.slow

visitor = site.visitor


def test_encodings_are_chosen_and_their_waves_by_keyboard(visitor, address) -> None:
    page = visitor.page
    opened(page, address, "positions", "length=20")
    answer = page.get_by_test_id("answer")
    lines = page.locator(".hl-sheet-legend span")
    expect(lines).to_have_text(["dimension 0", "dimension 1", "dimension 16", "dimension 32"])
    page.get_by_role("button", name="dimension 0, position 0: 0.000").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(lines).to_have_text([f"dimension {n}" for n in (0, 1, 3, 16, 32)])
    assert "dimensions=0.1.16.32.3" in page.url
    page.get_by_role("radio", name="paper's formula").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="literal loop")).to_be_focused()
    expect(answer).to_contain_text("Here the place matters, too")
    page.get_by_test_id("control-width").get_by_role("slider").focus()
    page.keyboard.press("Home")
    expect(lines).to_have_text([f"dimension {n}" for n in (0, 1, 3)])
    assert "width=8" in page.url and "first=literal_loop" in page.url
    page.go_back()
    page.go_back()
    expect(answer).to_contain_text("Any two positions 5 apart have the product")


def test_the_weights_come_once_another_sentence_is_shuffled(visitor, address) -> None:
    page = visitor.page
    opened(page, address, "positions", "picture=order")
    answer = page.get_by_test_id("answer")
    expect(answer).to_contain_text("Both orders give the same translation: “Ein Mann fährt")
    assert not [request.url for request in visitor.requests if "safetensors" in request.url]
    page.get_by_role("textbox").fill("Where is my brother?")
    expect(answer).to_contain_text("“Wo", timeout=PATIENCE)
    assert [request.url for request in visitor.requests if "safetensors" in request.url]
    titles = page.locator(".hl-sheet-map > .hl-picture-title")
    expect(titles.first).to_have_text("“Where is my brother?”")
    page.get_by_role("tab", name="as trained").click()
    expect(answer).to_contain_text(" becomes “")
    expect(page.get_by_role("textbox")).to_have_value("Where is my brother?")
    page.get_by_role("radio", name="Cross, layer 2, head 2").click()
    expect(page.locator(".hl-sheet-right")).to_contain_text("Cross-attention, layer 2, head 2")
    assert "kind=cross" in page.url and "trained=1" in page.url
    page.get_by_role("textbox").fill(" ")
    expect(page.get_by_test_id("stage-sheet-warning")).to_contain_text("Showing the last one that worked.")
    expect(titles.first).to_have_text("“Where is my brother?”")
