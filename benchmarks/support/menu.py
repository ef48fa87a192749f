"""The menus at the top of the app: groups of pages, each a button that opens the names of its pages."""

from __future__ import annotations

from functools import cache

from playwright.sync_api import Locator, Page, TimeoutError

from viz.app.menu import MENU
from viz.text.language import LANGUAGES, say, using

_ATTEMPTS, _MOMENT = 20, 6_000  # milliseconds until a menu that a run of the page has closed is opened again


@cache
def groups() -> dict[str, str]:
    """The group of every page, both by their names in English, in the order of the menus."""
    return {page: group for group, pages in MENU.items() for page in pages.values()}


@cache
def paths() -> dict[str, str]:
    """Where every page is, by its name in English; "" for the first."""
    files = {name: file.rpartition("/")[2] for pages in MENU.values() for file, name in pages.items()}
    return files | {next(iter(files)): ""}


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
