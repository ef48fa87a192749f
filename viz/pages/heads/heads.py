"""The page Heads: what each head does, what it adds, what it is worth."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.pages.heads import contribution, importance
from viz.text import words_heads
from viz.text.language import say
from viz.ui import asking, choices, controls, heads_roles, shared, tour, ways
from viz.views import cached, changes
from viz.views.view import View

PARTS = {
    words_heads.ROLES: heads_roles.show,
    words_heads.ADDS: contribution.show,
    words_heads.WORTH: importance.show,
}


def explore(result: cached.Shown, request: cached.Request, beside: DeltaGenerator) -> None:
    """Draw the chosen part of the page, what it asks for in the place beside it."""
    how = {"beam": request.beam, "penalty": request.length_penalty, "reference": request.reference}
    model = "" if request.checkpoint == cached.default_checkpoint() else request.checkpoint
    asked = st.query_params.to_dict()
    made = {name: asked[name] for name in changes.NAMES if name in asked}  # of links that were made for a board here
    query = tour.present() | View(request.text, model, **how).address() | made
    part = controls.choose(
        say("Look at"), list(PARTS), "part", words_heads.ROLES, words_heads.PARTS, label_visibility="collapsed"
    )
    with st.container():
        PARTS[part](result, request, beside)
    st.html(ways.link(say(words_heads.TO_STEER), ways.address("steer", query)))


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    main, beside = shared.picture_first()
    with main:
        asking.one_translation(lambda result, request, _: explore(result, request, beside), beside)


shared.opening(say("Heads"), say(words_heads.INTRO))
live()
