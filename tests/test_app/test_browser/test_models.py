"""Models of transformers in a real browser: hybrids, many heads as tiles and as a board, what is switched off."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.support.server import serve
from model import Edits, Head, load_model
from model.measures.heads import text_roles
from tests.support import PATIENCE
from tests.support.architectures import build
from tests.test_app.test_browser.test_stage import part, ready, selected_head, tile, wait_for_map
from tests.test_app.test_browser.test_steer import apply_and_wait, switch_off
from tests.test_model.test_adapters.other_models import model_of, theirs

pytestmark = pytest.mark.slow

MANY = {"num_hidden_layers": 14, "num_attention_heads": 8, "num_key_value_heads": 8}
MOST = {"num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8}
MOST |= {"hidden_size": 128, "head_dim": 4}
TEXT = "the cat sat on the mat and the cat ran"
OTHER = "the cat sat on the dog and the cat ran"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny models in the folders of their names: layers 1 and 3 of the hybrid have attention."""
    models = {"hybrid": build("jamba"), "many": build("llama", **MANY), "most": build("llama", **MOST)}
    models["bare"] = model_of("bert")
    folders = {name: tmp_path_factory.mktemp("models") / name for name in models}
    for name, folder in folders.items():
        models[name].save_pretrained(folder)
        theirs("gpt2").save_pretrained(folder)
    return folders


@pytest.fixture(scope="module")
def app_server(folders: dict[str, Path], checkpoints: Path) -> Iterator[str]:
    """The app as an operator serves it who lists these models."""
    listed = {"HEADLIGHT_MODELS": " ".join(map(str, folders.values())), "HEADLIGHT_CHECKPOINTS": str(checkpoints)}
    with serve(environment=listed) as url:
        yield url


def show(page: Page, url: str, page_name: str, model: str, text: str = TEXT, query: str = "") -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/{page_name}?model={model}&text={quote(text)}{query}")
    ready(page)


def test_a_head_of_a_hybrid_is_switched_off_where_its_tile_stands(
    page: Page, app_server: str, folders: dict[str, Path]
) -> None:
    reader = load_model(folders["hybrid"])
    before, off = reader.read(TEXT), Edits(off=(Head("decoder_self", 3, 1),))
    after = reader.read(TEXT, edits=off)
    assert before.layers("decoder_self") == [1, 3]
    show(page, app_server, "steer", "hybrid")
    headers = part(page, "heads").get_by_role("rowheader")
    assert headers.all_inner_texts() == ["1", "3"]
    expect(page.get_by_text("2 of the 4 layers have no attention")).to_be_visible()
    apply_and_wait(page, lambda: switch_off(page, 3, 1))
    expect(page).to_have_url(re.compile(r"edits=v1_od3-1(&|$)"))
    expect(tile(page, 3, 1)).to_have_attribute("aria-label", re.compile(r"layer 3, head 1.*, off$"))
    expect(part(page, "heads").locator("[aria-label$=', off']")).to_have_count(1)
    for row, layer in enumerate((1, 3)):
        for head in range(4):
            tile(page, layer, head).click()
            assert selected_head(page) == [layer, head]
            wait_for_map(page, after.attention("decoder_self")[row, head])
            is_off = (layer, head) == (3, 1)
            assert np.allclose(after.attention("decoder_self")[row, head], 0) == is_off
            if not is_off:
                wait_for_map(page, before.attention("decoder_self")[row, head])
    expect(page).to_have_url(re.compile(r"layer=3&"))
    page.reload()
    ready(page)
    assert selected_head(page) == [3, 3]


def orders(page: Page) -> list[tuple[int, int]]:
    """Layer and head of every tile, in the order in which they stand."""
    places = page.evaluate(
        "() => [...document.querySelectorAll('.hl-tile')].map(({dataset}) => [dataset.layer, dataset.head].map(Number))"
    )
    return list(map(tuple, places))


def test_many_heads_are_sorted_without_a_message_and_by_direct_effect(
    page: Page, app_server: str, folders: dict[str, Path]
) -> None:
    """On one page, since opening one takes longer than all of it."""
    reader = load_model(folders["many"])
    result = reader.read(TEXT)
    show(page, app_server, "steer", "many")
    for name in ("importance", "measure"):
        expect(part(page, name)).to_be_visible()
    many_heads_are_sorted_without_a_message(page, result)
    heads_are_sorted_by_direct_effect_and_say_their_rule(page, reader, result)


def many_heads_are_sorted_without_a_message(page: Page, result) -> None:
    by_layer = [(layer, head) for layer in range(14) for head in range(8)]
    assert orders(page) == by_layer
    addresses: list[str] = []
    page.on("websocket", lambda socket: addresses.append(socket.url))
    part(page, "sort").select_option("first")
    shares = result.attention("decoder_self")[:, :, 1:, 0].mean(axis=-1)
    assert orders(page) == sorted(by_layer, key=lambda place: -shares[place])
    expect(page).to_have_url(re.compile("sort=first"))
    first = max(by_layer, key=lambda place: shares[place])
    tile(page, *first).click()
    assert selected_head(page) == list(first)
    wait_for_map(page, result.attention("decoder_self")[first])
    page.keyboard.press("ArrowRight")
    assert tuple(selected_head(page)) == orders(page)[1]
    part(page, "sort").select_option("role")
    expect(part(page, "heads").locator(".hl-tile").first).to_be_in_viewport()
    roles = text_roles.in_one_text(result, "decoder_self")
    titles = part(page, "heads").get_by_role("rowheader").all_inner_texts()
    assert sorted(int(title.rpartition("· ")[2]) for title in titles) == sorted(
        collections.Counter(role for row in roles for role in row).values()
    )
    assert not addresses
    page.reload()
    ready(page)
    expect(part(page, "sort")).to_have_value("role")
    part(page, "sort").select_option("layer")
    assert orders(page) == by_layer
    part(page, "jump").select_option("13")
    expect(tile(page, 13, 0)).to_be_in_viewport()


def heads_are_sorted_by_direct_effect_and_say_their_rule(page: Page, reader, result) -> None:
    options = part(page, "sort").locator("option")
    assert "by direct effect" not in options.all_inner_texts()
    part(page, "measure").locator("[data-measure=effects]").click()
    expect(part(page, "sort").locator("option[value=effect]")).to_have_count(1)
    expect(part(page, "sort")).to_have_value("effect")
    did = np.abs(reader.effects(result, against="runner-up").heads("decoder_self")[:, :, -1].sum(axis=-1))
    effects = [did[place] for place in orders(page)]
    np.testing.assert_allclose(effects, np.sort(did, axis=None)[::-1], atol=1e-4)
    assert selected_head(page) == list(orders(page)[0]) == list(np.unravel_index(did.argmax(), did.shape))
    expect(page.locator(".hl-card")).to_contain_text("Rule: ")
    part(page, "sort").select_option("layer")
    expect(page).to_have_url(re.compile("sort=layer"))
    part(page, "measure").locator("[data-measure=weights]").click()
    wait_for_map(page, result.attention("decoder_self")[tuple(selected_head(page))])
    part(page, "measure").locator("[data-measure=effects]").click()
    expect(part(page, "sort")).to_have_value("effect")


def cell(page: Page, layer: int, head: int):
    return part(page, "board").locator(f"[data-layer='{layer}'][data-head='{head}']")


def colours(page: Page) -> np.ndarray:
    """What the cells of the board look like, (layers, heads) as texts."""
    texts = page.evaluate(
        "() => [...document.querySelectorAll('.hl-cell')].map(cell => [cell.dataset, cell.style.background])"
        "  .map(([{ layer, head }, colour]) => [Number(layer), Number(head), colour])"
    )
    board = np.empty((max(layer for layer, *_ in texts) + 1, max(head for _, head, _ in texts) + 1), object)
    for layer, head, colour in texts:
        board[layer, head] = colour
    return board


def test_a_board_has_a_cell_for_each_head_that_says_its_number_and_opens_it(
    page: Page, app_server: str, folders: dict[str, Path]
) -> None:
    reader = load_model(folders["most"])
    result = reader.read(TEXT)
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, app_server, "steer", "most", query="&board=first")
    shares = result.attention("decoder_self")[:, :, 1:, 0].mean(axis=-1)
    for layer, head in ((0, 0), (3, 17), (31, 2), np.unravel_index(shares.argmax(), shares.shape)):
        share = f"weight on the first token {shares[layer, head]:.2f}"
        expect(cell(page, layer, head)).to_have_attribute("aria-label", f"layer {layer}, head {head} · {share}")
    most, least = (colours(page).ravel()[at] for at in (shares.argmax(), shares.argmin()))
    assert most == "rgb(253, 231, 37)" and least != most
    for corner in ((0, 0), (31, 31)):
        expect(cell(page, *corner)).to_be_in_viewport(ratio=1)
    cell(page, 5, 9).hover()
    expect(part(page, "tip")).to_contain_text(f"{shares[5, 9]:.2f}")
    cell(page, 5, 9).click()
    wait_for_map(page, result.attention("decoder_self")[5, 9])
    page.keyboard.press("ArrowDown")
    wait_for_map(page, result.attention("decoder_self")[6, 9])
    expect(cell(page, 6, 9)).to_be_focused()
    expect(page.locator(".hl-card")).to_contain_text("Heads 8 to 11 share keys and values.")
    part(page, "board-measure").select_option("entropy")
    expect(page).to_have_url(re.compile("board=entropy"))
    page.reload()
    ready(page)
    expect(cell(page, 6, 9)).to_have_attribute("aria-selected", "true")
    expect(part(page, "board-measure")).to_have_value("entropy")
    part(page, "form").locator("[data-form=maps]").click()
    expect(page).not_to_have_url(re.compile("board="))
    assert selected_head(page) == [6, 9]


def test_a_board_of_effects_turns_to_the_word_that_is_pointed_at(
    page: Page, app_server: str, folders: dict[str, Path]
) -> None:
    reader = load_model(folders["many"])
    did = reader.effects(reader.read(TEXT), against="runner-up").heads("decoder_self").sum(axis=-1)  # (L, H, T)
    show(page, app_server, "steer", "many", query="&measure=effects&board=effect")
    for step in (len(TEXT.split()) - 1, 3):
        if step == 3:
            part(page, "target").locator("[data-index='3']").hover()
        place = np.unravel_index(did[:, :, step].argmax(), did.shape[:2])
        expect(cell(page, *place)).to_have_attribute("aria-label", re.compile(rf" \+{did[(*place, step)]:.2f} · "))
        signs = np.sign(did[:, :, step])
        shown = colours(page)
        warm = np.vectorize(lambda colour: int(colour[4:].split(",")[0]) > int(colour[:-1].split(",")[-1]))(shown)
        clear = np.abs(did[:, :, step]) > 0.1 * np.abs(did[:, :, step]).max()
        assert clear.any() and np.array_equal(warm[clear], signs[clear] > 0)


def test_beside_others_many_heads_are_a_board_first(page: Page, app_server: str, folders: dict[str, Path]) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, app_server, "compare", "many", query=f"&text-b={quote(OTHER)}")
    reader = load_model(folders["many"])
    a, b = (reader.read(text).attention("decoder_self")[0, 0] for text in (TEXT, OTHER))
    changes = np.abs(b - a)  # the words differ in one place, which is compared, too
    expect(cell(page, 0, 0)).to_have_attribute("aria-label", f"layer 0, head 0 · largest change {changes.max():.2f}")
    expect(part(page, "board")).to_be_visible()
    expect(part(page, "heads")).to_be_hidden()
    cell(page, 13, 7).click()
    expect(page).to_have_url(re.compile("layer=13&head=7"))
    expect(part(page, "side").first).to_be_in_viewport()
    assert part(page, "side").first.bounding_box()["y"] < 500
    part(page, "form").locator("[data-form=maps]").click()
    expect(page).to_have_url(re.compile("board=none"))
    expect(tile(page, 13, 7)).to_have_attribute("aria-selected", "true")


def test_a_model_that_predicts_no_words_offers_nothing_about_words(page: Page, app_server: str) -> None:
    show(page, app_server, "steer", "bare", query="&measure=effects")
    expect(page.get_by_text("loaded without a layer that predicts words")).to_be_visible()
    for name in ("importance", "measure"):
        expect(part(page, name)).to_have_count(0)
    expect(page.locator("[data-view=words]")).to_have_count(0)
    expect(part(page, "changes")).not_to_contain_text("word")
    expect(tile(page, 0, 0)).to_be_visible()
