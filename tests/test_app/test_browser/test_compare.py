"""The page Compare in a real browser: one choice for both sides, which the server never hears of."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.support.menu import go
from tests.support import PATIENCE
from tests.support.layout import resize
from tests.test_app.test_browser.test_stage import kind, part, ready, tile
from viz.views.view import EXAMPLE

pytestmark = pytest.mark.slow

B_EXAMPLE = "The animal didn't cross the street because it was too wide."
# What the picture of a version draws: null where it is blank.
DRAWN = """version => {
  const plot = document.querySelector(`[data-testid=stage-side][data-version=${version}] .js-plotly-plot`);
  return plot?.data ? Array.from(plot.data[0].z, row => Array.from(row)) : null;
}"""


def show(page: Page, url: str, query: str = "") -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/compare{query}")
    ready(page)


def wait_for(page: Page, version: str, expected: np.ndarray) -> np.ndarray:
    """Waits until the picture of a version draws these numbers, blank ones apart; returns what it draws."""
    values = np.empty(0)
    for _ in range(PATIENCE // 25):
        numbers = page.evaluate(DRAWN, version) or []
        values = np.array([[np.nan if cell is None else cell for cell in row] for row in numbers])
        if values.shape == expected.shape and np.nanmax(np.abs(values - expected)) < 4e-5:
            return values
        page.wait_for_timeout(25)
    np.testing.assert_allclose(values, expected, atol=4e-5)
    return values


def turn(page: Page, version: str) -> None:
    part(page, "versions").locator(f"[data-version={version}]").click()


def test_one_choice_draws_both_without_a_message_and_back_brings_sentences_and_head(page, app_server, recorded):
    """On one page, since opening one takes longer than all of it."""
    show(page, app_server, f"?text={quote(EXAMPLE)}")
    one_choice_of_a_head_draws_both_and_the_difference_without_a_message(page, recorded)
    back_brings_both_sentences_and_the_head_and_nothing_sticks_out(page)


def one_choice_of_a_head_draws_both_and_the_difference_without_a_message(page: Page, recorded) -> None:
    a, b = recorded.translate(EXAMPLE), recorded.translate(B_EXAMPLE)
    messages = []
    page.on("websocket", lambda socket: messages.append("another connection"))
    page.evaluate("""() => {
      const send = WebSocket.prototype.send;
      window.sent = 0;
      WebSocket.prototype.send = function (data) { window.sent++; return send.call(this, data); };
    }""")
    for code, layer, head in (("cross", 1, 3), ("encoder_self", 2, 1), ("decoder_self", 0, 2)):
        kind(page, code)
        tile(page, layer, head).click()
        wait_for(page, "before", a.attention(code)[layer, head])
        wait_for(page, "after", b.attention(code)[layer, head])
        wait_for(page, "difference", np.array(page.evaluate(DRAWN, "difference"), float))
    for version in ("before", "after", "difference"):
        turn(page, version)
        wait_for(page, "before", a.attention("decoder_self")[0, 2])
    assert page.evaluate("window.sent") == 0 and not messages
    expect(page).to_have_url(re.compile(r"kind=decoder_self&layer=0&head=2"))
    first = b.attention("decoder_self")[0, 2, 0, 0] - a.attention("decoder_self")[0, 2, 0, 0]
    assert page.evaluate(DRAWN, "difference")[0][0] == pytest.approx(first, abs=4e-5)


def test_a_token_and_its_partner_light_up_together_and_a_pin_stands_in_the_address(page, app_server):
    show(page, app_server, "?text=too+too+tired.&text-b=A+too+too+tired.&version=before")
    sides = page.locator(".hl-side")
    expect(sides.nth(1)).to_be_hidden()  # one pair of lines at a time
    lit = [sides.nth(number).get_by_test_id("stage-source").locator(".hl-lit") for number in (0, 1)]
    for index in (0, 1):  # two equal tokens have partners of their own
        token = sides.first.get_by_test_id("stage-source").locator("[data-index]").nth(index)
        token.hover()
        expect(lit[0]).to_have_count(1)
        expect(lit[0]).to_have_attribute("data-index", str(index))
        expect(lit[1]).to_have_attribute("data-index", str(index + 1))
    token.click()
    expect(page).to_have_url(re.compile(r"pin=as1"))
    page.reload()
    ready(page)
    expect(lit[0]).to_have_attribute("data-index", "1")
    expect(lit[1]).to_have_attribute("data-index", "2")
    turn(page, "difference")
    expect(sides.nth(0)).to_be_hidden()
    width = sides.nth(1).evaluate("side => side.querySelector('.hl-between').getBoundingClientRect().width")
    paths = sides.nth(1).locator(".hl-between path")
    expect(paths).not_to_have_count(0)  # whose ends are where the tokens now are
    ends = paths.evaluate_all("all => all.map(path => path.getPointAtLength(0).x)")
    assert 0 < min(ends) and max(ends) < width


def back_brings_both_sentences_and_the_head_and_nothing_sticks_out(page: Page) -> None:
    box = page.get_by_role("textbox", name="Sentence B")
    box.fill("A man is tired.")
    box.press("Enter")
    ready(page, 2)
    tile(page, 1, 2).click()
    turn(page, "before")
    for part_of_address in (r"text-b=A\+man\+is\+tired\.", "version=before", "layer=1"):
        expect(page).to_have_url(re.compile(part_of_address))
    address = page.url
    go(page, "Translate")
    expect(part(page, "play")).to_be_visible()
    page.go_back()
    expect(box).to_have_value("A man is tired.")
    expect(page).to_have_url(address)
    expect(tile(page, 1, 2)).to_have_attribute("aria-selected", "true")
    for width, height in ((1400, 900), (1280, 720), (400, 860)):
        resize(page, width, height)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        sign, lines = (page.get_by_test_id(f"stage-{name}").bounding_box() for name in ("projector", "texts"))
        assert lines["x"] + lines["width"] <= sign["x"]
