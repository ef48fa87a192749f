"""The page without a server in Chromium: from a folder behind a plain web server, and from disk without a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, Route, expect

from model.interventions.edits import Edits
from model.running.translator import Translator
from tests.support import PATIENCE, axe
from tests.test_viz.test_site.conftest import SENTENCE

pytestmark = pytest.mark.slow

expect.set_options(timeout=PATIENCE)
TEXT = "Two women are cooking dinner in the kitchen."
MEGA = 1_000_000
# Numbers of the large map.
DRAWN = """() => {
  const plot = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
  return plot?.data ? Array.from(plot.data[0].z, row => Array.from(row)) : [];
}"""
# Bars of each panel.
PANELS = """Array.from(
  document.querySelector("[data-testid=stage-map] .js-plotly-plot")?.data ?? [],
  ({ y }) => y ? Array.from(y) : [],
)"""


class Visitor:
    """A page, what it asked for, and what it complained about."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE)
        page.on("request", self._requested)
        page.on("console", self._complained)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def _complained(self, message: ConsoleMessage) -> None:
        if "registration blocked by Playwright" not in message.text:  # as the fixture asks for
            self.complaints.append(message.text)

    def _requested(self, request: Request) -> None:
        if not request.url.startswith(("data:", "blob:")):
            self.requests.append(request)

    def part(self, name: str):
        """A part of the page by its name for tests."""
        return self.page.get_by_test_id(f"stage-{name}")

    def opens(self, url: str) -> None:
        """Open an address, and wait for the model."""
        self.page.goto(url)
        self.is_loaded()

    def is_loaded(self) -> None:
        """Wait until the model is there."""
        expect(self.part("translation")).not_to_be_empty()
        expect(self.part("status")).to_be_hidden()

    def types(self, text: str) -> None:
        """Type a sentence over the one that is there."""
        self.page.get_by_role("textbox").first.fill(text)

    def reads(self, text: str) -> None:
        """Wait for a translation."""
        expect(self.part("translation")).to_have_text(text)

    def sees(self, expected: np.ndarray, read: str = DRAWN, within: float = 2e-5) -> None:
        """Wait until the large map draws these numbers, or what reads them of another picture."""
        values = np.zeros(0)
        for _ in range(400):
            values = np.array(self.page.evaluate(read), dtype=float)
            if values.shape == expected.shape and np.abs(values - expected).max() < within:
                return
            self.page.wait_for_timeout(25)
        np.testing.assert_allclose(values, expected, atol=within)

    def sees_share(self, cell, share: float) -> None:
        """Wait until a cell says this share in percent, however many digits it has."""
        expect(cell).to_have_text(re.compile("|".join(re.escape(f"{share:.{digits}%}") for digits in (0, 1))))

    def head(self, layer: int, head: int):
        """The tile of a head."""
        return self.part("heads").locator(f"[data-layer='{layer}'][data-head='{head}']")

    def switches_off(self, layer: int, head: int) -> None:
        """Click the switch of a head."""
        self.head(layer, head).hover()
        self.head(layer, head).get_by_test_id("stage-off").click()


@pytest.fixture
def visitor(browser) -> Iterator[Visitor]:
    about = {"viewport": {"width": 1280, "height": 900}, "locale": "en-US"}
    context = browser.new_context(**about, service_workers="block")  # test_offline.py is about them
    visitor = Visitor(context.new_page())
    yield visitor
    context.close()
    assert not visitor.complaints


def test_a_visitor_needs_no_server_after_loading(visitor: Visitor, address: str, translators) -> None:
    visitor.opens(address)
    n_requests = len(visitor.requests)
    assert {request.url.startswith(address) for request in visitor.requests} == {True}
    translator = translators["en-de"]
    result = translator.translate(TEXT)
    visitor.types(TEXT)
    visitor.reads(result.text)
    visitor.head(2, 3).click()
    visitor.sees(result.attention("cross")[2, 3])
    visitor.part("kinds").locator("[data-kind=encoder_self]").click()
    visitor.head(1, 2).click()
    visitor.sees(result.attention("encoder_self")[1, 2])
    expect(visitor.page).to_have_url(re.compile(r"#.*text=Two\+women.*kind=encoder_self.*layer=1&head=2"))
    a_row_is_looked_into(visitor, translator)
    a_change_is_made_and_taken_back(visitor, translator)
    its_python_can_be_read(visitor)
    its_language_can_be_chosen(visitor)
    two_are_compared(visitor, translator)
    assert len(visitor.requests) == n_requests


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_any_page_of_the_site(visitor: Visitor, address: str, scheme: str) -> None:
    visitor.page.emulate_media(color_scheme=scheme)
    visitor.opens(address)
    for name in ("Translate", "Steer", "Compare"):
        visitor.page.get_by_role("tab", name=name, exact=True).click()
        expect(visitor.part("status")).to_be_hidden()
        expect(visitor.page.locator("[data-testid=stage-map] .main-svg").first).to_be_visible()
        assert axe.findings(visitor.page) == [], name


def a_change_is_made_and_taken_back(visitor: Visitor, translator: Translator) -> None:
    visitor.page.get_by_role("tab", name="Steer").click()
    visitor.part("kinds").locator("[data-kind=cross]").click()
    visitor.page.get_by_role("button", name="Layer 0: switch all its heads off or on").click()
    expect(visitor.part("changes").locator(".hl-chip")).to_have_count(8)
    edits = Edits.from_code("v1_" + "_".join(f"oc0-{head}" for head in range(8)))
    changed = translator.translate(TEXT, edits=edits)
    assert changed.text != translator.translate(TEXT).text
    visitor.reads(changed.text)
    visitor.head(2, 5).click()
    visitor.sees(changed.attention("cross")[2, 5])
    expect(visitor.page).to_have_url(re.compile("edits=v1_oc0-0"))
    visitor.page.go_back()
    expect(visitor.part("changes").locator(".hl-chip")).to_have_count(0)
    visitor.reads(translator.translate(TEXT).text)
    visitor.page.go_forward()
    expect(visitor.part("changes").locator(".hl-chip")).to_have_count(8)
    visitor.reads(changed.text)
    visitor.page.get_by_role("button", name="Reset all").click()
    visitor.reads(translator.translate(TEXT).text)


def a_row_is_looked_into(visitor: Visitor, translator: Translator) -> None:
    result = translator.translate(TEXT)
    visitor.part("kinds").locator("[data-kind=cross]").click()
    visitor.head(1, 5).click()
    visitor.part("views").locator("[data-view=inside]").click()
    visitor.part("target").locator("[data-index='2']").click()
    raw_scores = result.trace["decoder.layers.1.cross_attention.raw_scores"][5, 2]
    visitor.sees(raw_scores, PANELS + "[0]", 1e-3)
    visitor.sees(result.attention("cross")[1, 5, 2], PANELS + "[3]")
    visitor.page.get_by_label("No scaling").check()
    visitor.sees(raw_scores, PANELS + "[1]", 1e-3)
    expect(visitor.page).to_have_url(re.compile("view=inside.*row=2.*unscaled=1"))
    visitor.part("target").locator("[data-index='2']").click()
    visitor.part("views").locator("[data-view=map]").click()


def its_python_can_be_read(visitor: Visitor) -> None:
    visitor.part("code").click()
    code = visitor.page.locator("pre")
    expect(code).to_contain_text(f"result = translator.translate('{TEXT}', beam=4)")
    expect(code).to_contain_text("figure = attention_heatmap(")
    visitor.page.keyboard.press("Escape")


def its_language_can_be_chosen(visitor: Visitor) -> None:
    visitor.part("language").select_option("de")
    expect(visitor.part("changes")).to_contain_text("Noch ist nichts geändert")
    expect(visitor.page.get_by_role("textbox")).to_have_attribute("aria-label", "Satz (Englisch)")
    expect(visitor.page).to_have_url(re.compile("lang=de"))
    visitor.types("word " * 500)
    expect(visitor.part("problem")).to_contain_text("Der Text hat 2.500 Zeichen; erlaubt sind höchstens 2.000.")
    visitor.types(TEXT)
    expect(visitor.part("problem")).to_be_hidden()
    visitor.part("language").select_option("en")


def two_are_compared(visitor: Visitor, translator: Translator) -> None:
    visitor.page.get_by_role("tab", name="Compare").click()
    visitor.page.get_by_role("tab", name="Searches").click()
    greedy = translator.translate(TEXT, beam=1)
    expect(visitor.part("translation-a")).to_contain_text(translator.translate(TEXT).text)
    expect(visitor.part("translation-b")).to_contain_text(greedy.text)
    expect(visitor.part("side")).to_have_count(3)


def test_what_carries_a_difference_is_measured_and_put_in(visitor: Visitor, address: str, translators) -> None:
    translator = translators["en-de"]
    a, b = (translator.translate(f"Where is my {word}?") for word in ("brother", "sister"))
    patching = translator.patching(a, b)
    visitor.opens(f"{address}#page=compare")
    expect(visitor.part("translation-b")).to_have_text(b.text)
    share = patching.heads("cross")[2, 2]
    head = visitor.part("patching-heads").locator("[data-code=pc2-2]")
    visitor.sees_share(head, share)
    expect(visitor.part("patching-answer")).to_contain_text(f"2.2 carries {share:.0%}")
    position = visitor.part("patching-positions").locator("[data-code=se1-2]")
    visitor.sees_share(position, patching.streams("encoder")[1, 2])
    head.click()
    expect(visitor.part("changes").locator(".hl-chip")).to_have_count(1)
    expect(visitor.part("translation-b′")).to_have_text(b.text)
    visitor.part("patching-positions").locator("[data-code=se0-3]").click()
    expect(visitor.part("translation-b′")).to_have_text(a.text)
    expect(visitor.page).to_have_url(re.compile("patch=v1_pc2-2_se0-3"))
    visitor.page.reload()
    expect(visitor.part("translation-b′")).to_have_text(a.text)
    expect(visitor.part("changes").locator(".hl-chip")).to_have_count(2)
    visitor.page.go_back()
    expect(visitor.part("changes").locator(".hl-chip")).to_have_count(1)
    visitor.part("patching_into").get_by_role("tab", name="Put B's into A").click()
    other = translator.patching(a, b, reverse=True).heads("cross")
    visitor.sees_share(visitor.part("patching-heads").locator("[data-code=pc2-2]"), other[2, 2])
    expect(visitor.page).to_have_url(re.compile("into=a$"))
    visitor.types("Where is my dog?")
    expect(visitor.part("translation-a")).to_have_text(translator.translate("Where is my dog?").text)
    visitor.page.get_by_role("tab", name="Models").click()
    expect(visitor.part("patching-reason")).to_have_text("Patching is between two texts of one model.")


def test_a_stage_is_kept_as_a_page_of_its_own(visitor: Visitor, address: str, tmp_path: Path, translators) -> None:
    changed = translators["en-de"].translate(TEXT, edits=Edits.from_code("v1_oc2-3"))
    visitor.opens(f"{address}#page=steer&text={TEXT}&edits=v1_oc2-3&measure=effects&view=lens")
    visitor.reads(changed.text)
    expect(visitor.part("views").locator("[data-view=lens]")).to_have_attribute("aria-selected", "true")
    n_requests = len(visitor.requests)
    visitor.part("download").click()
    with visitor.page.expect_download() as download:
        visitor.page.get_by_text("HTML").click()
    path = tmp_path / "kept.html"
    download.value.save_as(path)
    assert len(visitor.requests) == n_requests
    visitor.page.goto(path.as_uri())
    visitor.reads(changed.text)
    expect(visitor.part("views").locator("[data-view=lens]")).to_have_attribute("aria-selected", "true")
    visitor.page.get_by_role("tab", name="Weights").click()
    visitor.head(1, 2).click()
    visitor.sees(changed.attention("cross")[1, 2])
    greedy = translators["en-de"].translate(TEXT, beam=1).text
    visitor.page.goto(f"{address}#page=compare&text={TEXT}&versus=search")
    expect(visitor.part("translation-b")).to_contain_text(greedy)
    visitor.part("download").click()
    with visitor.page.expect_download() as download:
        visitor.page.get_by_text("HTML").click()
    download.value.save_as(path)
    visitor.page.goto(path.as_uri())
    expect(visitor.part("translation-b")).to_contain_text(greedy)


def test_an_address_holds_everything(visitor: Visitor, address: str, translators) -> None:
    text = "Der Hund schläft im Garten."
    code = "v1_oe0-1_ud1-2_f1-0-0.5"
    visitor.opens(
        f"{address}#page=steer&model=de-en&beam=2&text={text}&edits={code}&scale=0.5&kind=decoder_self&lang=ko"
    )
    expect(visitor.part("changes").locator(".hl-chip")).to_have_count(4)
    expect(visitor.part("sentence")).to_have_value(text)
    from model.experiments.positions import changed_positions

    translator = translators["de-en"]
    with changed_positions(translator.config.positional, 0.5, 0, ("encoder", "decoder")):
        changed = translator.translate(text, 2, edits=Edits.from_code(code))
    visitor.reads(changed.text)
    visitor.head(1, 2).click()
    visitor.sees(changed.attention("decoder_self")[1, 2])
    visitor.opens(f"{address}#model=nobody&beam=99")
    expect(visitor.part("problem")).to_contain_text("model=nobody; beam=99")
    visitor.opens(f"{address}#page=steer&text={TEXT}&edits=v1_ke1-2-positions&view=why&kind=encoder_self&lang=de")
    expect(visitor.part("problem")).to_contain_text("Seiten ohne Server können keinen Pfad kappen")
    visitor.reads(translators["en-de"].translate(TEXT).text)
    expect(visitor.part("why").locator("[data-side=key] li").first).to_be_visible()
    expect(visitor.part("cut")).to_have_count(0)


def test_a_recorded_sentence_is_there_before_the_weights(visitor: Visitor, address: str, translators) -> None:
    routes: list[Route] = []
    visitor.page.route("**/*.safetensors*", lambda route: routes.append(route))
    visitor.page.goto(f"{address}#text={TEXT}")
    recorded = translators["en-de"].translate("The animal didn't cross the street because it was too tired.")
    visitor.reads(recorded.text)
    visitor.sees(recorded.attention("cross")[1, 5])
    expect(visitor.part("status")).to_contain_text("Until then you see a recorded sentence.")
    came = [request.response().body() for request in visitor.requests if "safetensors" not in request.url]
    assert sum(map(len, came)) < 4 * MEGA
    assert len(routes) == 1
    routes[0].continue_()
    visitor.reads(translators["en-de"].translate(TEXT).text)
    visitor.page.unroute("**/*.safetensors*")
    visitor.requests.clear()
    visitor.page.reload()
    visitor.is_loaded()
    assert not [request.url for request in visitor.requests if "safetensors" in request.url], "kept from the last visit"


def test_its_policy_lets_nothing_out(visitor: Visitor, address: str) -> None:
    visitor.opens(address)
    blocked = visitor.page.evaluate("""async () => {
      const blocked = [];
      addEventListener("securitypolicyviolation", ({ effectiveDirective }) => blocked.push(effectiveDirective));
      await fetch("http://127.0.0.1:9/").catch(() => {});
      document.body.append(Object.assign(new Image(), { src: "http://127.0.0.1:9/" }));
      document.body.append(Object.assign(document.createElement("script"), { textContent: "window.injected = 1" }));
      await new Promise(done => setTimeout(done, 200));
      return [blocked.sort(), window.injected ?? 0];
    }""")
    assert blocked == [["connect-src", "img-src", "script-src-elem"], 0]
    visitor.complaints.clear()


def test_one_file_works_from_disk_without_a_network(browser, live_file: Path, translators) -> None:
    context = browser.new_context(offline=True, locale="en-US")
    visitor = Visitor(context.new_page())
    visitor.opens(live_file.as_uri())
    translator = translators["en-de"]
    visitor.reads(translator.translate(SENTENCE).text)
    visitor.types(TEXT)
    result = translator.translate(TEXT)
    visitor.reads(result.text)
    visitor.head(0, 4).click()
    visitor.sees(result.attention("cross")[0, 4])
    visitor.page.get_by_role("tab", name="Steer").click()
    visitor.switches_off(1, 5)
    expect(visitor.part("changes").locator("[data-code=oc1-5]")).to_be_visible()
    changed = translator.translate(TEXT, edits=Edits.from_code("v1_oc1-5"))
    visitor.sees(changed.attention("cross")[0, 4])
    visitor.page.reload()
    visitor.is_loaded()
    expect(visitor.part("changes").locator("[data-code=oc1-5]")).to_be_visible()
    assert [request.url.split("#")[0] for request in visitor.requests] == [live_file.as_uri()] * 2
    context.close()
    assert not visitor.complaints
