"""The page Steer: change a word, an attention or a mask of one sentence, and see the translation answer."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from model.analysis import maps as analysis
from model.interventions.edits import Edits
from viz.language import message, say
from viz.screens import (
    asking,
    compare_edits,
    controls,
    shared,
    steer_edits,
    steer_search,
    whole_report,
    words,
    words_steer,
)
from viz.screens.steer_results import ANSWERED, Request, effect, read_prefix, recipe, steer
from viz.ui import choices


def ask() -> tuple[Request, dict]:
    """Ask for a sentence, the model, how to search, and what is changed.

    Returns:
        What is asked for, and the card of its model.

    Raises:
        ValueError: if the model cannot be loaded.
    """
    asked, card = asking.ask(forcing=False)
    start_anew(asked.checkpoint, asked.text)
    prefix, edits = asking.changes()
    return Request(**vars(asked), prefix=prefix, edits=edits), card


def start_anew(checkpoint: str, text: str) -> None:
    """Drop the changes when they were made to another sentence or another model."""
    before = st.session_state.get("steer-of")
    if before not in (None, (checkpoint, text)):
        drop_changes()
    st.session_state["steer-of"] = (checkpoint, text)


def drop_changes() -> None:
    """Start again from the model's own translation."""
    st.session_state["prefix"] = st.session_state["edits"] = ""


def answer(request: Request) -> tuple[Request, shared.Shown] | None:
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
        problem = shared.sentence(error)
    others = {
        message("the last result"): st.session_state.get(ANSWERED),
        message("the sentence without changes"): request.plain,
        message("the example"): replace(request.plain, text=asking.EXAMPLE),
    }
    for name, other in others.items():
        if other is None:
            continue
        try:
            result = steer(other)
        except ValueError:
            continue
        shared.warn(f"{problem} {say('Shown below: {what}.', what=say(name))}")
        shared.small(result.source, "shown")
        st.session_state[ANSWERED] = other
        return other, result
    shared.warn(problem)
    return None


def show_changes(request: Request, result: shared.Shown) -> None:
    """Show what is changed, and what the model wrote without the changes, aligned."""
    if request.is_plain:
        st.caption(say(words_steer.NOTHING))
        return
    old = steer(request.plain)
    with st.container(border=True, gap="xsmall"):
        st.caption(counted(request))
        shared.small(say("Before: {text}", text=old.text or say(words_steer.NOTHING_WRITTEN)), "before")
        pairs = analysis.align(old.text.split(), result.text.split())
        if old.text == result.text:
            st.caption(say(words_steer.SAME))
        elif pairs:
            st.caption(say(words_steer.DIFFERENCE))
            st.dataframe(difference(pairs), key="difference")
        show_numbers(request, old, result)
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            st.button(say(words_steer.RESET), key="reset", on_click=drop_changes)
            compare_edits.link(request, request.edits, request.prefix)


def counted(request: Request) -> str:
    """How much is changed."""
    return words_steer.changes(len(read_prefix(request.prefix)), Edits.from_code(request.edits))


def said(request: Request) -> tuple[str, ...]:
    """What is changed, and what the model writes without that, in sentences; nothing where nothing is changed."""
    if request.is_plain:
        return ()
    before = steer(request.plain).text or say(words_steer.NOTHING_WRITTEN)
    return say(words_steer.CHANGED, changes=counted(request)), say(words_steer.UNCHANGED, text=before)


def difference(pairs: list[tuple[str, str]]) -> pd.DataFrame:
    """Aligned words: a row before, a row after, and a row that says what became of them."""
    new, gone, changed = say("new"), say("gone"), say("changed")
    fates = ["" if a == b else new if not a else gone if not b else changed for a, b in pairs]
    rows = {say("before"): [a for a, _ in pairs], say("after"): [b for _, b in pairs], "": fates}
    return pd.DataFrame.from_dict(rows, orient="index", columns=[str(place + 1) for place in range(len(pairs))])


def show_numbers(request: Request, old: shared.Shown, result: shared.Shown) -> None:
    """Show how probable both translations are."""
    with st.container(horizontal=True, gap="large"):
        st.metric(say("Log-probability of what is written now"), f"{result.log_probabilities.sum():.3f}")
        st.metric(say("Of the old translation, unchanged model"), f"{old.log_probabilities.sum():.3f}")
        if request.edits:
            st.metric(say("Of the old translation, edited model"), f"{effect(request).all.sum():.3f}")


VIEWS = {
    words_steer.WORD: steer_search.show_candidates,
    words_steer.TREE: steer_search.show_tree,
    words_steer.FORCE: steer_edits.show_force,
    words_steer.MASK: steer_edits.show_mask,
}


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    try:
        asked, card = ask()
    except ValueError as error:
        asking.no_model(error)
        return
    with st.container():
        answered = answer(asked)
    if answered is not None:
        request, result = answered
        asking.show_translation(result, request, card)
        changes = st.container()
        view = controls.choose(say("Change"), list(VIEWS), "steer", words_steer.WORD, words_steer.VIEWS)
        with st.container():
            VIEWS[view](request, result)
        with changes:  # they link to the head that is chosen below
            show_changes(request, result)
        changed = {"edits": request.edits, "prefix": request.prefix, "changes": said(request)}
        whole_report.offer(result, request, card, recipe(request), page="steer", **changed)
    shared.small(words.describe_card(asked.checkpoint, card), "card")


st.title(say("Steer"))
st.markdown(say(words_steer.INTRO))
live()
