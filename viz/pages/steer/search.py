"""The search on the page Steer: everything it looked at, of which any beginning can be locked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from viz.figures import search_tree
from viz.figures.tree import column_width
from viz.text import words_steer
from viz.text.language import say
from viz.ui import controls, explore
from viz.ui.steering import ANSWERED, CHANGES, tree
from viz.views import cached
from viz.views.made import made
from viz.views.recipes import translation

STEPS_AT_ONCE = 30  # rows of a tree; more are slow to draw


def lock(ids: list[int]) -> None:
    st.session_state[CHANGES] = replace(st.session_state[ANSWERED].changes, locked=tuple(ids))


def show_tree(request: cached.Request, result: cached.Shown) -> None:
    title = say("Everything the search tried")
    explore.heading(title, say(words_steer.TREE_LINE))
    search, attended = tree(request)
    nodes, tokenizer = search.tree, request.translator.tokenizer.target
    tokens = tokenizer.tokens(nodes.token)
    with st.container(horizontal=True, gap="large"):
        more = {"step": 0.1, "help": say(words_steer.RESCORE), "width": 280}
        label = say("Length penalty of the ranking")
        penalty = controls.slider(label, 0.0, 2.0, request.length_penalty, "rescore", **more)
        deepest = len(nodes.path(len(nodes.token) - 1))  # a step adds its nodes after those of the step before
        steps = None
        if deepest > STEPS_AT_ONCE:
            last = deepest - STEPS_AT_ONCE
            first = controls.slider(say("First row drawn"), 0, last, 0, key="first", width=280)
            steps = (first, first + STEPS_AT_ONCE)
    ranked = search.rescored(penalty).hypotheses
    texts = [tokenizer.decode(one.ids) for one in ranked]
    edits, known = ", edits" if request.changes.edits else "", made(nodes, "nodes")
    lines = ("nodes = result.search.tree", f"ranked = result.search.rescored({penalty!r}).hypotheses")
    plot = (
        translation(request)
        .then(*lines)
        .plot(
            title,
            search_tree,
            made(np.array, "np.array")(known.log_probability),
            known.parent,
            made(tokens, "translator.tokenizer.target.tokens(nodes.token)"),
            known.fate,
            scores=made({one.node: one.score for one in ranked}, "{one.node: one.score for one in ranked}"),
            looked_at=made(attended, f"looked_at(translator, result.source, nodes{edits})"),
            keys=made(result, "result").source_tokens,
            steps=steps,
        )
    )
    explore.draw(plot, "tree", column_width(tokens), _lock_clicked)
    st.markdown(say("**Ranking of finished translations**"))
    table = pd.DataFrame(
        {
            say("score"): [one.score for one in ranked],
            say("log-probability"): [one.log_probability for one in ranked],
            say("tokens"): [len(one.ids) + one.finished for one in ranked],
            say("translation"): texts,
        },
        index=range(1, len(ranked) + 1),
    )
    st.dataframe(table, key="ranking")
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        names = [f"{place}: {text}" for place, text in enumerate(texts, 1)]
        place = controls.pick(say("Translation"), names, "ranked", width=420)
        st.button(say("Lock this one"), key="lock-ranked", on_click=lock, args=(nodes.path(ranked[place].node),))


def _lock_clicked(node: int) -> None:
    lock(tree(st.session_state[ANSWERED])[0].tree.path(node))
