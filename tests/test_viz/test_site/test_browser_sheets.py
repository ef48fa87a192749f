"""The pages of the site that are sheets: each is drawn, by keyboard alone too, in both themes, without weights."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from model.interventions.edits import Head
from model.results.translation import KINDS
from tests.support import PATIENCE, axe
from tests.test_viz.test_site import test_browser_site as site
from viz.stage.payload import head_card, head_rows
from viz.views.results import corpus_results, heads_results

pytestmark = pytest.mark.slow

visitor = site.visitor

MEGA = 1_000_000
# By page the addresses whose picture is drawn without weights and without Plotly.
ADDRESSES = {
    "training": ("", "section=schedules&log-y=logarithmic&kept=256-400-1"),
    "atlas": ("", "over-texts=numbers&texts-sort=idle&model=de-en", "part=board&kind=encoder_self&layer=1&head=2"),
}
STATES = [(page, state) for page, states in ADDRESSES.items() for state in states]


def opened(page: Page, address: str, name: str, state: str, language: str = "en") -> None:
    """Open a sheet and wait until it is drawn."""
    page.goto("about:blank")
    page.goto(f"{address}#page={name}&{state}&lang={language}")
    expect(page.locator("[data-testid=sheet][data-ready]")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize(("name", "state"), STATES)
def test_a_sheet_is_small_and_accessible_at_every_size(visitor, address, name: str, state: str) -> None:
    page = visitor.page
    opened(page, address, name, state)
    expect(page.get_by_test_id("answer")).not_to_be_empty()
    assert sum(len(request.response().body()) for request in visitor.requests) < 1.1 * MEGA
    assert not [request.url for request in visitor.requests if "safetensors" in request.url or "plotly" in request.url]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width, height in ((1280, 720), (400, 860)):
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(100)
            assert axe.findings(page) == [], (scheme, width)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, width
    opened(page, address, name, state, "de")
    answer = page.get_by_test_id("answer").inner_text()
    opened(page, address, name, state, "en")
    assert page.get_by_test_id("answer").inner_text() != answer


def test_controls_keep_the_focus_and_a_step_back_is_a_step_back(visitor, address) -> None:
    page = visitor.page
    opened(page, address, "training", "section=schedules")
    answer = page.get_by_test_id("answer")
    before = answer.inner_text()
    slider = page.get_by_test_id("control-noam-warmup").get_by_role("slider")
    slider.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(answer).to_contain_text("The rate rises for 1,000 steps")
    expect(slider).to_be_focused()
    assert "noam-warmup=1000" in page.url
    page.get_by_role("button", name="constant").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="constant")).to_be_focused()
    expect(page.locator(".hl-sheet-legend span")).to_have_count(4)
    assert "against=cosine.linear.constant" in page.url
    page.go_back()
    expect(page.locator(".hl-sheet-legend span")).to_have_count(3)
    page.go_back()
    page.go_back()
    expect(answer).to_have_text(before)
    page.go_forward()
    page.get_by_role("tab", name="Steer").click()
    page.get_by_role("tab", name="Warm-up").click()
    expect(answer).to_contain_text("The rate rises for")
    opened(page, address, "training", "section=nothing&noam-d=12")
    expect(page.get_by_test_id("stage-sheet-warning")).to_contain_text("(section=nothing; noam-d=12)")


def test_a_click_on_a_head_says_what_it_is_and_a_text_opens_on_the_stage(visitor, address, translators) -> None:
    page = visitor.page
    opened(page, address, "atlas", "")
    head = Head("decoder_self", 1, 5)
    row = len(KINDS[:1]) * 3 + head.layer
    page.locator(f"[data-testid=stage-board] [role=gridcell][data-row='{row}'][data-head='{head.head}']").click()
    corpus = corpus_results.corpus_of("en-de")
    answer, note = head_card.answer(corpus, head, heads_results.name_of(head.kind, head.layer, head.head))
    expect(page.get_by_test_id("answer")).to_have_text(answer)
    expect(page.locator(".hl-answer-note")).to_have_text(note)
    for name in ("kind=decoder_self", "layer=1", "head=5"):
        assert name in page.url
    label, chosen = head_rows.tenths(corpus, head)[1].drawn(0)
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
