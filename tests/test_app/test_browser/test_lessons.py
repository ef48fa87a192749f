"""The lessons in a real browser, by keyboard alone: every picture lies in the window, and a guess shows the answer.

The page fixture objects to errors and to foreign requests.
"""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.support import PATIENCE
from viz.pages.lessons.contents import CARDS, LESSONS

pytestmark = pytest.mark.slow

PICTURE = ".hl-stage[data-ready], .hl-figure:has(.main-svg, .hl-head-board)"
WIDE, HIGH = 1280, 720
FOCUSED = "name => Boolean(document.activeElement.closest(`[data-testid=stage-${name}]`))"
MOST_TABS = 60


@pytest.fixture(scope="module")
def app_server(shipped_server: str) -> str:
    """The app with the models that ship."""
    return shipped_server


def answer(page: Page):
    return page.locator(".hl-answer", has_text=re.compile("^(Right|Not quite)"))


def wait_for_card(page: Page, name: str, number: int) -> None:
    """Waits until a card stands there with its picture."""
    total = len(LESSONS[name].cards)
    expect(page.get_by_test_id("stage-lesson-dots")).to_have_text(
        "●" * number + "○" * (total - number), timeout=PATIENCE
    )
    expect(page).to_have_url(re.compile(f"lesson={name}-{number}"))
    expect(page.locator(PICTURE).first).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_test_id("lessons")).to_have_attribute("data-ready", re.compile(r"\d"), timeout=PATIENCE)


def assert_the_picture_is_in_the_window(page: Page, where: str) -> None:
    inside = """(picture) => {
      const { left, top, right, bottom } = picture.getBoundingClientRect();
      return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && right > left && bottom > top;
    }"""
    pictures = page.locator(PICTURE)
    for _ in range(40):  # it is drawn again where its place has changed
        if all(pictures.nth(i).evaluate(inside) for i in range(pictures.count())):
            break
        page.wait_for_timeout(100)
    boxes = [pictures.nth(i).bounding_box() for i in range(pictures.count())]
    assert boxes and all(pictures.nth(i).evaluate(inside) for i in range(pictures.count())), (where, boxes)


def tab_to(page: Page, name: str) -> None:
    """Presses Tab until the focus is in a part of the page."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED, name):
            return
    raise AssertionError(f"Tab does not reach {name}")


@pytest.mark.long
@pytest.mark.parametrize("name", ["attention", "warmup"])  # of the stage, and of figures; test_lessons.py has all
def test_a_lesson_is_walked_by_keyboard(page, app_server, name):
    page.set_viewport_size({"width": WIDE, "height": HIGH})
    page.goto(f"{app_server}/lessons?lesson={name}-1")
    for number, card in enumerate(LESSONS[name].cards, 1):
        wait_for_card(page, name, number)
        assert_the_picture_is_in_the_window(page, f"{name}-{number}, to guess")
        expect(answer(page)).to_have_count(0)
        tab_to(page, f"guess-{card.right}")
        page.keyboard.press("Enter")
        expect(answer(page)).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_test_id(f"stage-guess-{card.right}")).to_contain_text("✓")
        wait_for_card(page, name, number)
        assert_the_picture_is_in_the_window(page, f"{name}-{number}, answered")
        page.keyboard.press("PageDown" if number % 2 else "ArrowRight")
    n = len(LESSONS[name].cards)
    told = f"You have answered {n} of {len(CARDS)} questions, {n} correctly."
    expect(page.locator(".hl-answer")).to_have_text(told, timeout=PATIENCE)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)


def test_back_the_projector_and_a_narrow_page(page, app_server):
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(f"{app_server}/lessons?lesson=attention-1")
    wait_for_card(page, "attention", 1)
    assert_the_picture_is_in_the_window(page, "1400 x 900")
    page.keyboard.press("ArrowRight")
    wait_for_card(page, "attention", 2)
    page.keyboard.press("PageUp")
    wait_for_card(page, "attention", 1)
    page.get_by_test_id("stage-lesson-projector").click()
    expect(page.locator("header")).to_be_hidden(timeout=PATIENCE)
    expect(page).to_have_url(re.compile("projector=1"))
    assert_the_picture_is_in_the_window(page, "projector")
    page.keyboard.press("PageDown")
    wait_for_card(page, "attention", 2)
    expect(page.locator("header")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.locator("header")).to_be_visible(timeout=PATIENCE)
    page.set_viewport_size({"width": 400, "height": 860})
    expect(page.get_by_test_id("stage-map")).to_be_attached()
    for element in (page.locator("html"), page.locator(".stMain")):
        assert element.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
    places = ".hl-question", ".hl-answer", PICTURE, "[data-testid=stage-guess-0]"
    tops = [page.locator(place).first.bounding_box()["y"] for place in places]
    assert tops == sorted(tops), "question, answer, picture, guesses"


def test_a_card_that_does_not_exist_is_told_in_a_sentence(page, app_server):
    for value in ("attention-9", "recurrent-1", "masks-²"):
        page.goto(f"{app_server}/lessons?lesson={value}")
        told = f"There is no card “{value}”; the lessons are {', '.join(LESSONS)}, their cards count from 1."
        expect(page.get_by_test_id("stage-lesson-problem")).to_have_text(told, timeout=PATIENCE)
    page.locator(".hl-lesson-tile[data-lesson=masks]").click()
    expect(page.get_by_test_id("stage-lesson-problem")).to_be_hidden()
    expect(page.get_by_test_id("stage-guess-0")).to_have_text(LESSONS["masks"].cards[0].guesses[0])
    page.go_back()
    expect(page.get_by_test_id("stage-lesson-problem")).to_be_visible()


def test_a_click_on_a_tile_switches_a_head_off_and_the_address_stays(page, app_server):
    page.set_viewport_size({"width": WIDE, "height": HIGH})
    page.goto(f"{app_server}/lessons?lesson=heads-1")
    wait_for_card(page, "heads", 1)
    tile = page.locator(".hl-tile[data-layer='2'][data-head='2']")
    tile.click()
    expect(page.get_by_test_id("stage-cost")).to_be_visible(timeout=PATIENCE)
    expect(page).to_have_url(f"{app_server}/lessons?lesson=heads-1")
    tile.click()
    expect(page.get_by_test_id("stage-cost")).to_be_hidden(timeout=PATIENCE)


def test_a_circuit_is_walked_on_a_card_in_three_clicks(page, app_server):
    """The guess, the head that the sentence names, and Why again; the stage answers from the recording."""
    page.set_viewport_size({"width": WIDE, "height": HIGH})
    page.goto(f"{app_server}/lessons?lesson=why-3")
    wait_for_card(page, "why", 3)
    page.get_by_test_id("stage-guess-1").click()
    title = page.locator(".hl-stage .hl-title")
    expect(title).to_contain_text("Head 18.6 looks from “cat” to “seven”", timeout=PATIENCE)
    wait_for_card(page, "why", 3)
    assert_the_picture_is_in_the_window(page, "why-3, answered")
    title.get_by_role("button", name="head 16.0").click()
    expect(title).to_contain_text("layer 16 · head 0", timeout=PATIENCE)
    page.get_by_role("tab", name="Why", exact=True).click()
    expect(title).to_contain_text("Head 16.0 looks from “seven” to “cat”", timeout=PATIENCE)
    expect(page.get_by_test_id("stage-crumbs").locator("li")).to_have_count(2)
    expect(page).to_have_url(f"{app_server}/lessons?lesson=why-3")
    page.set_viewport_size({"width": 400, "height": 860})
    for element in (page.locator("html"), page.locator(".stMain")):
        assert element.evaluate("e => e.scrollWidth - e.clientWidth") <= 0
