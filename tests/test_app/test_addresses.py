"""What an address says: codes, the same in every language; what is not there gives the default, and is told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support import hostile
from tests.support.repeated import first_quick
from tests.test_app import screen
from viz.ui import widgets

TEXTS = {"edits": "v1_oc0-1", "prefix": "v1_300"}  # other boxes take any text
FOLLOW = {"rescore", "model-b", "cells"}  # whose default is another choice, or which end with another mask
VIEWS = {
    page: [{key: code} if code else {} for code in ones]
    for page, (key, ones) in screen.VIEWS.items()
    if page != "pitfalls.py"
}
PAGES = [(page, view) for page in hostile.PAGES for view in VIEWS.get(page, [{}])]


def codes(at: AppTest) -> dict[str, str | None]:
    """The codes of the controls of a page, None for a default; without the language."""
    parts = at.session_state[widgets.PARTS].codes
    return {key: code for part in parts.values() for key, code in part.items() if key != "lang"}


def address(at: AppTest) -> dict[str, str]:
    """What the address says after a run."""
    return {name: value if isinstance(value, str) else value[-1] for name, value in at.query_params.items()}


def free(at: AppTest) -> dict[str, Any]:
    """The controls of a page that stand in its address and can be changed, by key."""
    pairs = ((getattr(element, "key", None), element) for element in hostile.elements(at._tree))
    ours = {key: element for key, element in pairs if key in codes(at) and not element.proto.disabled}
    return {key: element for key, element in ours.items() if len(getattr(element, "options", "ab")) > 1}


def choose_others(at: AppTest, but: set[str]) -> tuple[AppTest, set[str]]:
    """Chooses something else in every control of a page, all at once, as a browser does; returns their keys, too."""
    states, keys = at._tree.get_widget_states(), free(at).keys() - but
    by_id = {state.id: state for state in states.widgets}
    for key in keys:
        choose_other(free(at)[key], by_id[free(at)[key].proto.id])
    return at._run(states), keys


def choose_other(element: Any, state: Any) -> None:
    """Changes the state of one control."""
    proto = element.proto
    if element.type == "toggle":
        state.bool_value = not state.bool_value
    elif element.type == "text_input":
        state.string_value = TEXTS.get(element.key, "A dog.")
    elif element.type == "number_input":
        state.double_value = proto.max
    elif element.type == "slider":
        now = state.double_array_value.data
        now[:] = [proto.min if now[0] == proto.max else proto.max]
    elif element.type in ("selectbox", "radio"):
        state.string_value = after(element.options, state.string_value)
    else:
        now = state.string_array_value.data
        now[:] = [after(element.options, now[0])] if now else element.options[:1]


def after(options: list[str], now: str) -> str:
    """The option after this one, or the first."""
    return options[(options.index(now) + 1) % len(options)]


@pytest.mark.usefixtures("all_systems")
@pytest.mark.parametrize(("page", "view"), first_quick(PAGES, 12))
def test_every_choice_stands_in_the_address_and_comes_back_in_another_language(page: str, view: dict[str, str]) -> None:
    plain = screen.open_page(page, text="A dog.", **view)
    # Of another text or another model nothing is changed yet.
    at, keys = choose_others(plain, {"text", *view} | ({"model"} if page in ("steer.py", "atlas.py") else set()))
    assert not at.exception
    query = address(at)
    assert query == {"text": "A dog."} | {key: code for key, code in codes(at).items() if code is not None}
    assert keys & free(at).keys() - FOLLOW <= query.keys(), "what was changed is not a default"
    korean = screen.open_page(page, lang="ko", **query)
    assert codes(korean) == codes(at) and address(korean) == query | {"lang": "ko"}
    assert not any("링크가" in warning.value for warning in korean.warning)


@pytest.mark.parametrize(
    ("page", "query"),
    first_quick(
        [
            ("atlas.py", {"layer": "9", "head": "-1", "penalty": "nan", "kind": "Cross"}),
            ("atlas.py", {"kind": "<b>**x**</b>![x](http://x.test)"}),
            ("atlas.py", {"layer": "x" * 900}),
            ("atlas.py", {"part": "Contribution", "beam": "greedy", "model": ""}),
            ("check.py", {"lang": "Deutsch"}),
        ],
        2,
    ),
)
def test_what_is_not_there_gives_the_default_and_one_sentence(page: str, query: dict[str, str]) -> None:
    plain, at = screen.open_page(page), screen.open_page(page, **query)
    (warning,) = screen.warnings(at)
    parts = warning.removeprefix("This link asks for something missing (")
    parts = parts.removesuffix("). Showing the default instead.").split("; ")
    assert sorted(parts) == sorted(f"{name}={value[:40]}" for name, value in query.items())
    assert codes(at) == codes(plain) and address(at) == {}
    assert not screen.warnings(at.run()), "it is told once"


def test_an_address_that_says_what_is_shown_anyway_is_taken_and_shortened() -> None:
    at = screen.open_page("atlas.py", kind="cross", layer="0", head="1", other="x")
    assert not at.warning and address(at) == {"head": "1", "other": "x"}


def test_what_a_page_no_longer_asks_leaves_the_address() -> None:
    at = screen.open_page("atlas.py", part="contribution", sinks="special", head="2")
    assert address(at) == {"part": "contribution", "sinks": "special", "head": "2"}
    assert address(screen.choose(at, part="board")) == {"head": "2"}
    assert address(screen.choose(at, part="contribution")) == {"part": "contribution", "sinks": "special", "head": "2"}


def test_choices_come_along_to_another_page_and_back() -> None:
    at = screen.choose(screen.open_page("atlas.py"), kind="encoder_self", part="contribution")
    assert address(at) == {"kind": "encoder_self", "part": "contribution"}
    at.query_params.clear()  # as the menu does
    at = at.switch_page(screen.path("masks.py")).run()
    assert address(at) == {}, "there it is the default"
    at.query_params.clear()
    at = at.switch_page(screen.path("atlas.py")).run()
    assert address(at) == {"kind": "encoder_self", "part": "contribution"}


def test_a_choice_that_another_kind_does_not_have_is_the_default() -> None:
    at = screen.open_page("atlas.py", kind="encoder_self", layer="2")
    assert address(at) == {"kind": "encoder_self", "layer": "2"}
    at = screen.choose(at, kind="cross")  # of the decoder, which has two layers
    assert not at.exception and not at.warning and address(at) == {}


class Interrupted(Exception):
    """What Streamlit raises in the run of a page that is left."""


class Session(dict):
    """A session whose page can be left: from then on nothing is written to it."""

    left = False

    def __setitem__(self, key: str, value: object) -> None:
        if self.left:
            raise Interrupted
        super().__setitem__(key, value)


class Address(dict):
    def to_dict(self) -> dict[str, str]:
        return {**self}

    def from_dict(self, params: dict[str, str]) -> None:
        self.clear()
        self.update(params)


def test_a_page_that_is_left_while_it_is_drawn_takes_nothing_out_of_the_address_of_the_next(monkeypatch):
    session, query_params, run = Session(), Address(), SimpleNamespace(is_history_navigation=False)
    stub = SimpleNamespace(session_state=session, query_params=query_params, container=SimpleNamespace)
    monkeypatch.setattr(widgets, "st", stub)
    monkeypatch.setattr(widgets, "get_script_run_ctx", lambda: run)

    def draw(page: str, *keys: str, left: bool = False) -> bool:
        run.page_script_hash = page
        with widgets.part():
            arrives = widgets.has_arrived()
            widgets.note_codes(dict.fromkeys(keys))
            session.left = left
            if left:
                raise Interrupted
        return arrives

    query_params.update(text="A dog.", layer="1", head="2")
    assert draw("translate") and not draw("translate")
    with pytest.raises(Interrupted):
        draw("masks", "layer", "head", left=True)
    session.left = False
    query_params.update(text="A dog.", layer="1", head="2")  # Back
    assert draw("translate"), "the visitor comes to it"
    assert query_params == {"text": "A dog.", "layer": "1", "head": "2"}
    draw("masks", "layer", "head")
    query_params["layer"] = "1"
    draw("masks", "head")
    assert query_params == {"text": "A dog."}, "a page takes out what its own controls no longer say"
