"""The lessons on the page without a server: files, and the engine where a visitor changes something."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, Route, expect

from model.interventions.edits import Edits
from tests.support import PATIENCE, axe
from tests.test_viz.test_site import test_browser_site as site
from viz.pages.lessons import contents, masks
from viz.pages.lessons.contents import CARDS, LESSONS

pytestmark = pytest.mark.slow

visitor = site.visitor

MEGA = 1_000_000
BICYCLE = "A man is riding a bicycle down the street."
CELLS = "Array.from(document.querySelector('.hl-lessons .js-plotly-plot').data[0].z, row => Array.from(row))"
# Of each trace its colours, and at each place where Plotly draws it the pixels of the sketch: one in the middle of a
# cell, those around a point of a line.
SKETCHED = """() => {
  const node = document.querySelector(".hl-lessons .js-plotly-plot");
  const { xaxis, yaxis } = node._fullLayout;
  const { width } = window.sketched.style;
  const scale = window.sketched.width / parseFloat(width);
  const { width: all, height } = window.sketched;
  const { data } = window.sketched.getContext("2d").getImageData(0, 0, all, height);
  const around = (x, y, reach) => {
    const left = Math.round(scale * (xaxis._offset + xaxis.d2p(x)));
    const top = Math.round(scale * (yaxis._offset + yaxis.d2p(y)));
    const steps = Array.from({ length: 2 * reach + 1 }, (_, i) => i - reach);
    const starts = steps.flatMap((down) => steps.map((right) => 4 * ((top + down) * all + left + right)));
    return starts.map((start) => Array.from(data.slice(start, start + 3)));
  };
  const paper = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    paper.fillStyle = colour;
    paper.fillRect(0, 0, 1, 1);
    return Array.from(paper.getImageData(0, 0, 1, 1).data.slice(0, 3));
  };
  const colourOf = ({ zmin, zmax, colorscale }, value) => {
    const share = (value - zmin) / (zmax - zmin);
    const next = Math.max(1, colorscale.findIndex(([place]) => place >= share));
    const ends = [colorscale[next - 1], colorscale[next]];
    const [[low, from], [high, to]] = ends.map(([place, colour]) => [place, rgb(colour)]);
    return from.map((part, i) => part + ((to[i] - part) * (share - low)) / (high - low));
  };
  return node.data.flatMap((trace) => {
    if (trace.z) {
      const cells = Array.from(trace.z).flatMap((row, i) => Array.from(row, (value, j) => [value, i, j]));
      const shown = cells.filter(([value]) => !Number.isNaN(value));
      return shown.map(([value, i, j]) => [[colourOf(trace, value)], [around(j, i, 0)]]);
    }
    if (!trace.line || !String(trace.mode).includes("lines")) return [];
    const colours = node.data.map(({ line }) => rgb(line.color));
    return [[colours, Array.from(trace.x, (x, i) => around(Number(x), Number(trace.y[i]), 2))]];
  });
}"""
PICTURE = ".hl-lessons :is(.hl-stage[data-ready], .main-svg, .hl-head-board)"


def opened(page: Page, address: str, code: str, **parameters: str) -> None:
    query = "".join(f"&{name}={value}" for name, value in parameters.items())
    page.goto("about:blank")
    page.goto(f"{address}#page=lessons&lesson={code}{query}")
    expect(page.locator(PICTURE).first).to_be_visible(timeout=PATIENCE)


@pytest.mark.long
def test_every_card_is_drawn_and_answered_as_in_the_app_without_weights(visitor, address) -> None:
    page, requests = visitor.page, visitor.requests
    for code, (name, number) in CARDS.items():
        card = LESSONS[name].cards[number - 1]
        opened(page, address, code)
        page.get_by_test_id(f"stage-guess-{card.right}").click()
        told = contents.state(code, True)["answer"]
        expect(page.locator(".hl-answer")).to_have_text(f"Right. {told}")
        expect(page.locator(PICTURE).first).to_be_visible(timeout=PATIENCE)
    assert not [request.url for request in requests if "safetensors" in request.url]


@pytest.mark.parametrize("code", ["attention-1", "masks-1"])
def test_the_first_picture_is_there_before_plotly_and_looks_the_same(visitor, address, code: str) -> None:
    page, requests = visitor.page, visitor.requests
    routes: list[Route] = []
    page.route("**/plotly*", lambda route: routes.append(route))
    page.goto(f"{address}#page=lessons&lesson={code}")
    expect(page.locator(".hl-lessons .hl-sketch")).to_be_visible(timeout=PATIENCE)
    milliseconds = page.evaluate("performance.now()")
    sent = sum(len(request.response().body()) for request in requests if "plotly" not in request.url)
    print(f"{code}: the first picture after {sent} bytes and {milliseconds:.0f} ms")
    assert sent < MEGA
    page.evaluate("window.sketched = document.querySelector('.hl-lessons .hl-sketch')")
    while not routes:
        page.wait_for_timeout(20)
    routes[0].continue_()
    expect(page.locator(".hl-lessons .main-svg").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".hl-sketch")).to_have_count(0)
    for colours, pixels in page.evaluate(SKETCHED):
        distances = np.abs(np.array(pixels)[:, :, None] - np.array(colours)[None, None]).max(-1)
        assert distances.min((1, 2)).max() <= 6, code  # of 255, at each place that Plotly draws


def test_heads_are_switched_by_the_engine_and_a_link_leads_on(visitor, address, translators) -> None:
    page, requests = visitor.page, visitor.requests
    opened(page, address, "heads-1")
    board = page.get_by_test_id("lessons")
    for layer, head, code in ((2, 2, "v1_oc2-2"), (1, 0, "v1_oc1-0_oc2-2")):
        board.locator(f".hl-tile[data-layer='{layer}'][data-head='{head}']").click()
        text = translators["en-de"].translate(BICYCLE, 1, edits=Edits.from_code(code)).text
        expect(board.get_by_test_id("stage-translation")).to_have_text(text, timeout=PATIENCE)
        expect(board.get_by_test_id("stage-cost")).to_be_visible(timeout=PATIENCE)
    assert [request.url for request in requests if "safetensors" in request.url]
    opened(page, address, "attention-2")
    expect(page.locator(".hl-lesson-bar a")).to_be_visible(timeout=PATIENCE)
    page.locator(".hl-lesson-bar a").click()
    expect(page.get_by_test_id("stage-sentence")).to_have_value(BICYCLE)
    page.go_back()
    expect(page.get_by_test_id("stage-guess-0")).to_be_visible()
    page.get_by_role("tab", name="Steer").click()
    expect(page).to_have_url(re.compile("page=steer"))


def test_cells_open_runs_are_picked_and_a_circuit_is_walked(visitor, address) -> None:
    page, requests = visitor.page, visitor.requests
    opened(page, address, "masks-3", lang="de")
    counts, size = masks.trained()[2], len(masks.EXAMPLE)
    cells = page.locator(".hl-lessons .nsewdrag").first
    box = cells.bounding_box()
    row, column = 2, 4
    cells.click(position={"x": box["width"] * (column + 0.5) / size, "y": box["height"] * (row + 0.5) / size})
    expected = np.tri(size)
    expected[row, column] = counts[row, column]
    page.wait_for_function(f"Math.abs({CELLS}[{row}][{column}] - {counts[row, column]}) < 1e-6")
    assert np.allclose(page.evaluate(CELLS), expected, atol=1e-6)
    opened(page, address, "warmup-2")
    page.get_by_test_id("stage-guess-1").click()
    legend = page.locator(".hl-lessons .legendtext")
    expect(legend).to_have_count(2)
    cells = page.locator(".hl-lessons .nsewdrag").first
    box = cells.bounding_box()
    cells.click(position={"x": box["width"] / 8, "y": box["height"] / 8})
    expect(legend).to_have_count(3)
    expect(legend.filter(has_text="peak 0.1, warmup 1").last).to_be_visible()
    opened(page, address, "why-3")
    page.get_by_test_id("stage-guess-1").click()
    title = page.locator(".hl-stage .hl-title")
    expect(title).to_contain_text("Head 18.6 looks from “cat” to “seven”", timeout=PATIENCE)
    title.get_by_role("button", name="head 16.0").click()
    page.get_by_role("tab", name="Why", exact=True).click()
    expect(title).to_contain_text("Head 16.0 looks from “seven” to “cat”", timeout=PATIENCE)
    assert not [request.url for request in requests if "safetensors" in request.url]


def test_a_lesson_is_walked_by_keyboard_and_nothing_comes_from_elsewhere(visitor, address) -> None:
    page = visitor.page
    page.goto(f"{address}de.html#page=lessons")
    expect(page).to_have_url(re.compile("#page=lessons&lang=de$"))
    reached(page, "document.activeElement.dataset.lesson === 'masks'")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("lesson=masks-1"))
    reached(page, "document.activeElement.dataset.testid === 'stage-guess-0'")
    page.keyboard.press("Space")
    expect(page.locator(".hl-answer")).to_contain_text(re.compile("^(Richtig|Nicht ganz)"))
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("lesson=masks-2"))
    reached(page, "document.activeElement.dataset.testid === 'stage-documents'")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Headlight")
    page.get_by_role("link", name="Serving a class").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Serving a class")
    assert {request.url.startswith(address) for request in visitor.requests} == {True}


def reached(page: Page, condition: str) -> None:
    """Press Tab until the focus is there; nothing holds it."""
    for _ in range(60):
        if page.evaluate(condition):
            return
        page.keyboard.press("Tab")
    raise AssertionError(condition)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_sticks_out(visitor, address, scheme: str) -> None:
    page = visitor.page
    page.emulate_media(color_scheme=scheme)
    for code in ("", "attention-2", "heads-2", "warmup-2", "why-1"):
        page.set_viewport_size({"width": 1280, "height": 720})
        opened(page, address, code)
        if code:
            page.get_by_test_id("stage-guess-0").click()
            expect(page.locator(".hl-answer")).to_contain_text(re.compile("^(Right|Not quite)"))
        assert axe.findings(page) == [], code
        page.set_viewport_size({"width": 400, "height": 860})
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, code
        page.set_viewport_size({"width": 640, "height": 360})  # 1280 x 720 at 200 %
        page.wait_for_timeout(300)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, code
    for name in ("index", "recording", "how-it-is-built"):
        page.goto(f"{address}docs/{name}.html")
        for width in (1280, 640, 400):
            page.set_viewport_size({"width": width, "height": 720})
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (name, width)
        assert axe.findings(page) == [], name
