"""The page Steer: the stage, on which everything inside the model can be changed, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import streamlit as st

from model.catalogue import available
from viz.pages.steer import search
from viz.stage.stage import stage
from viz.text import errors, words, words_steer
from viz.text.language import say
from viz.ui import choices, explore, shared, staged, steering
from viz.ui.steering import ANSWERED, CHANGES
from viz.views import changes as change
from viz.views import view
from viz.views.cached import Request, compute
from viz.views.changes import Changes
from viz.views.recipes import translation
from viz.views.view import View

OF, LOST = "steer-of", "steer-lost"  # in the session: whose the changes are, and those that were dropped
WEIGHED = "steer-importance"  # whether tiles show what each head is worth
_NONE: Mapping[str, str] = MappingProxyType({})


def models() -> list[str]:
    """The checkpoints whose inside can be changed, the default one first."""
    changeable = available("transformer")
    return [name for name in staged.models() if name in changeable]


def present(model: str, chosen: View, query: Mapping[str, str] = _NONE) -> Changes:
    """The changes, without those that name words of another sentence; by the query, where it says more."""
    state, of = st.session_state, (model, chosen.text)
    if any(query.get(name) for name in change.NAMES):
        try:
            state[CHANGES] = change.read(query)
        except ValueError as error:
            shared.warn(f"{errors.sentence(error)} {say('Nothing is changed.')}")
            state[CHANGES] = Changes()
        state[OF] = of
    found: Changes = state.get(CHANGES, Changes())
    if state.get(OF, of) != of:
        kept = found.wordless if state[OF][0] == model else Changes()
        if kept != found:
            state[LOST] = (state[OF][1], found)
        state[CHANGES] = found = kept
    state[OF] = of
    return found


def take_back() -> None:
    """Go back to the sentence whose changes were dropped."""
    state = st.session_state
    state["sentence"], state[CHANGES] = state.pop(LOST)
    state[OF] = (state["stage-model"], state["sentence"])


def on_did(action: dict) -> None:
    """Something was changed on the stage, in what was shown there."""
    state, request = st.session_state, st.session_state[ANSWERED]
    if action.get("do") == "importance":
        state[WEIGHED] = not state.get(WEIGHED, False)
        return
    try:
        new = steering.after(request, action)  # one that the model refuses is not kept
    except ValueError as error:
        state["steer-problem"] = errors.sentence(error)
        return
    state[CHANGES] = new
    state.pop(LOST, None)


def show(names: list[str], chosen: View, came: bool) -> None:
    """The stage with what is changed, its model's card, report and search tree; arguments as of `staged.page`."""
    state = st.session_state
    model = chosen.model or names[0]
    changes = present(model, chosen, state[staged.QUERY] if came else _NONE)
    if lost := state.get(LOST):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lost"):
            shared.small(say("Changes that named words of “{sentence}” were dropped.", sentence=lost[0][:60]), "lost")
            st.button(say("Undo these changes"), key="take-back", on_click=take_back)
    asked = Request.of(chosen, model, changes=changes)
    answered = shared.compute_or_keep(ANSWERED, asked, compute, asked.plain, asked.example)
    if answered is None:
        return
    request, result = answered
    state["shown-text"] = result.text
    state[view.KEPT] = chosen
    problem, weighed = state.pop("steer-problem", ""), state.get(WEIGHED, False)
    stage(steering.told(request, result, chosen, problem, weighed), staged.on_asked, on_did=on_did)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        shared.small(words.describe_card(request.checkpoint, request.translator.card), "card")
        explore.offer_report(result, request, translation(request), "steer", said(request))
    if request.reference is None:
        with choices.part("search-tree"):
            if st.toggle(say("Everything the search tried"), key="search-tree", help=say(words_steer.TREE_LINE)):
                search.show_tree(request, result)


def said(request: Request) -> tuple[str, ...]:
    """What is changed, and what the model writes without that, in sentences; nothing where nothing is changed."""
    if request.is_plain:
        return ()
    before = compute(request.plain).text or say(words_steer.NOTHING_WRITTEN)
    names = ", ".join(text for _, text in steering.chips(request))
    return say(words_steer.CHANGED, changes=names), say(words_steer.UNCHANGED, text=before)


staged.page("steer", models() or staged.models(), show)
