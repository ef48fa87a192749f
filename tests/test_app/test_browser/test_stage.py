"""The stage in a real browser: it fits, draws what was recorded, answers without the server, and its address holds."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from io import BytesIO
from math import ceil, floor
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, TimeoutError, expect
from plotly.offline import get_plotlyjs_version

from benchmarks.support.menu import go
from model.analysis.maps import top_share
from model.experiments import inside as experiment
from model.experiments.inside import Row, Switches
from tests.support import PATIENCE
from tests.support.layout import resize, settle
from tests.test_app.conftest import save_tiny

expect.set_options(timeout=PATIENCE)

EQUAL = "too too tired tired."  # two tokens twice
KINDS = ("cross", "encoder_self", "decoder_self")
# What the large map draws: numbers (null where blank) and tick labels.
DRAWN = """() => {
  const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot"), [heat] = plot.data;
  return {z: Array.from(heat.z, row => Array.from(row)), x: plot.layout.xaxis.ticktext, y: plot.layout.yaxis.ticktext,
          hover: heat.customdata};
}"""
# Whether the large map draws these numbers; blank cells count as 0.
DRAWS = """wanted => {
  const heat = document.querySelector("[data-testid=stage-map] .js-plotly-plot")?.data?.[0];
  return heat?.z?.length === wanted.length && wanted.every((row, i) => heat.z[i].length === row.length
    && row.every((number, j) => Math.abs((heat.z[i][j] || 0) - number) < 2e-5));
}"""
# Where the middle of a cell lies on the screen.
CELL = """([row, column]) => {
  const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
  const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
  return [box.left + xaxis._offset + xaxis.d2p(column), box.top + yaxis._offset + yaxis.d2p(row)];
}"""
# The row that is framed in the large map, -1 for none; and the same of the column.
FRAMED = """() => {
  const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot"), {_size} = plot._fullLayout;
  const [row, column] = document.querySelectorAll("[data-testid=stage-map] .hl-mark");
  const {xaxis, yaxis} = plot.layout;
  const count = axis => Math.abs(axis.range[1] - axis.range[0]);
  return [row.hidden ? -1 : Math.round((parseFloat(row.style.top) - _size.t) / (_size.h / count(yaxis))),
          column.hidden ? -1 : Math.round((parseFloat(column.style.left) - _size.l) / (_size.w / count(xaxis)))];
}"""


def part(page: Page, name: str):
    return page.get_by_test_id(f"stage-{name}")


def ready(page: Page, least: int = 1) -> None:
    """Waits until so many translations have been drawn."""
    page.wait_for_function(
        "least => Number(document.querySelector('.hl-stage')?.dataset.ready ?? 0) >= least",
        arg=least,
        timeout=PATIENCE,
        polling=50,
    )


def show(page: Page, url: str, query: str = "") -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/{query}")
    ready(page)


def type_in(page: Page, text: str) -> None:
    """Enters another sentence and waits until it is drawn."""
    before = int(page.locator(".hl-stage").get_attribute("data-ready"))
    box = page.get_by_role("textbox", name="English sentence")
    box.fill(text)
    box.press("Enter")
    ready(page, before + 1)


def tile(page: Page, layer: int, head: int):
    return part(page, "heads").locator(f"[data-layer='{layer}'][data-head='{head}']")


def selected_head(page: Page) -> list[int]:
    """Layer and head of the tile that is marked as open."""
    element = part(page, "heads").locator("[aria-selected=true]")
    expect(element).to_have_count(1)
    return [int(element.get_attribute(f"data-{name}")) for name in ("layer", "head")]


def kind(page: Page, code: str) -> None:
    part(page, "kinds").locator(f"[data-kind={code}]").click()


def map_values(page: Page) -> np.ndarray:
    numbers = page.evaluate(DRAWN)["z"]
    return np.array([[np.nan if cell is None else cell for cell in row] for row in numbers])


def wait_for_map(page: Page, expected: np.ndarray) -> None:
    """Waits until the large map draws these numbers."""
    try:
        page.wait_for_function(DRAWS, arg=np.asarray(expected, float).tolist(), timeout=PATIENCE)
    except TimeoutError:
        np.testing.assert_allclose(map_values(page), expected, atol=2e-5)
        raise


def expect_framed(page: Page, row: int | None, column: int | None) -> None:
    """Waits until this row and column of the large map are framed, -1 for none; None stands for any."""
    is_so = f"wanted => ({FRAMED})().every((place, axis) => wanted[axis] === null || wanted[axis] === place)"
    page.wait_for_function(is_so, arg=[row, column], timeout=PATIENCE)


def pixels(page: Page, elements) -> list[np.ndarray]:
    """What elements look like, each [height, width, 3], red, green and blue; cut from one picture of the window."""
    boxes = elements.evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(one => [one.left, one.top, one.right, one.bottom])"
    )
    window = np.asarray(Image.open(BytesIO(page.screenshot())).convert("RGB"))
    return [window[floor(top) : ceil(bottom), floor(left) : ceil(right)] for left, top, right, bottom in boxes]


@pytest.mark.slow
def test_what_ships_fits_the_first_screen_begins_with_a_head_that_aligns_words_and_has_the_colours_of_its_bar(
    page, shipped_server, guard
):
    """On one page, since opening one takes longer than all of it."""
    guard.allowed = shipped_server.split("//")[1]
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, shipped_server)
    plot = part(page, "map").locator(".js-plotly-plot")
    for width, height, least in ((1280, 720, (480, 340)), (1400, 900, (560, 460))):
        resize(page, width, height)
        for name in ("translation", "source", "target", "kinds", "heads", "map"):
            box = part(page, name).bounding_box()
            assert 0 <= box["x"] and box["x"] + box["width"] <= width and box["y"] >= 0, name
            assert box["y"] + box["height"] <= height, name
        assert all(plot.bounding_box()[side] >= size for side, size in zip(("width", "height"), least))
        assert page.get_by_role("textbox", name="English sentence").bounding_box()["y"] > 0
        assert page.locator(".stMain").evaluate("e => e.scrollTop") == 0
    values = map_values(page)
    assert values.max(1).mean() > 0.4 and values.mean(0).max() < 0.5, "it says something, and is not one column"
    kind(page, "decoder_self")
    colours_are_those_of_the_bar(page)
    no_tile_shows_a_strip_of_another(page)
    page.set_viewport_size({"width": 400, "height": 860})
    page.reload()
    ready(page)
    for name in ("translation", "source", "target", "map"):
        box = part(page, name).bounding_box()
        assert box["y"] + box["height"] <= 860, name
    for element in (page.locator("html"), page.locator(".stMain")):
        assert element.evaluate("e => e.scrollWidth - e.clientWidth") <= 0, "nothing sticks out"
    box = page.get_by_role("textbox", name="English sentence")
    assert box.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 16, "iOS zooms otherwise"


def colours_are_those_of_the_bar(page: Page) -> None:
    """The numbers of the bar stand where their colours are."""
    bar = part(page, "colours")
    numbers = bar.locator(".hl-tick").all_text_contents()
    assert numbers == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    scale = bar.locator(".hl-scale").bounding_box()
    for number, tick in zip(numbers, bar.locator(".hl-tick").all()):
        box = tick.bounding_box()
        middle = box["y"] + box["height"] / 2
        assert middle == pytest.approx(scale["y"] + scale["height"] * (1 - float(number)), abs=1.5)
    below = [page.evaluate(CELL, [row, 0])[1] for row in (-0.5, map_values(page).shape[0] - 0.5)]
    assert [scale["y"], scale["y"] + scale["height"]] == pytest.approx(below, abs=2)

    (drawn_bar,) = pixels(page, bar.locator(".hl-scale"))
    for place, colour in ((-2, (68, 1, 84)), (1, (253, 231, 37))):
        assert drawn_bar[place, 5] == pytest.approx(np.array(colour), abs=8)


def no_tile_shows_a_strip_of_another(page: Page) -> None:
    """Where a mask blocks, tiles are clear up to their edges."""
    page.mouse.move(1, 1)  # else a tile that is pointed at is framed
    for width in (1400, 1311, 1222, 1133, 1044):  # which browsers round each in their way
        resize(page, width, 900)
        tiles = pixels(page, part(page, "heads").locator("[aria-selected=false] .hl-picture"))
        assert len(tiles) > 20
        for image in tiles:
            assert min(image.shape[:2]) > 9, "it is in the window"
            later = image[1 : image.shape[0] // 2 - 2, -(image.shape[1] // 3) :]
            assert np.ptp(later, axis=(0, 1)).max() == 0, "the first half sees nothing of the last third"


def test_one_sentence_its_heads_its_words_what_is_lit_its_views_and_what_cannot_be_translated(
    page, app_server, recorded, guard, tmp_path
):
    """On one page, since opening one takes longer than all of it."""
    result = recorded.translate(EQUAL)
    heads_are_drawn_as_recorded_and_the_server_hears_nothing(page, app_server, result)
    pointing_at_a_word_lights_its_own_row(page, result)
    a_cell_of_the_map_lights_its_words_and_a_click_pins(page)
    the_card_of_a_pinned_word_names_heads_and_opens_them(page, result)
    views_draw_what_they_say(page, result)
    files_hold_what_is_drawn(page, result, tmp_path)
    plotly_is_our_own(page, guard)
    what_is_typed_wrong_is_one_sentence_and_the_stage_stays(page, result)
    style_is_our_own(page)


def heads_are_drawn_as_recorded_and_the_server_hears_nothing(page: Page, app_server: str, result) -> None:
    assert len(set(result.source_tokens)) < len(result.source_tokens)
    frames = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    show(page, app_server, f"?text={quote(EQUAL)}")
    settle(page)
    frames.clear()
    for code in KINDS:
        kind(page, code)
        weights = result.attention(code)
        for layer, head in np.ndindex(*weights.shape[:2]):
            if (layer + head) % 2:
                continue
            tile(page, layer, head).click()
            wait_for_map(page, weights[layer, head])
            assert selected_head(page) == [layer, head]
            labels = page.evaluate(DRAWN)
            assert len(labels["y"]) == weights.shape[2] and len(labels["x"]) == weights.shape[3]
        rows = [row[0][0] for row in page.evaluate(DRAWN)["hover"]]
        assert len(set(rows)) == len(rows), "two equal tokens are told apart"
    kind(page, "encoder_self")
    tile(page, 0, 0).click()
    for key, place in (("ArrowRight", [0, 1]), ("ArrowDown", [1, 1]), ("ArrowLeft", [1, 0]), ("ArrowUp", [0, 0])):
        page.keyboard.press(key)
        wait_for_map(page, result.attention("encoder_self")[tuple(place)])
        assert selected_head(page) == place
    page.keyboard.press("1")
    expect(part(page, "kinds").locator("[data-kind=cross]")).to_have_attribute("aria-selected", "true")
    assert not frames, "a choice of a head or a kind is not a rerun"
    page.mouse.move(0, 0)


def pointing_at_a_word_lights_its_own_row(page: Page, result) -> None:
    counts = {"source": len(result.source_tokens), "target": len(result.predicted_tokens)}

    def point(side: str, index: int) -> None:
        part(page, side).locator(f"[data-index='{index}']").hover()

    for index in range(counts["target"]):  # the step that writes it
        point("target", index)
        expect_framed(page, index, -1)
    for index in range(counts["source"]):  # where it is read
        point("source", index)
        expect_framed(page, -1, index)
    kind(page, "encoder_self")
    for index in range(counts["source"]):
        point("source", index)
        expect_framed(page, index, None)
    point("target", 0)
    expect_framed(page, -1, -1)
    kind(page, "decoder_self")
    for index in range(counts["target"] - 1):
        point("target", index)
        expect_framed(page, index + 1, None)  # the row in which it attends, after that of the start token
    point("target", counts["target"] - 1)
    expect_framed(page, -1, -1)  # the last word is written and attends to nothing
    start = part(page, "target").locator("[data-start]")
    expect(start).to_have_class(re.compile("hl-special"))
    start.hover()
    expect_framed(page, 0, None)


def a_cell_of_the_map_lights_its_words_and_a_click_pins(page: Page) -> None:
    kind(page, "cross")
    expect(page).to_have_url(re.compile("text="))
    page.mouse.move(*page.evaluate(CELL, [1, 2]))
    expect(part(page, "target").locator("[data-index='1']")).to_have_class(re.compile("hl-lit"))
    expect(part(page, "source").locator("[data-index='2']")).to_have_class(re.compile("hl-lit"))
    chip = part(page, "target").locator("[data-index='1']")
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("pin=t1"))
    page.mouse.move(0, 0)
    expect_framed(page, 1, -1)
    chip.focus()
    page.keyboard.press("Escape")
    expect(chip).to_have_attribute("aria-pressed", "false")
    expect(page).not_to_have_url(re.compile("pin="))


def the_card_of_a_pinned_word_names_heads_and_opens_them(page: Page, result) -> None:
    kind(page, "encoder_self")
    part(page, "source").locator("[data-index='2']").click()
    page.mouse.move(0, 0)
    buttons = page.locator(".hl-card .hl-links button")
    expect(buttons).to_have_count(6)
    weights = result.attention("encoder_self")
    shares = []
    for text in buttons.all_text_contents():
        layer, head, share = re.fullmatch(r"(\d)\.(\d) → .+ (\d\.\d\d)", text).groups()
        assert float(share) in np.round(weights[int(layer), int(head), 2].astype(float), 2), "a weight of its row"
        shares.append(float(share))
    assert shares == sorted(shares, reverse=True) and shares[0] > 0
    place = "{}.{}".format(*selected_head(page))
    index = next(i for i, text in enumerate(buttons.all_text_contents()) if text[:3] != place)
    layer, head = map(int, buttons.nth(index).text_content()[:3].split("."))
    buttons.nth(index).click()
    wait_for_map(page, weights[layer, head])
    assert selected_head(page) == [layer, head]


def what_is_typed_wrong_is_one_sentence_and_the_stage_stays(page: Page, result) -> None:
    box = page.get_by_role("textbox", name="English sentence")
    for text, problem in (("", "There is nothing to translate"), ("tired " * 100, "at most 60")):
        box.fill(text)
        box.press("Enter")
        expect(page.get_by_text(problem)).to_be_visible()
        expect(page.locator("[data-testid=stAlert]")).to_have_count(1)
        expect(part(page, "translation")).to_have_text(result.text)


def style_is_our_own(page: Page) -> None:
    """It leaves what is not of the stage alone."""
    style = """() => Array.from(document.querySelectorAll(".stMain input, .stMain button, .stMain label, .stMain p"))
      .filter(e => !e.closest(".hl-stage")).map(e => {
        const style = getComputedStyle(e), names = ["color", "backgroundColor", "fontSize", "fontFamily", "fontWeight",
          "padding", "margin", "border", "boxSizing", "display", "lineHeight", "outline", "cursor"];
        return names.map(name => style[name]).join("; ");
      })"""
    styles = page.evaluate(style)
    page.evaluate(
        """() => { for (const sheet of document.styleSheets)
          if (sheet.href?.endsWith("stage.css")) sheet.disabled = true; }"""
    )
    without_sheet = page.evaluate(style)
    assert len(styles) > 3 and any(styles)
    assert without_sheet == styles
    theirs = page.locator(".hl-stage *").evaluate_all(
        "all => all.filter(e => !e.closest('.js-plotly-plot')).flatMap(e => [...e.classList])"
    )
    assert not {name for name in theirs if not name.startswith("hl-")}


def views_draw_what_they_say(page: Page, result) -> None:
    kind(page, "decoder_self")
    views = part(page, "views")
    views.get_by_role("tab", name="Mask", exact=True).click()
    wait_for_map(page, result.mask("decoder_self").astype(float))
    expect(page).to_have_url(re.compile("view=mask"))
    kind(page, "encoder_self")
    wait_for_map(page, result.mask("encoder_self").astype(float))
    views.get_by_role("tab", name="Positions", exact=True).click()
    wait_for_map(page, result.positional("source"))
    views.get_by_role("tab", name="Next words", exact=True).click()
    expect(part(page, "map").locator(".xtick")).to_have_count(5)
    best = map_values(page)
    assert len(best) == len(result.target_tokens)
    assert (np.diff(best, axis=1) <= 1e-6).all(), "the most probable first"
    part(page, "table").click()
    expect(part(page, "map").get_by_role("row")).to_have_count(1 + len(result.target_tokens))
    part(page, "table").click()
    views.get_by_role("tab", name="Map", exact=True).click()
    kind(page, "cross")


def files_hold_what_is_drawn(page: Page, result, folder: Path) -> None:
    tile(page, 1, 2).click()
    wait_for_map(page, result.attention("cross")[1, 2])
    part(page, "download").click()
    with page.expect_download() as coming:
        page.get_by_role("button", name="Numbers (CSV)").click()
    coming.value.save_as(folder / "map.csv")
    weights = result.attention("cross")[1, 2]
    rows = (folder / "map.csv").read_text("utf-8").splitlines()[1:]
    numbers = np.array([float(row.rsplit(",", 1)[1]) for row in rows])
    np.testing.assert_allclose(numbers.reshape(weights.shape), weights, atol=2e-5)
    for name, begin in (("Picture (PNG)", b"\x89PNG"), ("Picture (SVG)", b"<svg")):
        part(page, "download").click()
        with page.expect_download() as coming:
            page.get_by_role("button", name=name).click()
        coming.value.save_as(folder / "picture")
        assert (folder / "picture").read_bytes()[: len(begin)] == begin
    part(page, "code").click()
    expect(page.locator(".hl-panel pre:visible")).to_contain_text("result.attention('cross')[1, 2]")


def plotly_is_our_own(page: Page, guard) -> None:
    """It is fetched once, and Streamlit's own copy never."""
    assert page.evaluate("Plotly.version") == get_plotlyjs_version()
    assert not [url for url in guard.requests if "PlotlyChart" in url]
    assert len([url for url in guard.requests if url.endswith("/plotly.min.js")]) == 1


class TestInside:
    """The view that shows how one row is computed."""

    # The numbers of its five panels (null where blocked).
    BARS = """() => {
      const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
      const bars = (plot?.data ?? []).filter(one => one.type === "bar");
      return bars.map(one => Array.from(one.y, y => Number.isNaN(y) ? null : y));
    }"""

    def wait_for_bars(self, page: Page, row: Row) -> None:
        """Waits until the panels draw a row."""
        norms = np.linalg.norm(row.weighted.astype(np.float64), axis=-1)
        expected = np.array([row.raw_scores, row.scaled, np.where(row.mask, row.scaled, np.nan), row.dropped, norms])
        values = np.zeros(0)
        for _ in range(PATIENCE // 50):
            bars = page.evaluate(self.BARS)
            if len({len(bar) for bar in bars}) == 1:
                values = np.array([[np.nan if y is None else y for y in bar] for bar in bars], dtype=float)
            if values.shape == expected.shape and np.allclose(values, expected, atol=1e-5, equal_nan=True):
                return
            page.wait_for_timeout(50)
        np.testing.assert_allclose(values, expected, atol=1e-5)

    def test_it_shows_the_pinned_row_and_what_a_switch_changes(self, page, app_server, recorded):
        result = recorded.translate(EQUAL)
        self.assert_a_link_to_no_row_shows_one_that_there_is(page, app_server)
        part(page, "views").get_by_role("tab", name="Map", exact=True).click()
        kind(page, "encoder_self")
        tile(page, 1, 2).click()
        part(page, "source").locator("[data-index='3']").click()
        arrays = experiment.recorded(result, "encoder_self", 1)
        part(page, "views").get_by_role("tab", name="Inside", exact=True).click()
        self.wait_for_bars(page, experiment.row(arrays, 2, 3))
        expect(page).to_have_url(re.compile("view=inside.*row=3"))
        line = page.locator(".hl-says")
        expect(line).to_contain_text("largest weight")
        expect(line).not_to_contain_text("As recorded")
        page.get_by_label("No scaling").check()
        unscaled = experiment.row(arrays, 2, 3, Switches(scaled=False))
        self.wait_for_bars(page, unscaled)
        expect(line).to_contain_text(f"largest weight {unscaled.weights.max():.2f}")
        expect(line).to_contain_text("As recorded")
        expect(page).to_have_url(re.compile("unscaled=1"))
        part(page, "source").locator("[data-index='5']").click()
        self.wait_for_bars(page, experiment.row(arrays, 2, 5, Switches(scaled=False)))
        page.get_by_label("No scaling").uncheck()
        self.wait_for_bars(page, experiment.row(arrays, 2, 5))
        tile(page, 0, 1).click()
        self.wait_for_bars(page, experiment.row(experiment.recorded(result, "encoder_self", 0), 1, 5))
        part(page, "views").get_by_role("tab", name="Map", exact=True).click()
        wait_for_map(page, result.attention("encoder_self")[0, 1])
        expect(page).not_to_have_url(re.compile("view=|row=|unscaled="))

    @pytest.mark.slow
    def test_another_sentence_and_another_kind_have_rows_of_their_own(self, page, app_server, recorded):
        show(page, app_server, f"?text={quote(EQUAL)}&view=inside&kind=decoder_self&layer=1&head=3&row=1&pin=t0")
        result = recorded.translate(EQUAL)
        self.wait_for_bars(page, experiment.row(experiment.recorded(result, "decoder_self", 1), 3, 1))
        kind(page, "cross")
        expect(page).to_have_url(re.compile("kind=cross"))
        layer, head = selected_head(page)
        self.wait_for_bars(page, experiment.row(experiment.recorded(result, "cross", layer), head, 0))
        type_in(page, "A man.")
        arrays = experiment.recorded(recorded.translate("A man."), "cross", layer)
        page.wait_for_function("() => /[?&]row=\\d/.test(location.search)")
        expect(page.locator(".hl-says")).to_contain_text("largest weight")
        row = int(re.search(r"row=(\d+)", page.url)[1])
        self.wait_for_bars(page, experiment.row(arrays, selected_head(page)[1], row))

    def assert_a_link_to_no_row_shows_one_that_there_is(self, page: Page, app_server: str) -> None:
        show(page, app_server, f"?text={quote(EQUAL)}&view=inside&kind=x&layer=9&row=99&temperature=x")
        expect(page.locator(".hl-says")).to_contain_text("largest weight")
        expect(page.locator("[data-testid=stException]")).to_have_count(0)
        expect(part(page, "views").get_by_role("tab", name="Inside")).to_have_attribute("aria-selected", "true")
        page.wait_for_function(f"() => ({self.BARS})().length === 5")


class TestAddress:
    TEXT = "A man is too tired."

    def start(self, page: Page, url: str) -> str:
        """Types a sentence and opens another head; returns the address."""
        show(page, url)
        type_in(page, self.TEXT)
        kind(page, "decoder_self")
        tile(page, 1, 2).click()
        expect(page).to_have_url(re.compile("kind=decoder_self&layer=1&head=2"))
        return page.url

    def assert_there(self, page: Page, recorded, address: str) -> None:
        expect(page.locator(".hl-stage")).to_have_count(1)  # Masks has two, and they were ready
        ready(page)
        result = recorded.translate(self.TEXT)
        expect(part(page, "translation")).to_have_text(result.text)
        wait_for_map(page, result.attention("decoder_self")[1, 2])
        assert selected_head(page) == [1, 2]
        assert page.get_by_role("textbox", name="English sentence").input_value() == self.TEXT
        expect(page).to_have_url(address)

    @pytest.mark.slow
    def test_back_reloading_the_menu_and_another_visitor(self, page, context, app_server, recorded):
        """A second tab is another visitor to the server, and the app keeps nothing in the browser."""
        address = self.start(page, app_server)
        go(page, "Masks")
        expect(page.get_by_role("heading", name="Masks", exact=True)).to_be_visible()
        page.go_back()
        self.assert_there(page, recorded, address)
        page.reload()
        self.assert_there(page, recorded, address)
        page.go_forward()
        expect(page.get_by_role("heading", name="Masks", exact=True)).to_be_visible()
        go(page, "Translate")
        self.assert_there(page, recorded, address)
        other_page = context.new_page()
        other_page.set_default_timeout(PATIENCE)
        other_page.goto(address)
        self.assert_there(other_page, recorded, address)
        type_in(other_page, "A man is riding.")
        kind(other_page, "cross")
        tile(other_page, 0, 3).click()
        wait_for_map(other_page, recorded.translate("A man is riding.").attention("cross")[0, 3])
        self.assert_there(page, recorded, address)
        go(page, "Masks")
        go(other_page, "Masks")
        expect(other_page.get_by_role("heading", name="Masks", exact=True)).to_be_visible()
        page.go_back()
        self.assert_there(page, recorded, address)


@pytest.mark.slow
def test_steps_and_options_answer_without_a_message_and_options_stay_in_the_address(page, app_server, recorded):
    """On one page, since opening one takes longer than all of it."""
    frames: list[bytes] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    text = "A man is too tired."
    show(page, app_server, f"?text={quote(text)}&layer=0&head=1")
    the_slider_hides_what_comes_later_and_the_film_goes_through_the_steps(page, recorded.translate(text))
    type_in(page, EQUAL)
    settle(page)
    frames.clear()
    options_change_map_tiles_and_address_at_once(page, recorded.translate(EQUAL).attention("cross"))
    assert not frames, "the server is told of none of it"
    page.reload()
    ready(page)
    expect(page).to_have_url(re.compile("words=1"))
    assert map_values(page).shape != recorded.translate(EQUAL).attention("cross").shape[2:]
    go(page, "Masks")
    go(page, "Translate")
    ready(page)
    expect(page).to_have_url(re.compile("words=1"))


def the_slider_hides_what_comes_later_and_the_film_goes_through_the_steps(page: Page, result) -> None:
    count = len(result.predicted_tokens)
    assert count > 10
    slider = page.get_by_role("slider", name="Step")
    later = part(page, "target").locator(".hl-token.hl-later")
    expect(later).to_have_count(0)
    weights = result.attention("cross")[0, 1]
    slider.focus()
    for step in range(count - 2, count - 5, -1):
        page.keyboard.press("ArrowLeft")
        expect(later).to_have_count(count - 1 - step)
        expect(page).to_have_url(re.compile(f"step={step}(&|$)"))
        expected = weights.copy()
        expected[step + 1 :] = np.nan
        wait_for_map(page, np.nan_to_num(expected))
        assert np.isnan(map_values(page)).all(1).tolist() == [False] * (step + 1) + [True] * (count - 1 - step)
        tokens = part(page, "target").locator("[data-index]:not(.hl-later)")
        expect(tokens).to_have_count(step + 1)
    for code in ("decoder_self", "cross"):  # whichever token names it, the row of the step is framed
        kind(page, code)
        expect_framed(page, count - 4, -1)
    part(page, "play").click()
    expect(later).to_have_count(0)
    expect(page).not_to_have_url(re.compile("step="))
    wait_for_map(page, weights)


def options_change_map_tiles_and_address_at_once(page: Page, weights: np.ndarray) -> None:
    """Every option, and several at once."""
    part(page, "options").click()
    panel = page.locator(".hl-panel").filter(has=page.get_by_label("Summarised over"))
    for how, summary in (("mean", np.mean), ("max", np.max), ("deviation", np.std)):
        panel.get_by_label("Show").select_option(how)
        wait_for_map(page, summary(weights, axis=1)[selected_head(page)[0]])
        expect(page).to_have_url(re.compile(f"summary={how}"))
        expect(part(page, "heads").get_by_role("gridcell")).to_have_count(2)
    panel.get_by_label("Summarised over").select_option("all")
    wait_for_map(page, weights.std(axis=(0, 1)))
    expect(part(page, "heads").get_by_role("gridcell")).to_have_count(1)
    panel.get_by_label("Show").select_option("single")
    expect(part(page, "heads").get_by_role("gridcell")).to_have_count(8)
    layer, head = selected_head(page)
    panel.get_by_label("Hide special tokens").check()
    wait_for_map(page, weights[layer, head][:-1, :-1])
    panel.get_by_label("Stretch colours").check()
    panel.get_by_label("Largest weights of a row").fill("60")
    panel.get_by_label("Largest weights of a row").dispatch_event("change")
    expect(page).to_have_url(re.compile("hide=1.*share=60|share=60.*hide=1"))
    without_specials = weights[layer, head][:-1, :-1]
    wait_for_map(page, np.where(top_share(without_specials, 0.6), without_specials, 0))  # others are blank
    panel.get_by_role("button", name="Reset").click()
    wait_for_map(page, weights[layer, head])
    expect(page).not_to_have_url(re.compile("summary|hide"))
    rows_are_named_by_what_the_kind_of_attention_says_or_by_the_other_token(page, panel)
    panel.get_by_label("Words instead of subwords").check()
    expect(part(page, "map").locator(".xtick")).not_to_have_count(weights.shape[3])
    expect(page).to_have_url(re.compile("words=1"))


def rows_are_named_by_what_the_kind_of_attention_says_or_by_the_other_token(page: Page, panel) -> None:
    """The first row: of the start token that is read at the first step, or of the word that this step writes."""
    first = page.evaluate(DRAWN)["y"][0]
    choice = panel.get_by_label("Rows are named by")

    def expect_row(name: str, code: str | None) -> None:
        place = 'document.querySelector("[data-testid=stage-map] .js-plotly-plot").layout.yaxis.ticktext[0]'
        page.wait_for_function(f"name => {place} === name", arg=name, timeout=PATIENCE)
        address = expect(page)
        address.to_have_url(re.compile(f"rows={code}")) if code else address.not_to_have_url(re.compile("rows="))

    assert first != "&lt;s&gt;"
    expect(choice).to_have_value("predicted")
    choice.select_option("read")
    expect_row("&lt;s&gt;", "read")
    kind(page, "decoder_self")
    expect_row("&lt;s&gt;", "read")
    part(page, "options").click()
    expect(choice).to_have_value("read")
    choice.select_option("predicted")
    expect_row(first, "predicted")
    choice.select_option("read")
    expect_row("&lt;s&gt;", None)
    kind(page, "encoder_self")
    part(page, "options").click()
    expect(choice).to_have_count(0)
    part(page, "options").click()
    kind(page, "cross")
    expect_row(first, None)
    part(page, "options").click()
    expect(choice).to_have_value("predicted")


@pytest.mark.slow
def test_where_plotly_does_not_load_there_is_a_sentence_and_a_table(context, app_server, recorded):
    page = context.new_page()  # which may complain
    page.route("**/plotly.min.js", lambda route: route.abort())
    show(page, app_server, f"?text={quote(EQUAL)}")
    expect(page.get_by_text("The drawing library could not be loaded")).to_be_visible()
    expect(part(page, "map").get_by_role("row")).to_have_count(1 + len(recorded.translate(EQUAL).target_tokens))
    tile(page, 1, 1).click()
    expect(part(page, "map").get_by_role("table")).to_be_visible()


@pytest.mark.slow
def test_on_a_phone_controls_stand_behind_one_button_and_a_pinned_word_is_in_view(page, app_server):
    page.set_viewport_size({"width": 400, "height": 860})
    text = quote("tired man too " * 6)
    show(page, app_server, f"?text={text}")
    controls_stand_behind_one_button_that_says_how_many_are_set(page)
    page.set_viewport_size({"width": 400, "height": 860})
    words = part(page, "source").locator("[data-index]")
    last = words.count() - 2
    expect(words.nth(last)).not_to_be_in_viewport()
    show(page, app_server, f"?text={text}&pin=s{last}")
    expect(words.nth(last)).to_be_in_viewport()


def controls_stand_behind_one_button_that_says_how_many_are_set(page: Page) -> None:
    fold, controls = part(page, "fold"), [part(page, name) for name in ("kinds", "views", "options", "lines")]
    for control in controls:
        expect(control).to_be_hidden()
    tops = [part(page, name).bounding_box()["y"] for name in ("translation", "source", "map", "fold", "heads")]
    assert tops == sorted(tops)
    expect(fold).to_have_accessible_name("Controls")
    expect(fold).to_have_attribute("aria-expanded", "false")
    fold.focus()
    page.keyboard.press("Enter")
    expect(fold).to_have_attribute("aria-expanded", "true")
    for control in controls:
        expect(control).to_be_visible()
    part(page, "kinds").locator("[data-kind=encoder_self]").click()
    part(page, "lines").locator("[data-lines=layer]").click()
    expect(fold).to_have_accessible_name("Controls · 2")
    fold.press("Enter")
    for control in controls:
        expect(control).to_be_hidden()
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(fold).to_be_hidden()
    expect(controls[0]).to_be_visible()


@pytest.fixture
def large(checkpoints: Path) -> Iterator[str]:
    """The name of a model of 6 layers and 8 heads that reads 128 tokens, beside the others for one test."""
    sizes = {"n_heads": 8, "n_encoder_layers": 6, "n_decoder_layers": 6, "max_length": 128}
    folder = save_tiny(checkpoints / "large", **sizes)
    yield folder.name
    shutil.rmtree(folder)


@pytest.mark.slow
def test_maps_over_the_budget_are_fetched(page, app_server, large, guard):
    text = "tired man " * 25
    show(page, app_server, f"?model={large}&text={quote(text)}")
    expect(part(page, "heads").get_by_role("gridcell")).to_have_count(48)
    before = page.evaluate(f"JSON.stringify(({DRAWN})().z)")
    tile(page, *((5, 7) if selected_head(page) != [5, 7] else (0, 0))).click()
    page.wait_for_function(f"before => JSON.stringify(({DRAWN})().z) !== before", arg=before)
    np.testing.assert_allclose(np.nansum(map_values(page), axis=1), 1, atol=5e-3)
    assert [url for url in guard.requests if "/headlight/maps/" in url]
    assert part(page, "map").locator(".xtick").count() <= 24
