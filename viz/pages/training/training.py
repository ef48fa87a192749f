"""The page Warm-up: real runs that vary peak and warmup, schedules, and a model that learns here."""

from __future__ import annotations

import streamlit as st

from viz.pages.training import grid, here, lab, words
from viz.text.language import say
from viz.ui import choices, controls, shared

SECTIONS = {"grid": grid.compared, "schedules": lab.lab, "here": here.here}


@choices.fragment
def live() -> None:
    sections = list(SECTIONS)[not grid.there() :]
    section = controls.views({name: words.SECTIONS[name] for name in sections}, "section")
    with st.container():
        SECTIONS[section]()


shared.opening(say("Warm-up"), say(words.INTRO))
live()
