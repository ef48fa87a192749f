"""The page Your own model: attention of any model, from a file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from model.adapters.attention_file import MAX_NUMBERS, MAX_TOKENS, Attention, read_attention
from model.catalogue import available
from model.interventions.edits import Head
from model.measures import contribution
from model.translation import KINDS
from viz.app.turns import TURNS
from viz.stage import alone
from viz.stage.form import form
from viz.text import errors, words, words_heads
from viz.text import words_open as spoken
from viz.text.language import say
from viz.ui import choices, controls, heads_roles, shared, speaking, staged
from viz.views import cached, heads_results, recipes, view
from viz.views.made import Recipe, call

PAGE = "open_file"
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
    st.session_state.pop("opened", None)
    st.session_state.pop(NUMBERS, None)


def choose_file() -> tuple[str, Attention] | None:
    """Offer to open a file; the last one that could be read, its name and content, or None."""
    with st.popover(say("Open a file"), key="files"):
        st.markdown(say(spoken.INTRODUCTION))
        st.file_uploader(
            say("A file of attention (.npz)"),
            "npz",
            key="file",
            on_change=open_uploaded,
            max_upload_size=MAX_MEGABYTES,
            help=say(spoken.PRIVATE),
        )
        with st.expander(say("What a file holds, and how to make one")):
            st.markdown(say(spoken.FORMAT, tokens=MAX_TOKENS, weights=MAX_NUMBERS))
            st.markdown(say(spoken.FROM_TRANSFORMERS))
            st.code(spoken.RECIPE, language="python")
            st.markdown(say(spoken.FROM_COMMANDS))
            st.code(spoken.COMMANDS, language="bash")
            st.markdown(say(spoken.FROM_ANY_TOOL))
            st.code(spoken.BY_HAND, language="python")
    return st.session_state.get("opened")


def tell_problem(before: bool) -> None:
    if "file-problem" in st.session_state:
        name, problem = st.session_state["file-problem"]
        shared.warn(" ".join([f"{name}: {problem}"] + [shared.kept(before)] * before))


@cached.remembered(2, cached.TRANSLATING)
def example() -> tuple[cached.Request, Attention]:
    """What is open at first: what a shipped model attended to, as `python -m model trace` writes it."""
    ours = spoken.EXAMPLE_MODEL in available("transformer")
    texts = (spoken.EXAMPLE_MODEL, spoken.EXAMPLE) if ours else (cached.default_checkpoint(), view.EXAMPLE)
    request = cached.Request(*texts)
    result = cached.compute(request)
    weights, masks = ({kind: find(kind) for kind in KINDS} for find in (result.attention, result.mask))
    tokens = result.source_tokens, result.target_tokens
    return request, Attention(*tokens, weights, masks, result.predicted_tokens)


def choose_kind(attention: Attention) -> str:
    names = {kind: words.KINDS[kind].name for kind in attention.kinds}
    return controls.choose(say("Attention"), names, "kind", "cross" if "cross" in names else None)


def show_stage(attention: Attention, recipe: Recipe) -> None:
    state = st.session_state
    if state.get(staged.PAGE) != PAGE:
        state[staged.PAGE], state[staged.QUERY] = PAGE, st.query_params.to_dict()
    chosen, problems = view.read(state[staged.QUERY], [])
    choices.missed(problems)
    given = alone.of_attention(attention, chosen)
    made_by = staged.code(attention, given.built, recipe, replace(chosen, rows=given.rows))
    options = [one for one in form(chosen) if one["name"] != "rows" or attention.predicted_tokens]
    told = replace(given, options=options, code=made_by, address=speaking.address(chosen.address()))
    told = replace(told, effects=spoken.NO_EFFECTS)
    staged.put(told)
    for kind in attention.kinds:
        said = spoken.sums(attention.residual(kind), *attention.zero_rows(kind))
        shared.small(f"{say(words.KINDS[kind].name)}: {said}", f"sums-{kind}")


def show_roles(attention: Attention, recipe: Recipe) -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kind = choose_kind(attention)
        head = Head(kind, *controls.choose_place(*attention.attention(kind).shape[:2]))
    if attention.residual(kind) > spoken.WHOLE_ROWS:
        st.info(spoken.not_whole(attention.residual(kind)))
        return
    if kind == "decoder_self" and kind not in attention.masks:
        st.caption(say(spoken.EVERY_KEY))
    source = numbers(attention, kind)
    found = source.kinds[kind]
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


def numbers(attention: Attention, kind: str) -> heads_results.Source:
    """What the heads of a kind do; kept while the file is open."""
    known = st.session_state.setdefault(NUMBERS, {})
    if kind not in known or known[kind][0] is not attention:
        with st.spinner(say("Computing …")), TURNS.turn():
            known[kind] = attention, heads_results.of_weights(attention, [kind])
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
        heads_roles.show_rollout(attention, flows, recipe.then(f"flows = contribution.rollouts({given})"))


def followed(attention: Attention) -> tuple[list[str], dict[str, np.ndarray], str]:
    """Follow attention through both stacks, or the encoder alone: the kinds, the rollouts, and what is missing."""
    encoder = [kind for kind in attention.kinds if kind == "encoder_self"]
    if "decoder_self" in attention.kinds:
        tried, problem = [attention.kinds, encoder], ""
    else:
        tried, problem = [encoder], say(spoken.NO_DECODER) if "cross" in attention.kinds else ""
    for kinds in filter(None, tried):
        residual = max(map(attention.residual, kinds))
        if residual > spoken.WHOLE_ROWS:
            problem = problem or spoken.not_whole(residual)
            continue
        try:
            return kinds, contribution.rollouts({kind: attention.weights[kind] for kind in kinds}), problem
        except ValueError as error:
            problem = problem or errors.sentence(error)
    return [], {}, problem


SHOW = {spoken.MAPS: show_stage, spoken.ROLES: show_roles, spoken.ROLLOUT: show_rollout}


@choices.fragment
def live() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        part = controls.views(spoken.PARTS, "part")
        opened = choose_file()
        if opened is not None:
            st.button(say("Close this file"), key="close-file", on_click=close)
    tell_problem(opened is not None)
    if opened is not None:
        name, attention = opened
        recipe = Recipe(name, (f"result = {call('read_attention', name)}",))
    else:
        try:
            request, attention = example()
        except ValueError:  # there is no model: the other pages say so
            st.info(say(spoken.NOTHING_OPEN))
            return
        name = say(spoken.OF_EXAMPLE, model=request.checkpoint)
        recipe = recipes.translation(request)
    with st.container():
        SHOW[part](attention, recipe)
    shared.small(name, "file-name")


shared.opening(say("Your own model"), say(spoken.LINE))
live()
