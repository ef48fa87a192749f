"""The page Steer: the stage, on which everything inside the model can be changed."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from model.interventions.edits import Edits, Force
from model.running.translator import Translator
from model.storage.checkpoint import available
from viz.figures import search_tree
from viz.figures.tree import column_width
from viz.stage.assets import stage
from viz.stage.payload.payloads import Action
from viz.text import errors
from viz.text.language import message, say
from viz.ui import controls, explore, shared, widgets
from viz.ui.stage import cut_paths, stage_page, steering
from viz.ui.stage.report import report_of
from viz.views import changes as change
from viz.views import recipes, view
from viz.views.cached import Request, Result, compute
from viz.views.changes import Changes
from viz.views.results import heads_results
from viz.views.snippets import Code, Plot, call, program, snippet
from viz.views.view import View

# In the session: the requests that are asked for, shown, and whose changes were dropped.
ASKED = "steer-asked"
ANSWERED = "steer-answered"
LOST = "steer-lost"
WEIGHED = "steer-importance"  # whether tiles show what each head is worth
STEP, KEY = "▁nicht", "▁it"  # the step of the example that loses its "not" where it attends to "it" alone
STEPS_AT_ONCE = 30  # rows of a search tree; more are slow to draw
TREE_LINE = message(
    "Row n: candidates for the n-th token. Star: finished; cross: pruned. Point at one to see what its step attended "
    "to (mean of all cross-attention heads); click it to lock what leads there."
)

TREE = """
import numpy as np
from model.measures.search_attention import looked_at
from viz.figures import search_tree

nodes = result.search.tree
ranked = result.search.rescored($penalty).hypotheses
figure = search_tree(
    np.array(nodes.log_probability),
    nodes.parent,
    translator.tokenizer.target.tokens(nodes.token),
    nodes.fate,
    scores={hypothesis.node: hypothesis.score for hypothesis in ranked},
    looked_at=$weights,
    keys=result.source_tokens,
    steps=$steps,
)
figure.show()
"""


def request_of(request: Request, query: Mapping[str, str]) -> Request:
    """The request with the changes of the query or of before, without those that name words of another sentence."""
    before = st.session_state.get(ASKED) or first_request(request)
    if any(query.get(name) for name in change.NAMES):
        before = request
        try:
            before = replace(request, changes=change.read(query))
        except ValueError as error:
            shared.warn(f"{errors.sentence(error)} {say('Nothing is changed.')}")
    changes = before.changes
    if before.model != request.model:
        changes = Changes()
    elif (before.text, before.messages) != (request.text, request.messages):
        changes = changes.wordless
        if not query:  # else it is of a link to this text
            cut_paths.forget_cell()
    if changes != before.changes and before.changes != first_request(before.plain).changes:
        st.session_state[LOST] = before
    return replace(request, changes=changes)


def first_request(request: Request) -> Request:
    """What a visitor sees who has changed nothing yet: one cell of the example that turns its meaning round.

    Other sentences, and models that write other words for it, are unchanged.
    """
    if request != request.example:
        return request
    with suppress(ValueError):
        result = compute(request)
        if STEP in result.predicted_tokens and KEY in result.source_tokens:
            cell = Force(result.predicted_tokens.index(STEP), result.source_tokens.index(KEY))
            return replace(request, changes=Changes(Edits(forced=(cell,))))
    return request


def take_back() -> None:
    """Take the last change back."""
    state = st.session_state
    state[ASKED] = replace(state.pop(LOST), model=state["stage-model"])
    state["sentence"] = state[ASKED].text


def carry_out(action: Action) -> None:
    """Carry an action on the stage out."""
    state = st.session_state
    request = st.session_state[ANSWERED]
    if action.get("do") == "importance":
        state[WEIGHED] = not state.get(WEIGHED, False)
        return
    try:
        if (text := steering.rewrite_text(request, action)) is not None:
            state["sentence"] = text
            return
        new = steering.apply_action(request, action)  # one that the model refuses is not kept
    except ValueError as error:
        state["steer-problem"] = errors.sentence(error)
        return
    cut_paths.ask_about(action)
    state[ASKED] = replace(state[ASKED], changes=new)
    state.pop(LOST, None)


def show(names: list[str], current_view: View, came: bool) -> None:
    """A translation with what the visitor changed inside the model, beside the one without."""
    state = st.session_state
    request = state[ASKED] = request_of(Request.of(current_view, names[0]), state[stage_page.QUERY] if came else {})
    if lost := state.get(LOST):
        with shared.row(gap="small", key="lost"):
            shared.write_small(
                say("Changes that named words of “{sentence}” were dropped.", sentence=lost.text[:60]), "lost"
            )
            st.button(say("Undo these changes"), key="take-back", on_click=take_back)
    answered = shared.compute_or_keep(ANSWERED, request, compute, request.plain, request.example)
    if answered is None:
        return
    request, result = answered
    state["shown-text"] = result.text
    state[view.KEPT] = current_view
    problem = state.pop("steer-problem", "")
    if came and state[stage_page.QUERY].get("board") == "importance":
        state[WEIGHED] = True
    weighed = state.get(WEIGHED, False)
    weighed = weighed and stage_page.predicts_words(result)
    if weighed:
        try:
            heads_results.importance(request.plain)
        except ValueError as error:
            problem = errors.sentence(error)
            weighed = False
            state[WEIGHED] = False
    is_translation = isinstance(request.translator, Translator)
    about = report_of(result, request, "steer", captions(request)) if is_translation else ()
    content = steering.payload(request, result, current_view, problem, weighed, report=about)
    stage(content, stage_page.keep_query, on_did=carry_out)
    shared.write_card(request.model)
    if not is_translation:
        return
    if request.reference is None:
        with widgets.part("search-tree"):
            if st.toggle(say("Everything the search tried"), key="search-tree"):
                show_tree(request, result)


def captions(request: Request) -> tuple[str, ...]:
    """What is changed inside the model, and what it writes without that; nothing where there are no changes."""
    if not request.changes:
        return ()
    before = compute(request.plain).text or say("(nothing)")
    listed = ", ".join(text for _, text in steering.chips(request))
    return (
        say("Changed: {changes}", changes=listed),
        say("Without the changes the model writes: {text}", text=before),
    )


def show_tree(request: Request, result: Result) -> None:
    """All that the search tried."""
    state, (search, attended) = st.session_state, steering.search_tree(request)
    nodes = search.tree
    tokenizer = request.translator.tokenizer.target
    tokens = tokenizer.tokens(nodes.token)

    def lock(node: int) -> None:
        state[ASKED] = replace(state[ASKED], changes=replace(request.changes, locked=tuple(nodes.path(node))))

    with shared.row(gap="large"):
        settings = {"step": 0.1, "help": say(controls.PENALTY), "width": 280}
        label = say("Length penalty of the ranking")
        penalty = controls.slider(label, 0.0, 2.0, request.penalty, "rescore", **settings)
        deepest = len(nodes.path(len(nodes.token) - 1))  # a step adds its nodes after those of the step before
        steps = None
        if deepest > STEPS_AT_ONCE:
            last = deepest - STEPS_AT_ONCE
            first = controls.slider(say("First row drawn"), 0, last, 0, key="first", width=280)
            steps = (first, first + STEPS_AT_ONCE)
    ranked = search.rescored(penalty).hypotheses
    texts = [tokenizer.decode(hypothesis.ids) for hypothesis in ranked]
    figure = search_tree(
        np.array(nodes.log_probability),
        nodes.parent,
        tokens,
        nodes.fate,
        scores={hypothesis.node: hypothesis.score for hypothesis in ranked},
        looked_at=attended,
        keys=result.source_tokens,
        steps=steps,
        say=say,
    )
    edits = Code("edits") if request.changes.edits else None
    weights = call("looked_at", Code("translator"), Code("result.source"), Code("nodes"), edits=edits)
    origin = recipes.origin(request)
    code = snippet(TREE, penalty=penalty, weights=weights, steps=steps)
    plot = Plot(say("Everything the search tried"), origin.note, figure, program(origin.code, code))
    explore.draw(plot, "tree", column_width(tokens), lock, line=say(TREE_LINE))
    rows = [(end.score, end.log_probability, len(end.ids) + end.finished, text) for end, text in zip(ranked, texts)]
    columns = say("score"), say("log-probability"), say("tokens"), say("translation")
    st.dataframe(pd.DataFrame(rows, range(1, len(rows) + 1), columns), key="ranking")
    with shared.row(align="bottom"):
        names = [f"{place}: {text}" for place, text in enumerate(texts, 1)]
        settings: dict[str, Any] = {"format_func": names.__getitem__, "width": 420}
        node = ranked[controls.choose_from_list(say("Translation"), range(len(names)), "ranked", **settings)].node
        st.button(say("Lock this one"), key="lock-ranked", on_click=lock, args=(node,))


recurrent = set(available()) - set(available("transformer")) - set(available("language_model"))
stage_page.show_page([name for name in stage_page.models() if name not in recurrent] or stage_page.models(), show)
