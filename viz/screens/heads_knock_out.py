"""Heads switched off, alone or uniform, and what that does to the translation and to the maps."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from model.analysis import comparison
from model.interventions.edits import Edits, Head
from viz.figures import attention_heatmap, difference_heatmap
from viz.language import message, say
from viz.screens import (
    controls,
    explore,
    heads_board,
    heads_results,
    recipes,
    shared,
    words,
    words_heads,
)
from viz.views import maps
from viz.views.made import Recipe, call, made

AFTER, BEFORE = message("after"), message("before")  # figures say what they are called with


def choose_head(result: shared.Shown) -> Head:
    """Let the visitor choose a kind of attention, a layer and a head."""
    return Head(*controls.choose_head(lambda kind: result.attention(kind).shape[:2], "cross"))


def show(result: shared.Shown, request: controls.Request) -> None:
    """Draw the boards, the new translation and the maps of a head before and after."""
    with st.container():
        edits = read_edits(request)
    boards = st.container()
    outcome = heads_results.changed(request, edits.code)
    with st.container():
        show_outcome(result, outcome, edits)
    explore.heading(say("A head before and after"), say(words_heads.BEFORE_AFTER))
    head = choose_head(result)
    with boards:
        heads_board.show(edits, head, request)
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
        code = controls.text(say("Changes"), "", "edits")
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
    pairs = comparison.beside(before.split(), after.split())
    if all(old == new for old, new in pairs):
        st.caption(say(words_heads.SAME))
        return
    table = pd.DataFrame(pairs, columns=[say(BEFORE), say(AFTER)]).T
    table.columns = [str(place + 1) for place in range(len(pairs))]
    table.loc[say("changed")] = ["" if old == new else "≠" for old, new in pairs]
    st.dataframe(table, key="difference")


def show_maps(result: shared.Shown, read: shared.Shown, head: Head, recipe: Recipe) -> None:
    """Draw a head before, after, and the difference."""
    spoken, place = words.KINDS[head.kind], (head.layer, head.head)
    axes = {"query_axis": spoken.query_axis, "key_axis": spoken.key_axis}
    old, new = made(result, "result"), made(read, "read")
    titles = {"before": say("Before"), "after": say("After"), "change": say("After minus before")}
    full = {key: f"{title}: {words_heads.head(spoken.title, *place)}" for key, title in titles.items()}
    mask = old.mask(head.kind)
    names = maps.axis_tokens(old, head.kind, words.READ)[:2]
    pictures = {
        key: recipe.plot(full[key], attention_heatmap, one.attention(head.kind)[place], *names, mask=mask, **axes)
        for key, one in (("before", old), ("after", new))
    }
    sides = [one.attention(head.kind)[place] for one in (new, old)]
    pictures["change"] = recipe.plot(
        full["change"], difference_heatmap, sides[0] - sides[1], *names, a=AFTER, b=BEFORE, **axes
    )
    for column, (key, plot) in zip(st.columns(3, gap="small"), pictures.items(), strict=True):
        with column:
            explore.heading(titles[key], say(spoken.rows))
            explore.draw(plot, f"head-{key}")
