"""Models of transformers in a real browser: hybrids, many heads, what is switched off and how tiles are sorted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from benchmarks.support.server import serve
from model import Edits, Head, load_model
from tests.support import PATIENCE
from tests.support.architectures import build
from tests.test_app.test_browser_stage import opened, part, ready, tile, wait_for_map
from tests.test_app.test_browser_steer import changed, switch_off
from tests.test_model.test_adapters.other_models import theirs

TEXT = "the cat sat on the mat and the cat ran"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny models in the folders of their names: layers 1 and 3 of the hybrid have attention."""
    models = {"hybrid": build("jamba")}
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
    changed(page, lambda: switch_off(page, 3, 1))
    expect(page).to_have_url(re.compile(r"edits=v1_od3-1(&|$)"))
    expect(tile(page, 3, 1)).to_have_attribute("aria-label", re.compile(r"layer 3, head 1.*, off$"))
    expect(part(page, "heads").locator("[aria-label$=', off']")).to_have_count(1)
    for row, layer in enumerate((1, 3)):
        for head in range(4):
            tile(page, layer, head).click()
            assert opened(page) == [layer, head]
            wait_for_map(page, after.attention("decoder_self")[row, head])
            is_off = (layer, head) == (3, 1)
            assert np.allclose(after.attention("decoder_self")[row, head], 0) == is_off
            if not is_off:
                wait_for_map(page, before.attention("decoder_self")[row, head])
    expect(page).to_have_url(re.compile(r"layer=3&"))
    page.reload()
    ready(page)
    assert opened(page) == [3, 3]
