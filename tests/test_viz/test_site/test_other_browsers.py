"""The page without a server in Firefox and in WebKitGTK, from its folder and from disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from model.interventions.edits import Edits
from model.training.sweeps.grid import GridCell
from tests.support.other_browsers import CLICK, DRAWS, READS, OtherBrowser, firefox, numbers, webkit
from viz.pages.lessons import contents
from viz.pages.lessons.contents import LESSONS
from viz.pages.training import grid
from viz.views.results import grid_results

pytestmark = [pytest.mark.slow, pytest.mark.flaky(reruns=1)]  # these browsers begin slowly on a busy machine

TEXT = "Two women are cooking dinner in the kitchen."
LOADED = "return document.querySelector('[data-testid=stage-status]')?.hidden"
TYPE = """
  const box = document.querySelector("[data-testid=stage-sentence]");
  box.value = arguments[0];
  box.dispatchEvent(new Event("input", { bubbles: true }));
"""
ANSWERS = "return document.querySelector('[data-testid=answer]')?.textContent.includes(arguments[0])"
# The colour of the first cell of the first map.
PAINTS = """
  const pixels = document.querySelector(".hl-sheet-map canvas")?.getContext("2d").getImageData(0, 0, 1, 1).data;
  return Boolean(pixels?.[3]);
"""

Start = Callable[[], AbstractContextManager[OtherBrowser]]


@pytest.mark.parametrize("start", [firefox, webkit])
def test_it_works_from_its_folder_and_from_disk(
    start: Start, request: pytest.FixtureRequest, live_file: Path, translators
) -> None:
    with start() as browser:
        for url in (request.getfixturevalue("address"), live_file.as_uri()):
            browser.go(url)
            browser.wait(LOADED)
            browser.run(TYPE, TEXT)
            result = translators["en-de"].translate(TEXT)
            browser.wait(READS, result.text)
            browser.wait(CLICK, "[data-layer='2'][data-head='3']")
            browser.wait(DRAWS, numbers(result.attention("cross")[2, 3]))
            browser.wait(CLICK, "[data-page=steer]")
            browser.wait(CLICK, "[data-layer='1'][data-head='5'] [data-testid=stage-off]")
            browser.wait("return Boolean(document.querySelector('[data-code=oc1-5]'))")
            changed = translators["en-de"].translate(TEXT, edits=Edits.from_code("v1_oc1-5"))
            browser.wait(READS, changed.text)
            browser.wait(DRAWS, numbers(changed.attention("cross")[2, 3]))
            assert "edits=v1_oc1-5" in browser.run("return location.href")
            if url.startswith("http"):
                a_card_is_answered(browser)


def a_card_is_answered(browser: OtherBrowser) -> None:
    """Of a lesson, whose first picture is a map; the next one opens with its own."""
    browser.wait(CLICK, "[data-page=lessons]")
    browser.wait(CLICK, "[data-lesson=attention]")
    browser.wait("return Boolean(document.querySelector('.hl-lessons .main-svg'))")
    browser.wait(CLICK, f"[data-testid=stage-guess-{LESSONS['attention'].cards[0].right}]")
    told = contents.state("attention-1", True)["answer"]
    browser.wait("return document.querySelector('.hl-answer')?.textContent === arguments[0]", f"Right. {told}")
    browser.wait(CLICK, "[data-testid=stage-lesson-next]")
    browser.wait("return location.hash.includes('lesson=attention-2')")


@pytest.mark.parametrize("start", [firefox, webkit])
def test_a_sheet_is_drawn_and_its_cells_are_clicked(start: Start, address: str) -> None:
    recorded = grid_results.load()
    losses = {cell: f"{recorded.runs[GridCell(*cell)].final:.2f}" for cell in grid.FIRST}
    pre = [losses["pre", 0.005, warmup] for warmup in (400, 1)]
    with start() as browser:
        browser.go(f"{address}#page=training&lang=en")
        browser.wait(ANSWERS, f"{pre[0]} nats with a warmup of 400 steps, {pre[1]} without")
        browser.wait("return document.querySelectorAll('.hl-sheet-curves path').length === 8")
        browser.wait(CLICK, ".hl-sheet-board [data-row='0'][data-head='0']")
        browser.wait("return location.hash.includes('grid-runs=')")
        browser.wait(CLICK, "[data-choice=maps]")
        browser.wait(PAINTS)
        browser.wait(CLICK, "[data-code=here]")
        browser.wait("return Boolean(document.querySelector('[data-testid=film-curves]'))")
