"""The boards of the page Heads: a cell a head, coloured by what it is worth, and what a click does to it."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import streamlit as st

from model.interventions.edits import Edits, Head, all_heads
from model.translation import KINDS
from viz.figures import head_board
from viz.figures.clicks import make_clickable, outline, stand_level
from viz.language import say
from viz.screens import controls, explore, heads_results, recipes, shared, words, words_heads
from viz.views.made import Plot, Recipe, made

FOUND = "heads-importance"  # where the session keeps the last importance, and what it is of
WORK = "heads-importance-work"  # and the one that is being computed
AT_A_TIME = 0.3  # seconds


def show(edits: Edits, chosen: Head, request: controls.Request) -> None:
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
    with st.container():
        values = here if colour == words_heads.HERE else coloured(colour, request)
    explore.heading(say("Every head"), f"{say(words_heads.BOARD)} {say(words_heads.COLOURED[colour])}")
    factor, said = words_heads.unit(max((np.abs(some).max() for some in (values or {}).values()), default=0.0))
    with st.container():
        if said:
            st.caption(said)
    boards, plots = {}, {}
    for kind in KINDS:
        numbers = None if values is None else values[kind]
        lines = board_lines(colour, kind, None if numbers is None else numbers.shape)
        recipe = recipes.translation(request).then(*lines, note=edits.code)
        plots[kind] = board_of(edits, kind, numbers, words_heads.VALUES[colour], factor, recipe)
        boards[kind] = plots[kind].draw(say)
        make_clickable(boards[kind], say("click to change or show it"))
        if chosen.kind == kind:
            outline(boards[kind], [(chosen.layer, chosen.head)], say("drawn below"))
    stand_level(boards.values())
    for column, kind in zip(st.columns(len(KINDS), gap="small"), KINDS, strict=True):
        with column:
            st.markdown(f"**{say(words.KINDS[kind].title)}**")
            explore.draw(plots[kind], f"board-{kind}", on_click=partial(_clicked, kind), figure=boards[kind])


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
        "            numbers[head.layer, head.head] = score.sum() - whole",
    )


def board_of(edits: Edits, kind: str, values: np.ndarray | None, value: str, factor: float, recipe: Recipe) -> Plot:
    """The board of one kind, its numbers written times a factor; with a recipe of these numbers."""
    heads = all_heads(st.session_state["heads-of"], kind)
    shape = (heads[-1].layer + 1, heads[-1].head + 1)
    off, uniform = (np.array([head in some for head in heads]).reshape(shape) for some in (edits.off, edits.uniform))
    if values is None:
        texts = [[""] * shape[1] for _ in range(shape[0])]
    else:
        texts = [[words_heads.short(number * factor) for number in row] for row in values]
    for layer, head in np.argwhere(off | uniform):
        texts[layer][head] = "off" if off[layer, head] else "even"
    said = [[say(words_heads.ON_BOARD.get(text or "on", text)) for text in row] for row in texts]
    return recipe.plot(
        f"{say(words.KINDS[kind].title)}: {say(value)}",
        head_board,
        None if values is None else made(values, "numbers"),
        said,
        off=made(off, f"np.array({off.tolist()!r})") if off.any() else None,
        value=value,
        colors=False,
    )


def _clicked(kind: str, layer: int, head: int) -> None:
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
    report = shared.measured(heads_results.report, request.checkpoint, words_heads.NO_REPORT)
    if report is None:
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
    with st.container():
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
