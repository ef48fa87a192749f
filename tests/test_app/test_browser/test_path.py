"""The app below a path, as behind a server that has others beside it: nothing asks for anything outside of it.

The page fixture objects to errors (a 404 is one) and to foreign requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from benchmarks.support import menu
from benchmarks.support.server import serve
from tests.test_app.test_browser.test_stage import EQUAL, part, ready, show, type_in
from viz.app.menu import MENU
from viz.text.language import say, using

pytestmark = pytest.mark.slow  # at the root quicker tests hold the same

BELOW = "course/headlight"
NAMES = {Path(file).name: name for pages in MENU.values() for file, name in pages.items()}
COMES = ".hl-stage[data-ready], h1, [data-testid=stAlert]"  # the last of them: without a language model


@pytest.fixture(scope="module")
def app_server(checkpoints: Path) -> Iterator[str]:
    with serve(environment={"HEADLIGHT_CHECKPOINTS": str(checkpoints)}, path=BELOW) as url:
        yield url


@pytest.fixture(autouse=True)
def all_below(guard) -> Iterator[None]:
    """Objects to every request outside of the path."""
    yield
    paths = [urlsplit(url).path for url in guard.requests if urlsplit(url).scheme in ("http", "https", "ws", "wss")]
    assert paths and not [path for path in paths if not path.startswith(f"/{BELOW}/")]


def wait_for_page(page: Page, name: str, by_address: bool) -> None:
    """Waits until a page stands there, loaded again by its own address where that is asked for."""
    address = "" if name == "translate" else name
    expect(page).to_have_url(re.compile(rf"/{BELOW}/{address}(\?|$)"))
    if by_address:
        page.reload()
    expect(page.locator(COMES).first).to_be_visible()
    expect(page.locator("[data-testid=stException]")).to_have_count(0)


def test_pages_of_each_kind_open_by_the_menu_and_some_by_their_address(page, app_server):
    show(page, app_server)
    for name in ("steer", "masks", "training", "atlas", "check", "translate"):
        menu.go(page, NAMES[name])
        wait_for_page(page, name, by_address=name in ("translate", "steer", "atlas", "check"))


def test_sentence_back_link_language_and_files(page, context, app_server):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    show(page, app_server)
    type_in(page, EQUAL)
    expect(page).to_have_url(re.compile("text="))
    address = page.url
    with page.expect_download() as download:
        part(page, "download").click()
        page.get_by_role("button", name="Web page (HTML)").click()
    assert "hl-message" in download.value.path().read_text(encoding="utf-8")
    show(page, app_server, f"steer?text={quote(EQUAL)}&edits=v1_oc1-2")
    page.get_by_role("button", name="Copy link").click()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    assert page.url.startswith(f"{app_server}/steer?") and "edits=" in page.url
    page.go_back()
    ready(page)
    assert page.url == address
    page.goto(f"{app_server}/positions?picture=waves")
    expect(page.locator(".hl-sheet[data-ready]")).to_be_visible()
    page.get_by_role("combobox", name="Language").click()
    page.get_by_role("option", name="Deutsch").click()
    expect(page).to_have_url(re.compile("lang=de"))
    with using("de"):
        expect(page.get_by_role("heading", name=say("Positions"), exact=True)).to_be_visible()
