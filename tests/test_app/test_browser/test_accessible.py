"""What axe-core finds on every page of the app, in light and in dark, in a low window, where most has to scroll."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support import PATIENCE, axe
from tests.support.layout import settle
from tests.support.repeated import first_quick
from viz.app.menu import MENU

DRAWN = ".hl-stage[data-ready], .js-plotly-plot .main-svg, .st-key-frame-fill, .hl-lesson-tile, .hl-sheet[data-ready]"
PATHS = [file.split("/")[0] for pages in MENU.values() for file in pages]
# Views beside those that pages open with: a film that has come to a step.
VIEWS = ["translate?step=2"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # all else is the same in both themes
WINDOW = {"width": 1280, "height": 720}
SCHEME = "scheme => getComputedStyle(document.querySelector('.stApp')).colorScheme === scheme"


def findings_in_both_themes(page: Page, address: str) -> dict[str, list[str]]:
    """Opens an address; returns what axe-core finds there by theme."""
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size(WINDOW)
    page.emulate_media(color_scheme="light")
    page.goto(address)
    expect(page.locator(DRAWN).first).to_be_visible(timeout=PATIENCE)
    findings = {}
    for scheme, rules in {"light": None, "dark": OF_COLOURS}.items():
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(SCHEME, arg=scheme)
        settle(page)
        findings[scheme] = axe.findings(page, rules)
    return findings


@pytest.mark.slow
@pytest.mark.parametrize("path", first_quick([*PATHS, *VIEWS]))
def test_axe_finds_nothing_on_a_page_in_light_and_dark(page, shipped_server, guard, path):
    guard.allowed = shipped_server.split("//")[1]
    address = f"{shipped_server}/{path.removeprefix('translate')}"
    assert findings_in_both_themes(page, address) == {"light": [], "dark": []}


@pytest.mark.slow
def test_axe_finds_what_is_wrong(page, app_server):
    """Of a page of its own, that is: a button without a name and pale text."""
    page.goto(f"{app_server}/_stcore/health")
    page.set_content("<main lang=en><h1>A page</h1><button></button><p style='color: #bbb'>pale</p></main>")
    rules = {finding.split(":")[0] for finding in axe.findings(page)}
    assert {"button-name", "color-contrast"} <= rules
