"""Heads switched off, alone or uniform, and what that does to the translation and to the maps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from model import analysis
from model.edits import Edits, Head, all_heads
from model.translator import KINDS
from viz.figures import attention_heatmap, difference_heatmap, head_board
from viz.figures.clicks import make_clickable, outline
from viz.screens import controls, explore, heads_results, shared, words, words_heads

FOUND = "heads-importance"  # where the session keeps the last importance, and what it is of


def choose_head(result: shared.Shown) -> Head:
    """Let the visitor choose a kind of attention, a layer and a head."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        kind = controls.choose("Attention", list(KINDS), "kind", "cross", {k: words.KINDS[k].name for k in KINDS})
        n_layers, n_heads = result.attention(kind).shape[:2]
        layer = controls.choose("Layer", list(range(n_layers)), "layer", 0)
        head = controls.choose("Head", list(range(n_heads)), "head", 0)
    return Head(kind, layer, head)


def show(result: shared.Shown, request: controls.Request) -> None:
    """Draw the boards, the new translation and the maps of a head before and after."""
    edits = read_edits(request)
    boards = st.container()
    outcome = heads_results.changed(request, edits.code)
    show_outcome(result, outcome, edits)
    explore.heading("A head before and after", words_heads.BEFORE_AFTER)
    head = choose_head(result)
    with boards:
        show_boards(edits, head, request)
    show_maps(result, outcome.read, head)


def read_edits(request: controls.Request) -> Edits:
    """The changes of heads that stand in the address; what cannot be made is told in a sentence."""
    with st.expander("The changes as text"):
        st.caption("As in the address of the page: o… is off, u… uniform. An empty field changes nothing.")
        code = st.text_input("Changes", key="edits", bind="query-params") or ""
    try:
        edits = Edits.from_code(code.strip())
        heads = replace(edits, forced=(), cells=())
        heads.check(shared.translator(request.checkpoint).config)
    except ValueError as error:
        st.warning(f"{shared.sentence(error)} Nothing is changed.")
        return Edits()
    if edits.forced or edits.cells:
        st.caption(words_heads.LEFT_OUT)
    return heads


def show_boards(edits: Edits, chosen: Head, request: controls.Request) -> None:
    """Draw a board a kind; a click changes a head."""
    config = shared.translator(request.checkpoint).config
    st.session_state["heads-of"] = config
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        actions, colours = words_heads.ACTIONS, words_heads.COLOURS
        controls.choose(
            "A click on a head", list(actions), "action", words_heads.OFF, actions, help=words_heads.ACTION
        )
        colour = controls.choose("Colour by", list(colours), "colour", words_heads.NONE, colours)
    here = importance_here(request)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for action in (words_heads.OFF, words_heads.SOLO, words_heads.UNIFORM):
            label = f"{words.KINDS[chosen.kind].name}, layer {chosen.layer}, head {chosen.head}: {actions[action]}"
            st.button(label, key=f"do-{action}", on_click=change, args=(action, chosen))
        st.button("Take every change back", key="heads-reset", on_click=_keep, args=(Edits(),), disabled=not edits)
    values = here if colour == words_heads.HERE else coloured(colour, request)
    explore.heading("Every head", f"{words_heads.BOARD} {words_heads.COLOURED[colour]}")
    for column, kind in zip(st.columns(len(KINDS), gap="small"), KINDS, strict=True):
        with column:
            st.markdown(f"**{words.KINDS[kind].title}**")
            draw_board(edits, chosen, kind, None if values is None else values[kind], words_heads.VALUES[colour])


def draw_board(edits: Edits, chosen: Head, kind: str, values: np.ndarray | None, value: str) -> None:
    """Draw the board of one kind."""
    heads = all_heads(st.session_state["heads-of"], kind)
    shape = (heads[-1].layer + 1, heads[-1].head + 1)
    off, uniform = (np.array([head in some for head in heads]).reshape(shape) for some in (edits.off, edits.uniform))
    numbers = np.zeros(shape) if values is None else values
    # The sign of a change is its colour, too; a cell has room for four characters.
    texts = [["" if values is None else f"{number:+.2g}" for number in row] for row in numbers]
    for layer, head in np.argwhere(off | uniform):
        texts[layer][head] = "off" if off[layer, head] else "even"
    texts = [[text or "on" for text in row] for row in texts]
    figure = head_board(numbers, texts, off=off, value=value, colors=False)
    make_clickable(figure, "click to change or show it")
    if chosen.kind == kind:
        outline(figure, [(chosen.layer, chosen.head)], "drawn below")
    config = {"displayModeBar": False}
    explore.draw(figure, f"board-{kind}", config, on_select=partial(_clicked, kind), selection_mode="points")


def _clicked(kind: str) -> None:
    points = st.session_state[f"board-{kind}"]["selection"]["points"]
    if points and len(points[0].get("customdata") or ()) == 2:
        layer, head = map(int, points[0]["customdata"])
        st.session_state["kind"], st.session_state["layer"], st.session_state["head"] = kind, layer, head
        change(st.session_state.get("action", words_heads.OFF), Head(kind, layer, head))


def change(action: str, head: Head) -> None:
    """Do something to a head; runs before the page is drawn again."""
    if action == words_heads.OPEN:
        return
    try:
        edits = Edits.from_code((st.session_state.get("edits") or "").strip())
    except ValueError:  # told on the page, where it changed nothing
        edits = Edits()
    others = [one for one in all_heads(st.session_state["heads-of"], head.kind) if one != head]
    _keep(heads_results.after_click(edits, action, head, others))


def _keep(edits: Edits) -> None:
    st.session_state["edits"] = edits.code


def coloured(colour: str, request: controls.Request) -> dict[str, np.ndarray] | None:
    """The numbers over held-out sentences by kind, or None where there are none."""
    if colour == words_heads.NONE:
        return None
    try:
        report = heads_results.report(request.checkpoint)
    except ValueError as error:
        st.warning(shared.sentence(error))
        return None
    if report is None:
        st.info(words_heads.NO_REPORT)
        return None
    names = {words_heads.LOG: "log_probability", words_heads.BLEU: "bleu", words_heads.GRADIENT: "gradient"}
    bleu = report["bleu"]
    said = (
        f"{report['sentences']} sentences, {report['tokens']} tokens of {report['data']}; BLEU {bleu['score']} on "
        f"{bleu['sentences']} of them. Made by: {report['command']}"
    )
    shared.small(said, "report")
    return {kind: np.array(values[names[colour]]) for kind, values in report["kinds"].items()}


def importance_here(request: controls.Request) -> dict[str, np.ndarray] | None:
    """Compute on demand what each head is worth to this translation; a click on Cancel stops it between layers."""
    found = st.session_state.get(FOUND)
    known = found[1] if found and found[0] == request else None
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        label = words_heads.IMPORTANCE
        wanted = st.button(label, key="importance", on_click=_colour_here, disabled=known is not None)
    if not wanted:
        return known
    with place.container():
        bar = st.progress(0.0, text="Without each head in turn …")
        st.button("Cancel", key="importance-cancel")
        for share, part in heads_results.importance(request):
            bar.progress(share, text="Without each head in turn …")
            values = part
    place.empty()
    st.session_state[FOUND] = (request, values)
    return values


def _colour_here() -> None:
    st.session_state["colour"] = words_heads.HERE


def show_outcome(result: shared.Shown, outcome: heads_results.Changed, edits: Edits) -> None:
    """Say what the changes do to the translation and to its log-probability."""
    if not edits:
        return
    before, after = (float(one.log_probabilities.sum()) for one in (result, outcome.read))
    with st.container(border=True, gap="small"):
        counts = [(len(edits.off), "off"), (len(edits.uniform), "uniform")]
        said = " and ".join(f"{count} {word}" for count, word in counts if count)
        st.markdown(f"**The translation with {said}**")
        if outcome.new is None:
            st.caption(words_heads.FORCED)
        else:
            shared.large(outcome.new.text or "(the model wrote nothing)", "changed")
            show_difference(result.text, outcome.new.text)
        with st.container(horizontal=True, gap="large"):
            st.metric("Log-probability of the old translation (nats)", f"{after:.2f}", f"{after - before:+.2f}")
            if outcome.new is not None:
                st.metric("Of the new one, with the changes", f"{float(outcome.new.log_probabilities.sum()):.2f}")


def show_difference(before: str, after: str) -> None:
    """Show two translations word by word, equal words beside each other."""
    pairs = analysis.align(before.split(), after.split())
    if all(old == new for old, new in pairs):
        st.caption(words_heads.SAME)
        return
    table = pd.DataFrame(pairs, columns=["before", "after"]).T
    table.columns = [str(place + 1) for place in range(len(pairs))]
    table.loc["changed"] = ["" if old == new else "≠" for old, new in pairs]
    st.dataframe(table, key="difference")


def show_maps(result: shared.Shown, read: shared.Shown, head: Head) -> None:
    """Draw a head before, after, and the difference."""
    queries, keys, _ = explore.axis_tokens(result, head.kind, words.READ)
    before, after = (one.attention(head.kind)[head.layer, head.head] for one in (result, read))
    spoken = words.KINDS[head.kind]
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    mask = result.mask(head.kind)
    change = difference_heatmap(after - before, queries, keys, a="after", b="before", **axes)
    pictures = {
        "before": ("Before", attention_heatmap(before, queries, keys, mask=mask, **axes)),
        "after": ("After", attention_heatmap(after, queries, keys, mask=mask, **axes)),
        "change": ("After minus before", change),
    }
    for column, (key, (title, figure)) in zip(st.columns(3, gap="small"), pictures.items(), strict=True):
        with column:
            explore.heading(title, words.ROWS_ASK + spoken.reading)
            explore.draw(figure, f"head-{key}")
