"""The page Heads: what each head is worth, what it adds, what it does."""

from __future__ import annotations

import streamlit as st

from viz.language import say
from viz.screens import asking, controls, heads_contribution, heads_knock_out, heads_roles, shared, words_heads
from viz.ui import choices

PARTS = {
    words_heads.KNOCK: heads_knock_out.show,
    words_heads.ADDS: heads_contribution.show,
    words_heads.ROLES: heads_roles.show,
}


def explore(result: shared.Shown, request: controls.Request, card: dict) -> None:
    """Draw the chosen part of the page below the translation."""
    part = controls.choose(say("Look at"), list(PARTS), "part", words_heads.KNOCK, words_heads.PARTS)
    with st.container():
        PARTS[part](result, request)


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    asking.one_translation(explore)


st.title(say("Heads"))
st.markdown(say(words_heads.INTRO))
live()
