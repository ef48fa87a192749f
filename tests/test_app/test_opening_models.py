"""Models that visitors open on their own machine: from a hub that is slow, broken or stopped, two visitors at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import load_model
from tests.test_app import screen
from tests.test_model.test_adapters.other_models import model_of, theirs
from tests.test_model.test_adapters.small_hub import SmallHub, Stall, half, small_hub
from viz.ui.models import model_choice
from viz.views import model_shelf

pytestmark = pytest.mark.slow

TEXT, OTHER = "the cat sat on the mat", "a dog ran and then slept"
NAME = "someone/tiny"
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tiny language models by name, with other weights."""
    root = tmp_path_factory.mktemp("models")
    models = {"one": model_of("gpt2"), "two": model_of("gpt2", seed=1)}
    for name, model in models.items():
        model.save_pretrained(root / name)
        theirs("gpt2").save_pretrained(root / name)
    return {name: root / name for name in models}


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, checkpoints: Path) -> model_shelf.Shelf:
    """An empty shelf with room for one model, and an app for whoever sits at this machine."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))
    shelf = model_shelf.Shelf(most=1)
    monkeypatch.setattr(model_shelf, "SHELF", shelf)
    monkeypatch.setattr(model_choice, "is_own_machine", lambda: True)
    return shelf


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where downloads go."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "hub"


@pytest.fixture
def hub(cache: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallHub]:
    """A hub on this machine with one model."""
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with small_hub() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        running.models[NAME] = folders["one"]
        yield running


def cached_files(cache: Path) -> list[Path]:
    """The files of models that a download has left."""
    files = [path for path in cache.rglob("*") if path.is_file() or path.is_symlink()]
    return [path for path in files if "models--" in str(path) and ".locks" not in str(path)]


def open_name(name: str, patience: float = 120) -> AppTest:
    """The page Language model on which somebody typed a name, when its download has ended."""
    at = screen.open_page("language_model.py", text=TEXT)
    screen.place(at).set_value(name).run()
    deadline = time.monotonic() + patience
    while model_choice.OPENING in at.session_state and time.monotonic() < deadline:
        time.sleep(0.2)
        at.run()
    assert model_choice.OPENING not in at.session_state
    return at


def test_a_model_of_a_hub_is_shown_when_it_has_come(
    shelf: model_shelf.Shelf, hub: SmallHub, folders: dict[str, Path]
) -> None:
    at = open_name(NAME)
    assert not at.exception and not at.error and not at.warning
    assert at.session_state["language-model"] == NAME
    expected = load_model(folders["one"]).read(TEXT).attention("decoder_self")
    np.testing.assert_allclose(screen.weights(at, "decoder_self"), expected, atol=2e-5)


def test_a_suggested_decoder_is_opened_where_its_heads_are_switched_off(
    shelf: model_shelf.Shelf, hub: SmallHub
) -> None:
    first = model_choice.SUGGESTIONS[0]
    hub.models[first.place] = hub.models[NAME]
    at = screen.open_app()
    at.button(key="suggestion-0").click().run()
    deadline = time.monotonic() + 120
    while first.place not in shelf and time.monotonic() < deadline:
        time.sleep(0.2)
    at.run()
    assert not at.exception and at.session_state["stage-model"] == first.place
    assert at.text_input(key="sentence").value == first.text and screen.has_stage(at)


@pytest.mark.parametrize("fault", ["half", "error", "nothing"])
def test_a_hub_that_fails_is_said_in_a_sentence_and_leaves_nothing(
    fault: str, shelf: model_shelf.Shelf, hub: SmallHub, cache: Path
) -> None:
    if fault == "half":
        hub.answers[WEIGHTS] = half
    elif fault == "error":
        hub.status[""] = (503, "")
    at = open_name("someone/else" if fault == "nothing" else NAME)
    (warning,) = screen.warnings(at)
    says = {"half": "broke off", "error": "503", "nothing": "there is no folder and no model on the hub named"}
    assert says[fault] in warning.lower() and not at.exception
    assert not cached_files(cache) and not shelf.names()


def test_a_download_is_stopped_and_leaves_nothing(shelf: model_shelf.Shelf, hub: SmallHub, cache: Path) -> None:
    stall = hub.answers[WEIGHTS] = Stall()
    try:
        at = screen.open_page("language_model.py", text=TEXT)
        screen.place(at).set_value(NAME).run()
        assert stall.begun.wait(120)
        opening = at.session_state[model_choice.OPENING]
        at.run()
        at.button(key="stop-opening").click().run()
        deadline = time.monotonic() + 60
        while not opening.is_over and time.monotonic() < deadline:
            time.sleep(0.1)
        assert opening.is_over and not opening.name and opening.problem is None
        at.run()
        assert not at.exception and not screen.warnings(at)
        assert not cached_files(cache) and not shelf.names()
    finally:
        stall.over.set()


def test_two_visitors_with_two_models_see_their_own(folders: dict[str, Path], shelf: model_shelf.Shelf) -> None:
    readers = {name: load_model(folder) for name, folder in folders.items()}
    for folder in folders.values():
        shelf.open(str(folder))
    visitors = {name: screen.open_page("language_model.py", text=TEXT, model=name) for name in folders}
    for text in (TEXT, OTHER):
        for name, at in visitors.items():
            at.text_input(key="beginning").set_value(text).run()
            assert not at.exception and not at.error
            expected = readers[name].read(text).attention("decoder_self")
            np.testing.assert_allclose(screen.weights(at, "decoder_self"), expected, atol=2e-5)
            assert len(shelf.in_memory()) == 1


def test_models_that_are_loaded_at_once_are_whole(folders: dict[str, Path]) -> None:
    shelf, deviations = model_shelf.Shelf(list(map(str, folders.values())), most=1), []
    expected = {name: load_model(folder).read(TEXT).attention("decoder_self") for name, folder in folders.items()}

    def visit(name: str) -> None:
        for _ in range(3):  # each is loaded again after the other one
            deviations.append(np.abs(shelf.reader(name).read(TEXT).attention("decoder_self") - expected[name]).max())

    visitors = [threading.Thread(target=visit, args=(name,)) for name in folders]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    assert len(deviations) == 6 and max(deviations) < 2e-5


def test_which_model_goes_first_is_said_before_another_is_opened(
    folders: dict[str, Path], shelf: model_shelf.Shelf
) -> None:
    shelf.open(str(folders["one"]))
    at = screen.open_page("language_model.py", text=TEXT, model="one")
    body = " ".join(part.proto.body for part in at.get("html"))
    assert "one goes first where another one needs room" in body


def test_what_the_operator_lists_is_read_also_where_a_quote_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, names in (('"/a b" c/d', ["/a b", "c/d"]), ("/a 'c/d", ["/a", "'c/d"]), ("", [])):
        monkeypatch.setenv(model_shelf.VARIABLE, value)
        assert model_shelf.listed() == names
