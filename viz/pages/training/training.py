"""The page Warm-up: real runs that vary peak and warmup, schedules, and a model that learns here."""

from __future__ import annotations

import streamlit as st

from viz.pages.training import grid, here, lab, words
from viz.text.language import say
from viz.ui import choices, controls, shared

SECTIONS = {"grid": grid.compared, "schedules": lab.lab, "here": here.here}


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    sections = list(SECTIONS)[not grid.there() :]
    section = controls.choose(
        say("Section"), sections, "section", sections[0], words.SECTIONS, label_visibility="collapsed"
    )
    with st.container():
        SECTIONS[section]()


shared.opening(say("Warm-up"), say(words.INTRO))
live()
