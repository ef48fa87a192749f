"""The pages Pitfalls, Training and Steer in a real browser; the fixture objects to errors and to foreign requests."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.edits import Cell, Edits
from viz.screens.pitfall_words import PITFALLS

PATIENCE = 120_000  # milliseconds until a wait gives up; a busy machine is no failure
expect.set_options(timeout=PATIENCE)


def plot(page: Page, key: str):
    """The drawn Plotly element of a chart."""
    return page.locator(f".st-key-{key} .js-plotly-plot .main-svg").first


def open_page(page: Page, url: str, title: str) -> None:
    """Goes to a page as visitors do, by the navigation."""
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    page.get_by_role("link", name=title, exact=True).click()
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def choose(page: Page, name: str) -> None:
    """Chooses an option of a segmented control."""
    page.get_by_role("radio", name=name, exact=True).first.click()


def assert_nothing_sticks_out(page: Page) -> None:
    for element in (page.locator("html"), page.locator(".stMain")):
        assert element.evaluate("e => e.scrollWidth - e.clientWidth") <= 0


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (400, "dark")])
def test_every_pitfall_is_drawn(page, app_server, width, scheme):
    page.emulate_media(color_scheme=scheme)
    open_page(page, app_server, "Pitfalls")
    page.set_viewport_size({"width": width, "height": 900})
    for words in PITFALLS.values():
        choose(page, words.name)
        expect(page.get_by_role("heading", name=words.name, exact=True)).to_be_visible()
        expect(page.get_by_text(words.wrong_picture, exact=True)).to_be_visible()
        for side in ("wrong", "right"):
            expect(plot(page, side)).to_be_visible()
        assert_nothing_sticks_out(page)


def test_the_schedule_lab_follows_its_controls(page, app_server):
    open_page(page, app_server, "Training")
    expect(plot(page, "schedules")).to_be_visible()
    expect(page.get_by_text("Noam 512, warmup 4,000: peak 6.988e-04 at step 4,000")).to_be_visible()
    page.get_by_role("slider", name="d_model").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Noam 576, warmup 4,000: peak 6.588e-04 at step 4,000")).to_be_visible()
    page.get_by_role("button", name="Keep this Noam curve").click()
    choose(page, "logarithmic")
    expect(plot(page, "schedules")).to_be_visible()
    page.set_viewport_size({"width": 400, "height": 900})
    expect(plot(page, "schedules")).to_be_visible()
    assert_nothing_sticks_out(page)


def test_a_model_is_trained_paused_stopped_and_tried(page, app_server):
    open_page(page, app_server, "Training")
    choose(page, "Train here")
    page.get_by_role("button", name="Train", exact=True).click()
    expect(plot(page, "practice-loss")).to_be_visible()
    page.get_by_role("button", name="Pause", exact=True).click()
    expect(page.get_by_text("Paused · step")).to_be_visible()
    page.get_by_role("button", name="Go on", exact=True).click()
    expect(page.get_by_text("Training · step")).to_be_visible()
    page.locator(".st-key-practice-stop button").click()
    expect(page.get_by_text("Stopped · step")).to_be_visible()
    box = page.get_by_role("textbox", name="A string")
    box.fill("abc!")
    box.press("Enter")
    expect(page.get_by_text("small letters a to z only, got '!'")).to_be_visible()
    box.fill("abc")
    box.press("Enter")
    expect(page.locator(".st-key-large-reversed")).to_be_visible()
    expect(plot(page, "practice-try")).to_be_visible()
    page.set_viewport_size({"width": 400, "height": 900})
    assert_nothing_sticks_out(page)


def test_without_recorded_runs_the_page_says_how_to_record_one(page, app_server):
    open_page(page, app_server, "Training")
    choose(page, "Recorded runs")
    expect(page.get_by_text("No recorded runs ship with this copy yet")).to_be_visible()
    expect(page.locator("[data-testid=stCode]")).to_contain_text("--record")


# Where on the screen the middle of a cell of a clickable map lies.
CELL = """(gd, [row, column]) => {
  const {xaxis, yaxis} = gd._fullLayout, box = gd.getBoundingClientRect();
  return [box.left + xaxis._offset + xaxis.d2p(column), box.top + yaxis._offset + yaxis.d2p(row)];
}"""


def click_cell(page: Page, key: str, row: int, column: int) -> None:
    """Clicks a cell of a map with the mouse."""
    chart = page.locator(f".st-key-{key} .js-plotly-plot")
    expect(plot(page, key)).to_be_visible()
    chart.scroll_into_view_if_needed()
    page.mouse.click(*chart.evaluate(CELL, [row, column]))


def test_the_translation_is_steered_by_clicks_and_the_address_holds_it(page, app_server, recorded):
    example = "A man is riding a bicycle down the street."
    plain = recorded.translate(example)
    open_page(page, app_server, "Steer")
    click_cell(page, "words", 1, 2)
    prefix = [*plain.predicted_ids[:1], int(np.argsort(-plain.trace["logits"][1], kind="stable")[2])]
    new = recorded.translate(example, prefix=prefix)
    expect(page.locator(".st-key-large-translation")).to_have_text(new.text)
    expect(page).to_have_url(re.compile(f"prefix=v1_{prefix[0]}-{prefix[1]}"))
    choose(page, "Edit a mask")
    click_cell(page, "mask-map", 2, 1)
    expect(page).to_have_url(re.compile("edits=v1_bc2-1"))
    steered = recorded.translate(example, edits=Edits(cells=(Cell("cross", 2, 1, False),)), prefix=prefix)
    expect(page.locator(".st-key-large-translation")).to_have_text(steered.text)
    for view, key in (("Force attention", "force-map"), ("Search tree", "tree")):
        choose(page, view)
        expect(plot(page, key)).to_be_visible()
    page.set_viewport_size({"width": 400, "height": 900})
    for view in ("Another word", "Search tree", "Force attention", "Edit a mask"):
        choose(page, view)
        assert_nothing_sticks_out(page)
    page.reload()  # the link alone brings everything back
    expect(page.locator(".st-key-large-translation")).to_have_text(steered.text)
    page.get_by_role("button", name="Take every change back").click()
    expect(page.locator(".st-key-large-translation")).to_have_text(plain.text)
