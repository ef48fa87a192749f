"""The pages of the site that are sheets: each is drawn, by keyboard alone too, in both themes, without weights."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from model.films import shipped
from model.training.sweeps.grid import GridCell
from tests.support import PATIENCE, axe
from tests.test_viz.test_site import test_browser_site as site
from viz.pages.lessons import contents
from viz.pages.training import grid
from viz.views.results import grid_results

pytestmark = pytest.mark.slow

visitor = site.visitor

MEGA = 1_000_000
# By page the addresses whose picture is drawn without weights and without Plotly.
ADDRESSES = {
    "positions": ("", "picture=wavelengths&second=sinusoidal_concatenated", "picture=order&kind=cross&layer=2"),
    "masks": ("", "show=head&without=nothing", "show=sentences&without=both&mask=cross", "show=code&mask=look_ahead"),
    "training": (
        "",
        "grid-show=maps&grid-runs=4.9",
        "section=schedules&log-y=logarithmic&kept=256-400-1",
        "section=here&film-change-seen+before=no-positions",
        "section=here&film-view=head&film-head=0-decoder_self-1-2-150",
    ),
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
    assert sum(len(request.response().body()) for request in visitor.requests) < 1.25 * MEGA  # 0.13 of these are a film
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
    opened(page, address, "training", "section=nothing&grid-step=7")
    expect(page.get_by_test_id("stage-sheet-warning")).to_contain_text("(section=nothing; grid-step=7)")


def test_runs_are_picked_heads_opened_and_cells_read(visitor, address) -> None:
    page = visitor.page
    opened(page, address, "training", "")
    recorded = grid_results.load()
    cells = list(recorded.runs)
    answer = page.get_by_test_id("answer")
    short, long = (recorded.runs[GridCell("pre", 0.005, warmup)].final for warmup in (1, 400))
    expect(answer).to_have_text(
        re.compile(f"peak 0.005: {long:.2f} nats with a warmup of 400 steps, {short:.2f} without")
    )
    board = page.get_by_role("grid", name="Validation loss at the end")
    for place in ((0, 0), (0, 3)):  # the oldest ones go
        board.locator(f"[data-row='{place[0]}'][data-head='{place[1]}']").click()
    picked = [GridCell(*values) for values in grid.FIRST[2:]] + [GridCell("post", 0.1, 1), GridCell("post", 0.1, 400)]
    expect(answer).to_contain_text(f"{long:.2f} nats with a warmup of 400 steps")  # of two pairs the wider one
    expect(board.locator("[aria-selected=true]")).to_have_count(4)
    assert f"grid-runs={'.'.join(str(cells.index(cell)) for cell in picked)}" in page.url
    page.get_by_role("tab", name="What they attend to").click()
    page.get_by_role("radio", name="Layer 0, head 3").click()
    cursor = page.locator(".hl-sheet-map").first.get_by_role("button")
    cursor.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    weight = recorded.runs[picked[0]].maps(1000, "cross")[0, 3, 1, 1]
    expect(cursor).to_have_attribute("aria-label", re.compile(rf": {weight:.2f}$"))


def test_a_film_plays_and_a_click_opens_a_head_at_its_step(visitor, address) -> None:
    page = visitor.page
    opened(page, address, "training", "section=here&film-task=backwards")
    slider = page.get_by_test_id("film-slider")
    slider.fill("20")
    step = int(shipped.load("backwards").steps[20])
    expect(page.get_by_test_id("film-counter")).to_contain_text(f"after step {step}:")
    page.locator("[data-head='cross 0 1']").click()
    expect(page.locator(".hl-sheet-map .hl-picture-title")).to_contain_text(f"after step {step}")
    assert f"film-head=0-cross-0-1-{step}" in page.url
    page.get_by_role("tab", name="Film", exact=True).click()
    expect(page.get_by_test_id("film-slider")).to_be_visible()


def test_what_lessons_link_to_is_there(visitor, address) -> None:
    page = visitor.page
    for story in contents.LESSONS.values():
        for card in story.cards:
            name, query = card.picture.link()
            if name not in ADDRESSES:
                continue
            opened(page, address, name, urlencode(query))
            expect(page.get_by_test_id("answer")).not_to_be_empty()
            expect(page.get_by_test_id("stage-sheet-warning")).to_be_hidden()
    page.goto(f"{address}#page=lessons&lesson=emergence-1")
    page.locator(".hl-lesson-bar a").click()
    expect(page.get_by_test_id("film-curves")).to_be_visible()
