"""The page Open: attention of any model, from a file."""

from __future__ import annotations

import streamlit as st

from model.attention_file import MAX_NUMBERS, MAX_TOKENS, Attention, read_attention
from model.tokenizer import MARK
from viz.figures import mask_heatmap
from viz.language import message, say
from viz.screens import controls, explore, maps, recipes, shared, tokens, words
from viz.screens import words_open as spoken
from viz.screens.beside import Recipe
from viz.screens.code_lines import call
from viz.screens.recipes import MapCode

VIEWS = (message("Attention"), message("Lines"), message("Mask"))
MAX_MEGABYTES = 20


def open_uploaded() -> None:
    """Read the file that was just chosen; one that cannot be read leaves what was shown before."""
    uploaded = st.session_state["file"]
    st.session_state.pop("file-problem", None)
    if uploaded is None:  # so does a browser begin when one file takes the place of another
        return
    try:
        st.session_state["opened"] = uploaded.name, read_attention(uploaded)
    except ValueError as error:
        st.session_state["file-problem"] = uploaded.name, shared.sentence(error)


def close() -> None:
    """Forget the file."""
    st.session_state.pop("opened", None)


def choose_file() -> tuple[str, Attention] | None:
    """Ask for a file.

    Returns:
        Name and content of the last one that could be read, or None.
    """
    st.file_uploader(
        say("A file of attention (.npz)"),
        "npz",
        key="file",
        on_change=open_uploaded,
        max_upload_size=MAX_MEGABYTES,
        help=say(spoken.PRIVATE),
    )
    opened = st.session_state.get("opened")
    with controls.place():
        if "file-problem" in st.session_state:
            name, problem = st.session_state["file-problem"]
            told = [say("This file could not be read.")] + [say("Shown below: the one before.")] * (opened is not None)
            st.warning(" ".join(told))
            shared.small(f"{name}: {problem}", "problem")
    with st.expander(say("What a file holds, and how to make one"), expanded=opened is None):
        st.markdown(say(spoken.FORMAT, tokens=MAX_TOKENS, weights=MAX_NUMBERS))
        st.markdown(say(spoken.FROM_TRANSFORMERS))
        st.code(spoken.RECIPE, language="python")
        st.markdown(say(spoken.FROM_COMMANDS))
        st.code(spoken.COMMANDS, language="bash")
        st.markdown(say(spoken.FROM_ANY_TOOL))
        st.code(spoken.BY_HAND, language="python")
    return opened


def show(attention: Attention, name: str) -> None:
    """Let the visitor choose a kind, a head and a view, and draw it."""
    names = {kind: words.KINDS[kind].name for kind in attention.kinds}
    default = "cross" if "cross" in names else attention.kinds[0]
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kind = controls.choose(say("Attention"), attention.kinds, "kind", default, names)
        n_layers, n_heads = attention.attention(kind).shape[:2]
        place = st.container(horizontal=True, gap="medium", width="content")
    marked = any(token.startswith(MARK) for token in [*attention.source_tokens, *attention.target_tokens])
    options, named, stretch = controls.map_options(kind, bool(attention.predicted_tokens), marked)
    with place:
        layer = controls.choose(say("Layer"), list(range(n_layers)), "layer", 0, disabled="layers" in options.axes)
        head = controls.choose(say("Head"), list(range(n_heads)), "head", 0, disabled="heads" in options.axes)
    residual = attention.residual(kind)
    st.caption(spoken.sums(residual))
    built = explore.maps_of(attention, kind, options, named)
    recipe = Recipe(name, (f"result = {call('read_attention', name)}",))
    code = MapCode(built, kind, named, bool(attention.predicted_tokens))
    left, right = st.columns(2, gap="medium")
    with left:
        explore.show_overview(attention, built, layer, head, stretch, recipe, code, residual <= spoken.ROUNDING)
    with right:
        view = controls.choose(say("Show"), list(VIEWS), "view", VIEWS[0], label_visibility="collapsed")
        if view == "Lines":
            explore.show_lines(attention, built, kind, named, layer, recipe, code)
        elif view == "Mask":
            show_mask(attention, kind, named, recipe)
        else:
            explore.show_attention(attention, built, kind, named, layer, head, stretch, recipe, code)
    if controls.switch(say("Numbers as a table"), "tables", say(spoken.TABLE)):
        title = f"{say(words.KINDS[kind].title)}, {maps.title(built, layer, head)}"
        explore.show_table("weights", title, tokens.weight_table(built, layer, head))


def show_mask(attention: Attention, kind: str, named: str, recipe: Recipe) -> None:
    """Draw the mask of a kind, or say that the file has none."""
    if kind not in attention.masks:
        st.info(say(spoken.NO_MASK))
        return
    title = say("{kind}, mask", kind=say(words.KINDS[kind].title))
    explore.heading(title, say(spoken.MASK))
    queries, keys, _ = explore.axis_tokens(attention, kind, named)
    axes = {"query_axis": words.named_by(kind, named)[1], "key_axis": words.KINDS[kind].key_axis}
    figure = mask_heatmap(attention.mask(kind), queries, keys, **axes)
    figure.update_traces(showscale=False)  # the line above names the colours
    explore.draw(figure, "mask", about=recipes.mask(recipe, title, kind, named, **axes))


@st.fragment
def live() -> None:
    """The part that every choice redraws."""
    opened = choose_file()
    if opened is None:
        return
    name, attention = opened
    with st.container(horizontal=True, vertical_alignment="center"):
        shared.small(name, "file-name")
        st.button(say("Close this file"), key="close-file", on_click=close)
    show(attention, name)


def page() -> None:
    """Draw the page."""
    st.title(say("Open"))
    st.markdown(say(spoken.INTRODUCTION))
    live()


page()
