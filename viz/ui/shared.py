"""What every page needs: the model, cached translations, and ways to show text that a visitor or a file brought.

State has three homes: models in `st.cache_resource`, results in `st.cache_data`, choices in the session and the URL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.text import errors
from viz.text.language import say
from viz.text.markdown import literal

Asked = TypeVar("Asked")
Result = TypeVar("Result")


_STYLE = """
<style>
.stMainBlockContainer { max-width: 90rem; padding-top: 4.25rem; padding-bottom: 3rem; }
h1 { font-size: clamp(1.7rem, 1.2rem + 2vw, 2.5rem) !important; }
.stText { overflow-wrap: anywhere; unicode-bidi: plaintext; }
[data-testid="stCaptionContainer"] { color: inherit; opacity: 0.8; }
.stMarkdown table { display: block; overflow-x: auto; }
.stTextInput input { unicode-bidi: plaintext; }
:has(> .st-key-speaking) { position: absolute; }
.st-key-speaking { position: fixed; top: 0.6rem; right: 3.6rem; z-index: 999991; width: auto; }
a:focus-visible, button:focus-visible, summary:focus-visible { outline: 2px solid currentColor !important; }
[data-testid="stSidebar"][data-collapsed="true"] { visibility: hidden; }
[class*="st-key-large"] .stText { font-size: 1.6rem; line-height: 1.35; font-weight: 500; }
.hl-harm { font-size: 1.35rem; line-height: 1.35; min-height: 2.7em; margin: 0; overflow-wrap: anywhere; }
.hl-harm b { display: block; font-size: 0.9rem; }
.hl-harm q { quotes: none; }
.hl-harm:has(q:empty) { min-height: 0; }
.hl-harm mark { color: inherit; background: none; border-bottom: 3px solid #d55e00; }
.hl-right mark { border-color: #0072b2; }
[class*="st-key-example-"] button { min-height: 1.9rem; padding: 0.1rem 0.7rem; border-radius: 1rem; }
.st-key-ask { flex-wrap: wrap; row-gap: 0.75rem; }
:has(> .st-key-live), .st-key-live, .st-key-live > div, .st-key-live > div > div { display: contents; }
.st-key-live .st-key-sentence { order: -1; }
.st-key-live :has(> .st-key-below) { flex: 1 1 100%; }
.st-key-sentence, .st-key-ask-b > :last-child { flex: 1 1 16rem; }
@media (max-width: 640px) { .st-key-sentence, .st-key-ask-b > :last-child { flex: 1 1 100%; } }
.st-key-beginning { flex: 1 1 12rem; }
[class*="st-key-ask"] input { font-size: max(1rem, 16px); }
[class*="st-key-small"] .stText { font-size: 0.875rem; opacity: 0.8; }
</style>
"""


def style() -> None:
    """Add the few rules of style that themes have no setting for."""
    st.html(_STYLE)


def measured(read: Callable[[str], Result | None], checkpoint: str, missing: str) -> Result | None:
    """What was measured of a checkpoint and is kept beside its weights; where it cannot be had, a sentence says why.

    Args:
        read: gives it, or None where nothing was measured; a ValueError where it cannot be used.
        checkpoint: its name.
        missing: what is said for None, in English.

    Returns:
        It, or None.
    """
    try:
        found = read(checkpoint)
    except ValueError as error:
        warn(errors.sentence(error))
        return None
    if found is None:
        st.info(say(missing))
    return found


def kept(before: object) -> str:
    """Say that the last thing that worked is shown, if there was one, else the example."""
    return say("Showing the last one that worked.") if before else say("Showing the example.")


def warn(text: str) -> None:
    """Warn with words that may hold what a visitor, an address or a file said: shown as they are, not as Markdown.

    A link could otherwise make the page show a picture from elsewhere, or a link of its own in the page's name.
    """
    st.warning(literal(text))


def compute_or_keep(
    key: str,
    asked: Asked,
    compute: Callable[[Asked], Result],
    instead: Callable[[Asked | None], Asked],
) -> tuple[Asked, Result] | None:
    """Compute what is asked for; what cannot be computed is told in a sentence, and the last result stays.

    Args:
        key: where the session keeps what was asked for last.
        asked: what the visitor wants.
        compute: raises ValueError where it cannot.
        instead: what to compute in its place, given what was asked for last, if anything was.

    Returns:
        What was computed and its result, or None if even the other cannot be computed.
    """
    try:
        result = compute(asked)
        st.session_state[key] = asked
        return asked, result
    except ValueError as error:
        problem = errors.sentence(error)
    before = st.session_state.get(key)
    other = instead(before)
    try:
        result = compute(other)
    except ValueError:  # a model that cannot even read the example
        warn(problem)
        return None
    warn(f"{problem} {kept(before)}")
    return other, result


def opening(title: str, line: str) -> None:
    """Begin a page: its name, and beside it, where there is room, one line that says what can be done here."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="opening"):
        st.title(title, width="content")
        st.caption(line, width="content")


def picture_first() -> tuple[DeltaGenerator, DeltaGenerator]:
    """A place for a picture, and one beside it (on a phone: below) for the controls that change it."""
    return tuple(st.columns([8, 3], gap="medium"))


def small(text: str, key: str) -> None:
    """Show a line in small letters, exactly as it is: no Markdown, no HTML.

    Args:
        text: any text.
        key: a name that no other text of the page has.
    """
    with st.container(key=f"small-{key}"):
        st.text(text)


def large(text: str, key: str) -> None:
    """Show a line in large letters, exactly as it is; arguments as for `small`."""
    with st.container(key=f"large-{key}"):
        st.text(text)
