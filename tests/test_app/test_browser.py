"""The app in a real browser: typing, clicking, themes, narrow windows.

The page fixture objects to console errors and to requests that leave the machine.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.experiments.masks import read_batch, run
from model.experiments.positions import translate
from viz.screens.shared import LENGTH_PENALTY
from viz.screens.words_masks import PAIRS

expect.set_options(timeout=180_000)  # milliseconds until a wait gives up; a busy machine is no failure

SENTENCE = "A man is too tired."
LONG = "The animal didn't cross the street because it was too tired. A man is riding a bicycle."

CAPTION = "[data-testid=stCaptionContainer] p"

# What the browser has drawn, and where on the screen the middle of a tile lies.
DRAWN = "gd => Array.from(gd._fullData[0].z, row => Array.from(row))"
TILE = """(gd, head) => {
  const marker = gd._fullData[1].customdata.findIndex(row => row[0] === head[0] && row[1] === head[1]);
  const {xaxis, yaxis} = gd._fullLayout, box = gd.getBoundingClientRect();
  return [box.left + xaxis._offset + xaxis.d2p(gd._fullData[1].x[marker]),
          box.top + yaxis._offset + yaxis.d2p(gd._fullData[1].y[marker])];
}"""
# The contrast (WCAG 2) of an element's colour, opacities counted, with what lies behind the page.
CONTRAST = """element => {
  const channels = css => (css.match(/[\\d.]+/g) || []).map(Number);
  const style = getComputedStyle(element), svg = element instanceof SVGElement;
  const back = channels(getComputedStyle(document.querySelector('.stApp')).backgroundColor);
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


def plot(page: Page, key: str):
    """The Plotly element of a chart."""
    return page.locator(f".st-key-{key} .js-plotly-plot")


def open_page(page: Page, url: str, query: str = "") -> None:
    """Opens the app and waits for its two maps."""
    page.goto(f"{url}/{query}")
    for key in ("overview", "heatmap"):
        expect(plot(page, key).locator(".main-svg").first).to_be_visible()


def click_tile(page: Page, layer: int, head: int) -> None:
    """Clicks the middle of a tile of the overview with the mouse."""
    plot(page, "overview").scroll_into_view_if_needed()
    page.mouse.click(*plot(page, "overview").evaluate(TILE, [layer, head]))


def test_type_a_sentence_read_it_and_open_a_head(page, app_server, recorded):
    open_page(page, app_server)
    box = page.get_by_role("textbox", name="English sentence")
    box.fill(SENTENCE)
    box.press("Enter")
    result = recorded.translate(SENTENCE, beam=4, length_penalty=LENGTH_PENALTY)
    expect(page.locator(".st-key-large-translation")).to_have_text(result.text)

    # The overview of the new sentence is there when the large map has its tokens.
    expect(plot(page, "heatmap").locator(".ytick")).to_have_count(len(result.target_tokens))
    click_tile(page, 1, 2)
    expect(page.get_by_text("Cross-attention, layer 1, head 2")).to_be_visible()
    expect(page.get_by_role("radio", name="2", exact=True).last).to_be_checked()
    for part in ("layer=1", "head=2", r"text=A(\+|%20)man"):
        expect(page).to_have_url(re.compile(part))
    expect(plot(page, "heatmap").locator(".main-svg").first).to_be_visible()
    drawn = np.array(plot(page, "heatmap").evaluate(DRAWN), dtype=np.float32)
    np.testing.assert_array_equal(drawn, recorded.translate(SENTENCE).attention("cross")[1, 2])
    assert plot(page, "heatmap").locator(".ytick").all_text_contents() == result.target_tokens
    assert plot(page, "heatmap").locator(".xtick").all_text_contents() == result.source_tokens


def test_the_same_head_opens_by_keyboard(page, app_server, recorded):
    open_page(page, app_server)
    page.locator(".st-key-head").get_by_role("radio", name="3", exact=True).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Cross-attention, layer 0, head 3")).to_be_visible()


def test_a_chip_lights_its_row_and_names_the_runner_ups(page, app_server, recorded):
    open_page(page, app_server, f"?text={SENTENCE}&rows=predicted")
    result = recorded.translate(SENTENCE)
    chip = page.locator(".chip").nth(len(result.source_tokens))  # the first of the translation
    chip.focus()
    frame = page.locator(".headlight-frame")
    expect(frame).to_have_count(1)
    expect(page.locator(".chips .more")).to_contain_text(f"{result.predicted_tokens[0]}: probability")
    row, area = frame.bounding_box(), plot(page, "heatmap").locator(".nsewdrag").bounding_box()
    assert abs(row["y"] - area["y"]) < 2 and abs(row["width"] - area["width"]) < 2
    assert abs(row["height"] - area["height"] / len(result.predicted_tokens)) < 2
    page.keyboard.press("Tab")
    expect(frame).to_have_count(1)
    assert frame.bounding_box()["y"] > row["y"] + row["height"] - 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_labels_can_be_read(page, app_server, scheme):
    page.emulate_media(color_scheme=scheme)
    open_page(page, app_server)
    assert_readable(page, ".xtick text", ".ytick text", ".g-xtitle text", ".stText", CAPTION, "h1")
    background = page.locator(".stApp").evaluate("e => getComputedStyle(e).backgroundColor")
    assert (int(background.strip("rgb()").split(",")[0]) > 128) == (scheme == "light")


@pytest.mark.parametrize(
    ("width", "query"),
    [
        (400, ""),
        (400, "?view=Mask&text="),
        (400, "?view=Positions"),
        *((w, f"?text={LONG}&stretch=true") for w in (400, 1400)),
    ],
)
def test_nothing_sticks_out_of_the_page(page, app_server, width, query):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{app_server}/{query}")
    expect(page.locator(".js-plotly-plot .main-svg").nth(3)).to_be_visible()
    for element in (page.locator("html"), page.locator(".stMain")):
        assert element.evaluate("e => e.scrollWidth - e.clientWidth") <= 0


def open_other(page: Page, url: str, path: str, charts: tuple[str, ...]) -> None:
    """Opens another page by its own address, as a link does, and waits for some of its charts."""
    page.goto(f"{url}/{path}")
    for key in charts:
        expect(plot(page, key).locator(".main-svg").first).to_be_visible()


def test_masks_follow_what_is_typed_and_the_worked_example(page, app_server, recorded):
    open_other(page, app_server, "masks?sentences=2", ("mask-cross-0", "convention-additive", "head-without"))
    box = page.get_by_role("textbox", name="English 1")
    box.fill(SENTENCE)  # without Enter: the page follows while one types
    batch = read_batch(recorded, [SENTENCE, PAIRS[1][0]], [PAIRS[0][1], PAIRS[1][1]])
    expect(plot(page, "mask-encoder_self-0").locator(".ytick")).to_have_count(batch.src.size(1))
    drawn = np.array(plot(page, "mask-encoder_self-0").evaluate(DRAWN))
    np.testing.assert_array_equal(drawn, run(recorded.model, batch.src, batch.tgt).masks["encoder_self"][0])
    page.get_by_role("radio", name="Worked example").click()
    expect(plot(page, "mask-decoder_self-0").locator(".ytick")).to_have_text(["2"] * 4 + ["1 (pad)"] * 3)
    for part in ("batch=", "sentences=2"):
        expect(page).to_have_url(re.compile(part))


def test_positions_are_switched_off_and_nobody_else_sees_it(page, app_server, recorded):
    open_other(page, app_server, f"positions?text={SENTENCE}", ("table-second", "offset", "map-changed", "added"))
    page.locator(".st-key-off label").click()
    changed = translate(recorded, SENTENCE, 0.0)
    expect(page.locator(".st-key-large-changed-translation")).to_have_text(changed.text)
    expect(page).to_have_url(re.compile("off=true"))
    expect(page.get_by_text("Changed: positions off")).to_be_visible()
    drawn = np.array(plot(page, "map-changed").evaluate(DRAWN), dtype=np.float32)
    np.testing.assert_allclose(drawn, changed.attention("encoder_self")[0, 0], atol=1e-5)
    page.get_by_role("link", name="Translate").click()  # the sentence comes along, the change does not
    expect(page.locator(".st-key-large-translation")).to_have_text(recorded.translate(SENTENCE).text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("path", "charts"), [("masks", ("mask-cross-0", "head-without")), ("positions", ("table-difference", "added"))]
)
def test_the_other_pages_can_be_read_and_nothing_sticks_out(page, app_server, scheme, path, charts):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 400 if scheme == "dark" else 1400, "height": 800})
    open_other(page, app_server, path, charts)
    assert_readable(page, ".xtick text", ".ytick text", ".stText", CAPTION, "h1")
    for element in (page.locator("html"), page.locator(".stMain")):
        assert element.evaluate("e => e.scrollWidth - e.clientWidth") <= 0


def test_the_language_is_chosen_and_stays_from_page_to_page(page, app_server):
    open_page(page, app_server, "?kind=Encoder+self")
    page.locator(".st-key-speaking [role=combobox], .st-key-speaking input").first.click()
    page.get_by_role("option", name="한국어").click()
    expect(page.get_by_text("영어 문장", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "ko")
    expect(page.get_by_role("radio", name="인코더 셀프", exact=True)).to_be_checked()
    page.get_by_role("link", name="레슨", exact=True).click()
    expect(page.get_by_role("heading", name="레슨", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="레슨", exact=True)).to_be_visible()
    page.goto(f"{app_server}/?lang=de&kind=Encoder+self")  # as a link of an English page, with the language put in
    expect(page.get_by_text("Satz (Englisch)", exact=True)).to_be_visible()
    expect(page.get_by_role("radio", name="Encoder-Self", exact=True)).to_be_checked()
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page).to_have_url(re.compile(r"/\?lang=Deutsch&kind=Encoder-Self"))  # and may be passed on, as spelt here
    page.get_by_role("link", name="Lektionen", exact=True).click()
    expect(page).to_have_url(re.compile(r"/lessons\?lang=Deutsch"))


def test_the_first_stops_of_tab_are_in_the_window_and_framed(page, app_server):
    """Where the window is narrow Streamlit keeps the names of the pages beside it, out of sight."""
    page.set_viewport_size({"width": 400, "height": 900})
    open_page(page, app_server)
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
