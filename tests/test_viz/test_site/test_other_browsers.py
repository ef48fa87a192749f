"""The page without a server in Firefox and in WebKitGTK, from its folder and from disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from model.interventions.edits import Edits
from model.training.sweeps.grid import GridCell
from tests.support.other_browsers import CLICK, DRAWS, READS, OtherBrowser, firefox, numbers, webkit
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
ANSWERS = "return document.querySelector('[data-testid=answer]')?.textContent === arguments[0]"
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


@pytest.mark.parametrize("start", [firefox, webkit])
def test_a_sheet_is_drawn_and_its_cells_are_clicked(start: Start, address: str) -> None:
    recorded = grid_results.load()
    first = [GridCell(*values) for values in grid.FIRST]
    with start() as browser:
        browser.go(f"{address}#page=training&lang=en")
        browser.wait(ANSWERS, grid.answer(recorded, first))
        browser.wait("return document.querySelectorAll('.hl-sheet-curves path').length === 8")
        browser.wait(CLICK, ".hl-sheet-board [data-row='0'][data-head='0']")
        browser.wait(ANSWERS, grid.answer(recorded, [*first[1:], GridCell("post", 0.1, 1)]))
        browser.wait(CLICK, "[data-choice=maps]")
        browser.wait(PAINTS)
        browser.wait(CLICK, "[data-code=here]")
        browser.wait("return Boolean(document.querySelector('[data-testid=film-curves]'))")
