"""The component for figures in a real browser: clicks, a node that stays, colours of the page, pictures, a table."""

from __future__ import annotations

import re
from io import BytesIO

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.support import PATIENCE
from tests.support.layout import settle
from tests.test_app.test_browser.test_beside import download
from tests.test_viz.test_figures.test_heatmap import contrast

pytestmark = pytest.mark.slow

BOARD = ".st-key-role-board [role=grid]"
FILL = "document.querySelector('.st-key-scatter .ytick text').style.fill"


def open_heads(page: Page, url: str, measure: str = "sharpness") -> None:
    """Opens the page of heads and waits for its figures."""
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/atlas?colour={measure}")
    expect(page.locator(BOARD)).to_be_visible()
    expect(page.locator(".hl-stage[data-ready] .js-plotly-plot .main-svg").first).to_be_visible()


def test_heads_of_a_board_are_chosen_with_the_mouse_and_with_arrow_keys_and_the_node_stays(page, app_server):
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    open_heads(page, app_server)
    page.evaluate(f"document.querySelector('{BOARD}').mine = true")
    chosen = page.locator(f"{BOARD} [aria-selected=true]")
    cell = page.locator(f"{BOARD} [data-row='0'][data-head='2']")
    cell.click()
    expect(page).to_have_url(re.compile("kind=encoder_self.*head=2|head=2.*kind=encoder_self"))
    expect(chosen).to_have_attribute("data-head", "2")
    assert (name := chosen.get_attribute("aria-label")) and "layer 0, head 2" in name and "sharpness" in name
    expect(page.locator(".st-key-role-board [role=tooltip]")).to_have_text(name)
    cell.focus()
    for key, row, head, address in (("ArrowRight", 0, 3, "head=3"), ("ArrowDown", 1, 3, "layer=1")):
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(address))
        expect(chosen).to_have_count(1)
        expect(page.locator(f"{BOARD} [data-row='{row}'][data-head='{head}']")).to_be_focused()
    assert page.evaluate(f"document.querySelector('{BOARD}').mine")
    for path in ("pitfalls", "models"):
        page.goto(f"{app_server}/{path}")
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    assert not [url for url in urls if "PlotlyChart" in url], "Streamlit's own copy of Plotly"
    assert any("plotly.min.js" in url for url in urls)


ZERO = """() => {
  const canvas = document.querySelector(".hl-sheet-map canvas"), box = canvas.getBoundingClientRect();
  return [box.left + 10.5 * box.width / canvas.width, box.top + 0.5 * box.height / canvas.height];
}"""  # where position 0 of the difference of two encodings is drawn, which is 0
LOOKS = 40  # at the colours of a page that changes them
PALE, NEARLY_DARK = (240, 240, 240), (38, 45, 53)  # of numbers about zero, on paper and on a dark page


def at(page: Page, x: float, y: float) -> tuple[int, ...]:
    """The colour of the window at a place."""
    return Image.open(BytesIO(page.screenshot())).convert("RGB").getpixel((round(x), round(y)))


def is_near(colour: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two colours look the same."""
    return bool(np.abs(np.subtract(colour, other)).max() <= 2)


def test_zero_has_nearly_the_colour_of_the_page_and_a_saved_picture_that_of_paper(page, app_server, tmp_path):
    page.set_default_timeout(PATIENCE)
    page.emulate_media(color_scheme="light")
    page.goto(f"{app_server}/positions?picture=difference")
    expect(page.locator(".hl-sheet[data-ready]")).to_be_visible()
    for scheme, zero in (("light", PALE), ("dark", NEARLY_DARK)):
        page.emulate_media(color_scheme=scheme)
        for _ in range(LOOKS):
            if is_near(at(page, *page.evaluate(ZERO)), zero):
                break
        assert is_near(at(page, *page.evaluate(ZERO)), zero)
        tile = page.locator("[data-code=none] canvas").bounding_box()
        assert is_near(at(page, tile["x"] + 9, tile["y"] + 9), zero)
        page.get_by_test_id("stage-save-code").first.click()
        png = download(page, page.get_by_role("button", name="PNG", exact=True), tmp_path)
        page.keyboard.press("Escape")
        colours = Image.open(png).convert("RGB").getcolors(1 << 24)
        counts = {colour: count for count, colour in colours}
        assert counts.get(PALE, 0) > 1000 and not counts.get(NEARLY_DARK)


WRITTEN = """board => [...document.querySelectorAll(board + " [role=gridcell]")].map((cell) => {
  const {left, top} = cell.getBoundingClientRect();
  return [getComputedStyle(cell).color.match(/\\d+/g).map((part) => part / 255), left + 4, top + 4];
})"""  # of each cell the colour of its text, and a place beside it


def test_texts_in_the_cells_of_heads_can_be_read_while_the_page_changes_its_colours(page, app_server):
    page.emulate_media(color_scheme="light")
    open_heads(page, app_server, "agreement")  # whose scale follows the page, with a number in every cell
    first = page.locator(f"{BOARD} [data-row='1'][data-head='1']")
    light = first.evaluate("cell => getComputedStyle(cell).backgroundColor")
    assert_texts_in_cells_can_be_read(page)
    page.emulate_media(color_scheme="dark")
    expect(first).not_to_have_css("background-color", light)
    assert_texts_in_cells_can_be_read(page)


def assert_texts_in_cells_can_be_read(page: Page) -> None:
    settle(page)
    window = np.asarray(Image.open(BytesIO(page.screenshot())).convert("RGB")) / 255
    texts = page.evaluate(WRITTEN, BOARD)
    assert len(texts) > 8
    for ink, x, y in texts:
        assert contrast(tuple(ink[:3]), window[round(y), round(x)]) >= 4.5


def test_a_figure_has_the_colours_of_the_page_while_they_change(page, app_server):
    page.set_default_timeout(PATIENCE)
    page.emulate_media(color_scheme="light")
    page.goto(f"{app_server}/atlas?part=scatter")
    expect(page.locator(".st-key-scatter .main-svg").first).to_be_visible()
    colour = "getComputedStyle(document.querySelector('.st-key-scatter .hl-figure')).color"
    light = page.evaluate(FILL)
    assert light == page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"light => {FILL} !== light && {FILL} === {colour}", arg=light)


def test_the_numbers_are_a_table_for_the_keyboard_and_the_picture_is_described(page, app_server):
    page.set_default_timeout(PATIENCE)
    page.goto(f"{app_server}/atlas?part=rollout")
    figure = page.locator(".st-key-rollout-encoder .hl-figure")
    described = re.compile(r"Row = .+, column = .+: share, colours from 0 to [\d.]+\.")
    expect(figure.locator(".js-plotly-plot")).to_have_attribute("aria-label", described)
    button = figure.get_by_role("button", name="Table", exact=True)
    button.focus()
    page.keyboard.press("Enter")
    table = figure.get_by_role("table")
    expect(table).to_be_visible()
    shares = page.evaluate("document.querySelector('.st-key-rollout-encoder .js-plotly-plot').data[0].z.map(r => r[0])")
    values = [float(text) for text in table.locator("tbody tr td:nth-child(2)").all_text_contents()]
    assert len(values) == len(shares) and all(abs(a - b) < 6e-4 for a, b in zip(values, shares, strict=True))
    page.keyboard.press("Enter")
    expect(table).to_have_count(0)


def test_pictures_come_from_the_same_copy_of_plotly(page, app_server, tmp_path):
    page.goto(f"{app_server}/pitfalls")
    page.locator(".st-key-beside-wrong button").first.click()
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    png = download(page, page.get_by_role("button", name="PNG", exact=True), tmp_path)
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    svg = download(page, page.get_by_role("button", name="SVG", exact=True), tmp_path).read_text("utf-8")
    assert "Wrong: The positional encoding" in svg
    assert not [url for url in urls if "plotly" in url.lower()]
