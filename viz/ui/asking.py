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
from viz.views.codes import code
from viz.views.view import View

EXAMPLE = next(iter(words.EXAMPLES.values()))
TRANSLATED = ("model", "text", "beam", "penalty", "mode", "reference")  # of an address: what, and how
ADDRESSED = (*TRANSLATED, "edits", "prefix", "kind", "layer", "head")


def ask(forcing: bool = True) -> tuple[cached.Request, dict]:
    """Ask for a sentence, the model and how to search for the translation.

    Args:
        forcing: whether a reference can be read instead.

    Returns:
        What is asked for, and the card of its model.

    Raises:
        ValueError: if the model cannot be loaded.
    """
    first, second = st.container(), st.container()
    default = cached.default_checkpoint()
    names = available("transformer") or [default]
    recall(names, default, forcing)
    with second:
        name, beam, penalty, forced = controls.translation_options(names, default, forcing)
    card = cached.translator(name).card
    with first:
        language = words.language(card.get("source"), "Source")
        text = controls.sentence(say("{language} sentence", language=language), EXAMPLE)
    reference = None
    with st.container():
        if forced:
            language = words.language(card.get("target"), message("Target"))
            reference = controls.reference(say("{language} reference", language=language))
    request = cached.Request(name, text, beam, penalty, reference)
    remember(request, names, default, forcing)
    return request, card


def recall(names: list[str], default: str, forcing: bool = True) -> None:
    """Begin with what was translated on the page before, unless the address or this page says what; before controls.

    Args:
        names: of the checkpoints that the page has.
        default: the one at first.
        forcing: whether it can read a reference.
    """
    state, kept = st.session_state, view.kept(st.session_state)
    if kept is None or "text" in state or any(name in st.query_params for name in TRANSLATED):
        return
    state["text"], state["beam"], state["penalty"] = kept.text, kept.beam, kept.penalty
    state["model"] = kept.model if kept.model in names else default
    if forcing and kept.reference is not None:
        state["mode"], state["reference"] = words.FORCED, kept.reference


def remember(request: cached.Request, names: list[str], default: str, forcing: bool = True) -> None:
    """Keep how it is translated for the next page (controls.sentence keeps what); arguments as of `recall`."""
    before = view.kept(st.session_state) or View()
    model = "" if request.checkpoint == default else request.checkpoint
    if not model and before.model not in ("", *names):  # one that this page does not have
        model = before.model
    reference = request.reference if forcing else before.reference
    chosen = {"beam": request.beam, "penalty": request.length_penalty, "reference": reference}
    view.keep(st.session_state, replace(before, model=model, **chosen))


def in_address(request: cached.Request, edits: str, prefix: str) -> dict[str, str]:
    """The codes of what is translated and changed and of the chosen head (ADDRESSED), without those of defaults."""
    default = {"model": cached.default_checkpoint(), "text": EXAMPLE, "beam": controls.BEAM, "mode": words.FREE}
    default |= {"penalty": cached.LENGTH_PENALTY, "kind": "cross", "layer": 0, "head": 0}
    asked = {"model": request.checkpoint, "text": request.text, "beam": request.beam, "penalty": request.length_penalty}
    asked |= {"mode": words.FREE if request.reference is None else words.FORCED, "reference": request.reference or ""}
    asked |= {"edits": edits, "prefix": prefix}
    for name in ("kind", "layer", "head"):
        # Where the page has no such control now, its address may still have the choice.
        asked[name] = st.session_state.get(name, st.query_params.get(name, default[name]))
    return {name: code(value) for name, value in asked.items() if code(value) != code(default.get(name, ""))}


def answer(request: cached.Request) -> tuple[cached.Shown, cached.Request] | None:
    """Translate; what cannot be translated is told in a sentence, and the last result stays.

    Args:
        request: what the visitor wants.

    Returns:
        The translation and what it is of, the ones before, or None if there is none at all.
    """
    kept = shared.compute_or_keep(
        "answered", request, cached.compute, lambda before: before or replace(request, text=EXAMPLE, reference=None)
    )
    if kept is None:
        return None
    shown, result = kept
    if shown is not request:
        shared.small(result.source, "shown")
    return result, shown


def show_translation(result: cached.Shown, request: cached.Request, card: dict) -> None:
    """Show the translation, how it came about, and how it ended where it did not end by itself."""
    st.session_state["shown-text"] = result.text
    with st.container(border=True, gap="xsmall"):
        shared.small(words.language(card.get("target"), "Translation"), "language")
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


def one_translation(
    show: Callable[[cached.Shown, cached.Request, dict], None], beside: DeltaGenerator | None = None
) -> None:
    """Ask for a sentence, translate it, and show it; one sentence where there is no model.

    Args:
        show: draws what the page is about: given the translation, what it is of, and the card of its model.
        beside: where the sentence and the translation stand; above what is shown where there is no such place.
    """
    main = st.container()
    try:
        with beside or main:
            request, card = ask()
    except ValueError as error:
        with main:
            no_model(error)
        return
    with main, st.container():
        answered = answer(request)
    if answered is not None:
        with beside or main:
            show_translation(*answered, card)
        with main:
            show(*answered, card)
    with beside or main:
        shared.small(words.describe_card(request.checkpoint, card), "card")
