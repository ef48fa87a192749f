"""A page's address, copied and opened elsewhere, brings the same picture.

State is made by hand, the address that the browser then shows is opened in another tab, and both must come to the same
controls, words and numbers. test_addresses.py asks for that of every choice on every page, without a browser.
"""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from benchmarks.support import menu
from tests.support import PATIENCE
from tests.support.layout import settle
from viz.text.language import say, using

pytestmark = pytest.mark.slow

TEXT = "A man is too tired."
PATIENT = 20  # looks
BUSY = "[data-testid=stStatusWidget], [data-testid=stSpinner], [data-stale=true]"
# Everything that a visitor has chosen or is shown: controls, words, the numbers of every map.
PICTURE = """() => {
  const all = (query, look) => Array.from(document.querySelectorAll(`.stMain ${query}`), look);
  const key = node => (node.closest('[class*=st-key-]')?.className.match(/st-key-[\\w-]+/g) || []).join(' ');
  return JSON.stringify({  // as one text: many small values come slowly out of the browser
    options: all('[role=radio], .hl-sheet [role=tab]', node => [key(node), node.textContent,
      node.ariaChecked ?? node.ariaSelected ?? node.checked]),
    switches: all('input[type=checkbox]', node => [key(node), node.checked]),
    fields: all('input[type=text]', node => [key(node), node.value]),
    sliders: all('[role=slider]', node => [key(node), node.ariaValueNow]),
    words: all(':is(.stText, .hl-answer, .hl-sheet-cursor)', node => node.ariaLabel ?? node.textContent),
    canvases: all('.hl-sheet-plot canvas', node => node.toDataURL()),
    maps: all('.js-plotly-plot', plot => [key(plot), (plot._fullData || []).map(trace =>
      trace.z ? Array.from(trace.z, row => Array.from(row, cell => Number(cell).toPrecision(5))) : trace.name)]),
  });
}"""


def picture(page: Page) -> dict:
    """What a page shows once it no longer changes."""
    expect(page.locator(".stMain").locator(".stText, .hl-answer").first).to_be_attached(timeout=PATIENCE)
    expect(page.locator(BUSY)).to_have_count(0, timeout=PATIENCE)
    settle(page)
    return json.loads(page.evaluate(PICTURE))


def new_picture(page: Page, before: dict) -> dict:
    """The same, once it is another one."""
    page.wait_for_function(f"before => ({PICTURE})() !== before", arg=compact(before), timeout=PATIENCE, polling=200)
    return picture(page)


def compact(content: dict) -> str:
    """A picture as the browser writes it."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def query_of(page: Page) -> dict[str, str]:
    """What the address of a page says."""
    return dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))


def expect_query(page: Page, expected: dict[str, str]) -> None:
    """Waits until the address says this and nothing else."""
    query = "Object.fromEntries(new URLSearchParams(location.search))"
    is_so = f"""wanted => {{
      const query = {query}, keys = Object.keys(query);
      return keys.length === Object.keys(wanted).length && keys.every(key => query[key] === wanted[key]);
    }}"""
    page.wait_for_function(is_so, arg=expected, timeout=PATIENCE)


def radio(page: Page, key: str, name: str) -> None:
    page.locator(f".st-key-{key}").get_by_role("radio", name=name, exact=True).click()


def pick(page: Page, key: str, name: str) -> None:
    """Choose from a list."""
    page.locator(f".st-key-{key} input").click()
    page.get_by_role("option", name=name, exact=True).click()


def test_what_comes_and_goes_takes_no_choice_out_of_the_address(page, app_server):
    page.set_default_timeout(PATIENCE)
    page.goto(f"{app_server}/atlas?head=2")
    picture(page)
    radio(page, "part", "Contribution")
    expect_query(page, {"head": "2", "part": "contribution"})
    picture(page)
    radio(page, "part", "All heads")
    expect_query(page, {"head": "2"})
    picture(page)
    box = page.locator("[class*=st-key-text] input").first
    for text in ("x" * 3000, TEXT):  # a warning comes, and goes
        box.fill(text)
        box.press("Enter")
        expect_query(page, {"head": "2", "text": text})


def test_back_forward_and_reload_bring_what_was_chosen(page, app_server):
    """A page that Streamlit draws is one step of the history, whatever is chosen on it; on a sheet every choice is one.

    The language comes along.
    """

    def german(text: str) -> str:
        with using("de"):
            return say(text)

    page.set_default_timeout(PATIENCE)
    page.goto(f"{app_server}/lessons?lang=de")
    menu.go(page, german("Head atlas"))
    pick(page, "kind", german("Encoder self"))
    radio(page, "part", german("Contribution"))
    expect(page).to_have_url(re.compile("part=contribution"))
    heads = {"lang": "de", "kind": "encoder_self", "part": "contribution"}
    expect_query(page, heads)
    on_heads = picture(page)
    menu.go(page, german("Masks"))
    expect(page.locator(".hl-sheet-map")).to_have_count(2)
    steps = [({"lang": "de"}, picture(page))]
    page.locator(".hl-tiles.hl-small [data-code='1-3']").click()
    expect(page).to_have_url(re.compile("head=3"))
    steps.append((query_of(page), picture(page)))
    page.get_by_role("tab", name=german("All sentences")).click()
    expect(page).to_have_url(re.compile("show=sentences"))
    expect(page.locator(".hl-sheet-map")).to_have_count(3)
    steps.append((query_of(page), picture(page)))
    assert steps[-1][0] == {"lang": "de", "layer": "1", "head": "3", "show": "sentences"}
    assert steps[0][1] != steps[1][1] != steps[2][1]
    for go, query, expected in (
        (page.go_back, *steps[1]),
        (page.go_back, *steps[0]),
        (page.go_back, heads, on_heads),
        (page.reload, heads, on_heads),
        *((page.go_forward, *step) for step in steps),
        (page.reload, *steps[2]),
        *((page.go_back, *step) for step in steps[1::-1]),
        (page.go_back, heads, on_heads),
    ):
        go()
        for _ in range(PATIENT):
            if picture(page) == expected:
                break
        assert picture(page) == expected
        expect_query(page, query)
    page.go_back()
    expect(page.get_by_role("heading", name=german("Lessons"), exact=True)).to_be_visible()
    expect(page).to_have_url(f"{app_server}/lessons?lang=de")


def test_a_stage_whose_page_is_left_keeps_off_the_address(page, app_server):
    """Streamlit keeps the parts of a page until those of the next have come; the address is the next page's by then."""
    tiles = page.get_by_test_id("stage-heads")
    page.goto(f"{app_server}/?lang=de")
    tiles.locator("[data-layer='1'][data-head='3']").click()
    expect(page).to_have_url(re.compile("head=3"))
    page.evaluate("history.pushState(history.state, '', '/masks')")  # as Streamlit does it: the language comes along
    tiles.locator("[data-layer='1'][data-head='2']").click()
    expect(tiles.locator("[data-layer='1'][data-head='2']")).to_have_attribute("aria-selected", "true")
    page.evaluate("() => new Promise(done => setTimeout(() => requestAnimationFrame(done), 800))")
    assert page.url == f"{app_server}/masks?lang=de"


def test_the_same_picture_elsewhere(page, context, app_server):
    page.set_default_timeout(PATIENCE)
    page.goto(f"{app_server}/positions?picture=order&text={quote(TEXT)}")
    before = picture(page)
    page.get_by_role("tab", name="as trained").click()
    expect(page).to_have_url(re.compile("trained=1"))
    first, address = new_picture(page, before), page.url
    assert first != before
    other_page = context.new_page()  # to the server it is another visitor's
    other_page.goto(address, timeout=PATIENCE)
    second = picture(other_page)
    for _ in range(PATIENT):  # on a busy machine a page may be still for a while and then go on
        if second == first:
            break
        second, first = picture(other_page), picture(page)
    assert second == first
    expect(other_page).to_have_url(address)  # what was read is written again
