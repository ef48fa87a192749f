"""Models of transformers in a real browser: hybrids, many heads, what is switched off and how tiles are sorted."""

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
from model.measures import text_roles
from tests.support import PATIENCE
from tests.support.architectures import build
from tests.test_app.test_browser.test_stage import part, ready, selected_head, tile, wait_for_map
from tests.test_app.test_browser.test_steer import apply_and_wait, switch_off
from tests.test_model.test_adapters.other_models import model_of, theirs

pytestmark = pytest.mark.slow

MANY = {"num_hidden_layers": 14, "num_attention_heads": 8, "num_key_value_heads": 8}
TEXT = "the cat sat on the mat and the cat ran"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny models in the folders of their names: layers 1 and 3 of the hybrid have attention."""
    models = {"hybrid": build("jamba"), "many": build("llama", **MANY), "bare": model_of("bert")}
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
    part(page, "sort").select_option("effect")
    did = np.abs(reader.effects(result, against="runner-up").heads("decoder_self")[:, :, -1].sum(axis=-1))
    effects = [did[place] for place in orders(page)]
    np.testing.assert_allclose(effects, np.sort(did, axis=None)[::-1], atol=1e-4)
    tile(page, *orders(page)[0]).click()
    expect(page.locator(".hl-card")).to_contain_text("Rule: ")


def test_a_model_that_predicts_no_words_offers_nothing_about_words(page: Page, app_server: str) -> None:
    show(page, app_server, "steer", "bare", query="&measure=effects")
    expect(page.get_by_text("loaded without a layer that predicts words")).to_be_visible()
    for name in ("importance", "measure"):
        expect(part(page, name)).to_have_count(0)
    expect(page.locator("[data-view=words]")).to_have_count(0)
    expect(part(page, "changes")).not_to_contain_text("word")
    expect(tile(page, 0, 0)).to_be_visible()
