"""The page Translate: the stage with the sentence, examples and the model in one row above it."""

from __future__ import annotations

import dataclasses

import streamlit as st

from viz.stage import assets
from viz.stage import message as stage_message
from viz.stage.stage import stage
from viz.text import words
from viz.text.language import current, using
from viz.ui import asking, shared, staged, whole_report
from viz.views import cached, recipes, view


@st.fragment
def live() -> None:
    """The part that every choice redraws; the rest of the page is left alone."""
    with using(current()):  # asked once, not for each word
        _live()


def _live() -> None:
    names = staged.models()
    try:
        wanted = staged.opened(names, staged.arrives("translate"))
        chosen = staged.ask(names, wanted)
    except ValueError as error:
        asking.no_model(error)
        return
    name = chosen.model or names[0]
    request = cached.Request(name, chosen.text, chosen.beam, chosen.penalty, chosen.reference)
    place = st.container()
    with place:
        answered = shared.compute_or_keep(
            "answered",
            request,
            cached.compute,
            lambda before: before or dataclasses.replace(request, text=view.EXAMPLE, reference=None),
        )
    if answered is None:
        return
    shown, result = answered
    st.session_state["shown-text"] = result.text
    view.keep(st.session_state, chosen)
    told = staged.shown_of(result, shown, chosen, recipes.translation(shown))
    stage(stage_message.message(told, assets.PARTS.keep), staged.on_asked)
    card = cached.translator(shown.checkpoint).card
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        shared.small(words.describe_card(shown.checkpoint, card), "card")
        whole_report.offer(result, shown, card, recipes.translation(shown))


live()
