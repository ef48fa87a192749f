"""Heads switched off, alone or uniform, and what that does to the translation and to the maps."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from model import analysis
from model.edits import Edits, Head, all_heads
from model.translator import KINDS
from viz.figures import attention_heatmap, difference_heatmap, head_board
from viz.figures.clicks import make_clickable, outline, stand_level
from viz.language import message, say
from viz.screens import compare_edits, controls, explore, heads_results, recipes, shared, words, words_heads
from viz.screens.beside import Beside, Recipe
from viz.screens.code_lines import Code, call

FOUND = "heads-importance"  # where the session keeps the last importance, and what it is of
WORK = "heads-importance-work"  # and the one that is being computed
AT_A_TIME = 0.3  # seconds
AFTER, BEFORE = message("after"), message("before")  # figures say what they are called with


def choose_head(result: shared.Shown) -> Head:
    """Let the visitor choose a kind of attention, a layer and a head."""
    return Head(*controls.choose_head(lambda kind: result.attention(kind).shape[:2], "cross"))


def show(result: shared.Shown, request: controls.Request) -> None:
    """Draw the boards, the new translation and the maps of a head before and after."""
    with controls.place():
        edits = read_edits(request)
    boards = st.container()
    outcome = heads_results.changed(request, edits.code)
    with controls.place():
        show_outcome(result, outcome, edits)
    side_by_side = st.container()
    explore.heading(say("A head before and after"), say(words_heads.BEFORE_AFTER))
    head = choose_head(result)
    if edits:
        with side_by_side:  # known only here, which head it shows
            compare_edits.link(request, st.session_state["edits"].strip())
    with boards:
        show_boards(edits, head, request)
    show_maps(result, outcome.read, head, recipes.translation(request).then(*changed_lines(edits), note=edits.code))


def changed_lines(edits: Edits) -> tuple[str, ...]:
    """How the changed model reads the old translation, in Python."""
    return (
        f"edits = {call('Edits.from_code', edits.code)}",
        "read = translator.force(result.source, result, edits)",
    )


def read_edits(request: controls.Request) -> Edits:
    """The changes of heads that stand in the address; what cannot be made is told in a sentence."""
    with st.expander(say("The changes as text")):
        st.caption(say("As in the address of the page: o… is off, u… uniform. An empty field changes nothing."))
        code = st.text_input(say("Changes"), key="edits", bind="query-params") or ""
    try:
        edits = Edits.from_code(code.strip())
        heads = replace(edits, forced=(), cells=())
        heads.check(shared.translator(request.checkpoint).config)
    except ValueError as error:
        shared.warn(f"{shared.sentence(error)} {say('Nothing is changed.')}")
        return Edits()
    if edits.forced or edits.cells:
        st.caption(say(words_heads.LEFT_OUT))
    return heads


def show_boards(edits: Edits, chosen: Head, request: controls.Request) -> None:
    """Draw a board a kind; a click changes a head."""
    config = shared.translator(request.checkpoint).config
    st.session_state["heads-of"] = config
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        actions, colours = words_heads.ACTIONS, words_heads.COLOURS
        label, off = say("A click on a head"), words_heads.OFF
        controls.choose(label, list(actions), "action", off, actions, help=say(words_heads.ACTION))
        colour = controls.choose(say("Colour by"), list(colours), "colour", words_heads.NONE, colours)
    here = importance_here(request)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for action in (words_heads.OFF, words_heads.SOLO, words_heads.UNIFORM):
            named = words_heads.head(words.KINDS[chosen.kind].name, chosen.layer, chosen.head)
            label = f"{named}: {say(actions[action])}"
            st.button(label, key=f"do-{action}", on_click=change, args=(action, chosen))
        label = say("Take every change back")
        st.button(label, key="heads-reset", on_click=_keep, args=(Edits(),), disabled=not edits)
    with controls.place():
        values = here if colour == words_heads.HERE else coloured(colour, request)
    explore.heading(say("Every head"), f"{say(words_heads.BOARD)} {say(words_heads.COLOURED[colour])}")
    factor, said = words_heads.unit(max((np.abs(some).max() for some in (values or {}).values()), default=0.0))
    with controls.place():
        if said:
            st.caption(said)
    boards = {
        kind: board_of(
            edits, chosen, kind, None if values is None else values[kind], words_heads.VALUES[colour], factor
        )
        for kind in KINDS
    }
    stand_level([figure for figure, _ in boards.values()])
    for column, (kind, (figure, made)) in zip(st.columns(len(KINDS), gap="small"), boards.items(), strict=True):
        with column:
            st.markdown(f"**{say(words.KINDS[kind].title)}**")
            lines = board_lines(colour, kind, None if values is None else values[kind].shape)
            recipe = recipes.translation(request).then(*lines, note=edits.code)
            title = f"{say(words.KINDS[kind].title)}: {say(words_heads.VALUES[colour])}"
            explore.draw(
                figure,
                f"board-{kind}",
                {"displayModeBar": False},
                about=recipe.figure(title, made),
                on_select=partial(_clicked, kind),
                selection_mode="points",
            )


NUMBERS = {words_heads.LOG: "log_probability", words_heads.BLEU: "bleu", words_heads.GRADIENT: "gradient"}


def board_lines(colour: str, kind: str, shape: tuple[int, ...] | None) -> tuple[str, ...]:
    """How the numbers of a board come about, in Python; of no numbers the shape is None."""
    if shape is None:
        return ()
    if colour != words_heads.HERE:
        report = "report = head_report.read(translator.folder, translator.config)"
        return (report, f"numbers = np.array(report['kinds'][{kind!r}][{NUMBERS[colour]!r}])")
    return (
        "whole = float(result.log_probabilities.sum(dtype='float64'))",
        f"numbers = np.zeros({shape!r})",
        "found = without_each_head(translator.model, translator.source_ids(result.source), result.predicted_ids)",
        "for heads, scores in found:",
        "    for head, score in zip(heads, scores):",
        f"        if head.kind == {kind!r}:",
        "            numbers[head.layer, head.head] = score - whole",
    )


def board_of(
    edits: Edits, chosen: Head, kind: str, values: np.ndarray | None, value: str, factor: float
) -> tuple[go.Figure, Code]:
    """The board of one kind, its numbers written times a factor, and how it is made of them in Python."""
    heads = all_heads(st.session_state["heads-of"], kind)
    shape = (heads[-1].layer + 1, heads[-1].head + 1)
    off, uniform = (np.array([head in some for head in heads]).reshape(shape) for some in (edits.off, edits.uniform))
    if values is None:
        texts = [[""] * shape[1] for _ in range(shape[0])]
    else:
        texts = [[words_heads.short(number * factor) for number in row] for row in values]
    for layer, head in np.argwhere(off | uniform):
        texts[layer][head] = "off" if off[layer, head] else "even"
    texts = [[text or "on" for text in row] for row in texts]
    said = [[say(words_heads.ON_BOARD.get(text, text)) for text in row] for row in texts]
    figure = head_board(values, said, off=off, value=value, colors=False)
    make_clickable(figure, say("click to change or show it"))
    if chosen.kind == kind:
        outline(figure, [(chosen.layer, chosen.head)], say("drawn below"))
    made = call(
        "head_board",
        None if values is None else Code("numbers"),
        texts,
        off=Code(f"np.array({off.tolist()!r})") if off.any() else None,
        value=value,
        colors=False,
    )
    return figure, made


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
        shared.warn(shared.sentence(error))
        return None
    if report is None:
        st.info(say(words_heads.NO_REPORT))
        return None
    bleu = report["bleu"]
    said = say(
        "{sentences} sentences, {tokens} tokens of {data}; BLEU {bleu} on {some} of them. Made by: {command}",
        sentences=report["sentences"],
        tokens=report["tokens"],
        data=report["data"],
        bleu=bleu["score"],
        some=bleu["sentences"],
        command=report["command"],
    )
    shared.small(said, "report")
    return {kind: np.array(values[NUMBERS[colour]]) for kind, values in report["kinds"].items()}


def importance_here(request: controls.Request) -> dict[str, np.ndarray] | None:
    """Compute on demand what each head is worth to this translation; None until it is known."""

    def known() -> dict[str, np.ndarray] | None:
        found = st.session_state.get(FOUND)
        return found[1] if found and found[0] == request else None

    label = say(words_heads.IMPORTANCE)
    wanted = st.button(label, key="importance", on_click=_colour_here, disabled=known() is not None)
    # Nobody asked yet in this session, but the address does: it shall show elsewhere what it showed here.
    wanted |= FOUND not in st.session_state and st.session_state.get("colour") == words_heads.HERE
    if wanted and known() is None:
        st.session_state.setdefault(FOUND, (None, None))
        st.session_state[WORK] = (request, heads_results.importance(request))
    if WORK in st.session_state and st.session_state[WORK][0] != request:
        cancel()  # it was for another sentence
    with controls.place():
        if WORK in st.session_state and advance() < 1:
            working()
    return known()


def advance() -> float:
    """Go on with the importance of heads for a moment; return how much is done, from 0 to 1."""
    request, parts = st.session_state[WORK]
    end = time.monotonic() + AT_A_TIME
    for share, values in parts:
        if share == 1:
            st.session_state[FOUND] = (request, values)
            cancel()
        if share == 1 or time.monotonic() > end:
            return share
    return 1.0


def cancel() -> None:
    """Do not go on with the importance of heads; what was found before stays."""
    st.session_state.pop(WORK, None)


@st.fragment(run_every=0.1)
def working() -> None:
    """Go on until everything is known. Clicks are heard between two moments: no click in a fragment interrupts it."""
    if WORK not in st.session_state:
        st.rerun()  # cancelled: a page without this part asks no more
    share = advance()
    if share == 1:
        st.rerun()
    st.progress(share, text=say("Without each head in turn …"))
    st.button(say("Cancel"), key="importance-cancel", on_click=cancel)


def _colour_here() -> None:
    st.session_state["colour"] = words_heads.HERE


def show_outcome(result: shared.Shown, outcome: heads_results.Changed, edits: Edits) -> None:
    """Say what the changes do to the translation and to its log-probability."""
    if not edits:
        return
    before, after = (float(one.log_probabilities.sum()) for one in (result, outcome.read))
    with st.container(border=True, gap="small"):
        st.markdown(f"**{changes(len(edits.off), len(edits.uniform))}**")
        if outcome.new is None:
            st.caption(say(words_heads.FORCED))
        else:
            shared.large(outcome.new.text or say("(the model wrote nothing)"), "changed")
            show_difference(result.text, outcome.new.text)
        with st.container(horizontal=True, gap="large"):
            label = say("Log-probability of the old translation (nats)")
            st.metric(label, f"{after:.2f}", f"{after - before:+.2f}")
            if outcome.new is not None:
                st.metric(say("Of the new one, with the changes"), f"{float(outcome.new.log_probabilities.sum()):.2f}")


def changes(off: int, uniform: int) -> str:
    """Say of how many heads that are off or uniform a translation is; of one at least."""
    if off and uniform:
        return say("The translation with heads off ({off}) and uniform ({uniform})", off=off, uniform=uniform)
    if off:
        return say("The translation with heads off ({off})", off=off)
    return say("The translation with uniform heads ({uniform})", uniform=uniform)


def show_difference(before: str, after: str) -> None:
    """Show two translations word by word, equal words beside each other."""
    pairs = analysis.align(before.split(), after.split())
    if all(old == new for old, new in pairs):
        st.caption(say(words_heads.SAME))
        return
    table = pd.DataFrame(pairs, columns=[say(BEFORE), say(AFTER)]).T
    table.columns = [str(place + 1) for place in range(len(pairs))]
    table.loc[say("changed")] = ["" if old == new else "≠" for old, new in pairs]
    st.dataframe(table, key="difference")


def show_maps(result: shared.Shown, read: shared.Shown, head: Head, recipe: Recipe) -> None:
    """Draw a head before, after, and the difference."""
    queries, keys, _ = explore.axis_tokens(result, head.kind, words.READ)
    before, after = (one.attention(head.kind)[head.layer, head.head] for one in (result, read))
    spoken = words.KINDS[head.kind]
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    mask = result.mask(head.kind)
    change = difference_heatmap(after - before, queries, keys, a=AFTER, b=BEFORE, **axes)
    pictures = {
        "before": (message("Before"), attention_heatmap(before, queries, keys, mask=mask, **axes)),
        "after": (message("After"), attention_heatmap(after, queries, keys, mask=mask, **axes)),
        "change": (message("After minus before"), change),
    }
    for column, (key, (title, figure)) in zip(st.columns(3, gap="small"), pictures.items(), strict=True):
        with column:
            explore.heading(say(title), say(spoken.rows))
            explore.draw(figure, f"head-{key}", about=about(recipe, key, title, head, axes))


def about(recipe: Recipe, key: str, title: str, head: Head, axes: dict[str, str]) -> Beside:
    """How a head before or after the changes, or their difference, is drawn."""
    place = (head.layer, head.head)
    title = f"{say(title)}: {words_heads.head(words.KINDS[head.kind].title, head.layer, head.head)}"
    if key != "change":
        result, mask = ("result" if key == "before" else "read"), Code(f"result.mask({head.kind!r})")
        return recipes.head(recipe, title, head.kind, place, result, mask=mask, **axes)
    sides = [f"{name}.attention({head.kind!r})[{place[0]}, {place[1]}]" for name in ("read", "result")]
    queries, keys, _ = recipes.axis_code(head.kind, words.READ)
    made = call("difference_heatmap", Code(" - ".join(sides)), queries, keys, a=AFTER, b=BEFORE, **axes)
    return recipe.figure(title, made)
