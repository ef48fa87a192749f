"""One walk through all pages: by keyboard to every control, whose name is read aloud; the parts of every page are in
the same places, and nothing is cut off on a phone or at twice the size. Contrast is looked at in test_accessible.py.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support import PATIENCE
from tests.support.layout import resize, settle
from tests.test_app.test_browser.test_frame import (
    PAGES,
    SIZES,
    STAGES,
    top_of_the_answer,
    top_of_the_translation,
)
from viz.app.menu import MENU

pytestmark = pytest.mark.slow

PATHS = [file.split("/")[0] for pages in MENU.values() for file in pages]
DRAWN = ".hl-stage[data-ready], .js-plotly-plot .main-svg, .st-key-frame-fill, .hl-lesson-tile, .hl-sheet[data-ready]"
PHONE = (360, 780)
ZOOMED = (700, 450)  # what is left of 1400 x 900 at 200 %
NAMED = {"button", "link", "textbox", "searchbox", "combobox", "listbox", "slider", "radio", "checkbox", "switch"}
NAMED |= {"tab", "spinbutton", "radiogroup", "tablist", "grid"}
# Controls that can be seen and used; of those that arrow keys choose among, the one that Tab comes to.
CONTROLS = """() => {
  const every = document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]');
  const seen = node => node.checkVisibility({ visibilityProperty: true }) && node.getBoundingClientRect().width > 1;
  const used = [...every].filter(node => seen(node) && node.tabIndex >= 0 && !node.disabled
    && node.getAttribute('aria-disabled') !== 'true' && !(node.type === 'radio' && !node.checked));
  // Of a group of buttons Tab comes to one, and arrow keys to the others.
  const groupOf = node => node.closest(node.role === 'radio' ? '[role=radiogroup]' : '[role=toolbar]');
  const stops = [...new Map(used.map(node => [groupOf(node) || node, node])).values()];
  stops.forEach((node, number) => {
    const group = groupOf(node);
    for (const one of group ? group.querySelectorAll('[role=radio], button') : [node]) one.dataset.walk = number;
  });
  return stops.map(node => node.outerHTML.slice(0, 160));
}"""
FOCUSED = """() => {
  const node = document.activeElement, style = getComputedStyle(node);
  const framed = one => (one.outlineStyle !== 'none' && parseFloat(one.outlineWidth) > 0) || one.boxShadow !== 'none';
  const { walk = null } = node.dataset;
  return { walk, tag: node.tagName, framed: framed(style), html: node.outerHTML.slice(0, 160) };
}"""
CUT = """() => [document.documentElement, document.querySelector('.stMain')]
  .map(node => node.scrollWidth - node.clientWidth)"""


def opened_on_a_phone(page: Page, url: str, path: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto(f"{url}/{'' if path == 'translate' else path}")
    expect(page.locator(DRAWN).first).to_be_visible(timeout=PATIENCE)
    settle(page)


def unreached(page: Page) -> tuple[list[str], list[str]]:
    """Presses Tab through a page; returns the controls that it does not come to, and links and buttons without a frame
    where it does."""
    controls = page.evaluate(CONTROLS)
    remaining, bare = dict(enumerate(controls)), []
    for _ in range(2 * len(controls) + 10):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused["walk"] is not None:
            remaining.pop(int(focused["walk"]), None)
        if focused["tag"] in ("A", "BUTTON") and not focused["framed"]:
            bare.append(focused["html"])
        if not remaining:
            break
    return list(remaining.values()), bare


def unnamed(page: Page) -> list[str]:
    """The controls that a screen reader has no name for."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    names = [(node.get("role", {}).get("value"), node.get("name", {}).get("value", "")) for node in nodes]
    return [role for role, name in names if role in NAMED and not name.strip()]


def assert_the_picture_comes_before_the_tiles(page: Page) -> None:
    places = (".hl-answer", ".st-key-frame-large, .hl-sheet-right", ".st-key-frame-small, .hl-sheet-left")
    answer, picture, tiles = (page.locator(place).first.bounding_box() for place in places)
    assert answer["y"] + answer["height"] <= picture["y"] < tiles["y"]


def assert_answers_begin_alike(page: Page, path: str, tops: dict) -> None:
    """In every window the parts are where the frame has them, and the answer where other pages have theirs."""
    kinds = {"frame": (PAGES, top_of_the_answer), "stage": (STAGES, top_of_the_translation)}
    for size in SIZES[::-1]:
        resize(page, *size)
        for kind, (pages, top_of) in kinds.items():
            if path not in pages.values():
                continue
            top, page_tops = top_of(page, path, size), tops.setdefault((kind, size), {})
            if path != "compare":  # which asks for two sentences
                page_tops[path] = top
                assert max(page_tops.values()) - min(page_tops.values()) <= 2, (size, page_tops)


@pytest.fixture(scope="module")
def tops() -> dict:
    """Where the answers of the pages begin, as far as they have been opened: by kind of page and window, by path."""
    return {}


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_seen_on_a_phone_walked_by_keyboard_and_read_aloud(page, app_server, all_served, tops, path):
    """On one page, since opening one takes longer than all of it."""
    opened_on_a_phone(page, app_server, path)
    assert max(page.evaluate(CUT)) <= 0, "cut off on a phone"
    if path in PAGES.values():
        assert_the_picture_comes_before_the_tiles(page)
    assert_answers_begin_alike(page, "" if path == "translate" else path, tops)
    assert page.viewport_size == {"width": 1400, "height": 900}
    assert unnamed(page) == []
    controls, bare = unreached(page)
    assert controls == [] and bare == []
    resize(page, *ZOOMED)
    assert max(page.evaluate(CUT)) <= 0, "cut off at twice the size"
