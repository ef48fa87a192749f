"""The view Why in a real browser: its numbers add up to the score, and heads named in it lead on, and back."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
import plotly.graph_objects as go
import pytest
from playwright.sync_api import Page, expect

from model.interventions.cuts import Cut
from tests.support import PATIENCE
from tests.test_app.test_browser.test_stage import map_values, part, ready, selected_head, show, wait_for_map
from viz.stage.payload import why

pytestmark = pytest.mark.slow

TEXT = "A man is too tired."
LAYER, HEAD, ROW = 1, 2, 2
WHY = f"?text={quote(TEXT)}&kind=encoder_self&layer={LAYER}&head={HEAD}&view=why&row={ROW}"


def wait_for_parts(page: Page, layer: int, head: int) -> None:
    """Waits until the heading is about a head."""
    expect(page.locator(".hl-title")).to_contain_text(f"Head {layer}.{head} ", timeout=PATIENCE)
    expect(part(page, "why").locator("[data-side=key] li").first).to_be_visible()


def payload_of(recorded, key: int | None = None, layer: int = LAYER, head: int = HEAD, row: int = ROW):
    result = recorded.translate(TEXT)
    parts = recorded.score_parts(result, "encoder_self", layer, head)
    return why.payload(
        why.Cell("encoder_self", layer, head, row, key), parts, result.attention("encoder_self")[layer, head]
    )


def wait_for_sums(page: Page, scores: np.ndarray) -> None:
    """Waits until the last row of the picture is these scores."""
    page.wait_for_function(
        """scores => {
          const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
          const sums = Array.from(plot?.data?.[0].z.at(-1) ?? []);
          return sums.length === scores.length && sums.every((sum, key) => Math.abs(sum - scores[key]) < 1e-4);
        }""",
        arg=np.asarray(scores, float).tolist(),
        timeout=PATIENCE,
    )


def expect_sums(page: Page, score: float) -> None:
    """Both sides of the cell add up to this score."""
    text = f"{score:+.2f}".replace("-", "[-−]").replace("+", r"\+")
    for side in ("query", "key"):
        section = part(page, "why").locator(f"[data-side={side}]")
        expect(section.get_by_test_id("stage-why-sum")).to_have_text(re.compile(f"^{text}$"))
        numbers = section.locator("li:not(.hl-sum) .hl-number").all_inner_texts()
        assert sum(float(number.replace("−", "-")) for number in numbers) == pytest.approx(
            score, abs=0.01 * len(numbers)
        )


def expect_texts(page: Page, scores: np.ndarray) -> None:
    """The lowest row of the picture has these numbers written in its cells, but for small ones."""
    columns, texts = page.evaluate(
        """() => {
          const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
          const {xaxis, yaxis} = plot._fullLayout, {left, top} = plot.getBoundingClientRect();
          const lowest = plot.data[0].z.length - 1;
          const cells = [...document.querySelectorAll("[data-testid=stage-map] .hl-cell-texts span")].map(cell => {
            const box = cell.getBoundingClientRect();
            const row = yaxis.p2l((box.top + box.bottom) / 2 - top - yaxis._offset);
            return [Math.round(row), xaxis.p2l((box.left + box.right) / 2 - left - xaxis._offset), cell.textContent];
          }).filter(([row]) => row === lowest);
          return [cells.map(([, column]) => column), cells.map(([, , text]) => text)];
        }"""
    )
    np.testing.assert_allclose(columns, range(len(scores)), atol=0.1)
    assert all(text in ("", f"{score:+.1f}") for text, score in zip(texts, scores, strict=True))
    assert texts[np.abs(scores).argmax()]


def click_key(page: Page, key: int) -> None:
    """Clicks a key in the upper row of the picture."""
    place = page.evaluate(
        """key => { const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
        const {xaxis, yaxis} = plot._fullLayout, box = plot.getBoundingClientRect();
        return [box.left + xaxis._offset + xaxis.d2p(key), box.top + yaxis._offset + yaxis.d2p(0)]; }""",
        key,
    )
    page.mouse.click(*place)


def test_sums_are_the_score_and_a_key_that_is_clicked_is_asked_about(page, app_server, recorded):
    show(page, app_server, WHY)
    wait_for_parts(page, LAYER, HEAD)
    payload = payload_of(recorded)
    best = payload["place"]["key"]
    expect_sums(page, payload["scores"][best])
    np.testing.assert_allclose(map_values(page)[-1], payload["scores"], atol=1e-4)  # the last row is the sum
    other = (best + 1) % len(payload["scores"])
    click_key(page, other)
    expect(page).to_have_url(re.compile(f"key={other}"))
    expect_sums(page, payload["scores"][other])
    part(page, "why_pictures").locator("[data-picture=pairs]").click()
    page.wait_for_function(
        """score => { const {data: [{z}]} = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
        return Math.abs(z.at(-1).at(-1) - score) < 1e-4; }""",
        arg=float(payload["scores"][other]),
        timeout=PATIENCE,
    )


def test_a_head_that_is_named_opens_with_its_row_and_back_returns(page, app_server, recorded):
    show(page, app_server, WHY)
    wait_for_parts(page, LAYER, HEAD)
    key = payload_of(recorded)["place"]["key"]
    module = part(page, "why").locator("[data-side=key]").get_by_role("button", name="attention 0")
    if not module.count():
        part(page, "why").locator("[data-side=key] .hl-others").click()
    module.click()
    part(page, "why").locator("[data-side=key]").get_by_role("button", name="head 0.3").click()
    result = recorded.translate(TEXT)
    wait_for_map(page, result.attention("encoder_self")[0, 3])
    assert selected_head(page) == [0, 3]
    expect(page).to_have_url(re.compile(f"trail=e{LAYER}.{HEAD}.{ROW}.{key}.*pin=s{key}|pin=s{key}.*trail=e"))
    part(page, "views").get_by_role("tab", name="Why", exact=True).click()
    wait_for_parts(page, 0, 3)
    crumbs = part(page, "crumbs").locator("li")
    expect(crumbs).to_have_count(2)
    page.reload()
    ready(page)
    wait_for_parts(page, 0, 3)
    expect(crumbs).to_have_count(2)
    expect(crumbs.first).to_contain_text(f"{LAYER}.{HEAD}")
    page.go_back()
    wait_for_parts(page, LAYER, HEAD)
    assert selected_head(page) == [LAYER, HEAD]
    expect(crumbs).to_have_count(0)
    page.go_forward()
    wait_for_parts(page, 0, 3)
    crumbs.first.get_by_role("button").click()
    wait_for_parts(page, LAYER, HEAD)
    expect(crumbs).to_have_count(0)


def test_the_python_of_each_picture_makes_its_numbers(page, app_server, recorded, monkeypatch):
    monkeypatch.setattr(go.Figure, "show", lambda figure: None)
    show(page, app_server, WHY)
    wait_for_parts(page, LAYER, HEAD)
    payload = payload_of(recorded)
    key = payload["place"]["key"]
    sums = {"keys": payload["scores"], "queries": payload["scores"], "pairs": payload["of_keys"][:, key]}
    for picture, expected in sums.items():
        part(page, "why_pictures").locator(f"[data-picture={picture}]").click()
        part(page, "code").click()
        code = page.locator("pre").inner_text()
        page.keyboard.press("Escape")
        names: dict = {}
        exec(compile(code, "beside", "exec"), names)  # what the page shows
        columns = np.asarray(names["figure"].data[0].z, float).sum(axis=0)
        if picture == "pairs":
            assert columns.sum() == pytest.approx(expected.sum(), abs=1e-3)
            assert columns.max() >= expected.max() - 1e-3  # by module: a sum of parts
        else:
            np.testing.assert_allclose(columns, expected, atol=1e-3)


def test_another_head_is_asked_about_without_another_run_of_the_page(page, app_server, recorded):
    show(page, app_server, WHY)
    wait_for_parts(page, LAYER, HEAD)
    drawn = page.locator(".hl-stage").get_attribute("data-ready")
    with page.expect_response(re.compile("/headlight/answers/")):
        part(page, "heads").locator("[data-layer='1'][data-head='1']").click()
    wait_for_parts(page, 1, 1)
    wait_for_sums(page, payload_of(recorded, head=1)["scores"])
    assert page.locator(".hl-stage").get_attribute("data-ready") == drawn
    expect(page).to_have_url(re.compile(f"head=1.*row={ROW}|row={ROW}.*head=1"))
    page.route("**/headlight/answers/**", lambda route: route.fulfill(body=b""))  # then the page itself is asked
    part(page, "heads").locator("[data-layer='0'][data-head='3']").click()
    wait_for_parts(page, 0, 3)
    wait_for_sums(page, payload_of(recorded, layer=0, head=3)["scores"])


def test_why_is_asked_where_heads_are_changed(page, app_server, recorded):
    """In a low window the whole picture is seen; its texts stand where its numbers do, and elements stay from head to
    head."""
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, app_server, f"steer{WHY}")
    wait_for_parts(page, LAYER, HEAD)
    scores = payload_of(recorded)["scores"]
    wait_for_sums(page, scores)
    plot = part(page, "map").locator(".js-plotly-plot")
    box = plot.bounding_box()
    assert box["y"] + box["height"] <= 720
    expect_texts(page, scores)
    others = part(page, "why").locator("[data-side=key] .hl-others")
    others.focus()
    page.evaluate("() => { window.before = [...document.querySelectorAll('[data-testid=stage-why] li')]; }")
    part(page, "heads").locator("[data-layer='1'][data-head='1']").evaluate("tile => tile.click()")
    wait_for_parts(page, 1, 1)
    scores = payload_of(recorded, head=1)["scores"]
    wait_for_sums(page, scores)
    expect_sums(page, scores[payload_of(recorded, head=1)["place"]["key"]])
    expect_texts(page, scores)
    expect(others).to_be_focused()
    assert page.evaluate("() => window.before.length > 0 && window.before.every(row => row.isConnected)")


def test_a_path_is_cut_beside_its_part_and_taken_back(page, app_server, recorded):
    """Steer opens the map that results, with both weights; Why is still there for the unchanged model."""
    page.goto(f"{app_server}/steer{WHY}")
    ready(page)
    wait_for_parts(page, LAYER, HEAD)
    cut_of_bias = part(page, "why").locator("[data-side=key] [data-part=bias]")
    expect(cut_of_bias).to_have_count(0)
    key = (payload_of(recorded)["place"]["key"] + 1) % len(payload_of(recorded)["scores"])
    click_key(page, key)  # the cut is about what is open, not about the address of arrival
    expect_sums(page, payload_of(recorded)["scores"][key])
    part(page, "why").locator("[data-side=key] [data-part=positions]").click()
    path = recorded.cut_path(recorded.translate(TEXT), Cut("encoder_self", LAYER, HEAD, "keys", "positions"))
    changed = recorded.translate(TEXT, edits=path.edits)
    wait_for_map(page, changed.attention("encoder_self")[LAYER, HEAD])
    expect(part(page, "translation")).to_have_text(changed.text)
    rows = part(page, "cut-path").locator("tbody tr")
    numbers = [float(text) for text in rows.first.locator("td").all_inner_texts()]
    expected = [weights[ROW, key] for weights in (path.weights, path.predicted, path.actual)]
    np.testing.assert_allclose(numbers, expected, atol=6e-4)
    expect(page).to_have_url(re.compile(f"edits=v1_ke{LAYER}-{HEAD}-positions.*key={key}|key={key}.*edits=v1_ke"))
    page.reload()
    ready(page)
    expect(rows.first.locator("td").first).to_have_text(f"{expected[0]:.3f}")
    part(page, "versions").locator("[data-version=before]").click()
    part(page, "views").get_by_role("tab", name="Why", exact=True).click()
    wait_for_parts(page, LAYER, HEAD)
    pressed = part(page, "why").locator("[data-side=key] [data-part=positions]")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    part(page, "changes").locator("[data-code]").click()
    expect(part(page, "cuts")).to_be_hidden()
    expect(page).not_to_have_url(re.compile("edits="))


def test_cards_say_what_decides_where_a_head_looks(page, app_server, recorded):
    show(page, app_server, f"?text={quote(TEXT)}&kind=encoder_self&layer=0&head=1")
    shares = recorded.score_shares(recorded.translate(TEXT))
    place = shares.names.index("positions")
    both = shares.shares["encoder_self"][0, 1][place, place]
    words = shares.of_keys("encoder_self")[0, 1][shares.names.index("words")]
    card = page.locator(".hl-card")
    expect(card).to_contain_text("Where it looks is decided", timeout=PATIENCE)
    for text, share in (("by position", both), ("by words", words)):
        if share >= 0.05:
            expect(card).to_contain_text(f"{text} {share:.0%}")
