"""The view Why on the page without a server, and what an address opens that is read before its model is there."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from model.results.translation import Translation
from model.running.translator import Translator
from tests.test_viz.test_site import test_browser_site as site
from tests.test_viz.test_site.test_browser_site import TEXT, Visitor
from viz.stage.payload import why

pytestmark = pytest.mark.slow

visitor = site.visitor
LONG = "Two women with long brown hair are cooking a very good dinner for all of us in the small old kitchen."
KIND = "encoder_self"
LAYER, HEAD, ROW = 1, 2, 3
WHY = {"text": TEXT, "kind": KIND, "layer": LAYER, "head": HEAD, "view": "why"}
SUMS = """() => {
  const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
  return plot?.data ? [Array.from(plot.data[0].z.at(-1))] : [];
}"""  # of the picture of Why, its last row
HELD = [
    {"text": LONG, "kind": KIND, "layer": "1", "head": "2", "view": "why", "pin": "s22"},
    {**{name: str(value) for name, value in WHY.items()}, "row": "3", "key": "1", "trail": "e2.1.4.3-e1.5.3.2"},
    {"text": LONG, "kind": "cross", "layer": "1", "head": "2", "view": "inside", "pin": "t15"},
    {"text": LONG, "kind": "decoder_self", "layer": "2", "head": "1", "step": "19", "pin": "t18", "lines": "layer"},
    {"text": TEXT, "measure": "effects", "view": "lens", "against": "mean"},
    {"text": TEXT, "page": "steer", "edits": "v1_oc2-3", "version": "difference", "pin": "t3"},
    {"text": TEXT, "page": "compare", "versus": "search", "pin": "as3"},
    {"text": "Der Hund schläft im Garten.", "model": "de-en", "layer": "2", "head": "7", "words": "1", "share": "90"},
]


def scores_of(translator: Translator, result: Translation, layer: int, head: int, row: int) -> np.ndarray:
    """The scores of a row above their mean, as Python splits them."""
    parts = translator.score_parts(result, KIND, layer, head)
    weights = result.attention(KIND)[layer, head]
    return why.payload(why.Cell(KIND, layer, head, row), parts, weights)["scores"]


@pytest.mark.parametrize("query", HELD, ids=lambda query: query.get("view") or query.get("page") or "map")
def test_an_address_opens_all_that_it_holds_before_the_model_is_there(visitor: Visitor, address: str, query) -> None:
    visitor.opens(f"{address}#{urlencode(query)}")
    expect(visitor.page.locator(".hl-stage:not([data-ready='1'])")).to_be_visible()  # that of the address is drawn
    visitor.page.wait_for_timeout(600)  # what is open is written with a pause
    assert dict(query).items() <= dict(parse_qsl(urlsplit(visitor.page.url).fragment)).items()


def test_a_pinned_row_is_asked_about_on_arrival(visitor: Visitor, address: str, translators) -> None:
    visitor.opens(f"{address}#{urlencode(WHY | {'pin': f's{ROW}'})}")
    translator = translators["en-de"]
    result = translator.translate(TEXT)
    visitor.sees(scores_of(translator, result, LAYER, HEAD, ROW)[None], SUMS, 1e-3)
    expect(visitor.page.locator(".hl-title")).to_contain_text(f"Head {LAYER}.{HEAD} ")
    expect(visitor.part("source").locator(f"[data-index='{ROW}']")).to_have_attribute("aria-pressed", "true")


def test_a_way_leads_from_the_heading_on_and_back(visitor: Visitor, address: str, translators) -> None:
    translator = translators["en-de"]
    result = translator.translate(TEXT)
    layer, head, row = first_with_a_head_in_its_heading(translator, result)
    visitor.opens(f"{address}#{urlencode({'text': TEXT, 'kind': KIND, 'layer': layer, 'head': head})}")
    visitor.part("source").locator(f"[data-index='{row}']").click()
    visitor.part("views").locator("[data-view=why]").click()
    title = visitor.page.locator(".hl-title")
    expect(title).to_contain_text(f"Head {layer}.{head} ")
    visitor.sees(scores_of(translator, result, layer, head, row)[None], SUMS, 1e-3)
    name = title.get_by_role("button").inner_text()
    _, _, cause = name.rpartition(" ")
    next_layer, next_head = map(int, cause.split("."))
    title.get_by_role("button").click()
    visitor.sees(result.attention(KIND)[next_layer, next_head])
    crumbs = visitor.part("crumbs").locator("li")
    expect(crumbs).to_have_count(2)
    expect(visitor.page).to_have_url(re.compile(rf"trail=e{layer}\.{head}\.{row}\.\d+"))
    visitor.part("views").locator("[data-view=why]").click()
    expect(title).to_contain_text(f"Head {next_layer}.{next_head} ")
    pinned = int(re.search(r"pin=s(\d+)", visitor.page.url)[1])
    visitor.sees(scores_of(translator, result, next_layer, next_head, pinned)[None], SUMS, 1e-3)
    visitor.page.wait_for_timeout(600)
    visitor.page.reload()
    visitor.is_loaded()
    expect(title).to_contain_text(f"Head {next_layer}.{next_head} ")
    expect(crumbs).to_have_count(2)
    visitor.page.go_back()
    expect(title).to_contain_text(f"Head {layer}.{head} ")
    expect(crumbs).to_have_count(0)
    visitor.sees(scores_of(translator, result, layer, head, row)[None], SUMS, 1e-3)


def first_with_a_head_in_its_heading(translator: Translator, result: Translation) -> tuple[int, int, int]:
    """A head and a row that look where they look above all because of what an earlier head wrote at the key."""
    for layer in (2, 1):
        for head in range(8):
            parts = translator.score_parts(result, KIND, layer, head)
            weights = result.attention(KIND)[layer, head]
            for row in range(len(weights)):
                payload = why.payload(why.Cell(KIND, layer, head, row), parts, weights)
                shares = payload["shares"]
                by_place = payload["groups"].index("positions")
                key = payload["place"]["key"]
                sides = [
                    [*zip(parts.key_names, payload["of_keys"][:, key])],
                    [*zip(parts.query_names, payload["of_queries"][:, key])],
                ]
                name, value = max(sides[0], key=lambda part: part[1])
                best_query = max(value for _, value in sides[1])
                if name.startswith("head") and value > 1.2 * best_query and shares[by_place, by_place] < 0.3:
                    if payload["scores"][key] > 0:
                        return layer, head, row
    raise AssertionError("no head of this text is named in a heading")
