"""The page Steer: the stage, on which everything inside the model can be changed, and what becomes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import streamlit as st

from model.analysis import comparison
from model.catalogue import available
from model.interventions.edits import layer_counts
from viz.pages.steer import search
from viz.stage import assets
from viz.stage import message as stage_message
from viz.stage.stage import stage
from viz.text import errors, words, words_steer
from viz.text.language import message, say
from viz.ui import asking, choices, shared, staged, whole_report
from viz.views import cached, heads_results, view
from viz.views import changes as change
from viz.views.changes import Changes
from viz.views.steer_results import ANSWERED, CHANGES, Request, effect, recipe, steer
from viz.views.view import View

OF, LOST = "steer-of", "steer-lost"  # in the session: whose the changes are, and those that were dropped
WEIGHED = "steer-importance"  # whether tiles show what each head is worth
_NONE: Mapping[str, str] = MappingProxyType({})


def models() -> list[str]:
    """The checkpoints whose inside can be changed, the default one first."""
    changeable = available("transformer")
    return [name for name in staged.models() if name in changeable]


def present(model: str, chosen: View, query: Mapping[str, str] = _NONE) -> Changes:
    """The changes, of which those that name words of another sentence are dropped; at first by the address.

    Args:
        model: its name.
        chosen: what is translated.
        query: the address, where it says more than the session.
    """
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


def answer(request: Request) -> tuple[Request, cached.Shown] | None:
    """Translate; what cannot be done is told in a sentence, and the last result stays.

    Args:
        request: what the visitor wants.

    Returns:
        What is shown and its translation: as asked, as before, without changes, or of the example. None if the model
        cannot even read that.
    """
    try:
        result = steer(request)
        st.session_state[ANSWERED] = request
        return request, result
    except ValueError as error:
        problem = errors.sentence(error)
    others = {
        message("the last result"): st.session_state.get(ANSWERED),
        message("the sentence without changes"): request.plain,
        message("the example"): replace(request.plain, text=asking.EXAMPLE, reference=None),
    }
    for name, other in others.items():
        if other is None:
            continue
        try:
            result = steer(other)
        except ValueError:
            continue
        shared.warn(f"{problem} {say('Shown below: {what}.', what=say(name))}")
        st.session_state[ANSWERED] = other
        return other, result
    shared.warn(problem)
    return None


def on_did(action: dict) -> None:
    """Something was changed on the stage, in what was shown there."""
    state, request = st.session_state, st.session_state[ANSWERED]
    if action.get("do") == "importance":
        state[WEIGHED] = not state.get(WEIGHED, False)
        return
    try:
        new = change.after(change.read(_codes(request)), action, _sentence(request))
        # One that the model refuses is not kept.
        steer(replace(request, **_fields(new)))
    except ValueError as error:
        state["steer-problem"] = errors.sentence(error)
        return
    state[CHANGES] = new
    state.pop(LOST, None)


def _codes(request: Request) -> dict[str, str]:
    return {name: str(getattr(request, name)) for name in change.NAMES}


def _fields(changes: Changes) -> dict:
    prefix = change.prefix_code(changes.locked)
    moved = {"scale": changes.scale, "shift": changes.shift, "stacks": changes.stacks}
    return {"edits": changes.edits.code, "prefix": prefix} | moved


def _sentence(request: Request) -> change.Sentence:
    result = steer(request)
    config = cached.translator(request.checkpoint).config
    heads = {kind: (n_layers, config.n_heads) for kind, n_layers in layer_counts(config).items()}
    tokens = result.source_tokens, result.predicted_tokens
    encode = cached.translator(request.checkpoint).tokenizer.target.encode
    return change.Sentence(*tokens, result.predicted_ids, result.candidate_ids, heads, encode)


def steering(request: Request, changes: Changes) -> dict:
    """What the stage is told of the changes, beside both translations."""
    edits = changes.edits
    told = {
        "chips": chips(request, changes),
        "off": [[head.kind, head.layer, head.head] for head in edits.off],
        "uniform": [[head.kind, head.layer, head.head] for head in edits.uniform],
        "forced": [
            [force.kind, force.query, force.key, [list(head) for head in force.heads]] for force in edits.forced
        ],
        "cells": [[cell.kind, cell.query, cell.key, cell.open] for cell in edits.cells],
        "locked": list(changes.locked),
        "positions": [changes.scale, changes.shift, changes.stacks],
        "stacks": [[code, say(name)] for code, name in change.STACK_NAMES.items()],
    }
    if changes:
        old = steer(request.plain)
        told["pairs"] = comparison.beside(old.text.split(), steer(request).text.split())
        cost = effect(request)
        told["cost"] = cost_of(float(cost.all.sum(dtype=np.float64) - old.log_probabilities.sum(dtype=np.float64)))
        if cost.without_future is not None:
            told["future"] = say(words_steer.FUTURE)
    if problem := st.session_state.pop("steer-problem", ""):
        told["problem"] = problem
    if st.session_state.get(WEIGHED):
        told["importance"] = importance(request.plain)
    return told


def cost_of(change: float) -> str:
    """How much less, or more, probable the old translation became.

    Args:
        change: of its log-probability, in nats.
    """
    factor = math.exp(min(abs(change), 700))
    if f"{factor:.1f}" == "1.0":
        return say(words_steer.EQUAL)
    rounded = "{x:.1f}" if factor < 10 else "{x:.0f}"
    said = say(rounded, x=factor) if factor < 1e6 else f"10^{math.log10(factor):.0f}"
    return say(words_steer.LESS if change < 0 else words_steer.MORE, factor=said)


@st.cache_data(max_entries=16, show_spinner=cached.Waiting(message("Without each head in turn …")), show_time=True)
def importance(request: Request) -> dict[str, np.ndarray]:
    """By how much switching off each head changes the log-probability of the translation, by kind float32 (L, H)."""
    *_, (_, found) = heads_results.importance(request)
    return {kind: values.astype(np.float32) for kind, values in found.items()}


def show(names: list[str], chosen: View, came: bool) -> None:
    """The stage with what is changed, and under it the model's card, the report and the tree of the search.

    Args:
        names: of the models that the page offers, the default one first.
        chosen: what is asked for.
        came: whether the visitor has just come.
    """
    state = st.session_state
    model = chosen.model or names[0]
    changes = present(model, chosen, state[staged.QUERY] if came else _NONE)
    if lost := state.get(LOST):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lost"):
            shared.small(say("Changes that named words of “{sentence}” were dropped.", sentence=lost[0][:60]), "lost")
            st.button(say("Undo these changes"), key="take-back", on_click=take_back)
    answered = answer(Request.of(model, chosen, changes))
    if answered is None:
        return
    request, result = answered
    made = change.read(_codes(request))
    state["shown-text"] = result.text
    view.keep(state, chosen)
    stage(told(request, result, chosen, made), staged.on_asked, on_did=on_did)
    card = cached.translator(request.checkpoint).card
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        shared.small(words.describe_card(request.checkpoint, card), "card")
        codes = {"edits": request.edits, "prefix": request.prefix, "changes": said(request, made)}
        whole_report.offer(result, request, card, recipe(request), page="steer", **codes)
    if request.reference is None:
        with choices.part("search-tree"):
            if st.toggle(say("Everything the search tried"), key="search-tree", help=say(words_steer.TREE_LINE)):
                search.show_tree(request, result)


def chips(request: Request, changes: Changes) -> list[tuple[str, str]]:
    """Every change of a request as a code and a short text."""
    target = cached.translator(request.checkpoint).tokenizer.target
    return change.chips(changes, _sentence(request), target.tokens(list(changes.locked)))


def said(request: Request, changes: Changes) -> tuple[str, ...]:
    """What is changed, and what the model writes without that, in sentences; nothing where nothing is changed."""
    if not changes:
        return ()
    before = steer(request.plain).text or say(words_steer.NOTHING_WRITTEN)
    names = ", ".join(text for _, text in chips(request, changes))
    return say(words_steer.CHANGED, changes=names), say(words_steer.UNCHANGED, text=before)


def told(request: Request, result: cached.Shown, chosen: View, changes: Changes) -> bytes:
    """The message of both translations."""
    after = staged.shown_of(result, request, chosen, recipe(request), rowwise=request.is_plain)
    after = replace(after, address=dict(after.address) | changes.address())
    before = None
    if changes:
        plain = request.plain
        before = staged.shown_of(steer(plain), plain, chosen, recipe(plain), rowwise=False)
    return stage_message.message(after, assets.PARTS.keep, before, steering(request, changes), owned=change.NAMES)


staged.page("steer", models() or staged.models(), show)
