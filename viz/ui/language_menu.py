"""Which language a visitor reads: the chosen one, else the address's, else the browser's."""

import html
from collections.abc import Mapping
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from viz.text import language
from viz.text.language import ENGLISH, LANGUAGES, PARAMETER, say
from viz.ui.widgets import control
from viz.views.codes import one_of

SCRIPTS = {code: f"document.documentElement.lang = '{code}'" for code in LANGUAGES}


def visitors() -> str:
    """The language of the visitor for whom this thread draws; English where there is none."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return ENGLISH
    code = st.session_state.get(PARAMETER) or st.query_params.get(PARAMETER)
    return code if code in LANGUAGES else browsers()


language.language_of_visitor = visitors


def bar() -> None:
    """The menu of languages, in the bar above every page."""
    with st.container(key="language-menu"):
        control(
            st.selectbox,
            say("Language"),
            list(LANGUAGES),
            key=PARAMETER,  # of all pages: it stays in the address from one to the next
            reader=one_of(LANGUAGES),
            default=browsers(),
            format_func=LANGUAGES.__getitem__,
            label_visibility="collapsed",
            width=110,
        )
        # Screen readers pronounce a page as it says.
        st.html(f"<script>{SCRIPTS[visitors()]}</script>", unsafe_allow_javascript=True)


def address(query: Mapping[str, str]) -> dict[str, str]:
    """Parameters of a link, with the language where the browser's is another."""
    code = language.current()
    return {**query} if code == browsers() else {**query, PARAMETER: code}


def link(label: str, page: str, query: Mapping[str, str]) -> str:
    """A link, as HTML, that loads a page ("" for the first) again.

    Within a session Streamlit drops from an address what it asks of controls that both pages have.
    """
    parameters = urlencode(address(query))
    target = html.escape(f"./{page}?{parameters}" if parameters else f"./{page}")
    return f'<a href="{target}" target="_self" style="color: inherit">{html.escape(label)}</a>'


def browsers() -> str:
    """The language that the browser asks for; English where there is no catalogue for it."""
    code = (st.context.locale or "").split("-")[0].lower()
    return code if code in LANGUAGES else ENGLISH
