"""Texts as turns of a chat on the pages: what the stage is told against the same read by the model's reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import load_model
from model.adapters.readers.reading import Reading
from tests.support import chats
from tests.support.repeated import first_quick
from tests.test_app import screen
from viz.views import model_shelf

TEXT = "Hi, who?"
MESSAGES = [{"role": "user", "content": TEXT}]
BOXES = {"open_file.py": "reads-as-chat", "language_model.py": "language-model-chat", "steer.py": "stage-chat"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A model with a chat template, and the same one without."""
    root = tmp_path_factory.mktemp("models")
    return {name: chats.save(root / name, template) for name, template in (("chat", chats.TEMPLATE), ("plain", None))}


@pytest.fixture(autouse=True)
def shelf(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch, checkpoints: Path) -> model_shelf.Shelf:
    """The app's shelf, on which they stand."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(checkpoints))
    shelf = model_shelf.Shelf(list(map(str, folders.values())))
    monkeypatch.setattr(model_shelf, "SHELF", shelf)
    return shelf


def shows(at: AppTest, result: Reading) -> None:
    """Hold what the stage of a page is told equal to a recording."""
    assert not at.exception and not at.error and not at.warning
    recording = screen.message(at)["after"]["recording"]
    assert recording["target_tokens"] == result.target_tokens
    np.testing.assert_allclose(screen.weights(at, "decoder_self"), result.attention("decoder_self"), atol=2e-5)
    special = recording.get("special", {})
    assert special.keys() == result.special.keys()
    for side, flags in result.special.items():
        assert np.asarray(special[side]).astype(bool).tolist() == flags.tolist()


@pytest.mark.parametrize(("page", "box"), first_quick(BOXES.items()))
def test_a_text_is_read_as_it_stands_or_as_a_chat_turn(page: str, box: str, folders: dict[str, Path]) -> None:
    reader = load_model(folders["chat"])
    text, chat = reader.read(TEXT), reader.read(messages=MESSAGES)
    at = screen.open_page(page, text=TEXT, model="chat", chat="1")
    shows(at, chat)
    assert screen.message(at)["address"]["chat"] == "1"
    at = at.segmented_control(key=box).set_value(False).run()
    shows(at, text)
    assert not screen.message(at)["address"].get("chat")
    shows(at.segmented_control(key=box).set_value(True).run(), chat)


@pytest.mark.parametrize("page", BOXES)
def test_there_is_no_choice_without_a_template(page: str, folders: dict[str, Path]) -> None:
    at = screen.open_page(page, text=TEXT, model="plain", chat="1")
    shows(at, load_model(folders["plain"]).read(TEXT))
    assert not any(str(control.key) in BOXES.values() for control in at.segmented_control)


def test_the_other_pages_go_on_with_a_chat_turn(folders: dict[str, Path]) -> None:
    at = screen.open_page("language_model.py", text=TEXT, model="chat", chat="1")
    at = at.switch_page(screen.path("steer.py")).run()
    assert at.session_state["stage-chat"] and at.segmented_control(key="stage-chat").value
    shows(at, load_model(folders["chat"]).read(messages=MESSAGES))


def test_an_answer_is_drawn(folders: dict[str, Path]) -> None:
    reader = load_model(folders["chat"])
    at = screen.open_page("language_model.py", text=TEXT, model="chat", chat="1")
    choice = {"temperature": "2", "count": "8", "seed": "3"}
    at = screen.ask(at, text=TEXT, chat="1", **choice)
    answer = reader.write(messages=MESSAGES, tokens=8, seed=3, temperature=2.0)
    assert not at.exception and screen.message(at)["after"]["next"]["continued"] == answer
    at = at.segmented_control(key=BOXES["language_model.py"]).set_value(False).run()
    assert not screen.message(at)["after"]["next"]["continued"]  # it answered something else
    at = screen.ask(at, text=TEXT, **choice)
    text = reader.write(TEXT, tokens=8, seed=3, temperature=2.0)
    assert screen.message(at)["after"]["next"]["continued"] == text.removeprefix(TEXT)


def test_the_python_beside_a_chat_turn_makes_the_same(folders: dict[str, Path]) -> None:
    at = screen.open_page("steer.py", text=TEXT, model="chat", chat="1")
    program = screen.message(at)["after"]["program"]
    names: dict = {}
    exec("\n".join([*program["imports"], *program["lines"]]), names)
    assert names["result"].target_tokens == load_model(folders["chat"]).read(messages=MESSAGES).target_tokens


def test_a_long_turn_is_one_sentence() -> None:
    at = screen.open_page("steer.py", text="a" * 250, model="chat", chat="1")
    assert not at.exception and "tokens; at most 256 are allowed" in at.warning[0].value
