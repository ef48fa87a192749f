"""The page Steer: change a word, an attention or a mask of one sentence, and see the translation answer."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from model import analysis
from model.edits import Edits
from model.translator import available, checkpoints_folder
from viz.screens import controls, shared, steer_edits, steer_search, words, words_steer
from viz.screens.steer_results import ANSWERED, Request, effect, read_prefix, steer

EXAMPLE = next(iter(words.EXAMPLES.values()))


def ask() -> Request:
    """Ask for a sentence, the model, how to search, and what is changed.

    Raises:
        ValueError: if the model cannot be loaded.
    """
    first, second = st.container(), st.container()
    default = shared.default_checkpoint()
    with second:
        names = available("transformer") or [default]
        name, beam, penalty, _ = controls.translation_options(names, default, forcing=False)
    card = shared.translator(name).card
    with first:
        text = controls.sentence(f"{words.language(card.get('source'), 'Source')} sentence", EXAMPLE)
    start_anew(name, text)
    with st.expander("The changes as text"):
        st.caption(words_steer.TEXT_LINE)
        prefix = st.text_input("Locked beginning (token ids)", key="prefix", bind="query-params")
        edits = st.text_input("Edits", key="edits", bind="query-params")
    return Request(name, text, beam, penalty, (prefix or "").strip(), (edits or "").strip())


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
    example = Request(request.checkpoint, EXAMPLE, request.beam, request.length_penalty)
    others = {
        "the last result": st.session_state.get(ANSWERED),
        "the sentence without changes": request.plain,
        "the example": example,
    }
    for name, other in others.items():
        if other is None:
            continue
        try:
            result = steer(other)
        except ValueError:
            continue
        st.warning(f"{problem} Shown below: {name}.")
        shared.small(result.source, "shown")
        st.session_state[ANSWERED] = other
        return other, result
    st.warning(problem)
    return None


def show_translations(request: Request, result: shared.Shown, card: dict) -> None:
    """Show the translation and, where something is changed, what the model wrote without the changes."""
    old = steer(request.plain)
    with st.container(border=True, gap="xsmall"):
        shared.small(words.language(card.get("target"), "Translation"), "language")
        shared.large(result.text or "(the model wrote nothing)", "translation")
        st.caption(words.how_decoded(request.beam, request.length_penalty, forced=False))
        if not result.finished:
            st.caption("The translation was stopped at the length limit.")
        if request.is_plain:
            st.caption(words_steer.NOTHING)
            return
        shared.small(f"Before: {old.text or '(nothing)'}", "before")
        st.caption(words_steer.changes(len(read_prefix(request.prefix)), Edits.from_code(request.edits)))
        pairs = analysis.align(old.text.split(), result.text.split())
        if old.text == result.text:
            st.caption(words_steer.SAME)
        elif pairs:
            st.caption(words_steer.DIFFERENCE)
            st.dataframe(difference(pairs), key="difference")
        show_numbers(request, old, result)
        st.button(words_steer.RESET, key="reset", on_click=drop_changes)


def difference(pairs: list[tuple[str, str]]) -> pd.DataFrame:
    """Aligned words: a row before, a row after, and a row that says what became of them."""
    fates = ["" if a == b else "new" if not a else "gone" if not b else "changed" for a, b in pairs]
    rows = {"before": [a for a, _ in pairs], "after": [b for _, b in pairs], "": fates}
    return pd.DataFrame.from_dict(rows, orient="index", columns=[str(place + 1) for place in range(len(pairs))])


def show_numbers(request: Request, old: shared.Shown, result: shared.Shown) -> None:
    """Show how probable both translations are."""
    with st.container(horizontal=True, gap="large"):
        st.metric("Log-probability of what is written now", f"{result.log_probabilities.sum():.3f}")
        st.metric("Of the old translation, unchanged model", f"{old.log_probabilities.sum():.3f}")
        if request.edits:
            st.metric("Of the old translation, edited model", f"{effect(request).after.sum():.3f}")


@st.fragment
def live() -> None:
    """The part that every choice redraws."""
    try:
        asked = ask()
    except ValueError as error:
        st.error("There is no model to translate with.")
        shared.small(f"{shared.sentence(error)} The folder is {checkpoints_folder()}.", "no-model")
        return
    card = shared.translator(asked.checkpoint).card
    answered = answer(asked)
    if answered is not None:
        request, result = answered
        show_translations(request, result, card)
        view = controls.choose("Change", list(words_steer.VIEWS), "steer", words_steer.WORD, words_steer.VIEWS)
        views = {
            words_steer.WORD: steer_search.show_candidates,
            words_steer.TREE: steer_search.show_tree,
            words_steer.FORCE: steer_edits.show_force,
            words_steer.MASK: steer_edits.show_mask,
        }
        views[view](request, result)
    shared.small(words.describe_card(asked.checkpoint, card), "card")


st.title("Steer")
st.markdown(words_steer.INTRO)
live()
