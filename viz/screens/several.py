"""Choices of several things at once in the address, which may name them in any language of the app."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import streamlit as st

from viz.language import LANGUAGES, using
from viz.screens import links


def expect(label: str, options: Sequence[Hashable], key: str, name: Callable[..., str]) -> None:
    """As `links.expect`, and choose what the address names in another language than the page's.

    Before the control is made: of itself Streamlit takes only names of the page's language from the address.

    Args:
        label: of the control.
        options: what can be chosen.
        key: in the session and in the address.
        name: says what an option is called, in the language that is spoken.
    """
    if key in st.session_state:
        return
    spoken = [name(option) for option in options]
    known: dict[str, Hashable] = {}
    for language in LANGUAGES:
        with using(language):
            known |= {name(option): option for option in options}
    asked = st.query_params.get_all(key)
    elsewhere = [one for one in asked if one in known and one not in spoken]
    links.expect(label, key, spoken + elsewhere)
    if elsewhere:
        chosen = {known[one] for one in asked if one in known}
        st.session_state[key] = [option for option in options if option in chosen]
