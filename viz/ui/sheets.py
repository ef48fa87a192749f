"""Pages that a browser draws from data (viz/web/sheets), in the app and on the site: what the app adds to them.

The page is a module that gives browsers files and knows its pictures (`Sheet`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Protocol

import streamlit as st

from viz.stage import assets
from viz.stage.payload.packing import pack
from viz.text import errors
from viz.text.language import current, messages, say, using
from viz.ui import explore, widgets
from viz.views.codes import code
from viz.views.snippets import Plot

COMPONENT = "headlight_sheets"
WORDS = messages(
    waiting="Computing …",
    missed="This link asks for something missing ({parts}). Showing the default instead.",
    not_fetched="The page could not be fetched. Please reload it.",
    save="Save · Code",
    copy="Copy",
    about_code="This makes the same figure in the folder of this project:",
)
_BYTES, _PROBLEM = b"\0", b"\1"  # how an answer begins: what was asked for, or a sentence


class Sheet(Protocol):
    """A page as a module has it: viz/pages/NAME/contents.py."""

    @property
    def NAME(self) -> str:
        """Its address, below that of the app."""
        ...

    def file(self, name: str, asked: Mapping[str, str], /) -> bytes:
        """What is fetched when it is needed; a ValueError where it cannot be made, a KeyError where there is none."""
        ...

    def plots(self, asked: Mapping[str, str], /) -> dict[str, Plot]:
        """Its pictures at the parameters of an address, by name."""
        ...


@cache
def _mounted():
    return assets.component(COMPONENT, "sheets/app.js")


def show(
    page: Sheet,
    told: dict[str, Any],
    leaves: Mapping[str, list[str]] = {},
    keeps: Sequence[str] = (),
    types: Sequence[str] = (),
    begins: Mapping[str, str | None] = {},
    asks: Mapping[str, str] = {},
    on_typed: Callable[[dict[str, str]], None] = lambda _: None,
) -> None:
    """Draw a page.

    Args:
        told: what the page is told.
        leaves: codes by parameter of what Streamlit draws itself, as `viz.ui.controls` choose it; a visitor who chooses
            one of them finds it in the session, and the page runs again.
        keeps: parameters of controls that Streamlit has where it draws; then they begin with those of the address.
        types: parameters whose texts the visitor types: files are asked for once they pause.
        begins: parameters that the session keeps, too, as it has them when a visitor comes, and later as the address
            has them; None is a default.
        asks: parameters with which the browser asks for files and pictures, besides those of the address.
        on_typed: called, before the page runs again, with those of `begins` that the address has, once the visitor has
            changed one of them.
    """
    language = current()
    chosen = {name: code(st.session_state[name]) for name in leaves if name in st.session_state}
    widgets.note_codes({**chosen, **begins, **{name: st.query_params.get(name) for name in keeps}})
    parameters = chosen | {name: value for name, value in begins.items() if value and name not in st.query_params}
    message: dict[str, Any] = {
        "name": page.NAME,
        "language": language,
        "told": told,
        "words": {name: say(text) for name, text in WORDS.items()},
        "address": assets.keep_answers(f"sheet {page.NAME} {language}", partial(answer, page, language)),
        "leaves": dict(leaves),
        "parameters": parameters,
        "asks": dict(asks),
        "tells": list(begins),
        "types": list(types),
    }
    key = f"sheet-{page.NAME}"

    def leave() -> None:
        parameters = st.session_state[key].get("left")
        if not isinstance(parameters, dict):
            return
        for name, codes in leaves.items():
            if parameters.get(name) in codes:
                st.session_state[name] = parameters[name]
        for name in keeps:
            st.session_state.pop(name, None)
            if name in parameters:
                st.query_params[name] = str(parameters[name])

    def pass_typed() -> None:
        typed = st.session_state[key].get("typed")
        if isinstance(typed, dict):
            on_typed({name: str(typed[name]) for name in begins if typed.get(name) is not None})

    _mounted()(key=key, data=pack(message), on_left_change=leave, on_typed_change=pass_typed)


def answer(page: Sheet, language: str, query: Mapping[str, str]) -> bytes | None:
    """What a browser asks for: a file, or a picture to keep; None where there is none."""
    asked = dict(query)
    with using(language):
        try:
            if "file" in asked:
                return _BYTES + page.file(asked.pop("file"), asked)
            name = asked.pop("save")
            plot = page.plots(asked)[name]
            return _BYTES + explore.saved(plot, asked.get("format"))
        except KeyError:
            return None
        except ValueError as error:
            return _PROBLEM + errors.sentence(error).encode()
