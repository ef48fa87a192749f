"""What an address holds is seen as it is: in a real browser no link, picture or symbol comes of it."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.support.server import ROOT, serve
from tests.support import PATIENCE, hostile
from tests.test_app import screen

pytestmark = pytest.mark.slow

FILES = ("translate.py", "atlas.py", "lessons.py")  # a stage, figures, cards; `test_hostile.py` opens every page
SCRIPT = """
import json
import streamlit as st
from viz.ui import shared
for words in json.loads({words!r}):
    shared.warn(words)
st.text("the end")
"""
WORDS = (
    *hostile.MARKED,
    "There is no step “https://zq7.test” of (www.zq7.test), 'me@zq7.test'.",
    "xmpp:me@zq7.test mailto:me@zq7.test HTTPS://WWW.zq7.test\\@zq7.test https&#58;//zq7.test",
    "a -> b <- c <-> d -- e >= f <= g ~= h",
    "- zq7\n- zq7\n\n# zq7\n***\n    zq7",
    "1. zq7",
    "1) zq7",
    "+ zq7",
    "= zq7",
    "> zq7 # zq7 | zq7 & &amp; &#x3c; ~~zq7~~ _zq7_ __zq7__ n_heads *zq7* \\* \\",
    ":red[zq7] :zq7[zq7]{a=b} ::zq7 :::zq7 :smile: :+1: :material/home: :material_home: 12:30 a:b:c",
    "``zq7` `` ``` $$zq7$$ \\$zq7\\$ `https://zq7.test` ``https://zq7.test",
)


def test_a_warning_reads_as_it_was_written(browser: Browser, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text(SCRIPT.format(words=json.dumps(WORDS)), encoding="utf-8")
    with serve(script, environment={"PYTHONPATH": str(ROOT)}) as url:
        page = browser.new_page()
        page.goto(url)
        expect(page.get_by_text("the end")).to_be_visible(timeout=PATIENCE)
        alerts = page.locator("[data-testid=stAlert]")
        texts = [" ".join(words.split()) for words in alerts.all_inner_texts()]
        assert texts == [" ".join(words.split()) for words in WORDS]
        tags = alerts.locator("[data-testid=stMarkdownContainer] *").evaluate_all("all => all.map(one => one.tagName)")
        assert set(tags) == {"P", "CODE"}
        page.close()


@pytest.fixture(scope="module")
def keys(checkpoints: Path) -> dict[str, list[str]]:
    """The keys of every page's address."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))
        url_keys = {page: hostile.url_keys(screen.open_page(page)) for page in hostile.PAGES}
    assert {"lang", "text", "kind"} <= set().union(*url_keys.values())
    return url_keys


def assert_nothing_lives(page: Page, url: str, file: str, query: dict[str, str]) -> None:
    page.goto(f"{url}/{'' if file == 'translate.py' else file.removesuffix('.py')}?{urlencode(query)}")
    alert = page.locator("[data-testid=stAlert]", has_text="zq7").locator("code")
    expect(alert.first).to_be_visible(timeout=PATIENCE)  # of the language, if of nothing else
    expect(page.locator(".stApp[data-test-script-state=notRunning]")).to_be_visible(timeout=PATIENCE)
    links = "all => all.map(one => one.href).filter(href => /^mailto:|:[/][/][^/]*zq7/.test(href))"
    assert page.locator("a").evaluate_all(links) == [], file


@pytest.mark.long
def test_no_link_comes_of_what_an_address_holds(page: Page, app_server: str, keys: dict[str, list[str]]) -> None:
    for file in FILES:
        page_keys = keys[file]
        assert_nothing_lives(page, app_server, file, dict.fromkeys([*page_keys, "lang"], hostile.LINKS))
