"""What every page needs: its style and places, what is said when something fails, text as it is."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.layout_utils import Gap, VerticalAlignment

from model.adapters.readers.reader import Reader
from viz.text import errors, words
from viz.text.language import message, say
from viz.text.markdown import literal
from viz.views import cached

INSTEAD = (  # what is shown where something else was asked for
    message("Showing the example."),
    message("Showing the last one that worked."),
    message("Showing the sentence without changes."),
)
STYLE = """
<style>
.stMainBlockContainer { max-width: 90rem; padding-top: 4.25rem; padding-bottom: 3rem; }
h1 { font-size: clamp(1.7rem, 1.2rem + 2vw, 2.5rem) !important; }
.stText { overflow-wrap: anywhere; unicode-bidi: plaintext; }
[data-testid="stCaptionContainer"] { color: inherit; opacity: 0.8; }
.stMarkdown table { display: block; overflow-x: auto; }
.stTextInput input { unicode-bidi: plaintext; }
[data-testid="stLayoutWrapper"]:has(> .st-key-language-menu) { position: absolute; }
.st-key-language-menu { position: fixed; top: 0.6rem; right: 3.6rem; z-index: 999991; width: auto; }
a:focus-visible, button:focus-visible, summary:focus-visible { outline: 2px solid currentColor !important; }
[data-testid="stSidebar"][data-collapsed="true"] { visibility: hidden; }
.hl-harm { font-size: 1.05rem; line-height: 1.35; min-height: calc(2.7em + 1.25rem); margin: 0; }
.hl-harm { overflow-wrap: anywhere; }
.hl-harm b { display: block; font-size: 0.9rem; }
.hl-harm q { quotes: none; }
.hl-harm:has(q:empty) { min-height: 0; }
.hl-harm mark { color: inherit; background: none; border-bottom: 3px solid #d55e00; }
.hl-right mark { border-color: #0072b2; }
[class*="st-key-example-"] button { min-height: 1.9rem; padding: 0.1rem 0.7rem; border-radius: 1rem; }
.st-key-ask { flex-wrap: wrap; row-gap: 1rem; }
[data-testid="stLayoutWrapper"]:has(> .st-key-live) { display: contents; }
.st-key-live, .st-key-live > div, .st-key-live > div > div { display: contents; }
.st-key-live .st-key-sentence { order: -1; }
.st-key-live [data-testid="stLayoutWrapper"]:has(> .st-key-below) { flex: 1 1 100%; }
.st-key-live .st-key-sentence, .st-key-ask-b > :nth-child(2) { flex: 1 1 16rem; }
@media (max-width: 640px) { .st-key-live .st-key-sentence, .st-key-ask-b > :nth-child(2) { flex: 1 1 100%; } }
.st-key-beginning { flex: 1 1 12rem; }
[class*="st-key-ask"] input { font-size: max(1rem, 16px); }
[class*="st-key-small"] .stText { font-size: 0.875rem; opacity: 0.8; }
</style>
"""


def warn(text: str) -> None:
    """Warn with words of others in it: as Markdown they could fetch pictures from elsewhere."""
    st.warning(literal(text))


def compute_or_keep(key: str, request: Any, compute: Callable[[Any], Any], *fallbacks: Any) -> tuple[Any, Any] | None:
    """Compute the result of a request, and return both.

    After a ValueError, which the page shows, comes what the session keeps under the key, else a fallback, the last of
    them the example; None if nothing can be computed.
    """
    state = st.session_state
    problem = ""
    for place, candidate in enumerate((request, state.get(key), *fallbacks)):
        if candidate is None:
            continue
        try:
            result = compute(candidate)
        except ValueError as error:
            problem = problem or errors.sentence(error)
            continue
        if problem:
            instead = 1 if place == 1 else 0 if candidate is fallbacks[-1] else 2
            warn(f"{problem} {say(INSTEAD[instead])}")
        state[key] = candidate
        return candidate, result
    return warn(problem)


def opening(title: str, line: str) -> None:
    """Write the title of a page for screen readers, and the line under it."""
    with row(align="bottom", key="opening"):
        st.title(title, width="content")
        st.caption(line, width="content")


def row(gap: Gap = "medium", align: VerticalAlignment = "center", key: str | None = None) -> DeltaGenerator:
    """A row of elements that wraps where it is narrow."""
    return st.container(horizontal=True, gap=gap, vertical_alignment=align, key=key)


def columns(items: Iterable, n: int | None = None, gap: Gap = "medium") -> Iterator:
    """Yield things, each in a column of its own, n beside each other (None: all)."""
    items = list(items)
    n = n or len(items) or 1
    for start in range(0, len(items), n):
        for column, item in zip(st.columns(n, gap=gap), items[start:]):
            with column:
                yield item


def write_small(text: str, key: str) -> None:
    """A text in small print, which a visitor may select."""
    with st.container(key=f"small-{key}"):
        st.text(text)


def write_card(checkpoint: str, key: str = "card") -> None:
    """What the card of a checkpoint says, in small print."""
    write_small(describe(checkpoint), key)


def describe(model: str) -> str:
    """What a checkpoint or a model of transformers is, in one line."""
    loaded = cached.translator(model)
    if isinstance(loaded, Reader):
        return words.describe_reader(model, loaded.config)
    return words.describe_card(model, loaded.card)
