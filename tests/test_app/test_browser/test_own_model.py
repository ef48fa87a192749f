"""The page Your own model in a real browser: folders and names of a hub are opened, downloads stopped, two visitors."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from benchmarks.support.server import serve
from model import Edits, Head, load_model
from tests.support import PATIENCE
from tests.support.architectures import build
from tests.test_app.test_browser.test_stage import part, tile, wait_for_map
from tests.test_app.test_browser.test_steer import apply_and_wait, switch_off
from tests.test_model.test_adapters.other_models import model_of, theirs
from tests.test_model.test_adapters.small_hub import SmallHub, Stall, small_hub

pytestmark = pytest.mark.slow

TEXT, OTHER = "the cat sat on the mat", "a dog ran and then slept"
NAME, SLOW, LATE = "someone/tiny", "someone/slow", "someone/late"
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny language models in the folders of their names."""
    root = tmp_path_factory.mktemp("models")
    models = {"one": model_of("gpt2"), "two": build("llama")}
    for name, model in models.items():
        model.save_pretrained(root / name)
        theirs("gpt2").save_pretrained(root / name)
    return {name: root / name for name in models}


@pytest.fixture(scope="module")
def hub(folders: dict[str, Path]) -> Iterator[SmallHub]:
    with small_hub() as running:
        running.models |= {NAME: folders["one"], SLOW: folders["two"], LATE: folders["one"]}
        yield running


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where downloads go."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def app_server(hub: SmallHub, cache: Path, checkpoints: Path) -> Iterator[str]:
    """The app as `make run` serves it, with that hub."""
    environment = {"HF_ENDPOINT": hub.url, "HF_HOME": str(cache), "HF_HUB_OFFLINE": "0", "NO_PROXY": "127.0.0.1"}
    with serve(environment=environment | {"no_proxy": "127.0.0.1", "HEADLIGHT_CHECKPOINTS": str(checkpoints)}) as url:
        yield url


def show(page: Page, url: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{url}/open_file")
    expect(place_box(page)).to_be_visible()
    expect(page.locator(".hl-tile").first).to_be_visible()


def place_box(page: Page):
    return page.get_by_role("textbox", name="A folder, or a name on the Hugging Face hub")


def ask(page: Page, place: str) -> None:
    place_box(page).fill(place)
    place_box(page).press("Enter")


def wait_for_model(page: Page, name: str) -> None:
    """Waits until a model is the one that is shown."""
    expect(page.get_by_role("radio", name=re.compile(f"^{name}, "), checked=True)).to_be_visible()
    expect(page.locator(".hl-answer")).to_have_text(re.compile(f"^{name} goes on with"))


def read(page: Page, text: str) -> None:
    box = page.get_by_role("textbox", name="Text", exact=True)
    box.fill(text)
    box.press("Enter")
    expect(part(page, "target").locator("[data-index='1']")).to_have_text(text.split()[2])


def maps_of(folder: Path, text: str) -> np.ndarray:
    return load_model(folder).read(text).attention("decoder_self")


def cached_files(cache: Path) -> list[Path]:
    """The files of models that downloads have left."""
    files = [path for path in cache.rglob("*") if path.is_file() or path.is_symlink()]
    return [path for path in files if "models--" in str(path) and ".locks" not in str(path)]


def test_a_wrong_name_changes_nothing_and_of_a_folder_that_is_opened_a_head_is_switched_off(
    page: Page, app_server: str, folders: dict[str, Path]
) -> None:
    show(page, app_server)
    a_wrong_name_is_one_sentence_and_what_was_shown_stays(page)
    ask(page, str(folders["one"]))
    wait_for_model(page, "one")
    read(page, TEXT)
    tile(page, 1, 2).click()
    wait_for_map(page, maps_of(folders["one"], TEXT)[1, 2])
    page.get_by_role("button", name="Switch heads off →").click()
    page.wait_for_url("**/steer**")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(TEXT)
    wait_for_map(page, maps_of(folders["one"], TEXT)[1, 2])  # which is still open
    apply_and_wait(page, lambda: switch_off(page, 0, 1))
    off = load_model(folders["one"]).read(TEXT, edits=Edits(off=(Head("decoder_self", 0, 1),)))
    wait_for_map(page, off.attention("decoder_self")[1, 2])


def a_wrong_name_is_one_sentence_and_what_was_shown_stays(page: Page) -> None:
    answer = page.locator(".hl-answer").inner_text()
    for wrong in ("someone/nothing", "/no/such/folder"):
        ask(page, wrong)
        expect(page.get_by_test_id("stAlert")).to_have_count(1)
        expect(page.get_by_test_id("stAlert")).to_contain_text(re.compile(f"no folder.*{wrong}"))
        expect(page.locator(".hl-answer")).to_have_text(answer)


def test_a_model_that_has_come_stays_and_may_come_again(page: Page, app_server: str, folders: dict[str, Path]) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(f"{app_server}/steer")
    expect(page.locator(".hl-tile").first).to_be_visible()
    button = page.get_by_role("button", name=re.compile("beam 4|^one"))
    for _ in range(2):  # the second time it is the one that is shown
        button.click()
        ask(page, str(folders["one"]))
        expect(place_box(page)).to_have_value("")
        page.keyboard.press("Escape")
        expect(button).to_have_text(re.compile("^one"))
        expect(part(page, "heads").locator(".hl-tile")).to_have_count(6)
    assert_asked(page, "one", folders["one"])


def test_a_model_that_comes_when_the_menu_is_closed_stays(
    page: Page, app_server: str, hub: SmallHub, folders: dict[str, Path]
) -> None:
    """A closed menu does not hear what Python chooses; the list of models there must not bring the old one back."""
    show(page, app_server)
    ask(page, LATE)
    wait_for_model(page, "late")  # for all visitors the list has it now
    page.goto(f"{app_server}/steer")
    expect(page.locator(".hl-tile").first).to_be_visible()
    page.locator(".st-key-search").get_by_role("button").click()
    stall = hub.answers[""] = Stall(sends_rest=True)
    try:
        ask(page, LATE)
        expect(page.get_by_text(f"{LATE} is being opened …")).to_be_visible()
        page.keyboard.press("Escape")
        expect(place_box(page)).to_have_count(0)
    finally:
        stall.over.set()
        del hub.answers[""]
    assert_asked(page, LATE, folders["one"])


def assert_asked(page: Page, name: str, folder: Path) -> None:
    """Another text is read by this model."""
    button = page.locator(".st-key-search").get_by_role("button")
    expect(button).to_have_text(re.compile(f"^{name}"))
    expect(part(page, "heads").locator(".hl-tile")).to_have_count(6)
    box = page.get_by_role("textbox", name="Text", exact=True)
    box.fill(OTHER)
    box.press("Enter")
    tile(page, 1, 1).click()
    wait_for_map(page, maps_of(folder, OTHER)[1, 1])
    expect(button).to_have_text(re.compile(f"^{name}"))
    expect(page).to_have_url(re.compile(f"model={name.replace('/', '(/|%2F)')}"))


def test_a_name_of_the_hub_is_fetched_and_shown(page: Page, app_server: str, folders: dict[str, Path]) -> None:
    show(page, app_server)
    ask(page, NAME)
    wait_for_model(page, "tiny")
    read(page, OTHER)
    tile(page, 0, 1).click()
    wait_for_map(page, maps_of(folders["one"], OTHER)[0, 1])
    expect(page).to_have_url(re.compile("model=someone(/|%2F)tiny"))
    page.reload()
    wait_for_model(page, "tiny")
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(OTHER)
    wait_for_map(page, maps_of(folders["one"], OTHER)[0, 1])


def test_a_download_shows_bytes_and_is_stopped_and_leaves_nothing(
    page: Page, app_server: str, hub: SmallHub, cache: Path
) -> None:
    before = cached_files(cache)
    stall = hub.answers[WEIGHTS] = Stall()
    try:
        show(page, app_server)
        ask(page, SLOW)
        expect(page.get_by_text(re.compile(rf"{SLOW}: .* of .* MB"))).to_be_visible()
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_text(re.compile(f"{SLOW}: "))).to_have_count(0)
        expect(page.get_by_test_id("stAlert")).to_have_count(0)
        expect(page.get_by_role("radio", name=re.compile("^slow"))).to_have_count(0)
        deadline = time.monotonic() + 60
        while cached_files(cache) != before and time.monotonic() < deadline:
            time.sleep(0.1)
        assert cached_files(cache) == before
    finally:
        stall.over.set()
        del hub.answers[WEIGHTS]


def test_two_visitors_see_each_their_own_model(
    page: Page, context: BrowserContext, app_server: str, folders: dict[str, Path]
) -> None:
    other_page = context.new_page()  # to the server it is another visitor's
    visitors = {"one": (page, TEXT), "two": (other_page, OTHER)}
    for name, (visitor, text) in visitors.items():
        show(visitor, app_server)
        ask(visitor, str(folders[name]))
        wait_for_model(visitor, name)
        read(visitor, text)
    for name, (visitor, text) in visitors.items():
        wait_for_model(visitor, name)
        tile(visitor, 1, 0).click()
        wait_for_map(visitor, maps_of(folders[name], text)[1, 0])
