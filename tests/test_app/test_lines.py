"""The view of attention as lines, against separate recordings; in a browser: pointing, clicking, keys."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.test_app import screen
from tests.test_app.test_browser import SENTENCE, plot
from tests.test_app.test_translate import EXAMPLE
from viz.figures.lines import LEAST_WEIGHT
from viz.screens import words


def drawn(at) -> np.ndarray:
    """The weights of all lines, (H, T, S), 0 where there is none."""
    data = screen.component(at, "lines")
    weights = np.zeros((len(data["heads"]), len(data["queries"]), len(data["keys"])))
    for place, weight in zip(data["lines"], data["weights"], strict=True):
        weights[tuple(place)] = weight
    return weights


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_lines_are_the_recorded_weights_of_all_heads_of_the_layer(recorded, kind):
    at = screen.choose(screen.open_app(view="Lines", layer="1"), kind=kind)
    result = recorded.translate(EXAMPLE, beam=4)
    expected = result.attention(kind)[1]
    np.testing.assert_allclose(drawn(at), np.where(expected >= LEAST_WEIGHT, expected, 0), atol=5e-4)
    data = screen.component(at, "lines")
    assert [head["name"] for head in data["heads"]] == [f"head {i}" for i in range(4)]
    assert data["keys"] == (result.target_tokens if kind == "decoder_self" else result.source_tokens)
    assert data["queries"] == (result.source_tokens if kind == "encoder_self" else result.target_tokens)
    assert data["titles"] == [words.KINDS[kind].query_axis, words.KINDS[kind].key_axis]
    assert any(f"{words.KINDS[kind].title}, layer 1, all 4 heads" in element.value for element in at.markdown)


def test_lines_obey_the_options_of_the_maps(recorded):
    result = recorded.translate(EXAMPLE, beam=4)
    at = screen.open_app(view="Lines", rows=words.PREDICTED, summary="mean", over="heads and layers")
    data = screen.component(at, "lines")
    assert [head["name"] for head in data["heads"]] == ["mean of 4 heads"]
    assert data["queries"] == result.predicted_tokens
    mean = result.attention("cross").mean((0, 1))
    np.testing.assert_allclose(drawn(at)[0], np.where(mean >= LEAST_WEIGHT, mean, 0), atol=5e-4)
    half = drawn(screen.open_app(view="Lines", share="50"))
    assert 0 < np.count_nonzero(half) < np.count_nonzero(drawn(screen.open_app(view="Lines")))


def visible(page: Page) -> set[tuple[int, int, int]]:
    """The lines that can be seen: head, query, key."""
    found = page.locator(".lines .body line").evaluate_all(
        "all => all.filter(e => e.style.display !== 'none').map(e => [e.dataset.head, e.dataset.query, e.dataset.key])"
    )
    return {tuple(map(int, place)) for place in found}


@pytest.fixture
def lines_page(page, app_server):
    page.goto(f"{app_server}/?text={SENTENCE}&view=Lines")
    expect(page.locator(".lines .head")).to_have_count(5)
    expect(plot(page, "overview").locator(".main-svg").first).to_be_visible()
    return page


def test_pointing_isolates_a_token_and_a_click_keeps_it(lines_page, recorded):
    page, everything = lines_page, visible(lines_page)
    expected = np.argwhere(recorded.translate(SENTENCE).attention("cross")[0] >= LEAST_WEIGHT)
    assert everything == {tuple(place) for place in expected.tolist()}
    query = page.locator(".column.query .token").nth(1)
    query.hover()
    assert visible(page) == {line for line in everything if line[1] == 1}
    expect(page.locator(".lines .said")).to_contain_text(f"“{query.text_content()}” reads “")
    page.mouse.move(0, 0)
    assert visible(page) == everything
    key = page.locator(".column.key .token").nth(2)
    key.click()
    page.mouse.move(0, 0)
    assert visible(page) == {line for line in everything if line[2] == 2}
    expect(key).to_have_attribute("aria-pressed", "true")
    key.focus()
    page.keyboard.press("Escape")
    assert visible(page) == everything


def test_a_click_switches_a_head_a_double_click_solos_it(lines_page, recorded):
    page, everything = lines_page, visible(lines_page)
    head = page.locator(".lines .head").nth(2)
    head.click()
    assert visible(page) == {line for line in everything if line[0] != 2}
    expect(head).to_have_attribute("aria-pressed", "false")
    # What is off stays off for the next sentence.
    box = page.get_by_role("textbox", name="English sentence")
    box.fill("A man is riding.")
    box.press("Enter")
    expect(page.locator(".column.key .token")).to_have_text(recorded.translate("A man is riding.").source_tokens)
    expect(page.locator(".lines .head").nth(2)).to_have_attribute("aria-pressed", "false")
    page.locator(".lines .head").nth(2).dblclick()
    assert {line[0] for line in visible(page)} == {2}
    page.locator(".lines .head").nth(2).press("Shift+Enter")
    assert {line[0] for line in visible(page)} == {0, 1, 2, 3}
    page.locator(".lines .head").nth(1).click()
    page.locator(".lines .every").click()
    assert {line[0] for line in visible(page)} == {0, 1, 2, 3}
