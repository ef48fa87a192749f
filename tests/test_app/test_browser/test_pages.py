"""The pages of the app beside Translate in a real browser.

The page fixture objects to errors and to foreign requests.
"""

from __future__ import annotations

import re
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.support import menu
from model import load_translator
from model.measures import checks
from tests.support import PATIENCE
from tests.support.layout import resize, settle
from viz.pages.pitfalls.demos import PITFALLS

pytestmark = pytest.mark.slow

WIDE, NARROW = (1400, "light"), (400, "dark")
expect.set_options(timeout=PATIENCE)


def plot(page: Page, key: str):
    """The drawn Plotly element of a chart."""
    return page.locator(f".st-key-{key} .js-plotly-plot .main-svg").first


def open_page(page: Page, url: str, title: str) -> None:
    """Goes to a page as visitors do, by the menus, from one without charts."""
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/lessons")
    menu.go(page, title)
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()


def look_at(page: Page, address: str, width: int, scheme: str, **media: str) -> None:
    """Goes to an address with a window of that width, in light or dark."""
    page.emulate_media(color_scheme=scheme, **media)
    page.set_viewport_size({"width": width, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.goto(address)


def choose(page: Page, name: str) -> None:
    """Chooses an option of a segmented control."""
    option = page.get_by_role("radio", name=name, exact=True).first
    option.click()
    expect(option).to_be_checked()


def assert_nothing_sticks_out(page: Page) -> None:
    for element in (page.locator("html"), page.locator(".stMain")):
        assert element.evaluate("e => e.scrollWidth - e.clientWidth") <= 0


def assert_it_fits(page: Page, *keys: str) -> None:
    """Nothing sticks out of a wide window in light, nor of a narrow one in dark, where these charts are still drawn.

    It begins with the width that the page has, and leaves it with the other.
    """
    is_wide = page.viewport_size["width"] > NARROW[0]
    for width, scheme in (WIDE, NARROW) if is_wide else (NARROW, WIDE):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        for key in keys:
            expect(plot(page, key)).to_be_visible()
        assert_nothing_sticks_out(page)


@pytest.mark.long
def test_every_pitfall_is_drawn(page, app_server):
    open_page(page, app_server, "Pitfalls")
    page.set_viewport_size({"width": NARROW[0], "height": 900})  # where something is most likely to stick out
    for words in PITFALLS.values():
        tile = page.get_by_role("radiogroup", name="Mistakes").get_by_role("radio", name=words.name)
        tile.click()
        expect(tile).to_be_checked()
        expect(page.get_by_text(words.picture, exact=True).first).to_be_visible()
        for key in ("wrong", "right"):
            expect(plot(page, key)).to_be_visible()
        assert_nothing_sticks_out(page)
    assert_it_fits(page, "wrong", "right")


def test_the_schedule_lab_follows_its_controls_and_a_model_is_trained(page, app_server):
    """On one page, since opening one takes longer than all of it."""
    open_page(page, app_server, "Warm-up")
    the_schedule_lab_follows_its_controls(page)
    page.set_viewport_size({"width": WIDE[0], "height": 900})
    a_training_is_filmed_paused_stopped_and_opened(page)


def the_schedule_lab_follows_its_controls(page: Page) -> None:
    curves = page.get_by_test_id("curves").locator("svg")
    expect(curves).to_be_visible()
    left = page.locator(".hl-sheet-left")
    expect(left.get_by_text("Noam 512, warmup 4,000: peak 6.988e-04 at step 4,000")).to_be_visible()
    page.get_by_role("slider", name="d_model").focus()
    page.keyboard.press("ArrowRight")
    expect(left.get_by_text("Noam 576, warmup 4,000: peak 6.588e-04 at step 4,000")).to_be_visible()
    page.get_by_role("button", name="Save this Noam curve").click()
    page.get_by_role("tablist", name="Learning rate").get_by_role("tab", name="logarithmic").click()
    expect(page).to_have_url(re.compile("noam-d=576.*kept=576-4000-1.*log-y=logarithmic"))
    page.get_by_test_id("stage-save-code").click()
    expect(page.get_by_text("schedules.noam(576, 4000")).to_be_visible()
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 400, "height": 900})
    expect(curves).to_be_visible()
    assert_nothing_sticks_out(page)


def a_training_is_filmed_paused_stopped_and_opened(page: Page) -> None:
    page.get_by_role("radio", name="Train here").click()
    page.get_by_role("radio", name=re.compile("^Backwards")).click()
    slider, counter = page.get_by_test_id("film-slider"), page.get_by_test_id("film-counter")
    train, pause = (page.get_by_role("button", name=name, exact=True) for name in ("Train", "Pause"))
    train.click()
    expect(counter).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stage-film-head")).to_have_count(12)  # three kinds of four heads
    pause.first.click()
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    slider.fill("0")
    expect(counter).to_contain_text("after step 0:")
    page.locator(".st-key-film-stop button").click()
    expect(page.get_by_text("Stopped", exact=True)).to_be_visible()
    box = page.get_by_role("textbox", name="A string")
    box.fill("abc!")
    box.press("Enter")
    expect(page.get_by_text("got '!'").first).to_be_visible()
    box.fill("")
    box.press("Enter")
    page.get_by_test_id("stage-film-head").last.click()
    expect(page.get_by_text("Layer 0, head 3")).to_be_visible()
    page.get_by_role("radio", name="Film", exact=True).click()
    the_film_plays_and_its_curves_open_heads(page)
    page.get_by_role("radio", name="Film", exact=True).click()
    two_runs_end_with_their_difference(page)
    page.set_viewport_size({"width": 400, "height": 900})
    expect(page.get_by_test_id("film-counter")).to_be_visible()
    assert_nothing_sticks_out(page)


def the_film_plays_and_its_curves_open_heads(page: Page) -> None:
    slider, counter = page.get_by_test_id("film-slider"), page.get_by_test_id("film-counter")
    slider.fill("0")
    expect(counter).to_contain_text("after step 0:")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(counter).not_to_contain_text("after step 0:")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()  # at its end it stops by itself
    assert slider.input_value() == slider.get_attribute("max")
    curves = page.get_by_test_id("film-curves")
    box = curves.bounding_box()
    assert box is not None
    # From the end of the curves upwards, until the mouse is near a point of a head's curve.
    for y in range(int(box["height"]) - 40, 0, -8):
        curves.hover(position={"x": box["width"] - 20, "y": y})
        if title := curves.get_attribute("title"):
            curves.click(position={"x": box["width"] - 20, "y": y})
            break
    else:
        raise AssertionError("no point of a curve is near the mouse")
    layer, head, step = re.match(r"layer (\d+), head (\d+), .* after step (\d+)$", title).groups()
    opened = page.locator(".hl-picture-title", has_text=f"Layer {layer}, head {head}")
    expect(opened).to_contain_text(f"after step {step}")


def two_runs_end_with_their_difference(page: Page) -> None:
    page.get_by_role("combobox", name="Beside it a run with").click()
    page.get_by_role("option", name="Another seed").click()
    page.get_by_role("button", name="Train both", exact=True).click()
    expect(page.get_by_test_id("film-counter")).to_have_text(re.compile(r"^after step [1-9]\d*$"))
    name = page.get_by_test_id("stage-film-name").last
    expect(name).to_have_text(re.compile(r"^With seed 2: \d+ % right, loss [\d.]+$"))
    page.locator(".st-key-film-stop button").click()
    answer = page.locator(".hl-answer").first
    expect(answer).to_have_text(re.compile(r"^With seed 1 \d+% is right by step \d+, with seed 2 \d+% by step \d+\.$"))
    rows = page.get_by_test_id("film-legend")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("With seed 1")
    expect(rows.last).to_contain_text("With seed 2")


def test_a_file_of_attention_is_opened(page, app_server, tmp_path):
    open_page(page, app_server, "Your own model")
    page.get_by_role("radio", name=re.compile("A file of attention")).click()
    file = tmp_path / "mine.npz"
    np.savez(file, source_tokens=["a", "cat"], target_tokens=["<s>", "eine"], cross=np.full((2, 3, 2, 2), 0.5))
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("eine", exact=True).first).to_be_visible()  # drawn, not only uploaded
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"no such file")
    page.get_by_role("button", name="Open a file").click()
    page.locator("input[type=file]").set_input_files(broken)
    expect(page.get_by_text("Showing the last one that worked.")).to_be_visible()


def test_every_view_of_the_atlas_fits_and_leads_to_steer(page, app_server):
    open_page(page, app_server, "Head atlas")
    page.set_viewport_size({"width": 400, "height": 900})
    for view in ("Two measures", "Alike", "Contribution", "Alignment", "All heads"):
        choose(page, view)
        assert_nothing_sticks_out(page)
    page.get_by_role("link", name="Switch heads off in this sentence, on the page Steer →").click()
    expect(page.get_by_test_id("stage-fold")).to_be_visible()


ABOVE_THE_FOLD = "part => document.querySelector(part)?.getBoundingClientRect().bottom <= innerHeight"


def test_many_texts_of_the_atlas_say_what_a_head_does_and_lead_to_the_stage(page, shipped_server, guard, tmp_path):
    guard.allowed = shipped_server.split("//")[1]
    look_at(page, f"{shipped_server}/atlas?kind=cross&layer=1&head=4", 1280, "light")
    resize(page, 1280, 720)
    rows = page.locator(".hl-rows li")
    expect(rows).to_have_count(11)  # the most active, and one of every tenth
    for part in (page.locator(".hl-sheet-board"), page.locator(".hl-share-bar").last, rows.nth(2)):
        box = part.bounding_box()
        assert box and box["y"] + box["height"] <= 720  # nothing scrolls before one has seen what the head does
    first = rows.first.inner_text()
    page.get_by_role("button", name="Draw others").click()
    expect(rows.first).not_to_have_text(first, use_inner_text=True)
    page.get_by_role("tab", name="Test an idea").click()
    expect(rows.get_by_role("link", name="fits", exact=True).first).to_be_visible()
    page.get_by_role("tab", name="Distributions").click()
    expect(page.locator(".hl-histogram")).to_have_count(4)
    expect(page.locator(".hl-histogram .hl-row-mark").first).to_be_visible()  # the rows of the sentence
    page.wait_for_function(ABOVE_THE_FOLD, arg=".hl-histograms")
    page.get_by_role("tab", name="Points").click()
    page.wait_for_function(ABOVE_THE_FOLD, arg=".hl-sheet-right .js-plotly-plot")
    page.locator(".hl-sheet-right .point").nth(40).click(force=True)
    expect(rows).to_have_count(1)
    assert_nothing_sticks_out(page)
    rows.get_by_role("link").click()
    expect(page.get_by_test_id("stage-map").first).to_be_visible()
    assert "reference=" in page.url and "pin=t" in page.url
    page.go_back()
    file = tmp_path / "mine.tsv"
    file.write_text("A dog runs.\tEin Hund rennt.\nTwo cats sleep.\tZwei Katzen schlafen.\n" * 20, encoding="utf-8")
    page.get_by_role("button", name="Your own texts").click()
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Measure all heads").click()
    expect(page.locator(".hl-answer-note")).to_contain_text("40 texts")
    page.get_by_test_id("control-part").locator("select").select_option(label="All heads")
    expect(page.get_by_test_id("stage-map").first).to_be_visible()


@pytest.mark.long
def test_models_are_compared(page, app_server, all_served):
    open_page(page, app_server, "Four systems")
    for system in page.get_by_role("radiogroup", name="System").get_by_role("radio").all():
        system.click()
        expect(system).to_be_checked()
        expect(page.locator(".st-key-frame-large .js-plotly-plot .main-svg").first).to_be_visible()
        assert_nothing_sticks_out(page)
    choose(page, "Quality by length")
    assert_it_fits(page, "lengths")
    choose(page, "English → German")
    expect(page.get_by_text("Not found for this direction: GRU with attention, GRU.")).to_be_visible()
    assert_nothing_sticks_out(page)


BARS = """() => document.querySelector("[data-testid=stage-map] .js-plotly-plot").data.map(({x}) => [...x])"""


def bars(page: Page, writer, text: str, **chance) -> None:
    """Waits until the bars are those of the distribution that is drawn from; words that fall out are grey."""
    distribution, sampled = writer.distribution(text), writer.distribution(text, **chance, unknown=False)
    best = np.argsort(-distribution, kind="stable")[:20]
    grey = np.where(sampled > 0, 0, distribution)
    expected, values = [np.where(sampled > 0, sampled, 0)[best], grey[best], distribution[best]], None
    for _ in range(200):
        values = [[share or 0 for share in row] for row in page.evaluate(BARS)]
        if len(values) == 3 and np.abs(np.array(values) - expected).max() < 1e-6:
            return
        page.wait_for_timeout(25)
    np.testing.assert_allclose(values, expected, atol=1e-6)


def assert_no_bar_is_under_the_legend(page: Page) -> None:
    figure = page.get_by_test_id("stage-map")
    legend, bar = figure.locator(".legend"), figure.locator(".bars .point path").first
    expect(bar).to_be_attached()
    assert legend.bounding_box()["y"] + legend.bounding_box()["height"] <= bar.bounding_box()["y"]


def test_bars_follow_the_sliders_without_the_server_and_a_text_goes_on(page, app_server, all_served, everything):
    writer, text = load_translator(str(everything / "lm")), "the cat"
    look_at(page, f"{app_server}/language_model?text=the+cat", *NARROW)
    settle(page)
    assert_no_bar_is_under_the_legend(page)
    page.emulate_media(color_scheme="light")
    resize(page, WIDE[0], 900)
    stage, translation = page.locator(".hl-stage"), page.get_by_test_id("stage-translation")
    expect(stage).to_have_attribute("data-ready", "1")
    bars(page, writer, text)
    shares = writer.distribution(text, unknown=False)
    best = writer.tokenizer.target.tokens([int(shares.argmax())])[0]
    expect(translation).to_have_text(f"“{best}” is the likeliest next word: {100 * shares.max():.1f} %.")
    assert page.get_by_test_id("stage-map").bounding_box()["y"] < 420
    temperature, top_p, top_k = (page.get_by_label(name) for name in ("Temperature", "Top-p", "Top-k"))
    temperature.fill("0.5")
    bars(page, writer, text, temperature=0.5)
    top_k.select_option("5")
    top_p.fill("0.6")
    bars(page, writer, text, temperature=0.5, top_k=5, top_p=0.6)
    temperature.fill("0")
    bars(page, writer, text, temperature=0)
    expect(translation).to_have_text(f"“{best}” is the likeliest next word: 100.0 %.")
    temperature.fill("1.5")
    expect(page).to_have_url(re.compile("temperature=1.5&top-k=5&top-p=0.6$"))
    expect(stage).to_have_attribute("data-ready", "1")
    chance = {"temperature": 1.5, "top_k": 5, "top_p": 0.6}
    page.get_by_test_id("stage-go-on").click()
    expect(translation).to_have_text(writer.write(text, seed=0, **chance))
    page.get_by_test_id("stage-go-on").click()
    expect(translation).to_have_text(writer.write(text, seed=1, **chance))
    expect(page).to_have_url(re.compile("seed=1"))
    address = page.url
    menu.go(page, "Lessons")
    expect(page.get_by_role("heading", name="Lessons", exact=True)).to_be_visible()
    page.go_back()
    expect(translation).to_have_text(writer.write(text, seed=1, **chance))
    bars(page, writer, text, **chance)
    expect(page).to_have_url(address)
    page.get_by_role("tab", name="Map", exact=True).click()
    page.set_viewport_size({"width": 400, "height": 860})
    expect(page.get_by_test_id("stage-map")).to_be_in_viewport()
    assert_nothing_sticks_out(page)


def test_without_a_language_model_the_page_says_how_to_train_one(page, app_server):
    page.goto(f"{app_server}/language_model")
    expect(page.get_by_text("No language model found.")).to_be_visible()
    expect(page.locator("[data-testid=stCode]")).to_contain_text("wikitext2-lm")


def test_the_claims_are_a_table_that_is_read_aloud_and_the_browser_itself_translates_and_compares(
    page, app_server, checkpoints
):
    """In a German sentence too: what was measured is of the sentence that is shown, and is not claimed before."""
    translator = load_translator(str(checkpoints / "en-de"))
    page.set_default_timeout(PATIENCE)
    for text in ("A man is riding a bicycle.", "Das Tier war müde 🐈"):
        page.goto(f"{app_server}/check?{urlencode({'text': text, 'check-show': 'table'})}")
        row = page.get_by_role("row").filter(has_text="Your browser computes the same")
        result = translator.translate(text)
        compared = sum(result.attention(kind).size for kind in result.kinds)
        expect(row).to_contain_text("yes")
        expect(row).to_contain_text(f"{compared:,}")
        expect(page.locator(".hl-answer")).to_contain_text("claims hold")
    expect(page.get_by_role("table").get_by_role("row")).to_have_count(2 + len(checks.CLAIMS))
    assert_it_fits(page)
