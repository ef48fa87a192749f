"""The view Writes in a real browser: a dictionary, a word of it, and that the weight times it is the direct effect."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.running import attribution
from tests.support import PATIENCE
from tests.test_app.test_browser.test_alone import open_file
from tests.test_app.test_browser.test_beside import download
from tests.test_app.test_browser.test_stage import part, ready, show
from viz.stage.payload import writes

pytestmark = pytest.mark.slow

TEXT = "A man is too tired."
LAYER, HEAD = 1, 2
WRITES = f"?text={quote(TEXT)}&kind=cross&layer={LAYER}&head={HEAD}&view=writes"


def wait_for_numbers(page: Page, name: str, expected: list) -> None:
    """Waits until a trace of the picture has these numbers."""
    page.wait_for_function(
        """([name, expected]) => {
          const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
          const values = Array.from(plot?.data?.[0]?.[name] ?? []);
          const shown = values.flatMap(row => ArrayBuffer.isView(row) ? Array.from(row) : row);
          return shown.length === expected.length && shown.every((value, i) => Math.abs(value - expected[i]) < 1e-4);
        }""",
        arg=[name, expected],
        timeout=PATIENCE,
    )


def click_row(page: Page, row: int) -> None:
    place = page.evaluate(
        """row => { const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
        const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
        return [box.left + xaxis._offset + xaxis.d2p(1), box.top + yaxis._offset + yaxis.d2p(row)]; }""",
        row,
    )
    page.mouse.click(*place)


def test_a_dictionary_leads_to_the_words_of_one_key_and_back(page, app_server, recorded):
    show(page, app_server, WRITES)
    result = recorded.translate(TEXT)
    cells = recorded.head_words_by_key(result, "cross", LAYER, HEAD, most=writes.IN_DICTIONARY)
    table = [word.logit for cell in cells for word in cell.raised]
    wait_for_numbers(page, "z", table)
    expect(page.locator(".hl-title")).to_contain_text(f"cross head {LAYER}.{HEAD} writes most when it looks at")
    click_row(page, 1)
    query = cells[1].query
    words = recorded.head_words(result, "cross", LAYER, HEAD, query=query, key=1)
    bars = [word.logit for word in (*words.raised, *reversed(words.lowered))]
    wait_for_numbers(page, "x", bars)
    expect(page).to_have_url(re.compile(f"row={query}.*key=1|key=1.*row={query}"))
    first = words.raised[0]
    effects = attribution.effects(recorded.model, result, None, [first.id] * len(result.predicted_ids))
    assert bars[0] * words.weight == pytest.approx(effects.heads("cross")[LAYER, HEAD, query, 1], abs=1e-4)
    part(page, "code").click()
    code = page.locator("pre").inner_text()
    page.keyboard.press("Escape")
    names: dict = {}
    exec(compile(code, "beside", "exec"), names)  # what the page shows
    np.testing.assert_allclose([word.logit for word in names["words"].raised], bars[:10], atol=1e-4)
    page.reload()
    ready(page)
    wait_for_numbers(page, "x", bars)
    page.get_by_test_id("stage-writes-all").click()
    wait_for_numbers(page, "z", table)
    part(page, "kinds").get_by_role("tab", name="Encoder").click()
    expect(page.locator(".hl-title")).to_contain_text("writes no words")
    expect(part(page, "map")).to_be_hidden()


@pytest.mark.parametrize("cell", ["", "&row=2&key=1"], ids=["dictionary", "cell"])
def test_a_saved_page_shows_the_same_words(page, app_server, recorded, offline, tmp_path, cell):
    show(page, app_server, WRITES + cell)
    result = recorded.translate(TEXT)
    words = recorded.head_words(result, "cross", LAYER, HEAD, query=2, key=1)
    dictionary = recorded.head_words_by_key(result, "cross", LAYER, HEAD, most=writes.IN_DICTIONARY)
    bars = [word.logit for word in (*words.raised, *reversed(words.lowered))]
    table = [word.logit for key_words in dictionary for word in key_words.raised]
    shown = ("x", bars) if cell else ("z", table)
    wait_for_numbers(page, *shown)
    heading = page.locator(".hl-title").inner_text().removesuffix(" all words")
    part(page, "download").click()
    alone, complaints = offline
    open_file(alone, download(page, page.get_by_role("button", name="Web page (HTML)"), tmp_path))
    wait_for_numbers(alone, *shown)
    expect(alone.locator(".hl-title")).to_have_text(heading)
    expect(alone.get_by_text("Click a row")).to_have_count(0)  # a file cannot compute what it would open
    assert not complaints
