"""The frame that pages share, as a browser lays it out: the same places, sizes and edges on every page.

What holds of all pages is looked at in test_walk.py, which opens each of them.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.support import PATIENCE
from tests.support.layout import resize, settle

pytestmark = pytest.mark.slow

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
  const filling = '.js-plotly-plot, .st-key-frame-fill, .hl-sheet-plot';
  const pictures = document.querySelectorAll(`${filling}, .hl-sheet-right .hl-note`);  // what is said under one, too
  const plots = Array.from(pictures, node => node.getBoundingClientRect().bottom);
  const size = query => getComputedStyle(document.querySelector(query)).fontSize;
  const notes = document.querySelector('.st-key-frame-notes')?.getBoundingClientRect().height ?? 0;
  return {
    notes: notes && notes + 16,
    question: box('.st-key-frame-question, .hl-sheet-question'), answer: box('.hl-answer'),
    left: box('.st-key-frame-small, .hl-sheet-left > .hl-sheet-parts'),
    right: box('.st-key-frame-large, .hl-sheet-right > .hl-sheet-parts'), bottom: Math.max(...plots),
    sizes: { answer: size('.hl-answer'), title: size('.hl-picture-title'), note: size('.hl-note') },
  };
}"""


LESSON_PLACES = PLACES
for place, own in {
    ".st-key-frame-question, .hl-sheet-question": ".hl-lesson-question",
    ".st-key-frame-small, .hl-sheet-left > .hl-sheet-parts": ".hl-lesson-left",
    ".st-key-frame-large, .hl-sheet-right > .hl-sheet-parts": ".hl-lesson-right",
}.items():
    LESSON_PLACES = LESSON_PLACES.replace(f"'{place}'", f"'{own}'")
# Of a page of the stage: the first tiles beside the title of the large picture or, of two sentences, their lines.
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
    left: box('.hl-heads'), right: box('.hl-main > .hl-right, .hl-strips'),
    // Of two texts what carries their difference is the picture that answers; their maps stand below it.
    bottom: document.querySelector('.hl-patching-pictures') ? box('.hl-patching-pictures').bottom : Math.max(...plots),
    controls: ['.hl-of-tiles', '.hl-of-picture'].map(query => box(query).bottom),
    sizes: { answer: size(answer), title: size('.hl-title') },
  };
}"""


def open_page(page: Page, url: str) -> None:
    """Opens a page in the larger window."""
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size(dict(zip(("width", "height"), SIZES[0], strict=True)))
    page.goto(url)
    drawn = ".js-plotly-plot .main-svg, .st-key-frame-fill pre, .hl-sheet[data-ready]"
    expect(page.locator(drawn).first).to_be_visible()
    for part in (".hl-answer", ".hl-picture-title"):
        expect(page.locator(part).first).to_be_visible()
    settle(page)


def top_of_the_answer(page: Page, name: str, size: tuple[int, int]) -> float:
    """Looks at where the parts of a page's frame are in a window; returns where its answer begins."""
    places = page.evaluate(PLACES)
    assert abs(places["left"]["top"] - places["right"]["top"]) <= 2, (name, size)
    assert places["question"]["bottom"] < places["answer"]["top"] < places["right"]["top"], (name, size)
    assert 0 <= size[1] - places["bottom"] <= 40, (name, size)
    assert places["sizes"] == {"answer": "22px", "title": "14px", "note": "13px"}, (name, size)
    assert places["right"]["top"] - places["notes"] < 300, (name, size)
    assert places["left"]["right"] - places["left"]["left"] < 0.42 * size[0], (name, size)
    return places["answer"]["top"] - places["notes"]


def top_of_the_translation(page: Page, name: str, size: tuple[int, int]) -> float:
    """Looks at where the parts of a page of the stage are in a window; returns where its translation begins."""
    places = page.evaluate(STAGE_PLACES)
    assert abs(places["left"]["top"] - places["right"]["top"]) <= 2, (name, size)
    assert abs(places["controls"][0] - places["controls"][1]) <= 2, (name, size)
    assert places["question"]["bottom"] < places["answer"]["top"] < places["right"]["top"], (name, size)
    assert 0 <= size[1] - places["bottom"] <= (40 if name != "compare" else size[1] / 3), (name, size)
    assert places["sizes"] == {"answer": "22px", "title": "14px"}, (name, size)
    return places["answer"]["top"]


def test_what_answers_is_on_the_first_screen(page, shipped_server, guard):
    """On the Head atlas board, choice and numbers of a head, on Four systems all outputs; on both the stage."""
    guard.allowed = shipped_server.split("//")[1]
    pages = {
        "atlas?part=board": (".st-key-role-board", ".st-key-head-row", ".st-key-atlas-beside"),
        "models": (".st-key-system-tiles",),
    }
    for path, parts in pages.items():
        open_page(page, f"{shipped_server}/{path}")
        for size in SIZES:
            resize(page, *size)
            for part in (*parts, ".hl-answer", ".hl-set [data-testid=stage-map]", ".hl-says"):
                box = page.locator(f".st-key-frame {part}").bounding_box()
                assert box and box["y"] + box["height"] <= size[1], (path, size, part)


def test_lessons_have_these_places_too(page, shipped_server, guard):
    guard.allowed = shipped_server.split("//")[1]
    for query in ("", "?lesson=attention-1", "?lesson=warmup-1", "?lesson=masks-4"):
        open_page(page, f"{shipped_server}/lessons{query}")
        for size in SIZES:
            resize(page, *size)
            places = page.evaluate(LESSON_PLACES)
            assert abs(places["left"]["top"] - places["right"]["top"]) <= 2, (query, size)
            assert places["question"]["bottom"] < places["answer"]["top"] < places["right"]["top"] < 300, (query, size)
            assert 0 <= size[1] - places["bottom"] <= 40, (query, size)
            assert places["sizes"] == {"answer": "22px", "title": "14px", "note": "13px"}, (query, size)


ENDS = """() => [['.st-key-frame-small', '.hl-sheet-left'], ['.st-key-frame-large', '.hl-sheet-right']].map(frames => {
  const side = `:is(${frames})`;
  const kinds = ['.hl-tiles', '.hl-note', '.stDataFrame', '.js-plotly-plot',
    '.hl-sheet-link', '.hl-sheet-table', '.hl-sheet-plot'];
  const parts = document.querySelectorAll(kinds.map(kind => `${side} ${kind}`));
  return Math.max(...Array.from(parts, part => part.getBoundingClientRect().bottom));
})"""  # of what stands at the left and at the right


def assert_both_sides_end_together(page: Page, where: str) -> None:
    for size in SIZES:
        resize(page, *size)
        left, right = page.evaluate(ENDS)
        assert abs(left - right) <= 24 and left <= size[1], (where, size)


def test_both_sides_of_positions_end_together_in_every_picture(page, app_server):
    open_page(page, f"{app_server}/positions")
    for name in ("Encoding", "Similarity", "Wavelengths", "Word order"):
        picture = page.get_by_role("tab", name=name, exact=True)
        picture.click()
        expect(picture).to_have_attribute("aria-selected", "true")
        expect(page.locator(".hl-sheet-right .hl-sheet-picture").first).to_be_visible()
        assert_both_sides_end_together(page, name)


def test_lists_end_inside_a_low_window_and_show_what_is_chosen(page, shipped_server, guard):
    guard.allowed = shipped_server.split("//")[1]
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": 1280, "height": 720})
    for path, last in {
        "training": ".hl-texts-of",
        "lessons": ".hl-lesson-tile:last-of-type",
        "training?section=grid&grid-show=maps": ".hl-sheet-map",  # of four runs
        "open_file": ".st-key-frame-small .hl-tiles",
    }.items():
        page.goto(f"{shipped_server}/{path}")
        expect(page.locator(".js-plotly-plot .main-svg, .hl-sheet[data-ready]").first).to_be_visible()
        settle(page)
        boxes = [box.bounding_box() for box in page.locator(last).all()]
        assert max(box["y"] + box["height"] for box in boxes) <= 720, path
    expect(page.locator(".st-key-frame-small [aria-checked=true]")).to_be_in_viewport(ratio=0.9)


def test_both_sides_of_masks_end_together_and_arrow_keys_choose_tiles(page, app_server):
    open_page(page, f"{app_server}/masks")
    assert_both_sides_end_together(page, "masks")
    answer = page.locator(".hl-answer").text_content()
    tiles = page.get_by_role("radiogroup", name="Masks")
    expect(tiles.get_by_role("radio", checked=True)).to_have_attribute("data-code", "decoder_self")
    tiles.get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowLeft")
    expect(tiles.get_by_role("radio", checked=True)).to_have_attribute("data-code", "look_ahead")
    page.keyboard.press("ArrowRight")
    expect(tiles.get_by_role("radio", checked=True)).to_have_attribute("data-code", "decoder_self")
    expect(page.locator(".hl-answer")).to_have_text(answer)
