"""The controls of the pages; what is chosen is kept, and stands in the address (see viz/ui/choices.py).

All take a label, a key (in session and address), what is chosen at first, and further settings of the widget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from model.translation import KINDS
from viz.text import words
from viz.text.language import say
from viz.ui.choices import control
from viz.views import codes, view


def choose(label: str, options: list, key: str, default, names: dict | None = None, **more):
    """Let the visitor choose one of a few options; names are what they are called, in English."""
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


def among(label: str, options: list[str], key: str, default: str, names: dict | None = None, **more) -> str:
    """Let the visitor choose one of a list that opens, 200 pixels wide; names as for `choose`."""
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


def some(widget: Callable, label: str, options: list, default: list, key: str, **more) -> list:
    """Let the visitor choose some of many options, with a widget of Streamlit."""
    reader = codes.several_of(options, more.get("max_selections"))
    return control(widget, label, options, key=key, reader=reader, default=default, **more)


def switch(label: str, key: str, help: str, disabled: bool = False) -> bool:
    """Let the visitor turn something on or off."""
    return control(st.toggle, label, key=key, reader=codes.switch, default=False, help=help, disabled=disabled)


def slider(
    label: str, low: float, high: float, default: float, key: str, widget: Callable = st.slider, **more
) -> float:
    """Let the visitor choose a number of the type of both ends."""
    return control(widget, label, low, high, key=key, reader=codes.number(low, high), default=default, **more)


def steps(label: str, values: Sequence[float], default: float, key: str, **more) -> float:
    """Let the visitor choose one of at least two numbers on a slider."""
    return control(st.select_slider, label, values, key=key, reader=codes.one_of(values), default=default, **more)


def text(label: str, default: str, key: str, **more) -> str:
    """Let the visitor type a line."""
    return control(st.text_input, label, key=key, reader=str, default=default, **more)


def choose_head(
    counts: Callable[[str], tuple[int, int]], default: str, first: tuple[int, int] = (0, 0)
) -> tuple[str, int, int]:
    """Let the visitor choose a kind of attention, a layer and a head.

    Args:
        counts: of a kind, how many layers and heads there are.
        default: the kind at first.
        first: its layer and head at first.
    """
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        names = {kind: words.KINDS[kind].name for kind in KINDS}
        kind = choose(say("Attention"), list(KINDS), "kind", default, names)
        return kind, *choose_place(*counts(kind), first=first if kind == default else (0, 0))


def choose_place(n_layers: int, n_heads: int, first: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    """Let the visitor choose a layer and a head of so many."""
    layer = choose(say("Layer"), list(range(n_layers)), "layer", first[0])
    return layer, choose(say("Head"), list(range(n_heads)), "head", first[1])


def pick(label: str, names: list[str], key: str, **more) -> int:
    """Let the visitor pick one of many things by its number; it is a step on the way and not kept in the address.

    Where there is no longer such a thing, it is the first one.
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
    """
    state, kept = st.session_state, view.kept(st.session_state)
    if key == "text" and kept is not None and key not in state and key not in st.query_params:
        state[key] = kept.text  # what was translated on the page before
    typed = text(label, example, key, live="200ms", placeholder=say("Type a sentence to translate it"))
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        for number, (name, said) in enumerate(examples.items()):
            st.button(say(name), key=f"example-{number}", on_click=state.update, args=({key: said},))
    if key == "text":
        view.keep(state, replace(kept or view.View(), text=typed))
    return typed
