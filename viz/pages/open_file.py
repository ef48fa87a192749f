"""The page Your own model: attention of any model, from a file."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.adapters.attention_file import MAX_NUMBERS, MAX_TOKENS, Attention, read_attention
from model.analysis import maps as analysis
from model.interventions.edits import Head
from model.measures import contribution
from viz.app.turns import TURNS
from viz.text import errors, words, words_heads
from viz.text import words_open as spoken
from viz.text.language import message, say
from viz.ui import choices, controls, explore, heads_roles, rollout, shared, tokens
from viz.views import heads_results, maps, recipes
from viz.views.made import Recipe, call
from viz.views.recipes import MapsMade

VIEWS = {"map": message("Attention"), "lines": message("Lines"), "mask": message("Mask")}
MAX_MEGABYTES = 20
NUMBERS = "opened-numbers"  # where the session keeps what the heads of the file do


def open_uploaded() -> None:
    """Read the file that was just chosen; one that cannot be read leaves what was shown before."""
    uploaded = st.session_state["file"]
    st.session_state.pop("file-problem", None)
    if uploaded is None:  # so does a browser begin when one file takes the place of another
        return
    try:
        st.session_state["opened"] = uploaded.name, read_attention(uploaded)
    except ValueError as error:
        st.session_state["file-problem"] = uploaded.name, errors.sentence(error)


def close() -> None:
    """Forget the file."""
    st.session_state.pop("opened", None)
    st.session_state.pop(NUMBERS, None)


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
    with st.container():
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
    """Draw the chosen part of the page."""
    part = controls.choose(say("Look at"), list(SHOW), "part", spoken.MAPS, spoken.PARTS)
    recipe = Recipe(name, (f"result = {call('read_attention', name)}",))
    with st.container():
        SHOW[part](attention, recipe)


def choose_kind(attention: Attention) -> str:
    """Let the visitor choose one of the kinds of attention there are."""
    names = {kind: words.KINDS[kind].name for kind in attention.kinds}
    default = "cross" if "cross" in names else attention.kinds[0]
    return controls.choose(say("Attention"), attention.kinds, "kind", default, names)


def show_maps(attention: Attention, recipe: Recipe) -> None:
    """Let the visitor choose a kind, a head and a view, and draw it."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kind = choose_kind(attention)
        place = st.container(horizontal=True, gap="medium", width="content")
    marked = analysis.word_mark([*attention.source_tokens, *attention.target_tokens]) is not None
    options, named, stretch = controls.map_options(kind, bool(attention.predicted_tokens), marked)
    with place:
        layer, head = controls.choose_place(*attention.attention(kind).shape[:2], options.axes)
    residual, (zeros, total) = attention.residual(kind), attention.zero_rows(kind)
    st.caption(spoken.sums(residual, zeros, total))
    whole = residual <= spoken.WHOLE_ROWS and not zeros
    built = explore.maps_of(attention, kind, options, named)
    drawn = MapsMade(recipe, attention, built, kind, named)
    left, right = st.columns(2, gap="medium")
    with left:
        explore.show_overview(drawn, layer, head, stretch, whole)
    with right:
        view = controls.choose(say("Show"), list(VIEWS), "view", "map", VIEWS, label_visibility="collapsed")
        if view == "lines":
            explore.show_lines(drawn, layer)
        elif view == "mask":
            show_mask(attention, kind, named, recipe)
        else:
            explore.show_attention(drawn, layer, head, stretch)
    if controls.switch(say("Numbers as a table"), "tables", say(spoken.TABLE)):
        title = f"{say(words.KINDS[kind].title)}, {maps.title(built, layer, head)}"
        explore.show_table("weights", title, tokens.weight_table(built, layer, head))


def show_roles(attention: Attention, recipe: Recipe) -> None:
    """Draw what the heads of a kind do, the numbers of one, and which look alike."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kind = choose_kind(attention)
        head = Head(kind, *controls.choose_place(*attention.attention(kind).shape[:2]))
    if attention.residual(kind) > spoken.WHOLE_ROWS:
        st.info(spoken.no_roles(attention.residual(kind)))
        return
    if kind == "decoder_self" and kind not in attention.masks:
        st.caption(say(spoken.EVERY_KEY))
    found = numbers(attention, kind)
    source = heads_roles.of_weights(attention, {kind: found})
    heads_roles.show_board(source, [kind], words_heads.SHARPNESS, head, recipe)
    st.caption(say(words_heads.ROLE))
    heads_roles.show_card(head, {say("this sentence"): source})
    left, right = st.columns(2, gap="medium")
    with left:
        heads_roles.show_alike(found, head, recipe, f"head_roles.divergences(result.attention({kind!r}))")
    with right:
        heads_roles.show_here(head, attention, recipe)
    with st.expander(say("All heads of this kind as a table")):
        heads_roles.show_table(found, kind)


def numbers(attention: Attention, kind: str) -> heads_results.Numbers:
    """What the heads of a kind do; kept while the file is open."""
    known = st.session_state.setdefault(NUMBERS, {})
    if kind not in known or known[kind][0] is not attention:
        with st.spinner(say("Counting what the heads do …")), TURNS.turn():
            known[kind] = attention, heads_results.of_sentence(attention, kind)
    return known[kind][1]


def show_rollout(attention: Attention, recipe: Recipe) -> None:
    """Follow attention through all layers, and say what is missing where that cannot be done."""
    kinds, flows, problem = followed(attention)
    with st.container():
        if problem:
            st.info(problem)
    if flows:
        given = "result.weights"
        if kinds != attention.kinds:
            given = f"{{kind: result.weights[kind] for kind in {kinds!r}}}"
        rollout.show(attention, flows, recipe.then(f"flows = contribution.rollouts({given})"))


def followed(attention: Attention) -> tuple[list[str], dict[str, np.ndarray], str]:
    """Follow attention through both stacks, or through the encoder where the decoder's maps do not allow more.

    Args:
        attention: of any model.

    Returns:
        The kinds of which it is followed, the rollouts, and a sentence on what is missing, or "".
    """
    encoder = [kind for kind in attention.kinds if kind == "encoder_self"]
    if "decoder_self" in attention.kinds:
        tried, problem = [attention.kinds, encoder], ""
    else:
        tried, problem = [encoder], say(spoken.NO_DECODER) if "cross" in attention.kinds else ""
    for kinds in filter(None, tried):
        residual = max(map(attention.residual, kinds))
        try:
            if residual > spoken.WHOLE_ROWS:
                raise ValueError(spoken.no_rollout(residual))
            return kinds, contribution.rollouts({kind: attention.weights[kind] for kind in kinds}), problem
        except ValueError as error:
            problem = problem or errors.sentence(error)
    return [], {}, problem


SHOW = {spoken.MAPS: show_maps, spoken.ROLES: show_roles, spoken.ROLLOUT: show_rollout}


def show_mask(attention: Attention, kind: str, named: str, recipe: Recipe) -> None:
    """Draw the mask of a kind, or say that the file has none."""
    if kind not in attention.masks:
        st.info(say(spoken.NO_MASK))
        return
    title = say("{kind}, mask", kind=say(words.KINDS[kind].title))
    explore.heading(title, say(spoken.MASK))
    axes = {"query_axis": words.named_by(kind, named)[1], "key_axis": words.KINDS[kind].key_axis}
    axes["legend"] = False  # the line above names the colours
    explore.draw(recipes.mask(recipe, title, attention, kind, named, **axes), "mask")


@choices.fragment
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
    st.title(say("Your own model"))
    st.markdown(say(spoken.INTRODUCTION))
    live()


page()
