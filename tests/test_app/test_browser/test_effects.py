"""Direct effects on the stage in a real browser: what is drawn is what the translator computes, asked for once."""

from __future__ import annotations

import re
import warnings
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.interventions.edits import Edits, Head
from model.measures import agreement
from tests.test_app.test_browser.test_stage import EQUAL, kind, map_values, part, ready, show, tile, type_in
from viz.stage.words import label

pytestmark = pytest.mark.slow

# What the traces of the large picture draw.
TRACES = """() => document.querySelector("[data-testid=stage-map] .js-plotly-plot").data.map(
  ({x, y, z}) => ({x: x && [...x], y: y && [...y], z: z && Array.from(z, row => [...row])}))
"""


def measure(page: Page, name: str):
    return part(page, "measure").locator(f"[data-measure={name}]")


def view(page: Page, name: str) -> None:
    part(page, "views").locator(f"[data-view={name}]").click()


def drawings(page: Page) -> int:
    """How many messages of the server were drawn."""
    return int(page.locator(".hl-stage").get_attribute("data-ready"))


def wait_for(page: Page, expected: np.ndarray, *place: int) -> None:
    """Waits until the large map draws what stands at a place of these numbers, to 2e-5 of the largest of them all."""
    close, values = 2e-5 * np.abs(expected).max(), None
    for _ in range(200):
        values = np.nan_to_num(map_values(page))
        if values.shape == expected[place].shape and np.abs(values - expected[place]).max() < close:
            return
        page.wait_for_timeout(25)
    np.testing.assert_allclose(values, expected[place], atol=close)


def test_maps_turn_to_effects_with_one_request_and_heads_open_without(page, app_server, recorded):
    show(page, app_server, f"?text={quote(EQUAL)}&layer=1&head=2")
    result = recorded.translate(EQUAL)
    measure(page, "effects").click()
    ready(page, 2)
    effects = recorded.effects(result, "runner-up")
    for code in ("cross", "decoder_self"):
        kind(page, code)
        for layer, head in ((1, 2), (0, 3)):
            tile(page, layer, head).click()
            wait_for(page, effects.heads(code), layer, head)
    kind(page, "encoder_self")
    expect(measure(page, "weights")).to_have_attribute("aria-selected", "true")
    measure(page, "effects").click(force=True)
    expect(page.locator(".hl-says")).to_have_text(re.compile("Encoder maps have no direct effect on a word"))
    tile(page, 0, 1).click()
    wait_for(page, result.attention("encoder_self"), 0, 1)
    kind(page, "cross")
    measure(page, "weights").click()
    wait_for(page, result.attention("cross"), 0, 3)
    measure(page, "effects").click()
    wait_for(page, effects.heads("cross"), 0, 3)
    assert drawings(page) == 2, "the server was asked once"
    part(page, "against").select_option("mean")
    ready(page, 3)
    wait_for(page, recorded.effects(result).heads("cross"), 0, 3)
    expect(page).to_have_url(re.compile("measure=effects.*against=mean|against=mean.*measure=effects"))
    page.reload()
    ready(page)
    wait_for(page, recorded.effects(result).heads("cross"), 0, 3)
    assert drawings(page) == 1, "a link needs no second request"
    type_in(page, "A man is riding.")
    other_result = recorded.translate("A man is riding.")
    wait_for(page, recorded.effects(other_result).heads("cross"), 0, 3)
    measure(page, "weights").click()
    wait_for(page, other_result.attention("cross"), 0, 3)
    expect(page).not_to_have_url(re.compile("measure="))
    type_in(page, EQUAL)
    wait_for(page, result.attention("cross"), 0, 3)
    ready(page, 4)  # without effects, which were still computed for the first sentence after the turn
    type_in(page, "A man is riding.")
    wait_for(page, other_result.attention("cross"), 0, 3)
    measure(page, "effects").click()
    ready(page, 6)


def test_a_lit_row_tints_every_tile_by_what_its_head_did_and_its_parts_sum_to_the_logit(page, app_server, recorded):
    show(page, app_server, f"?text={quote(EQUAL)}&measure=effects&pin=t1")
    did = recorded.effects(recorded.translate(EQUAL), "runner-up").heads("cross").sum(-1)[:, :, 1]
    for layer, head in (np.unravel_index(did.argmax(), did.shape), np.unravel_index(did.argmin(), did.shape)):
        colour = tile(page, layer, head).evaluate("e => getComputedStyle(e).backgroundColor")
        red, _, blue = map(int, re.findall(r"\d+", colour))
        assert np.sign(red - blue) == np.sign(did[layer, head]), "orange towards the word, blue away from it"
    best = np.unravel_index(np.abs(did).argmax(), did.shape)
    expect(page.locator(".hl-links button").first).to_have_text(
        re.compile(rf"^{best[0]}\.{best[1]} .*{did[best]:+.2f}$")
    )
    view(page, "parts")
    assert_parts_sum_to_the_logit(
        page, recorded.translate(EQUAL), recorded.effects(recorded.translate(EQUAL), "runner-up")
    )


def assert_parts_sum_to_the_logit(page: Page, result, effects) -> None:
    for step, width in ((1, 1280), (0, 400)):
        page.set_viewport_size({"width": width, "height": 860})
        token = label(result.predicted_tokens[step])
        if step != 1:
            part(page, "target").locator(f"[data-index='{step}']").click()
        expect(page.locator(".hl-title")).to_have_text(f"Who wrote “{token}”?")
        expect(page.locator(".hl-says")).to_have_text(re.compile(re.escape(f"{effects.logits[step]:+.2f} logits")))
        for _ in range(200):
            bars, keys, heads = page.evaluate(TRACES)
            if abs(sum(bars["x"]) - effects.logits[step]) < 1e-4:
                break
            page.wait_for_timeout(25)
        assert sum(bars["x"]) == pytest.approx(effects.logits[step], abs=1e-4)
        np.testing.assert_allclose(keys["y"], effects.heads("cross")[:, :, step].sum((0, 1)), atol=1e-5)
        expected = [effects.heads(code)[:, :, step].sum(-1) for code in ("cross", "decoder_self")]
        np.testing.assert_allclose(heads["z"], np.concatenate(expected), atol=1e-5)


def test_the_lens_and_left_out_tokens_are_asked_for_when_they_are_looked_at(page, app_server, recorded):
    show(page, app_server, f"?text={quote(EQUAL)}&measure=effects")
    result = recorded.translate(EQUAL)
    view(page, "lens")
    ready(page, 2)
    lens = recorded.lens(result)
    wait_for(page, lens.probabilities[:, :, 0].T)
    words = part(page, "map").locator(".hl-cell-texts span").all_inner_texts()
    expected = [label(lens.words[n][t][0]) for t in range(len(result.predicted_ids)) for n in range(len(lens.words))]
    for word, full_word in zip(words, expected, strict=True):
        assert full_word.startswith(word.removesuffix("…"))
    view(page, "left-out")
    ready(page, 3)
    wait_for(page, recorded.occlusion(result))
    view(page, "agree")
    ready(page, 4)
    agreements = agreement.of_words(recorded, result)["cross"]
    off = agreement.kendall(agreements["runner-up"], -agreements["log_probability"])
    with warnings.catch_warnings(action="ignore"):  # rows without an order
        means = [np.nanmean(agreements[name], -1) for name in ("agreement", "norms", "occlusion", "input_gradient")]
    wait_for(page, np.nan_to_num(np.stack([rates.ravel() for rates in (*means, off)])))
    page.set_viewport_size({"width": 400, "height": 860})
    part(page, "fold").click()
    view(page, "lens")
    expect(part(page, "map").get_by_role("table")).to_contain_text(label(lens.words[-1][0][0]))


def test_effects_before_after_and_their_difference_on_steer(page, app_server, recorded):
    show(page, app_server, f"steer?text={quote(EQUAL)}&edits=v1_oc1-2&measure=effects")
    expect(part(page, "views").locator("[data-view=left-out]")).to_be_visible()
    expect(part(page, "views").locator("[data-view=agree]")).to_have_count(0)  # measured without changes alone
    edits = Edits(off=(Head("cross", 1, 2),))
    before, after = recorded.translate(EQUAL), recorded.translate(EQUAL, edits=edits)
    old, new = (recorded.effects(result, "runner-up").heads("cross") for result in (before, after))
    tile(page, 0, 1).click()
    wait_for(page, new, 0, 1)
    part(page, "versions").locator("[data-version=before]").click()
    wait_for(page, old, 0, 1)
    part(page, "versions").locator("[data-version=difference]").click()
    if before.predicted_tokens == after.predicted_tokens:
        wait_for(page, new - old, 0, 1)
    expect(part(page, "views").get_by_role("tab")).to_have_count(1)
    assert drawings(page) == 1


def test_a_recurrent_network_says_why_it_has_none(page, app_server, all_served):
    show(page, app_server, "?model=b-gru-attention&measure=effects")
    expect(measure(page, "effects")).to_have_attribute("aria-disabled", "true")
    measure(page, "effects").click(force=True)
    expect(page.locator(".hl-says")).to_have_text(re.compile("a recurrent network has none"))
    expect(measure(page, "weights")).to_have_attribute("aria-selected", "true")
    assert drawings(page) == 1
