"""The frame that pages share, as a browser lays it out: the same places, sizes and edges on every page."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support import PATIENCE

PAGES = {
    "masks": "masks",
    "positions": "positions",
    "warm-up": "training",
    "four systems": "models",
    "self-check": "check",
    "pitfalls": "pitfalls",
    "head atlas": "atlas",
}
# Pages whose tiles and picture are those of the stage.
STAGES = {
    "translate": "",
    "steer": "steer",
    "compare": "compare",
    "language model": "language_model",
    "your own model": "open_file",
}
expect.set_options(timeout=PATIENCE)  # milliseconds until a wait gives up; a busy machine is not a failure
SIZES = [(1400, 900), (1280, 720)]
# What stands where, in pixels of the window, and the sizes of type of each role.
PLACES = """() => {
  const box = query => {
    const { left, top, right, bottom } = document.querySelector(query).getBoundingClientRect();
    return { left, top, right, bottom };
  };
  const pictures = document.querySelectorAll('.js-plotly-plot, .st-key-frame-fill');
  const plots = Array.from(pictures, node => node.getBoundingClientRect().bottom);
  const size = query => getComputedStyle(document.querySelector(query)).fontSize;
  const notes = document.querySelector('.st-key-frame-notes')?.getBoundingClientRect().height ?? 0;
  return {
    notes: notes && notes + 16,
    question: box('.st-key-frame-question'), answer: box('.hl-answer'), left: box('.st-key-frame-small'),
    right: box('.st-key-frame-large'), bottom: Math.max(...plots),
    sizes: { answer: size('.hl-answer'), title: size('.hl-picture-title'), note: size('.hl-note') },
    wide: document.documentElement.scrollWidth - innerWidth,
  };
}"""


# The same of the stage: the first tiles beside the title of the large picture or, of two sentences, their lines.
STAGE_PLACES = """() => {
  const box = query => {
    const { left, top, right, bottom } = document.querySelector(query).getBoundingClientRect();
    return { left, top, right, bottom };
  };
  const plots = Array.from(document.querySelectorAll('.js-plotly-plot'), node => node.getBoundingClientRect().bottom);
  const size = query => getComputedStyle(document.querySelector(query)).fontSize;
  const answer = '.hl-answer, .hl-translation';
  return {
    question: box('.st-key-frame-question, .st-key-sentence, .st-key-beginning'), answer: box(answer),
    left: box('.hl-heads'), right: box('.hl-main > .hl-right, .hl-strips'), bottom: Math.max(...plots),
    controls: ['.hl-of-tiles', '.hl-of-picture'].map(query => box(query).bottom),
    sizes: { answer: size(answer), title: size('.hl-title') },
  };
}"""


def opened(page: Page, url: str, size: tuple[int, int]) -> dict:
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(url)
    expect(page.locator(".js-plotly-plot .main-svg, .st-key-frame-fill pre").first).to_be_visible()
    for part in (".hl-answer", ".hl-picture-title"):
        expect(page.locator(part).first).to_be_visible()
    expect(page.locator("[data-testid=stStatusWidget]")).to_have_count(0)
    page.wait_for_timeout(300)  # figures follow the size of their places
    return page.evaluate(PLACES)


@pytest.mark.parametrize("size", SIZES)
def test_every_page_has_the_same_places(page, app_server, size):
    answers = {}
    for name, path in PAGES.items():
        places = opened(page, f"{app_server}/{path}", size)
        assert abs(places["left"]["top"] - places["right"]["top"]) <= 2, name
        assert places["question"]["bottom"] < places["answer"]["top"] < places["right"]["top"], name
        assert 0 <= size[1] - places["bottom"] <= 40, name
        assert places["sizes"] == {"answer": "22px", "title": "14px", "note": "13px"}, name
        assert places["right"]["top"] - places["notes"] < 300, name
        assert places["left"]["right"] - places["left"]["left"] < 0.42 * size[0], name
        answers[name] = places["answer"]["top"] - places["notes"]
    assert max(answers.values()) - min(answers.values()) <= 2, answers


@pytest.mark.parametrize("size", SIZES)
def test_what_answers_is_on_the_first_screen(page, shipped_server, guard, size):
    """On the Head atlas board, choice and numbers of a head, on Four systems all outputs; on both the stage."""
    guard.allowed = shipped_server.split("//")[1]
    pages = {
        "atlas": (".st-key-role-board", ".st-key-head-row", ".st-key-atlas-beside"),
        "models": (".st-key-system-tiles",),
    }
    for path, parts in pages.items():
        opened(page, f"{shipped_server}/{path}", size)
        for part in (*parts, ".hl-answer", ".hl-set [data-testid=stage-map]", ".hl-says"):
            box = page.locator(f".st-key-frame {part}").bounding_box()
            assert box and box["y"] + box["height"] <= size[1], (path, part)


@pytest.mark.parametrize("size", SIZES)
def test_pages_of_the_stage_have_these_places_too(page, app_server, all_served, size):
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    answers = {}
    for name, path in STAGES.items():
        page.goto(f"{app_server}/{path}")
        expect(page.locator(".hl-stage[data-ready] .js-plotly-plot .main-svg").first).to_be_visible()
        expect(page.locator(".stApp[data-test-script-state=notRunning]")).to_be_visible()
        page.wait_for_timeout(300)  # figures follow the size of their places
        places = page.evaluate(STAGE_PLACES)
        assert abs(places["left"]["top"] - places["right"]["top"]) <= 2, name
        assert abs(places["controls"][0] - places["controls"][1]) <= 2, name
        assert places["question"]["bottom"] < places["answer"]["top"] < places["right"]["top"], name
        assert 0 <= size[1] - places["bottom"] <= 40, name
        assert places["sizes"] == {"answer": "22px", "title": "14px"}, name
        if name != "compare":  # which asks for two sentences
            answers[name] = places["answer"]["top"]
    assert max(answers.values()) - min(answers.values()) <= 2, answers


@pytest.mark.parametrize("size", SIZES)
def test_lessons_have_these_places_too(page, shipped_server, guard, size):
    guard.allowed = shipped_server.split("//")[1]
    for query in ("", "?lesson=attention-1", "?lesson=warmup-1", "?lesson=masks-4"):
        places = opened(page, f"{shipped_server}/lessons{query}", size)
        assert abs(places["left"]["top"] - places["right"]["top"]) <= 2, query
        assert places["question"]["bottom"] < places["answer"]["top"] < places["right"]["top"] < 300, query
        assert 0 <= size[1] - places["bottom"] <= 40, query
        assert places["sizes"] == {"answer": "22px", "title": "14px", "note": "13px"}, query


def test_on_a_phone_the_picture_comes_before_the_tiles_and_nothing_is_cut_off(page, app_server):
    for name, path in PAGES.items():
        places = opened(page, f"{app_server}/{path}", (360, 780))
        assert places["answer"]["bottom"] <= places["right"]["top"] < places["left"]["top"], name
        assert places["wide"] <= 0, name


ENDS = """() => ['.st-key-frame-small', '.st-key-frame-large'].map(side => {
  const kinds = ['.hl-tiles', '.hl-note', '.stDataFrame', '.js-plotly-plot'];
  const parts = document.querySelectorAll(kinds.map(kind => `${side} ${kind}`));
  return Math.max(...Array.from(parts, part => part.getBoundingClientRect().bottom));
})"""  # of what stands at the left and at the right
FILLED = ["masks", *(f"positions?picture={view}" for view in ("encoding", "similarity", "wavelengths", "order"))]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("path", FILLED)
def test_both_sides_end_together(page, app_server, size, path):
    opened(page, f"{app_server}/{path}", size)
    left, right = page.evaluate(ENDS)
    assert abs(left - right) <= 24 and left <= size[1]


def test_lists_end_inside_a_low_window_and_show_what_is_chosen(page, shipped_server, guard):
    guard.allowed = shipped_server.split("//")[1]
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": 1280, "height": 720})
    for path, last in {
        "training": ".hl-texts-of",
        "lessons": "[class*=st-key-lesson-tile-]:last-of-type",
        "training?section=grid&grid-show=maps": ".js-plotly-plot",  # of four runs
        "open_file": ".st-key-frame-small .hl-tiles",
    }.items():
        page.goto(f"{shipped_server}/{path}")
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        expect(page.locator(".stApp[data-test-script-state=notRunning]")).to_be_visible()
        page.wait_for_timeout(500)  # figures follow the size of their places
        boxes = [box.bounding_box() for box in page.locator(last).all()]
        assert max(box["y"] + box["height"] for box in boxes) <= 720, path
    expect(page.locator(".st-key-frame-small [aria-checked=true]")).to_be_in_viewport(ratio=0.9)


def test_arrow_keys_choose_tiles_and_the_answer_follows(page, app_server):
    opened(page, f"{app_server}/masks", SIZES[0])
    answer = page.locator(".hl-answer").text_content()
    tiles = page.get_by_role("radiogroup", name="Masks")
    expect(tiles.get_by_role("radio", checked=True)).to_have_attribute("data-code", "decoder_self")
    tiles.get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowLeft")
    expect(tiles.get_by_role("radio", checked=True)).to_have_attribute("data-code", "look_ahead")
    page.keyboard.press("ArrowRight")
    expect(tiles.get_by_role("radio", checked=True)).to_have_attribute("data-code", "decoder_self")
    expect(page.locator(".hl-answer")).to_have_text(answer)
