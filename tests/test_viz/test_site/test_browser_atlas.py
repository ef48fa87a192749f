"""The Head atlas on the page without a server: a click on a head says what Python says of it, without weights."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from model.interventions.edits import Head
from tests.support import PATIENCE
from tests.test_viz.test_site import test_browser_site as site
from viz.pages.atlas import contents
from viz.stage.payload import head_card, head_rows
from viz.views.results.head_sources import name_of

pytestmark = pytest.mark.slow

visitor = site.visitor


def test_a_click_on_a_head_says_what_it_is_and_a_text_opens_on_the_stage(visitor, address, translators) -> None:
    page = visitor.page
    page.goto(f"{address}#page=atlas&lang=en")
    expect(page.locator("[data-testid=sheet][data-ready]")).to_be_visible(timeout=PATIENCE)
    head = Head("decoder_self", 1, 5)
    page.locator(f"[data-testid=stage-board] [data-layer='Decoder {head.layer}'][data-head='{head.head}']").click()
    heads = contents.read_heads(translators["en-de"]).texts
    answer, note = head_card.answer(heads, head, name_of(head.kind, head.layer, head.head))
    expect(page.get_by_test_id("answer")).to_have_text(answer)
    expect(page.locator(".hl-answer-note")).to_have_text(note)
    for name in ("kind=decoder_self", "layer=1", "head=5"):
        assert name in page.url
    label, chosen = head_rows.tenths(heads, head)[1].drawn(0)
    link = page.get_by_role("link", name=label, exact=True)
    text = "".join(piece.text for piece in chosen.pieces)
    expect(page.locator("li", has=link).locator("span").last).to_have_text(text)
    assert not [request.url for request in visitor.requests if "safetensors" in request.url]
    link.click()
    expect(visitor.part("sentence")).to_have_value(chosen.query["text"])
    expect(visitor.part("translation")).to_have_text(chosen.query["reference"], timeout=PATIENCE)
    expect(page.get_by_role("heading", level=2)).to_contain_text("layer 1 · head 5")
    page.go_back()
    expect(page.get_by_test_id("answer")).to_have_text(answer)
