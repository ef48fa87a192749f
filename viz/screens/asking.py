"""What every page about one translation begins with: a sentence, how it is translated, and what came out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from model.catalogue import available, checkpoints_folder
from viz.language import message, say
from viz.screens import controls, shared, words, words_steer

EXAMPLE = next(iter(words.EXAMPLES.values()))
ADDRESSED = ("model", "text", "beam", "penalty", "mode", "reference", "edits", "prefix", "kind", "layer", "head")


def ask(forcing: bool = True) -> tuple[controls.Request, dict]:
    """Ask for a sentence, the model and how to search for the translation.

    Args:
        forcing: whether a reference can be read instead.

    Returns:
        What is asked for, and the card of its model.

    Raises:
        ValueError: if the model cannot be loaded.
    """
    first, second = st.container(), st.container()
    default = shared.default_checkpoint()
    with second:
        names = available("transformer") or [default]
        name, beam, penalty, forced = controls.translation_options(names, default, forcing)
    card = shared.translator(name).card
    with first:
        language = words.language(card.get("source"), "Source")
        text = controls.sentence(say("{language} sentence", language=language), EXAMPLE)
    reference = None
    with controls.place():
        if forced:
            language = words.language(card.get("target"), message("Target"))
            reference = controls.reference(say("{language} reference", language=language))
    return controls.Request(name, text, beam, penalty, reference), card


def changes() -> tuple[str, str]:
    """Ask for the changes as they stand in the address; return the codes of the locked beginning and of the edits."""
    with st.expander(say("The changes as text")):
        st.caption(say(words_steer.TEXT_LINE))
        prefix = st.text_input(say("Locked beginning (token ids)"), key="prefix", bind="query-params")
        edits = st.text_input(say("Edits"), key="edits", bind="query-params")
    return (prefix or "").strip(), (edits or "").strip()


def in_address(request: controls.Request, edits: str, prefix: str) -> dict[str, str]:
    """What is translated and changed, and the chosen head, as the pages keep them in their addresses (ADDRESSED)."""
    asked = {
        "model": request.checkpoint,
        "text": request.text,
        "beam": say(controls.BEAMS[request.beam]),
        "penalty": f"{request.length_penalty:g}",
        "edits": edits,
        "prefix": prefix,
    }
    if request.reference is not None:
        asked |= {"mode": say(words.FORCED), "reference": request.reference}
    chosen = {name: st.session_state.get(name) for name in ("kind", "layer", "head")}
    asked |= {name: str(value) for name, value in chosen.items() if value is not None}
    if "kind" in asked:
        asked["kind"] = say(words.KINDS[asked["kind"]].name)
    # Where the page has no such control now, its address may still have the choice.
    asked = {name: st.query_params[name] for name in chosen if name in st.query_params} | asked
    return {name: value for name, value in asked.items() if value}


def without_usual(query: dict[str, str]) -> dict[str, str]:
    """The same without what pages show anyway: the browser takes it out of an address, as one more step to go back."""
    plain = controls.Request(shared.default_checkpoint(), EXAMPLE, controls.BEAM, shared.LENGTH_PENALTY)
    usual = in_address(plain, "", "") | {"kind": say(words.KINDS["cross"].name), "layer": "0", "head": "0"}
    return {name: value for name, value in query.items() if value != usual.get(name)}


def compute(request: controls.Request) -> shared.Shown:
    """Translate, or read the reference where there is one; errors as there."""
    if request.reference is not None:
        return shared.force(request.checkpoint, request.text, request.reference)
    return shared.translate(request.checkpoint, request.text, request.beam, request.length_penalty)


def answer(request: controls.Request) -> tuple[shared.Shown, controls.Request] | None:
    """Translate; what cannot be translated is told in a sentence, and the last result stays.

    Args:
        request: what the visitor wants.

    Returns:
        The translation and what it is of, the ones before, or None if there is none at all.
    """
    kept = shared.compute_or_keep(
        "answered", request, compute, lambda before: before or replace(request, text=EXAMPLE, reference=None)
    )
    if kept is None:
        return None
    shown, result = kept
    if shown is not request:
        shared.small(result.source, "shown")
    return result, shown


def show_translation(result: shared.Shown, request: controls.Request, card: dict) -> None:
    """Show the translation, how it came about, and how it ended where it did not end by itself."""
    st.session_state["shown-text"] = result.text
    with st.container(border=True, gap="xsmall"):
        shared.small(words.language(card.get("target"), "Translation"), "language")
        shared.large(result.text or say("(the model wrote nothing)"), "translation")
        st.caption(words.how_decoded(request.beam, request.length_penalty, request.reference is not None))
        if not result.finished:
            st.caption(say("The translation was stopped at the length limit."))


def no_model(error: ValueError) -> None:
    """Say that there is no model, why, and how to get one."""
    st.error(say("There is no model to translate with."))
    folder = say("The folder is {folder}.", folder=checkpoints_folder())
    shared.small(f"{shared.sentence(error)} {folder}", "no-model")
    shared.small(say("To train one: python -m model train --help"), "train")


def one_translation(show: Callable[[shared.Shown, controls.Request, dict], None]) -> None:
    """Ask for a sentence, translate it, and show it; one sentence where there is no model.

    Args:
        show: draws what the page is about, below the translation: given the translation, what it is of, and the card
            of its model.
    """
    try:
        request, card = ask()
    except ValueError as error:
        no_model(error)
        return
    with controls.place():
        answered = answer(request)
    if answered is not None:
        show_translation(*answered, card)
        show(*answered, card)
    shared.small(words.describe_card(request.checkpoint, card), "card")
