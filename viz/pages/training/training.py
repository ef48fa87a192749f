"""The page Warm-up: schedules, a model that learns in the browser, and recorded runs."""

from __future__ import annotations

import streamlit as st

from viz.pages.training import here, lab, runs
from viz.pages.training import words as words
from viz.text.language import say
from viz.ui import choices, controls

SECTIONS = {"schedules": lab.lab, "here": here.here, "runs": runs.recorded}


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    section = controls.choose(
        say("Section"), list(SECTIONS), "section", "schedules", words.SECTIONS, label_visibility="collapsed"
    )
    SECTIONS[section]()


def page() -> None:
    """Draw the page."""
    st.title(say("Warm-up"))
    st.markdown(say(words.INTRO))
    live()


page()
