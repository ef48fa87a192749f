"""What every test can ask for: a browser, the running app, a watched page; and what holds for all of them."""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

# Before torch is imported anywhere: tiny models gain nothing from a second thread, which server and browser can use.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
# Nothing in a test fetches a model.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pytest
from hypothesis import settings

from benchmarks.support.browser import FLAGS, MISSING, find_browser
from benchmarks.support.server import serve
from tests.support import forget, forget_other_models
from tests.support.guard import MISBEHAVED, Guard
from tests.support.javascript import Script

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

# No test depends on how fast the machine is; in CI the same examples come every time.
settings.register_profile("headlight", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("headlight")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the choice of a part of the slow tests, as `make test SLOW=1 PART=2/4`."""
    parser.addoption(
        "--part", type=part_of, metavar="K/N", help="of the slow tests only every N-th file, from the K-th"
    )


def part_of(text: str) -> tuple[int, int]:
    """Reads a part such as 2/4: its number from 1, and how many there are."""
    try:
        part, parts = map(int, text.split("/"))
    except ValueError:
        part, parts = 0, 0
    if not 1 <= part <= parts:
        raise argparse.ArgumentTypeError(f"{text!r} is no part: write 1/4 for the first of four")
    return part, parts


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the slow tests of other parts. Files stay whole: their tests share servers and models."""
    if (chosen := config.getoption("--part")) is None:
        return
    part, parts = chosen
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    ours = set(sorted(slow)[part - 1 :: parts])
    left = [item for item in items if item.get_closest_marker("slow") and item.path not in ours]
    items[:] = [item for item in items if item.path in ours or not item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=left)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests that drive a browser, and puts them last, those marked as long before the others.

    Last, because quick tests should speak first and because Playwright's event loop then never runs beneath the others.
    With long ones at the very end, one process would work on them while the other has nothing left to do.
    A busy machine can come between a look at the page and the next one: such a test fails when it fails twice in a row,
    and the summary names it when it failed once. What the guard heard counts at once.
    """
    leave_out(config, items)
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.flaky(reruns=1, rerun_except=MISBEHAVED))
    items.sort(key=lambda item: (bool(item.get_closest_marker("browser")), not item.get_closest_marker("long")))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collects unit tests written in JavaScript."""
    return Script.from_parent(parent, path=file_path) if file_path.name.endswith(".test.js") else None


def is_news(record: logging.LogRecord) -> bool:
    """Says whether a message of Streamlit's cache is worth showing: that there is no server is true of every test."""
    return "No runtime found" not in record.getMessage()


def pytest_runtest_call() -> None:
    """Forgets what pages computed where the models are others now."""
    forget_other_models()


@pytest.fixture(autouse=True)
def clean_streamlit_caches() -> Iterator[None]:
    """Empties Streamlit's caches after a test, so that no AppTest sees another one's results."""
    logging.getLogger("streamlit.runtime.caching.cache_data_api").addFilter(is_news)
    yield
    forget()


def no_browser(reason: str) -> None:
    """Skips the test that needs a browser; fails it where CI says that one must be there."""
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        pytest.fail(f"{reason}; with CI set the browser tests must run", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A running headless Chromium or Chrome.

    Pages of one context share a process, in which Streamlit's and Plotly's scripts are compiled already: opening a page
    of the app takes less than half of the processor time that the first one takes.
    """
    path = find_browser()
    if path is None:
        no_browser(MISSING)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, headless=True, args=[*FLAGS, "--process-per-site"])
        yield running
        running.close()


@pytest.fixture(scope="session")
def app_server() -> Iterator[str]:
    """The address of the app, served from this checkout."""
    with serve() as url:
        yield url


@pytest.fixture
def guard(app_server: str) -> Guard:
    """The record of what `page` does: `guard.requests`, `guard.errors`."""
    return Guard(app_server)


@pytest.fixture(scope="session")
def profile(browser: Browser) -> Iterator[BrowserContext]:
    """The browser context (cookies, storage, cache) in which the tests open their pages, one after the other."""
    browser_context = browser.new_context(service_workers="block", viewport={"width": 1280, "height": 900})
    yield browser_context
    browser_context.close()


@pytest.fixture
def context(profile: BrowserContext, app_server: str, guard: Guard) -> Iterator[BrowserContext]:
    """That context without what an earlier test left in it, watched by the guard."""
    # A page of the same site keeps the process, with all that is compiled there, from one test to the next.
    keeper = profile.new_page()
    keeper.goto(f"{app_server}/_stcore/health")
    keeper.evaluate("localStorage.clear()")
    profile.clear_cookies()
    for left in profile.pages:
        if left is not keeper:
            left.close()
    guard.watch(profile)
    yield profile
    guard.leave()


@pytest.fixture
def page(context: BrowserContext, guard: Guard) -> Iterator[Page]:
    """A page of the browser; the test fails at its end on a console error or a request to anything but the app."""
    tab = context.new_page()
    yield tab
    # A round trip: what the page has said so far has arrived when it is answered.
    if not tab.is_closed():
        tab.evaluate("1")
    guard.check()
