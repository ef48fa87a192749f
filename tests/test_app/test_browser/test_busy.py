"""A visitor who waits because others compute is shown where to go on, with the sentence that was typed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from benchmarks.support.server import serve
from tests.support import PATIENCE, axe
from tests.support.busy_server import VARIABLE
from viz.app import busy

pytestmark = pytest.mark.slow


@pytest.fixture
def visited(browser: Browser, tmp_path: Path) -> Iterator[tuple[Page, str, Path]]:
    """A page of an app that gives out the page without a server, its address, and the file that makes it busy."""
    file = tmp_path / "busy"
    environment = {VARIABLE: str(file), busy.VARIABLE: "/site/"}
    with serve(module="tests.support.busy_server", environment=environment) as url:
        context = browser.new_context(service_workers="block", locale="de-DE", viewport={"width": 1280, "height": 900})
        yield context.new_page(), url, file
        context.close()


def test_who_waits_for_others_is_shown_where_to_go_on(visited: tuple[Page, str, Path]) -> None:
    page, url, file = visited
    page.goto(f"{url}/?beam=1")
    expect(page.get_by_test_id("stage-translation")).not_to_be_empty(timeout=PATIENCE)
    line = page.get_by_test_id("busy")
    file.touch()
    page.get_by_role("textbox").first.fill("Two dogs run & play.")
    link = line.get_by_role("link")
    told = "Der Server ist beschäftigt: Mach in deinem Browser weiter, ohne zu warten"
    expect(link).to_have_text(told, timeout=PATIENCE)
    expect(link).to_have_attribute("href", f"{url}/site/#beam=1&text=Two+dogs+run+%26+play.")
    assert [finding for finding in axe.findings(page) if "busy" in finding] == []
    page.set_viewport_size({"width": 400, "height": 860})
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    box = line.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 400
    file.unlink()
    expect(line).to_be_hidden(timeout=PATIENCE)
    expect(page.locator("[data-test-script-state=running]")).to_have_count(0, timeout=PATIENCE)
