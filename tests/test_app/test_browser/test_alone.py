"""The stage outside the app, and for a room, in a real browser: offline from disk, in a notebook, on a projector."""

from __future__ import annotations

import html
import io
import json
import re
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from model import load_translator
from model.results.recording import Recording
from tests.support import PATIENCE
from tests.test_app.test_browser.test_beside import download
from tests.test_app.test_browser.test_stage import (
    DRAWN,
    EQUAL,
    kind,
    part,
    ready,
    selected_head,
    show,
    tile,
    wait_for_map,
)
from viz import stage
from viz.stage.payload.recordings import BUDGET

pytestmark = pytest.mark.slow

LONG = "The animal didn't cross the street because it was too tired. " * 6
LIVELY = "A man is too tired."  # of which the translation has more than ten tokens
HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "@message@", "<b>", "$x$"]


def open_file(page: Page, path, fragment: str = "") -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(path.as_uri() + fragment)
    ready(page)


@pytest.fixture
def alone(offline):
    """A page without a network, which says nothing and asks for nothing until the end of the test."""
    page, complaints = offline
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    yield page
    assert not complaints


def test_what_is_downloaded_is_the_stage_as_it_stood(page, shipped_server, guard, tmp_path, alone):
    guard.allowed = shipped_server.split("//")[1]
    result = load_translator(str(Path(__file__).parents[3] / "checkpoints" / "en-de")).translate(LONG, beam=4)
    show(page, shipped_server, f"?text={quote(LONG)}&kind=encoder_self&layer=1&head=2")
    part(page, "download").click()
    path = download(page, page.get_by_role("button", name="Web page (HTML)"), tmp_path)
    open_file(alone, path)
    expect(part(alone, "translation")).to_have_text(result.text)
    assert selected_head(alone) == [1, 2]
    wait_for_map(alone, result.attention("encoder_self")[1, 2])
    assert result.attention("encoder_self").nbytes / 2 > BUDGET / 3, "so long that the maps came later"
    tile(alone, 2, 3).click()
    wait_for_map(alone, result.attention("encoder_self")[2, 3])
    kind(alone, "cross")
    tile(alone, 1, 1).click()
    wait_for_map(alone, result.attention("cross")[1, 1])
    expect(alone).to_have_url(re.compile("#.*layer=1&head=1"))
    expect(part(alone, "views").get_by_role("tab")).to_have_text(["Map", "Mask", "Positions", "Next words"])
    part(alone, "options").click()
    alone.locator(".hl-panel").get_by_label("Show").select_option("mean")
    wait_for_map(alone, result.attention("cross").mean(axis=1)[1])
    alone.locator(".hl-panel").get_by_label("Show").select_option("single")
    tile(alone, 1, 1).click()
    part(alone, "download").click()
    picture = download(alone, alone.get_by_role("button", name="Picture (PNG)"), tmp_path)
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    alone.reload()
    ready(alone)
    assert selected_head(alone) == [1, 1], "the address holds"


def test_what_was_changed_is_said_and_cannot_be_changed(page, app_server, tmp_path, alone):
    show(page, app_server, f"steer?text={quote(EQUAL)}&edits=v1_oc1-2")
    before = part(page, "versions").locator("[data-version=before]")
    before.click()
    text = part(page, "translation").inner_text()
    part(page, "download").click()
    open_file(alone, download(page, page.get_by_role("button", name="Web page (HTML)"), tmp_path))
    expect(part(alone, "translation")).to_have_text(text)
    expect(part(alone, "changes")).to_have_count(0)
    part(alone, "versions").locator("[data-version=after]").click()
    expect(alone.locator(".hl-notes")).to_have_text("cross 1.2 off")
    tile(alone, 1, 2).click()
    wait_for_map(alone, np.zeros_like(alone.evaluate(DRAWN)["z"], dtype=float))


def test_another_model_with_many_heads_and_hostile_tokens(tmp_path, alone):
    maps = np.random.default_rng(1).dirichlet(np.ones(len(HOSTILE)), size=(32, 32, len(HOSTILE))).astype(np.float32)
    path = stage(attention=maps, tokens=HOSTILE, layer=30, head=1).save(tmp_path / "stage.html")
    open_file(alone, path)
    wait_for_map(alone, maps[30, 1])
    tile(alone, 31, 31).click()
    wait_for_map(alone, maps[31, 31])
    colours = tile_colours(alone)[..., :3].astype(int)
    for layer, head in ((0, 0), (12, 30), (31, 0)):  # a small tile shows the cells of no neighbour
        pixels = seen_colours(alone, layer, head, maps.shape[2:])
        apart = np.abs(pixels - colours[32 * layer + head]).max(-1)
        apart[np.ix_([0, -1], [0, -1])] = 0  # corners are round
        assert apart.max() <= 2, (layer, head)
    assert part(alone, "source").locator(".hl-token").all_inner_texts() == HOSTILE
    expect(part(alone, "translation")).to_be_hidden()
    expect(part(alone, "play")).to_be_hidden()
    assert alone.locator("img").count() == 0
    box = part(alone, "heads").bounding_box()
    assert tile(alone, 0, 31).bounding_box()["x"] < box["x"] + box["width"], "all heads of a layer are in view"
    tile(alone, 31, 31).press("p")
    alone.keyboard.press("PageDown")
    assert selected_head(alone) == [0, 0], "where no step is decoded, the next head"


# Of every tile, by its place in the image that all share, whether its cells are drawn and in which colour.
TILES = """async () => {
  const pictures = [...document.querySelectorAll(".hl-tile .hl-picture")], image = new Image();
  image.src = getComputedStyle(pictures[0]).backgroundImage.slice(5, -2);
  await image.decode();
  const canvas = document.createElement("canvas"), side = Math.ceil(Math.sqrt(pictures.length));
  Object.assign(canvas, {width: image.width, height: image.height});
  const drawing = canvas.getContext("2d", {willReadFrequently: true});
  const [width, height] = [image.width / side, image.height / side];
  drawing.drawImage(image, 0, 0);
  return pictures.map(picture => {
    const places = getComputedStyle(picture).backgroundPosition.split(" ");
    const [x, y] = places.map(place => Math.round(parseFloat(place) / 100 * (side - 1)));
    const {data} = drawing.getImageData(x * width, y * height, width, height);
    return Array.from({length: height}, (_, i) => Array.from({length: width}, (_, j) =>
      Array.from(data.slice(4 * (i * width + j), 4 * (i * width + j) + 4))));
  });
}"""


def tile_colours(page):
    """The colours of the cells of all tiles, (tiles, rows, columns, 4)."""
    return np.array(page.evaluate(TILES))[:, 1:-1, 1:-1]  # without the edge of each tile


def seen_colours(page, layer, head, shape):
    """What a visitor sees in the middle of each cell of a tile, (rows, columns, 3)."""
    image = np.array(Image.open(io.BytesIO(tile(page, layer, head).locator(".hl-picture").screenshot())).convert("RGB"))
    rows, columns = (((np.arange(n) + 0.5) / n * size).astype(int) for n, size in zip(shape, image.shape))
    return image[np.ix_(rows, columns)]


LINES = """() => [...document.querySelectorAll(".hl-between path")].map(path => {
  const end = path.getTotalLength(), [from, to] = [path.getPointAtLength(0), path.getPointAtLength(end)];
  return from.y < to.y ? [from.x, to.x] : [to.x, from.x];
})"""
MIDDLES = """side => [...document.querySelectorAll(`[data-testid=stage-${side}] [data-index]`)].map(chip => {
  const {left, width} = chip.getBoundingClientRect();
  return left + width / 2 - document.querySelector(".hl-between").getBoundingClientRect().left;
})"""


def test_tiles_and_lines_are_of_their_head(tmp_path, alone):
    keys = (np.arange(6).reshape(3, 2, 1) + np.arange(3)) % 4  # that each row of each head attends to alone
    tokens = {"source": list("abcd"), "target": list("xyz")}
    page = stage(attention={"cross": np.eye(4, dtype=np.float32)[keys]}, tokens=tokens, layer=0, head=1)
    open_file(alone, page.save(tmp_path / "stage.html"))
    brightest = tile_colours(alone)[..., :3].sum(-1).argmax(-1)
    assert brightest.tolist() == keys.reshape(6, 3).tolist()
    assert seen_colours(alone, 2, 0, (3, 4)).sum(-1).argmax(-1).tolist() == keys[2, 0].tolist()
    source, target = (np.array(alone.evaluate(MIDDLES, side)) for side in ("source", "target"))
    for layer, head in ((0, 1), (2, 0)):
        tile(alone, layer, head).click()
        alone.mouse.move(0, 0)
        wait_for_map(alone, np.eye(4)[keys[layer, head]])
        ends = np.array(sorted(alone.evaluate(LINES), key=lambda line: line[1]))
        np.testing.assert_allclose(ends, np.stack([source[keys[layer, head]], target], 1), atol=1)


# Which cells of the large map are hatched; its numbers.
HATCHED = """() => {
  const {data: [{z}, boxes]} = document.querySelector("[data-testid=stage-map] .js-plotly-plot");
  const blocked = z.map(row => Array.from(row, () => false));
  for (let at = 0; boxes && at < boxes.x.length; at += 6)
    for (let column = boxes.x[at] + 0.5; column < boxes.x[at + 1]; column++) blocked[boxes.y[at] + 0.5][column] = true;
  return blocked;
}"""
MASK = """() =>
  document.querySelector("[data-testid=stage-map] .js-plotly-plot").data[0].z.map(row => Array.from(row))"""


def test_masks_that_differ_from_layer_to_layer_are_those_of_the_layer(tmp_path, alone):
    """A sliding window of three tokens in layers 0 and 2, the whole past in layer 1, as in Gemma or Mistral."""
    length, window = 9, 3
    causal = np.tri(length, dtype=bool)
    sliding = causal & ~np.tri(length, k=-window, dtype=bool)
    masks = np.stack([sliding, causal, sliding])
    scores = np.exp(np.random.default_rng(5).normal(size=(3, 2, length, length))) * masks[:, None]
    maps = (scores / scores.sum(-1, keepdims=True)).astype(np.float32)
    tokens = [f"t{number}" for number in range(length)]
    recording = Recording([], tokens, {"decoder_self": maps}, {"decoder_self": masks})
    open_file(alone, stage(recording, layer=0, head=1).save(tmp_path / "stage.html"))
    for layer in (0, 1, 2):
        tile(alone, layer, 1).click()
        wait_for_map(alone, maps[layer, 1])
        assert alone.evaluate(HATCHED) == (~masks[layer]).tolist()
        assert (tile_colours(alone)[2 * layer + 1, ..., 3] > 0).tolist() == masks[layer].tolist()
    alone.get_by_role("tab", name="Mask", exact=True).click()
    for layer in (1, 0):
        tile(alone, layer, 1).click()
        cells = json.dumps(masks[layer].astype(int).tolist(), separators=(",", ":"))
        alone.wait_for_function(f"cells => JSON.stringify(({MASK})()) === cells", arg=cells)
        blocked = int((~masks[layer]).sum())
        expect(alone.locator(".hl-says")).to_contain_text(f"{blocked} of {length**2} cells are blocked")


def test_two_in_a_notebook_know_nothing_of_each_other(alone):
    maps = np.random.default_rng(2).dirichlet(np.ones(4), size=(2, 2, 3)).astype(np.float32)
    tokens = {"source": list("abcd"), "target": list("xyz")}
    frame = stage(attention={"cross": maps}, tokens=tokens, layer=1, head=0)._repr_html_()
    alone.set_content(frame * 2)
    first, second = alone.frames[1:]
    for inner_frame in (first, second):
        inner_frame.wait_for_selector(".hl-stage[data-ready]", timeout=PATIENCE)
    first.locator("[data-layer='0'][data-head='1']").click()
    first.wait_for_function(
        "z => Math.abs(document.querySelector('.js-plotly-plot').data[0].z[0][0] - z) < 2e-5",
        arg=float(maps[0, 1, 0, 0]),
    )
    assert second.locator(".hl-tile[aria-selected=true]").get_attribute("data-layer") == "1"
    assert html.escape("<") not in first.locator(".hl-title").inner_text()


def test_a_room_sees_the_stage_and_a_remote_goes_through_it(page, app_server, recorded, alone, tmp_path):
    result = recorded.translate(LIVELY)
    show(page, app_server, f"?text={quote(LIVELY)}")
    before = page.evaluate("getComputedStyle(document.querySelector('.hl-token')).fontSize")
    frames = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: frames.append(frame)))
    part(page, "projector").click()
    expect(page).to_have_url(re.compile("projector=1"))
    chrome = (page.get_by_test_id("stHeader"), page.get_by_role("textbox", name="English sentence"))
    for element in chrome:
        expect(element).to_be_hidden()
    box = page.locator(".hl-stage").bounding_box()
    assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, 1280, 900)
    after = page.evaluate("getComputedStyle(document.querySelector('.hl-token')).fontSize")
    assert float(after[:-2]) >= 1.4 * float(before[:-2])
    weights = result.attention("cross")[tuple(selected_head(page))]
    for key, step in (("PageDown", 0), ("PageDown", 1), ("PageUp", 0)):
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"step={step}(&|$)"))
        visible = np.where(np.arange(len(weights))[:, None] <= step, weights, 0)
        wait_for_map(page, visible)
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("projector"))
    for element in chrome:
        expect(element).to_be_visible()
    assert not frames
    # A link opens it so; another page of the app is whole again.
    show(page, app_server, f"?text={quote(LIVELY)}&projector=1")
    expect(chrome[0]).to_be_hidden()
    page.goto(f"{app_server}/masks")
    expect(chrome[0]).to_be_visible()
    # The same in the file.
    open_file(alone, stage(result).save(tmp_path / "stage.html"), "#projector=1")
    alone.keyboard.press("PageDown")
    expect(alone).to_have_url(re.compile("step=0"))
    alone.keyboard.press("Escape")
    expect(alone).not_to_have_url(re.compile("projector"))


def test_a_large_file_opens_and_every_head_of_it(alone, tmp_path):
    """12 layers of 12 heads over 197 tokens, as in ViT-B/16: the opened head whole, the others when they are opened."""
    length = 197
    maps = np.random.default_rng(3).dirichlet(np.full(length, 0.1), size=(12, 12, length)).astype(np.float32)
    tokens = [f"patch {number}" for number in range(length)]
    path = stage(attention=maps, tokens=tokens, layer=7, head=3).save(tmp_path / "stage.html")
    open_file(alone, path)
    wait_for_map(alone, maps[7, 3])
    expect(alone.locator(".hl-notes")).to_contain_text(f"This file of {round(path.stat().st_size / 1e6)} MB holds")
    tile(alone, 11, 10).click()
    expect(alone.locator(".hl-title")).to_contain_text("layer 11 · head 10")
    alone.wait_for_function(
        "([row, column, value]) => Math.abs("
        "document.querySelector('[data-testid=stage-map] .js-plotly-plot').data[0].z[row][column] - value) < 0.004",
        arg=[5, int(maps[11, 10, 5].argmax()), float(maps[11, 10, 5].max())],
    )
    row = int(maps[11, 10].max(axis=1).argmax())
    sentence = f"“patch {row}” attends most to “patch {int(maps[11, 10, row].argmax())}”"
    expect(alone.locator(".hl-says")).to_contain_text(sentence)
    expect(alone.locator(".hl-between path")).not_to_have_count(0)
    # A window of the map, which moves.
    for _ in range(3):
        part(alone, "zoom_in").click()
    labels = alone.locator(".xaxislayer-above .xtick")
    expect(labels).not_to_have_count(0)
    texts = labels.all_text_contents()
    part(alone, "columns_after").click()
    expect(labels.first).not_to_have_text(texts[0])
    # As a table, which is of that window.
    part(alone, "table").click()
    expect(alone.locator(".hl-table tbody tr")).to_have_count(25)
    # The row of a pinned word, and which heads link it most to another.
    part(alone, "table").click()
    alone.locator("[data-index='20']").first.click()
    to_others = maps.copy()
    to_others[..., 20, 20] = 0
    layer, head = np.unravel_index(to_others[:, :, 20].max(-1).argmax(), (12, 12))
    expect(alone.locator(".hl-links button").first).to_contain_text(f"{layer}.{head} → patch")
