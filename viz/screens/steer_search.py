"""The search on the page Steer: write another word at a step, and see everything the search looked at."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from viz.figures import search_tree
from viz.figures.clicks import make_clickable, outline
from viz.figures.tree import column_width
from viz.language import say
from viz.screens import controls, explore, recipes, shared, words_steer
from viz.screens.steer_results import ANSWERED, Request, prefix_code, read_prefix, recipe, steer, tree
from viz.views.made import made

STEPS_AT_ONCE = 30  # rows of a tree; more are slow to draw


def show_candidates(request: Request, result: shared.Shown) -> None:
    """Draw what could have been written at every step; a click writes it."""
    explore.heading(say("Write another word"), say(words_steer.CANDIDATES))
    written = result.predicted_tokens
    plot = recipes.candidates(recipe(request), say("What could be written at every step"), result)
    figure = plot.draw(say)
    make_clickable(figure, say("click to write it"))
    locked = read_prefix(request.prefix)
    outline(
        figure,
        [(step, ids.index(locked[step])) for step, ids in _locked(result, locked) if locked[step] in ids],
        say("locked"),
    )
    explore.draw(plot, "words", explore.CANDIDATE_WIDTH, write, figure)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        names = [words_steer.step_name(step, written) for step in range(len(written))]
        step = controls.pick(say("Step"), names, "word-step", width=220)
        others = [f"{name} ({p:.1%})" for name, p in result.candidates[step]]
        rank = controls.pick(say("Word to write there"), others, "word-rank", width=260)
        st.button(say("Write it"), key="word-write", on_click=write, args=(step, rank))
        st.button(say("Unlock the beginning"), key="unlock", on_click=unlock, disabled=not locked)


def _locked(result: shared.Shown, locked: list[int]) -> list[tuple[int, list[int]]]:
    return list(enumerate(result.candidate_ids))[: len(locked)]


def write(step: int, rank: int) -> None:
    """Lock what stands before a step and a candidate at it.

    Args:
        step: of the translation that is shown.
        rank: of the candidate, the most probable first.
    """
    shown = steer(st.session_state[ANSWERED])
    lock([*shown.predicted_ids[:step], shown.candidate_ids[step][rank]])


def lock(ids: list[int]) -> None:
    """Make the translation begin with these tokens."""
    st.session_state["prefix"] = prefix_code(ids)


def unlock() -> None:
    """Let the translation begin as it likes."""
    st.session_state["prefix"] = ""


def show_tree(request: Request, result: shared.Shown) -> None:
    """Draw the tree of the search and rank what ended."""
    title = say("Everything the search looked at")
    explore.heading(title, say(words_steer.TREE_LINE))
    found = tree(request)
    nodes = found.search.tree
    with st.container(horizontal=True, gap="large"):
        penalty = controls.slider(
            say("Length penalty of the ranking"),
            0.0,
            2.0,
            request.length_penalty,
            step=0.1,
            key="rescore",
            help=say(words_steer.RESCORE),
            width=280,
        )
        deepest = len(nodes.path(len(nodes.token) - 1))  # a step adds its nodes after those of the step before
        steps = None
        if deepest > STEPS_AT_ONCE:
            last = deepest - STEPS_AT_ONCE
            first = controls.slider(say("First row that is drawn"), 0, last, 0, key="first", width=280)
            steps = (first, first + STEPS_AT_ONCE)
    ranked = found.search.rescored(penalty).hypotheses
    edits = ", edits" if request.edits else ""
    lines = ("nodes = result.search.tree", f"ranked = result.search.rescored({penalty!r}).hypotheses")
    plot = (
        recipe(request)
        .then(*lines)
        .plot(
            title,
            search_tree,
            made(np.array(nodes.log_probability), "np.array(nodes.log_probability)"),
            made(nodes.parent, "nodes.parent"),
            made(found.tokens, "translator.tokenizer.target.tokens(nodes.token)"),
            made(nodes.fate, "nodes.fate"),
            scores=made({one.node: one.score for one in ranked}, "{one.node: one.score for one in ranked}"),
            looked_at=made(found.looked_at, f"looked_at(translator, result.source, nodes{edits})"),
            keys=made(found.keys, "result.source_tokens"),
            steps=steps,
        )
    )
    explore.draw(plot, "tree", column_width(found.tokens), _lock_clicked)
    st.markdown(say("**Ranking of what ended**"))
    table = pd.DataFrame(
        {
            say("score"): [one.score for one in ranked],
            say("log-probability"): [one.log_probability for one in ranked],
            say("tokens"): [len(one.ids) + one.finished for one in ranked],
            say("translation"): [found.texts[one.node] for one in ranked],
        },
        index=range(1, len(ranked) + 1),
    )
    st.dataframe(table, key="ranking")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        names = [f"{place + 1}: {found.texts[one.node]}" for place, one in enumerate(ranked)]
        place = controls.pick(say("Translation"), names, "ranked", width=420)
        st.button(say("Lock this one"), key="lock-ranked", on_click=lock, args=(nodes.path(ranked[place].node),))


def _lock_clicked(node: int) -> None:
    lock(tree(st.session_state[ANSWERED]).search.tree.path(node))
