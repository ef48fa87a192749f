"""The page Positions: what encodings look like, and what a model knows of word order without one.

A browser draws it (viz/web/sheets/makers/positions.js, as on the page without a server).
"""

from dataclasses import replace

import streamlit as st

from viz.pages.positions import contents
from viz.pages.positions.page import EXAMPLE
from viz.text.language import say
from viz.ui import frame, sheets, widgets
from viz.views import view
from viz.views.view import MOST_CHARACTERS, View


@widgets.fragment
def live() -> None:
    """The page. Its sentence is that of the page before, and what is typed here is that of the next one."""
    begins = {"text": st.query_params.get("text")}
    if widgets.has_arrived() or widgets.goes_through_history():  # from then on the browser says what is typed
        kept: View | None = st.session_state.get(view.KEPT)
        text = st.query_params.get("text", kept.text if kept else EXAMPLE)[:MOST_CHARACTERS]
        keep_text({"text": text})
        begins = {"text": None if text == EXAMPLE else text}
    told = contents.told(in_app=True, model=st.session_state[view.KEPT].model)
    with st.container(key="frame"):
        sheets.show(
            contents,
            told,
            begins=begins,
            asks={"model": told["model"] or ""},
            on_typed=keep_text,
        )


def keep_text(typed: dict[str, str]) -> None:
    """Have other pages begin with the sentence of this one."""
    state = st.session_state
    state[view.KEPT] = replace(state.get(view.KEPT, View()), text=typed.get("text", EXAMPLE))


frame.opening(say("Positions"))
live()
