"""The page without a server in Firefox and in WebKitGTK, from its folder and from disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest

from model.interventions.edits import Edits
from tests.support.other_browsers import OtherBrowser, firefox, webkit

TEXT = "Two women are cooking dinner in the kitchen."
LOADED = "return document.querySelector('[data-testid=stage-status]')?.hidden"
TYPE = """
  const box = document.querySelector("[data-testid=stage-sentence]");
  box.value = arguments[0];
  box.dispatchEvent(new Event("input", { bubbles: true }));
"""
CLICK = "const part = document.querySelector(arguments[0]); part?.click(); return Boolean(part);"
READS = "return document.querySelector('[data-testid=stage-translation]').textContent.trim() === arguments[0]"
DRAWS = """
  const rows = document.querySelector("[data-testid=stage-map] .js-plotly-plot")?.data?.[0].z ?? [];
  const flat = Array.from(rows, row => Array.from(row)).flat();
  return flat.length === arguments[0].length && flat.every((value, i) => Math.abs(value - arguments[0][i]) < 2e-5);
"""

Start = Callable[[], AbstractContextManager[OtherBrowser]]


def numbers(weights: np.ndarray) -> list[float]:
    return weights.astype(float).ravel().tolist()


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
