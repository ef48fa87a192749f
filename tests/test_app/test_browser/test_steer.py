"""The page Steer in a real browser: what is clicked, painted and typed there, and what the address keeps of it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.support.menu import go
from model.interventions.edits import Edits, Head
from tests.support import PATIENCE
from tests.test_app.test_browser.test_stage import (
    CELL,
    kind,
    map_values,
    part,
    ready,
    selected_head,
    tile,
    type_in,
    wait_for_map,
)
from viz.views.view import EXAMPLE

pytestmark = pytest.mark.slow


def show(page: Page, url: str, query: str = "") -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/steer{query}")
    ready(page)


def apply_and_wait(page: Page, act) -> None:
    """Does something and waits until its translation is drawn."""
    before = int(page.locator(".hl-stage").get_attribute("data-ready"))
    act()
    ready(page, before + 1)


def click_cell(page: Page, row: int, column: int) -> None:
    page.mouse.click(*page.evaluate(CELL, [row, column]))


def turn(page: Page, version: str) -> None:
    part(page, "versions").locator(f"[data-version={version}]").click()


def switch_off(page: Page, layer: int, head: int) -> None:
    tile(page, layer, head).hover()
    tile(page, layer, head).get_by_test_id("stage-off").click()


def test_a_head_is_switched_off_on_its_tile_and_seen_before_after_and_as_a_difference(page, app_server, recorded):
    show(page, app_server)
    plain, edits = recorded.translate(EXAMPLE), Edits(off=(Head("cross", 1, 2),))
    apply_and_wait(page, lambda: switch_off(page, 1, 2))
    new = recorded.translate(EXAMPLE, edits=edits)
    expect(page).to_have_url(re.compile(r"edits=v1_oc1-2"))
    expect(part(page, "translation")).to_have_text(new.text)
    expect(part(page, "before")).to_contain_text(plain.text)
    expect(tile(page, 1, 2)).to_have_attribute("aria-label", re.compile(", off$"))
    tile(page, 0, 1).click()
    expect(page.locator(".hl-card")).to_contain_text("as spread out as equal weights")
    tile(page, 1, 2).click()
    expect(page.locator(".hl-card")).to_contain_text("layer 1, head 2")
    expect(page.locator(".hl-card")).not_to_contain_text("spread")
    tile(page, 0, 1).click()
    wait_for_map(page, new.attention("cross")[0, 1])
    turn(page, "before")
    wait_for_map(page, plain.attention("cross")[0, 1])
    turn(page, "difference")
    kind(page, "encoder_self")
    tile(page, 1, 0).click()
    wait_for_map(page, np.zeros_like(plain.attention("encoder_self")[1, 0]))
    kind(page, "cross")
    tile(page, 0, 1).click()
    same = np.array(plain.predicted_tokens[:1]) == np.array(new.predicted_tokens[:1])
    assert same.all()
    change = (new.attention("cross")[0, 1] - plain.attention("cross")[0, 1][: len(new.predicted_ids)][:1])[0]
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stage-map] .js-plotly-plot').data[0].zmin === -1"
    )
    np.testing.assert_allclose(map_values(page)[0], change, atol=4e-5)
    page.reload()
    ready(page)
    expect(part(page, "versions").locator("[data-version=difference]")).to_have_attribute("aria-selected", "true")
    apply_and_wait(page, lambda: part(page, "changes").get_by_role("button", name=re.compile("^Take back")).click())
    expect(part(page, "translation")).to_have_text(plain.text)
    expect(page).not_to_have_url(re.compile("edits="))


def reset(page: Page) -> None:
    apply_and_wait(page, lambda: part(page, "changes").get_by_role("button", name="Reset all").click())


def test_cells_are_forced_a_mask_painted_and_words_written(page, app_server, recorded):
    """On one page, since opening one takes longer than all of it."""
    show(page, app_server)
    plain = recorded.translate(EXAMPLE)
    a_cell_is_forced_a_mask_painted_and_a_word_written(page, recorded, plain)
    reset(page)
    part(page, "views").locator("[data-view=map]").click()
    several_heads_are_forced_together_and_a_word_is_replaced_in_its_line(page, recorded, plain)


def a_cell_is_forced_a_mask_painted_and_a_word_written(page: Page, recorded, plain) -> None:
    part(page, "heads").locator("[data-layer='0'][data-head='3']").click()
    apply_and_wait(page, lambda: click_cell(page, 2, 4))
    expect(page).to_have_url(re.compile(r"edits=v1_f2-4-1h0-3&"))
    assert map_values(page)[2, 4] == pytest.approx(1, abs=2e-5)
    reset(page)
    part(page, "views").locator("[data-view=mask]").click()
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stage-map] .js-plotly-plot').data[0].colorbar.ticktext"
    )

    def paint() -> None:
        page.mouse.move(*page.evaluate(CELL, [1, 0]))
        page.mouse.down()
        page.mouse.move(*page.evaluate(CELL, [1, 2]), steps=12)
        page.mouse.up()

    apply_and_wait(page, paint)
    expect(page).to_have_url(re.compile(r"edits=v1_bc1-0_bc1-1_bc1-2"))
    assert map_values(page)[1, :4].tolist() == [0, 0, 0, 1]
    reset(page)
    part(page, "views").locator("[data-view=words]").click()
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stage-map] .js-plotly-plot').data[0].z[0].length === 5"
    )
    apply_and_wait(page, lambda: click_cell(page, 1, 2))
    word = int(np.argsort(-plain.trace["logits"][1], kind="stable")[2])
    new = recorded.translate(EXAMPLE, prefix=[*plain.predicted_ids[:1], word])
    expect(part(page, "translation")).to_have_text(new.text)


def several_heads_are_forced_together_and_a_word_is_replaced_in_its_line(page: Page, recorded, plain) -> None:
    tile(page, 0, 3).click()
    for layer, head in ((0, 1), (1, 2), (1, 0), (1, 0)):  # the last one is chosen and let go again
        tile(page, layer, head).click(modifiers=["Shift"])
    assert selected_head(page) == [0, 3], "choosing opens nothing"
    apply_and_wait(page, lambda: click_cell(page, 2, 4))
    expect(page).to_have_url(re.compile(r"edits=v1_f2-4-1h0-1h1-2&"))
    reset(page)
    word = part(page, "target").locator("[data-index='1']")
    word.click()
    best = np.argsort(-plain.trace["logits"][1], kind="stable")
    rank = 0 if best[0] != plain.predicted_ids[1] else 1
    menu = page.locator(".hl-words")
    apply_and_wait(page, lambda: menu.get_by_role("button").first.click())
    new = recorded.translate(EXAMPLE, prefix=[plain.predicted_ids[0], int(best[rank])])
    expect(part(page, "translation")).to_have_text(new.text)
    expect(menu).to_be_hidden()
    word.click()
    menu.get_by_role("textbox").fill("tired")
    apply_and_wait(page, lambda: page.keyboard.press("Enter"))
    typed = [new.predicted_ids[0], *recorded.tokenizer.target.encode("tired")]
    expect(part(page, "translation")).to_have_text(recorded.translate(EXAMPLE, prefix=typed).text)
    word.click()
    page.keyboard.press("Escape")
    expect(word).to_have_attribute("aria-pressed", "false")
    expect(menu).to_be_hidden()


def test_heads_stay_off_for_the_next_sentence_and_another_visitor_sees_nothing_of_it(
    page, context, app_server, recorded
):
    show(page, app_server, "?edits=v1_oc1-2_bc1-0")
    type_in(page, "too too tired.")
    expect(page).to_have_url(re.compile(r"edits=v1_oc1-2(&|$)"))
    expect(page.get_by_role("button", name="Undo these changes")).to_be_visible()
    other_page = context.new_page()
    show(other_page, app_server)
    expect(part(other_page, "translation")).to_have_text(recorded.translate(EXAMPLE).text)
    apply_and_wait(page, lambda: page.get_by_role("button", name="Undo these changes").click())
    expect(page).to_have_url(re.compile(r"edits=v1_oc1-2_bc1-0"))


def test_a_finger_switches_heads_by_the_mode_above_the_grid_and_nothing_sticks_out(page, app_server):
    page.set_viewport_size({"width": 400, "height": 860})
    show(page, app_server)
    part(page, "fold").click()
    part(page, "do").locator("[data-do=off]").click()
    expect(part(page, "fold")).to_have_accessible_name("Controls · 1")
    apply_and_wait(page, lambda: tile(page, 0, 0).click())
    apply_and_wait(page, lambda: tile(page, 0, 1).click())
    expect(page).to_have_url(re.compile(r"edits=v1_oc0-0_oc0-1"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_sentence_and_changes_come_along_from_page_to_page(page, app_server):
    show(page, app_server, "?edits=v1_oc1-2")
    type_in(page, "too tired.")
    box = page.get_by_role("textbox", name="English sentence")
    go(page, "Translate")
    expect(page).to_have_url(re.compile(r"/\?text=too\+tired\.(?!.*edits)"))
    expect(box).to_have_value("too tired.")
    go(page, "Steer")
    expect(page).to_have_url(re.compile(r"/steer\?(?=.*text=too\+tired\.).*edits=v1_oc1-2"))
    expect(box).to_have_value("too tired.")
    page.go_back()
    expect(page).to_have_url(re.compile(r"/\?text=too\+tired\."))
    expect(box).to_have_value("too tired.")
