"""Which language a visitor reads: the one chosen on the page, else the address's (lang=de), else the browser's."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from viz import language
from viz.language import ENGLISH, LANGUAGES, say
from viz.screens import shared

PARAMETER = "lang"
_CHOSEN = "language"  # the control's, in the session


def visitors() -> str:
    """The language of the visitor for whom this thread draws a page; English where it draws none."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    return st.session_state.get(_CHOSEN) or ENGLISH


language.asked = visitors


def bar() -> None:
    """Show the choice of the language, and take what the address or the browser says before one was made."""
    asked = st.query_params.get(PARAMETER)
    if _CHOSEN not in st.session_state:
        st.session_state[_CHOSEN] = asked if asked in LANGUAGES else browsers()
    with st.container(key="speaking"):
        st.selectbox(
            say("Language"),
            list(LANGUAGES),
            format_func=LANGUAGES.__getitem__,
            key=_CHOSEN,
            label_visibility="collapsed",
            on_change=_into_address,
            width=110,
        )
    if asked is not None and asked not in LANGUAGES:
        known = ", ".join(LANGUAGES)
        shared.warn(
            say("The address asks for the language “{asked}”; there is: {known}.", asked=asked[:40], known=known)
        )


def address(query: dict[str, str]) -> dict[str, str]:
    """Parameters of a link that loads the page anew, with the language where the browser's is another."""
    return query if language.current() == browsers() else query | {PARAMETER: language.current()}


def browsers() -> str:
    """The language that the browser asks for, where the app speaks it; else English."""
    spoken = (st.context.locale or "").split("-")[0].lower()
    return spoken if spoken in LANGUAGES else ENGLISH


def _into_address() -> None:
    st.query_params[PARAMETER] = st.session_state[_CHOSEN]
