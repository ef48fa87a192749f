"""The page Translate: a sentence, its translation, and every head that made it."""

from __future__ import annotations

import streamlit as st

from viz.language import say
from viz.screens import asking, explore


@st.fragment
def live() -> None:
    """The part that every choice redraws; the rest of the page is left alone."""
    asking.one_translation(explore.explore)


def page() -> None:
    """Draw the page, or one sentence where there is no model."""
    st.title("Headlight")
    st.markdown(say("Type a sentence, read its translation, and see what every attention head looked at."))
    live()


page()
