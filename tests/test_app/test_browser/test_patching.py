"""Patching on the page Compare in a real browser: the answer at first sight, and what a click does for real."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model import HeadPatch
from model.experiments.text_pairs import PAIRS
from model.running.translator import Translator
from tests.support import PATIENCE
from tests.support.layout import resize
from tests.test_app.test_browser.test_compare import wait_for
from tests.test_app.test_browser.test_stage import part, ready
from viz.stage.words import unique_labels

pytestmark = pytest.mark.slow

PAIR = next(pair for pair in PAIRS if pair.model == "en-de")


def cell(page: Page, patch: HeadPatch):
    return part(page, "patching-heads").locator(f"[data-code={patch.code}]")


def test_the_answer_is_seen_at_first_and_a_head_is_put_in_and_taken_out(page, app_server, recorded: Translator) -> None:
    a, b = map(recorded.translate, (PAIR.clean, PAIR.corrupted))
    patching = recorded.patching(a, b)
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app_server}/compare")
    ready(page)
    shares = {kind: patching.heads(kind) for kind in patching.kinds}
    kind = max(shares, key=lambda each: shares[each].max())
    layer, head = np.unravel_index(shares[kind].argmax(), shares[kind].shape)
    answer = part(page, "patching-answer")
    expect(answer).to_contain_text(re.compile(rf"head {layer}\.{head} .*\b{shares[kind].max():.0%}"))
    for word in unique_labels(list(patching.words)):
        expect(answer).to_contain_text(f"“{word}”")
    shown = cell(page, HeadPatch(kind, int(layer), int(head)))
    expect(shown).to_have_attribute("aria-label", re.compile(rf"head {layer}\.{head}: {shares[kind].max():.1%}"))
    for width, height in ((1400, 900), (1280, 720), (400, 860)):
        resize(page, width, height)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        top = part(page, "patching-heads").evaluate("element => element.getBoundingClientRect().top")
        assert top < (700 if width == 400 else 420)
        box = shown.bounding_box()
        assert box and min(box["width"], box["height"]) >= 12  # seen, and hit with a pointer
    resize(page, 1280, 720)
    puts_a_head_in_and_takes_it_out(page, recorded, patching, b)


def puts_a_head_in_and_takes_it_out(page: Page, recorded: Translator, patching, b) -> None:
    heads = [
        HeadPatch("cross", *map(int, place)) for place in np.ndindex(patching.heads("cross").shape)
    ]  # the first that changes what is written
    outputs = ((patch, recorded.translate(b.source, edits=patching.edits(patch))) for patch in heads)
    patch, new = next((patch, output) for patch, output in outputs if output.text != b.text)
    cell(page, patch).click()
    expect(part(page, "translation-b′")).to_have_text(new.text)
    expect(part(page, "translation-b")).to_have_text(b.text)
    expect(cell(page, patch)).to_have_attribute("aria-selected", "true")
    wait_for(page, "before", b.attention("cross")[patch.layer, patch.head])
    wait_for(page, "after", new.attention("cross")[patch.layer, patch.head])
    expect(page).to_have_url(re.compile(f"patch=v1_{patch.code}"))
    page.reload()
    ready(page)
    expect(part(page, "translation-b′")).to_have_text(new.text)
    part(page, "changes").locator(f"[data-code={patch.code}]").click()
    expect(part(page, "translation-b′")).to_have_count(0)
    expect(part(page, "translation-b")).to_have_text(b.text)
    expect(page).not_to_have_url(re.compile("patch="))
    page.get_by_role("tab", name="Where it looks").click()  # which is fetched
    largest = patching.heads("cross", "weights").max()
    row, column = np.unravel_index(patching.heads("cross", "weights").argmax(), patching.heads("cross").shape)
    expect(cell(page, HeadPatch("cross", int(row), int(column), "weights"))).to_have_attribute(
        "aria-label", re.compile(rf": {largest:.1%}")
    )
    page.get_by_role("tab", name="Put B's into A").click()
    expect(page).to_have_url(re.compile("into=a"))
    back = recorded.patching(recorded.translate(PAIR.clean), b, reverse=True).heads("cross", "weights")
    expect(cell(page, HeadPatch("cross", int(row), int(column), "weights"))).to_have_attribute(
        "aria-label", re.compile(rf": {back[row, column]:.1%}".replace("-", "[-−]"))
    )
