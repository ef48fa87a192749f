"""The controls of the pages; what is chosen is kept, and stands in the address (see viz/ui/choices.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from model.translation import KINDS
from viz.text import words
from viz.text.language import say
from viz.ui.choices import control
from viz.views import cached, codes, view

BEAM = 4  # at first


def choose(label: str, options: list, key: str, default, names: dict | None = None, **more):
    """Let the visitor choose one of a few options.

    Args:
        label: over the options.
        options: what can be chosen.
        key: in the session and in the address.
        default: the option chosen at first.
        names: what the options are called, in English.
        more: further settings of the control.

    Returns:
        The chosen option.
    """
    return control(
        st.segmented_control,
        label,
        options,
        key=key,
        reader=codes.one_of(options),
        default=default,
        required=True,
        format_func=lambda option: say(names[option] if names else str(option)),
        wrap=True,
        **more,
    )


def switch(label: str, key: str, help: str, disabled: bool = False) -> bool:
    """Let the visitor turn something on or off."""
    return control(st.toggle, label, key=key, reader=codes.switch, default=False, help=help, disabled=disabled)


def slider(
    label: str, low: float, high: float, default: float, key: str, widget: Callable = st.slider, **more
) -> float:
    """Let the visitor choose a number.

    Args:
        label: over the slider.
        low, high: its ends, both whole numbers or neither.
        default: the number at first.
        key: in the session and in the address.
        widget: another one of Streamlit for a number.
        more: further settings of the control.

    Returns:
        The number, of the type of the ends.
    """
    return control(widget, label, low, high, key=key, reader=codes.number(low, high), default=default, **more)


def steps(label: str, values: Sequence[float], default: float, key: str, **more) -> float:
    """Let the visitor choose one of some numbers on a slider.

    Args:
        label: over the slider.
        values: that can be chosen, in order; at least two.
        default: the one chosen at first.
        key: in the session and in the address.
        more: further settings of the control.

    Returns:
        The number.
    """
    return control(st.select_slider, label, values, key=key, reader=codes.one_of(values), default=default, **more)


def some(widget: Callable, label: str, options: list, default: list, key: str, **more) -> list:
    """Let the visitor choose some of many options; arguments as of `choose`, the widget as of `control`."""
    reader = codes.several_of(options, more.get("max_selections"))
    return control(widget, label, options, key=key, reader=reader, default=default, **more)


def text(label: str, default: str, key: str, **more) -> str:
    """Let the visitor type a line; arguments as of `choose`."""
    return control(st.text_input, label, key=key, reader=str, default=default, **more)


def choose_head(
    counts: Callable[[str], tuple[int, int]], default: str, first: tuple[int, int] = (0, 0)
) -> tuple[str, int, int]:
    """Let the visitor choose a kind of attention, a layer and a head.

    Args:
        counts: of a kind, how many layers and heads there are.
        default: the kind at first.
        first: its layer and head at first.

    Returns:
        Kind, layer and head.
    """
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        names = {kind: words.KINDS[kind].name for kind in KINDS}
        kind = choose(say("Attention"), list(KINDS), "kind", default, names)
        layer, head = choose_place(*counts(kind), first=first if kind == default else (0, 0))
    return kind, layer, head


def choose_place(n_layers: int, n_heads: int, first: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """Let the visitor choose a layer and a head.

    Args:
        n_layers, n_heads: how many there are.
        first: those chosen at first.

    Returns:
        Layer and head.
    """
    layer = choose(say("Layer"), list(range(n_layers)), "layer", first[0])
    head = choose(say("Head"), list(range(n_heads)), "head", first[1])
    return layer, head


def among(label: str, options: list[str], key: str, default: str, names: dict | None = None, **more) -> str:
    """Let the visitor choose one of a list that opens, 200 pixels wide; arguments as of `choose`."""
    return control(
        st.selectbox,
        label,
        options,
        key=key,
        reader=codes.one_of(options),
        default=default,
        format_func=lambda option: say(names[option]) if names else option,
        **{"width": 200, **more},
    )


def pick(label: str, names: list[str], key: str, **more) -> int:
    """Let the visitor pick one of many things by its number; it is a step on the way and not kept in the address.

    Args:
        label: over the list.
        names: of the things, plain text.
        key: in the session.
        more: further settings of the control.

    Returns:
        The number of the chosen one; the first where there is no longer such a one.
    """
    if st.session_state.get(key, 0) not in range(len(names)):
        st.session_state[key] = 0
    return st.selectbox(label, range(len(names)), format_func=names.__getitem__, key=key, **more) or 0


def sentence(label: str, example: str, key: str = "text", examples: dict[str, str] = words.EXAMPLES) -> str:
    """Ask for a sentence; examples are one click away, and what is typed is translated while it is typed.

    Args:
        label: over the field.
        example: the first sentence.
        key: in the session and in the address.
        examples: sentences by the name of their button, in English.

    Returns:
        What stands there.
    """
    hint = say("Type a sentence to translate it")
    kept = view.kept(st.session_state)
    if key == "text" and kept is not None and key not in st.session_state and key not in st.query_params:
        st.session_state[key] = kept.text  # what was translated on the page before
    typed = text(label, example, key, live="200ms", placeholder=hint)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        for number, (name, words_of_it) in enumerate(examples.items()):
            st.button(say(name), key=f"example-{number}", on_click=_put, args=(key, words_of_it))
    if key == "text":
        view.keep(st.session_state, replace(kept or view.View(), text=typed))
    return typed


def _put(key: str, value: str) -> None:
    st.session_state[key] = value


def _start_forcing() -> None:
    """Begin with the translation on the page as the reference: then it can be changed word by word."""
    if st.session_state.get("mode") == words.FORCED and not st.session_state.get("reference"):
        st.session_state["reference"] = st.session_state.get("shown-text", "")


def translation_options(names: list[str], default: str, forcing: bool = True) -> tuple[str, int, float, bool]:
    """Let the visitor choose the model and how it decodes.

    Args:
        names: of the checkpoints.
        default: the one that is chosen at first.
        forcing: whether a reference can be read instead.

    Returns:
        Checkpoint, beam width, length penalty, and whether a reference is read.
    """
    with st.expander(say("Translation options")), st.container(horizontal=True, gap="medium"):
        name = among(say("Model"), names, "model", default)
        forced = False
        if forcing:
            modes = [words.FREE, words.FORCED]
            mode = choose(
                say("Decoding"), modes, "mode", words.FREE, help=say(words.DECODING), on_change=_start_forcing
            )
            forced = mode == words.FORCED
        beam = choose(
            say("Beam width"), list(words.BEAMS), "beam", BEAM, words.BEAMS, help=say(words.SEARCH), disabled=forced
        )
        penalty = slider(
            say("Length penalty"),
            0.0,
            2.0,
            cached.LENGTH_PENALTY,
            step=0.1,
            key="penalty",
            help=say(words.PENALTY),
            disabled=forced or beam == 1,
            width=240,
        )
    return name, beam, penalty, forced


def reference(label: str) -> str:
    """Ask for the translation for the decoder to read."""
    hint = say("Type a translation for the model to read")
    return text(label, "", "reference", live="200ms", placeholder=hint)
