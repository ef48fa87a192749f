"""Which language a visitor reads: the one chosen on the page, else the address's (lang=de), else the browser's."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from viz import language
from viz.language import ENGLISH, LANGUAGES, say
from viz.screens import links

PARAMETER = "lang"  # of the address, and the key of the control
SCRIPTS = {code: f"document.documentElement.lang = '{code}'" for code in LANGUAGES}
_KNOWN = {name: code for code, name in LANGUAGES.items()} | dict(zip(LANGUAGES, LANGUAGES))


def visitors() -> str:
    """The language of the visitor for whom this thread draws a page; English where it draws none."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    return st.session_state.get(PARAMETER) or ENGLISH


language.asked = visitors


def bar() -> bool:
    """Show the choice of the language, and take what the address or the browser says before one was made.

    Returns:
        Whether the address was respelt instead: then the page begins again, as soon as it is known which one it is.
    """
    asked = st.query_params.get(PARAMETER)
    if PARAMETER not in st.session_state:
        name = LANGUAGES.get(_KNOWN.get(asked))
        if name not in (asked, None) and links.respell(PARAMETER, name):
            return True
        st.session_state[PARAMETER] = at_first()
    with st.container(key="speaking"):
        st.selectbox(
            say("Language"),
            list(LANGUAGES),
            list(LANGUAGES).index(browsers()),
            format_func=LANGUAGES.__getitem__,
            key=PARAMETER,
            bind="query-params",  # of all pages: it stays in the address from one to the next
            label_visibility="collapsed",
            width=110,
        )
        # Screen readers pronounce a page as it says, and browsers offer to translate what is in another language.
        st.html(f"<script>{SCRIPTS[visitors()]}</script>", unsafe_allow_javascript=True)
    if asked is not None and asked not in _KNOWN:
        from viz.screens import shared  # here, since this module speaks while what `shared` needs is still loaded

        said = ", ".join(LANGUAGES)
        shared.warn(
            say("The address asks for the language “{asked}”; there is: {known}.", asked=asked[:40], known=said)
        )
    return False


def at_first() -> str:
    """The language of a visitor who has not chosen one on the page: the address's, else the browser's."""
    return _KNOWN.get(st.query_params.get(PARAMETER), browsers())


def address(query: dict[str, str]) -> dict[str, str]:
    """Parameters of a link that loads the page anew, with the language where the browser's is another."""
    return query if language.current() == browsers() else query | {PARAMETER: LANGUAGES[language.current()]}


def browsers() -> str:
    """The language that the browser asks for, where the app speaks it; else English."""
    spoken = (st.context.locale or "").split("-")[0].lower()
    return spoken if spoken in LANGUAGES else ENGLISH
