"""What every page about one translation begins with: a sentence, how it is translated, and what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.catalogue import available, checkpoints_folder
from viz.text import errors, words
from viz.text.language import message, say
from viz.ui import controls, shared
from viz.views import cached, view
from viz.views.cached import Request
from viz.views.view import BEAM, LENGTH_PENALTY, View

EXAMPLE = next(iter(words.EXAMPLES.values()))
TRANSLATED = ("model", "text", "beam", "penalty", "mode", "reference")  # of an address: what, and how


def ask() -> Request:
    """Ask for a sentence, the model and how to search for the translation.

    The page begins with what was translated on the page before, unless the address says what.

    Raises:
        ValueError: if the model cannot be loaded.
    """
    state, kept = st.session_state, view.kept(st.session_state)
    default = cached.default_checkpoint()
    names = available("transformer") or [default]
    if kept is not None and "text" not in state and not any(name in st.query_params for name in TRANSLATED):
        state["text"], state["beam"], state["penalty"] = kept.text, kept.beam, kept.penalty
        state["model"] = kept.model if kept.model in names else default
        if kept.reference is not None:
            state["mode"], state["reference"] = words.FORCED, kept.reference
    first = st.container()
    name, beam, penalty, forced = _options(names, default)
    card = cached.translator(name).card
    with first:
        language = words.language(card.get("source"), "Source")
        text = controls.sentence(say("{language} sentence", language=language), EXAMPLE)
    reference = None
    with st.container():
        if forced:
            language = words.language(card.get("target"), message("Target"))
            hint = say("Type a translation for the model to read")
            label = say("{language} reference", language=language)
            reference = controls.text(label, "", "reference", live="200ms", placeholder=hint)
    before = view.kept(state) or View()
    model = "" if name == default else name
    if not model and before.model not in ("", *names):  # one that this page does not have
        model = before.model
    view.keep(state, replace(before, model=model, beam=beam, penalty=penalty, reference=reference))
    return Request(name, text, beam, penalty, reference)


def _options(names: list[str], default: str) -> tuple[str, int, float, bool]:
    """Let the visitor choose the model, the width of the beam, the length penalty, and whether a reference is read."""
    with st.expander(say("Translation options")), st.container(horizontal=True, gap="medium"):
        name = controls.among(say("Model"), names, "model", default)
        modes, help = [words.FREE, words.FORCED], say(words.DECODING)
        mode = controls.choose(say("Decoding"), modes, "mode", modes[0], help=help, on_change=_start_forcing)
        forced, label, beams = mode == words.FORCED, say("Beam width"), words.BEAMS
        beam = controls.choose(label, list(beams), "beam", BEAM, beams, help=say(words.SEARCH), disabled=forced)
        more = {"help": say(words.PENALTY), "disabled": forced or beam == 1, "width": 240, "step": 0.1}
        penalty = controls.slider(say("Length penalty"), 0.0, 2.0, LENGTH_PENALTY, "penalty", **more)
    return name, beam, penalty, forced


def _start_forcing() -> None:
    """Begin with the translation on the page as the reference: then it can be changed word by word."""
    state = st.session_state
    if state.get("mode") == words.FORCED and not state.get("reference"):
        state["reference"] = state.get("shown-text", "")


def show_translation(result: cached.Shown, request: Request) -> None:
    """Show the translation, how it came about, and how it ended where it did not end by itself."""
    st.session_state["shown-text"] = result.text
    with st.container(border=True, gap="xsmall"):
        shared.small(words.language(request.translator.card.get("target"), "Translation"), "language")
        shared.large(result.text or say("(the model wrote nothing)"), "translation")
        st.caption(words.how_decoded(request.beam, request.length_penalty, request.reference is not None))
        if not result.finished:
            st.caption(say("The translation stopped at the length limit."))


def no_model(error: ValueError) -> None:
    """Say that there is no model, why, and how to get one."""
    st.error(say("No translation model found."))
    folder = say("The folder is {folder}.", folder=checkpoints_folder())
    shared.small(f"{errors.sentence(error)} {folder}", "no-model")
    shared.small(say("To train one: python -m model train --help"), "train")


def one_translation(show: Callable[[cached.Shown, Request], None], beside: DeltaGenerator) -> None:
    """Ask for a sentence, translate it, and show it; one sentence where there is no model.

    Args:
        show: draws what the page is about, given the translation and what it is of.
        beside: where the sentence and the translation stand.
    """
    main = st.container()
    try:
        with beside:
            request = ask()
    except ValueError as error:
        with main:
            no_model(error)
        return
    with main, st.container():
        example = replace(request, text=EXAMPLE, reference=None)
        kept = shared.compute_or_keep("answered", request, cached.compute, lambda before: before or example)
        if kept is not None and kept[0] is not request:
            shared.small(kept[1].source, "shown")
    if kept is not None:
        shown, result = kept
        with beside:
            show_translation(result, shown)
        with main:
            show(result, shown)
    with beside:
        shared.small(words.describe_card(request.checkpoint, request.translator.card), "card")
