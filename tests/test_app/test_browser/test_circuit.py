"""The view Circuit in a real browser: the circuit of a word, a larger share, an edge that is cut, and all heads."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.support import PATIENCE
from tests.test_app.test_browser.test_alone import open_file
from tests.test_app.test_browser.test_beside import download as download_of
from tests.test_app.test_browser.test_stage import part, ready, show

pytestmark = pytest.mark.slow

TEXT = "A man is too tired."
STEP = 1
SHORT = {"encoder_self": "Encoder", "decoder_self": "Decoder", "cross": "Cross"}
ADDRESS = f"?text={quote(TEXT)}&beam=1&view=circuit&pin=t{STEP}&least=0.02"


def lit_heads(page: Page) -> set[str]:
    """The heads of the circuit that is drawn."""
    names = page.locator("[data-testid=stage-circuit-picture] [data-lit]").evaluate_all(
        "nodes => nodes.map(node => node.dataset.head)"
    )
    return set(names)


def test_the_circuit_of_a_word(page, app_server, recorded, offline, tmp_path):
    result = recorded.translate(TEXT, beam=1)
    circuit = recorded.circuit(result, against="runner-up", step=STEP, threshold=0.02, most=32)
    show(page, app_server, ADDRESS)
    expect(page.locator(".hl-title")).to_contain_text(f"{circuit.logit:+.2f}", timeout=PATIENCE)
    expect(page.locator(".hl-title")).to_contain_text(f"{len(circuit.nodes)} places in {len(circuit.heads)} heads")
    heads = {f"{kind} {layer}.{head}" for kind, layer, head in circuit.heads}
    assert heads <= lit_heads(page)
    others = "(Of|of) " + re.escape(f"{circuit.logit:.2f}")
    expect(part(page, "circuit-kept")).to_contain_text(re.compile(others), timeout=PATIENCE)
    # A larger share, without asking anybody.
    smaller = circuit.pruned(0.2)
    slider = part(page, "circuit-least")
    slider.evaluate("(slider) => { slider.value = 20; slider.dispatchEvent(new Event('input')); }")
    expected = {f"{kind} {layer}.{head}" for kind, layer, head in smaller.heads}
    drawn = lit_heads(page)
    assert expected <= drawn and len(drawn - expected) <= 1  # the open head is drawn, too
    # A click on a head opens it, with its map a click away.
    kind, layer, head = circuit.heads[0]
    slider.evaluate("(slider) => { slider.value = 2; slider.dispatchEvent(new Event('change')); }")
    page.locator(f"[data-lit][data-head='{kind} {layer}.{head}'] circle").click()
    expect(page).to_have_url(re.compile(f"head={head}"))
    with page.expect_download() as download:
        part(page, "download").click()
        page.get_by_role("button", name="Numbers (JSON)").click()
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))["word"]
    assert [edge["amount"] for edge in saved["edges"]] == pytest.approx([edge.amount for edge in circuit.edges])
    part(page, "download").click()
    with page.expect_download(timeout=PATIENCE) as download:
        page.get_by_role("button", name="Picture (PNG)").click()
    with Image.open(download.value.path()) as picture:
        assert picture.width == 2200 and np.count_nonzero(picture.convert("L").histogram()) > 20
    # A saved page shows the same, and offers no graph that it does not hold.
    heading, kept = page.locator(".hl-title").inner_text(), part(page, "circuit-kept").inner_text()
    part(page, "download").click()
    alone, complaints = offline
    open_file(alone, download_of(page, page.get_by_role("button", name="Web page (HTML)"), tmp_path))
    expect(alone.locator(".hl-title")).to_have_text(heading, timeout=PATIENCE)
    expect(part(alone, "circuit-kept")).to_have_text(kept)
    assert lit_heads(alone) == lit_heads(page)
    expect(part(page, "circuit_graph")).to_be_visible()
    expect(part(alone, "circuit_graph")).to_be_hidden()
    assert not complaints
    part(page, "circuit-map").first.click()
    expect(page).not_to_have_url(re.compile("view=circuit"))
    ready(page)


def test_all_heads_and_a_line_between_two(page, app_server, recorded, offline, tmp_path):
    graph = recorded.head_graph(recorded.translate(TEXT, beam=1))
    source, target, side, share = next(edge for edge in graph.edges(0.02))
    place = f"&kind={target.kind}&layer={target.layer}&head={target.head}"
    show(page, app_server, f"?text={quote(TEXT)}&beam=1&view=circuit&graph=heads{place}")
    title = page.locator(".hl-title")
    expect(title).to_contain_text(
        f"takes most from head {SHORT[source.kind]} {source.layer}.{source.head}: {share:.0%}", timeout=PATIENCE
    )
    page.get_by_text("Lines", exact=True).click()
    part(page, "circuit-list").get_by_role("button").first.click()
    detail = part(page, "circuit-detail")
    expect(detail.locator("canvas")).to_have_count(2, timeout=PATIENCE)
    expect(detail).to_contain_text({"q": "queries", "k": "keys", "v": "values"}[side])
    heading = title.inner_text()
    part(page, "download").click()
    alone, complaints = offline
    open_file(alone, download_of(page, page.get_by_role("button", name="Web page (HTML)"), tmp_path))
    expect(alone.locator(".hl-title")).to_have_text(heading, timeout=PATIENCE)
    expect(part(alone, "circuit-detail").locator("h3")).to_have_text(detail.locator("h3").inner_text())
    expect(part(alone, "circuit-detail").locator("canvas")).to_have_count(2)
    assert not complaints
    part(page, "table").click()
    cells = part(page, "map").locator("tbody tr").first
    expect(cells).to_contain_text(f"{source.layer}.{source.head}")
