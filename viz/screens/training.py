"""The page Warm-up: schedules, a model that learns in the browser, and recorded runs."""

from __future__ import annotations

import streamlit as st

from viz.language import say
from viz.screens import controls, training_here, training_lab, training_runs
from viz.screens import training_words as words
from viz.ui import choices

SECTIONS = {"schedules": training_lab.lab, "here": training_here.here, "runs": training_runs.recorded}


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
