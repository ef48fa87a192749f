"""The menus at the top of the app: groups of pages, each a button that opens the names of its pages."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from playwright.sync_api import Locator, Page, TimeoutError

from viz.language import LANGUAGES, say, using

MAIN = Path(__file__).resolve().parents[2] / "viz" / "screens" / "main.py"
_ATTEMPTS, _MOMENT = 20, 6_000  # milliseconds until a menu that a run of the page has closed is opened again


@cache
def groups() -> dict[str, str]:
    """The group of every page, both by their names in English, in the order of the menus."""
    found, group = {}, ""
    for named, titled in re.findall(r'say\("([^"]+)"\): \[|title=say\("([^"]+)"\)', MAIN.read_text(encoding="utf-8")):
        group = named or group
        if titled:
            found[titled] = group
    return found


@cache
def paths() -> dict[str, str]:
    """Where every page is, by its name in English; "" for the first."""
    pages = re.findall(r'st\.Page\("(\w+)\.py", title=say\("([^"]+)"\)(, default)?', MAIN.read_text(encoding="utf-8"))
    return {title: "" if default else file for file, title, default in pages}


def place(name: str) -> str:
    """The group of a page, in the language of the page's name.

    Raises:
        KeyError: there is no such page.
    """
    for code in LANGUAGES:
        with using(code):
            for page, group in groups().items():
                if say(page) == name:
                    return say(group)
    raise KeyError(name)


def unfold(page: Page, name: str) -> Locator:
    """Opens the menu in which a page's name is; returns the name, to be clicked."""
    button = page.get_by_test_id("stTopNav").get_by_role("button", name=place(name), exact=True)
    item = page.get_by_role("menuitem", name=name, exact=True)
    for again in reversed(range(_ATTEMPTS)):
        button.wait_for()
        if button.get_attribute("aria-expanded") != "true":
            button.click()
        try:
            item.wait_for(timeout=_MOMENT)
            break
        except TimeoutError:
            if not again:
                raise
    return item


def go(page: Page, name: str) -> None:
    """Goes to a page by the menus, in a window that is wide enough for them."""
    for again in reversed(range(_ATTEMPTS)):
        try:
            return unfold(page, name).click(timeout=_MOMENT)
        except TimeoutError:
            if not again:
                raise
