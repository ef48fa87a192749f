"""The app in a real browser: typing, themes, narrow windows, languages; the stage is in test_stage.py.

The page fixture objects to console errors and to requests that leave the machine.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.support import menu
from model.experiments.masks import read_batch, run
from tests.support import PATIENCE
from tests.test_app.test_browser.test_stage import part, ready, show
from tests.test_model.builders import translate_elsewhere
from viz.text.language import say, using
from viz.text.words_masks import PAIRS
from viz.text.words_positions import LEARNED
from viz.views.results import position_results

expect.set_options(timeout=PATIENCE)  # milliseconds until a wait gives up; a busy machine is not a failure

SENTENCE = "A man is too tired."
LONG = "The animal didn't cross the street because it was too tired. A man is riding a bicycle."

CAPTION = "[data-testid=stCaptionContainer] p, .hl-note"

# The contrast (WCAG 2) of an element's colour, opacities counted, with the nearest background that lies behind it.
CONTRAST = """element => {
  const channels = css => (css.match(/[\\d.]+/g) || []).map(Number);
  const style = getComputedStyle(element), svg = element instanceof SVGElement;
  const filled = e => (channels(getComputedStyle(e).backgroundColor)[3] ?? 1) > 0.99;
  let behind = element;
  while (!filled(behind) && !behind.matches('.stApp')) behind = behind.parentElement;
  const back = channels(getComputedStyle(behind).backgroundColor);
  const ink = channels(svg ? style.fill : style.color);
  let alpha = ink[3] ?? 1;
  for (let e = element; e; e = e.parentElement) alpha *= Number(getComputedStyle(e).opacity);
  const mixed = [0, 1, 2].map(i => ink[i] * alpha + back[i] * (1 - alpha));
  const light = c => c.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const [a, b] = [light(mixed), light(back)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
}"""


def assert_readable(page: Page, *places: str) -> None:
    """Every element of these has the contrast that WCAG 2 asks of normal text."""
    for place in places:
        contrasts = page.locator(f".stMain {place}").evaluate_all(f"elements => elements.map({CONTRAST})")
        assert contrasts and min(contrasts) >= 4.5, place


def background(page: Page) -> int:
    colour = page.locator(".stApp").evaluate("e => getComputedStyle(e).backgroundColor")
    return int(colour.strip("rgba()").split(",")[0])


def ink(page: Page) -> int:
    """How light the labels of the large map are."""
    tick = part(page, "map").locator(".xtick text").first
    return int(tick.evaluate("e => getComputedStyle(e).fill").strip("rgba()").split(",")[0] or 128)  # drawn again


def wait_for_colours(page: Page, dark: bool) -> None:
    """Waits until page and labels are light on dark, or dark on light."""
    for _ in range(PATIENCE // 100):
        if (background(page) < 128 < ink(page)) if dark else (ink(page) < 128 < background(page)):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"background {background(page)}, labels {ink(page)}")


def assert_stage_is_readable(page: Page) -> None:
    assert_readable(page, ".xtick text", ".ytick text", ".hl-translation", ".hl-token", ".hl-title", ".hl-says")
    assert_readable(page, ".hl-card p", ".hl-tabs button")


@pytest.mark.slow
def test_light_and_dark_and_a_switch_between_them(page, app_server):
    page.emulate_media(color_scheme="light")
    show(page, app_server)
    wait_for_colours(page, dark=False)
    assert_stage_is_readable(page)
    page.emulate_media(color_scheme="dark")
    page.reload()
    ready(page)
    wait_for_colours(page, dark=True)
    assert_stage_is_readable(page)
    page.emulate_media(color_scheme="light")  # while it stands
    wait_for_colours(page, dark=False)
    colour = page.locator(".hl-token").first.evaluate("e => getComputedStyle(e).color")
    assert int(colour.strip("rgba()").split(",")[0]) < 128


@pytest.mark.parametrize("query", ["?view=mask&text=", f"?text={LONG}&stretch=1"])
@pytest.mark.slow
def test_nothing_sticks_out_of_the_page(page, app_server, query):
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{app_server}/{query}")
    for width in (400, 1400):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        for element in (page.locator("html"), page.locator(".stMain")):
            assert element.evaluate("e => e.scrollWidth - e.clientWidth") <= 0


def open_stage(page: Page, url: str, query: str = "") -> None:
    """Opens Translate and waits for its map."""
    page.goto(f"{url}/{query}")
    expect(page.locator(".hl-stage[data-ready] .main-svg").first).to_be_visible()


# The colours of a map's cells, by row.
CELLS = """canvas => {
  const { width, height } = canvas, { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  return Array.from({ length: height }, (_, i) => Array.from({ length: width }, (__, j) =>
    Array.from(data.subarray(4 * (i * width + j), 4 * (i * width + j) + 3))));
}"""
OPEN = (0, 114, 178)


@pytest.mark.slow
def test_masks_follow_what_is_typed_and_a_click_on_a_cell(page, app_server, recorded):
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(f"{app_server}/masks?sentences=2&mask=cross&without=nothing&layer=0&head=0&show=head")
    large = page.locator(".hl-sheet-map")
    expect(large).to_be_visible()
    assert page.locator(".stMain").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    assert_readable(page, ".hl-note", ".hl-answer", ".hl-answer-note", ".hl-sheet-row", ".hl-picture-title")
    page.set_viewport_size({"width": 1280, "height": 900})
    box = page.get_by_role("textbox", name="English 1")
    box.fill(SENTENCE)  # without Enter: the page follows while one types
    batch = read_batch(recorded, [SENTENCE, PAIRS[1][0]], [PAIRS[0][1], PAIRS[1][1]])
    expect(page).to_have_url(re.compile("source1=A"))
    canvas = large.locator("canvas")
    expect(canvas).to_have_js_property("width", batch.src.size(1))
    mask = run(recorded.model, batch.src, batch.tgt).masks["cross"][0]
    np.testing.assert_array_equal((np.array(canvas.evaluate(CELLS)) == OPEN).all(-1), mask)
    assert mask[1, 2] and mask[2, 3]
    area = canvas.bounding_box()
    height, width = mask.shape
    page.mouse.click(area["x"] + 2.5 * area["width"] / width, area["y"] + 1.5 * area["height"] / height)
    expect(page).to_have_url(re.compile("cells=1-2"))
    cell = page.locator(".hl-sheet-cursor")
    expect(cell).to_have_accessible_name(re.compile("may not attend to"))
    cell.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("cells=1-2.2-3"))
    expect(cell).to_have_accessible_name(re.compile("may not attend to"))
    expect(cell).to_be_focused()
    flipped = {"cross": [(0, 1, 2), (0, 2, 3)]}
    page.get_by_role("tab", name="Head under the mask").click()
    expect(large).to_have_count(2)
    weights = run(recorded.model, batch.src, batch.tgt, flipped=flipped).weights["cross"][0, 0, 0]
    cell = large.nth(1).locator(".hl-sheet-cursor")
    cell.focus()
    for row, column in ((0, 0), (0, 1), (1, 1)):
        expect(cell).to_have_accessible_name(re.compile(f": {weights[row, column]:.2f}$"))
        page.keyboard.press("ArrowRight" if row == column else "ArrowDown")
    expect(cell).to_have_accessible_name(re.compile(": masked$"))
    page.get_by_role("button", name="Undo flipped cells").click()
    expect(large).to_have_count(1)
    assert "cells" not in page.url
    large.get_by_test_id("stage-save-code").click()
    expect(page.locator(".hl-sheet-saved pre")).to_contain_text("attention_heatmap(")
    page.keyboard.press("Escape")
    box.fill("x" * 3000)
    expect(page.get_by_test_id("stage-sheet-warning")).to_contain_text("the last one that worked")


@pytest.mark.slow
def test_positions_are_drawn_computed_and_saved_and_hand_their_sentence_on(page, app_server, recorded):
    page.emulate_media(color_scheme="light")
    page.goto(f"{app_server}/positions?text={SENTENCE}")
    expect(page.locator(".hl-sheet[data-ready]")).to_be_visible()
    assert page.locator(".stMain").evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    assert_readable(page, ".hl-note", ".hl-answer", ".hl-answer-note")
    box = page.get_by_test_id("maps").locator("canvas").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 5.5 * box["height"] / 64)  # the row of dimension 5
    expect(page).to_have_url(re.compile("dimensions=0.1.16.32.5"))
    expect(page.locator(".hl-sheet-legend span")).to_have_text([f"dimension {n}" for n in (0, 1, 5, 16, 32)])
    page.get_by_test_id("stage-save-code").click()
    expect(page.locator(".hl-sheet-saved pre")).to_contain_text("encoding_panels(first, [0, 1, 5, 16, 32]")
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Word order").click()
    text = translate_elsewhere(recorded, SENTENCE, 0.0, 0, ("encoder",)).text
    expect(page.locator(".hl-answer")).to_contain_text(f"“{text}”")
    sentence = page.get_by_test_id("control-text").get_by_role("textbox")
    sentence.fill("A dog.")
    expect(page.locator(".hl-sheet-map").first).to_contain_text("“A dog.”")
    sentence.fill("")
    expect(page.get_by_test_id("stage-sheet-warning")).to_contain_text("the last one that worked")
    page.get_by_test_id("stage-examples").click()
    page.get_by_role("button", name="A question").click()
    expect(page.locator(".hl-sheet-map").first).to_contain_text("Why are there so many people")
    menu.go(page, "Steer")
    expect(page.get_by_role("textbox", name="sentence")).to_have_value(re.compile("^Why are there so many people"))
    page.goto(f"{app_server}/positions?first=learned&length=20&width=8&lang=de")  # which nobody has trained yet
    learned = position_results.learn(20, 8)
    with using("de"):
        line = say(LEARNED, hits=learned.hits, loss=float(learned.losses[-1]))
    expect(page.locator(".hl-answer-note")).to_contain_text(line)
    expect(page.locator("[data-code=learned] canvas")).to_be_visible()


@pytest.mark.slow
def test_the_language_is_chosen_and_stays_from_page_to_page(page, app_server):
    open_stage(page, app_server, "?kind=encoder_self")
    page.locator(".st-key-language-menu [role=combobox], .st-key-language-menu input").first.click()
    page.get_by_role("option", name="한국어").click()
    expect(page.get_by_role("textbox", name="영어 문장", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    encoder = page.locator("[data-kind=encoder_self]")
    expect(encoder).to_have_text("인코더")
    expect(encoder).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("kind=encoder_self"))
    expect(page).to_have_url(re.compile("lang=ko"))
    menu.go(page, "튜토리얼")
    page.wait_for_function("() => location.pathname.endsWith('/lessons')")
    page.reload()  # before the page is whole
    expect(page.get_by_role("heading", name="튜토리얼", exact=True)).to_be_visible()
    page.goto(f"{app_server}/?lang=de&kind=encoder_self")
    expect(page.get_by_role("textbox", name="Satz (Englisch)", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(encoder).to_have_attribute("aria-selected", "true")
    page.locator("[data-testid=stage-source] [data-index='2']").click()
    page.mouse.move(0, 0)
    expect(page.locator(".hl-card .hl-links button").first).to_have_text(re.compile(r"\d\.\d → .+ \d,\d\d"))
    menu.go(page, "Lektionen")
    expect(page).to_have_url(re.compile(r"/lessons\?lang=de"))


@pytest.mark.slow
def test_the_first_stops_of_tab_are_in_the_window_and_framed(page, app_server):
    """Where the window is narrow Streamlit keeps the names of the pages beside it, out of sight."""
    page.set_viewport_size({"width": 400, "height": 900})
    open_stage(page, app_server)
    for stop in range(6):
        page.keyboard.press("Tab")
        tag, left, outline = page.evaluate(
            """() => {
              const on = document.activeElement, style = getComputedStyle(on);
              return [on.tagName, on.getBoundingClientRect().left, style.outlineStyle + ' ' + style.outlineWidth];
            }"""
        )
        assert left >= 0, stop
        assert outline == "solid 2px" or tag not in ("A", "BUTTON"), stop
