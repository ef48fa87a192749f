"""How well the cross-attention heads of a checkpoint align words, from the result beside its weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from model.measures import alignment
from viz.figures import share_board
from viz.text import words_alignment
from viz.text.language import message, say
from viz.ui import controls, explore, shared
from viz.views import cached, recipes
from viz.views.made import Recipe, made

# Figures say what they are called with.
ERROR_RATE = message("error rate")
SUMMARIES = (message("mean"), message("max"))


@st.cache_data(max_entries=cached.CACHED_RESULTS, show_spinner=False)
def weights_of(checkpoint: str) -> str:
    """What tells the weights of a checkpoint from others."""
    return alignment.weights_hash(cached.translator(checkpoint))


def show(checkpoint: str) -> None:
    """Draw the error rate of every head, for a set of links that the visitor chooses; or say how to measure it.

    Raises:
        ValueError: if the checkpoint or its results cannot be read.
    """
    results = alignment.kept(cached.translator(checkpoint))
    if not results:
        st.info(say(words_alignment.NOTHING))
        st.code(words_alignment.COMMAND.format(name=checkpoint), language="bash", wrap_lines=True)
        return
    names = list(results)
    name = controls.choose(say("Links"), names, "links", names[0])
    result = results[name]
    if name in words_alignment.SETS:
        st.markdown(say(words_alignment.SETS[name]))
    if result["weights_sha256"] != weights_of(checkpoint):
        st.warning(say(words_alignment.STALE))
    shared.small(words_alignment.counted(result), "counted")
    for at, by_measure in result["aer"].items():
        read_at = say(words_alignment.READ_AT[at])
        st.markdown(f"**{read_at}**")
        for column, (what, rates) in zip(st.columns(2, gap="medium"), by_measure.items()):
            with column:
                measure = say(words_alignment.MEASURES[what])
                explore.heading(say("From {measure}", measure=measure), say(words_alignment.BOARD))
                recipe = Recipe(f"{checkpoint} · {name}", (recipes.loading(checkpoint),))
                recipe = recipe.then(f"rates = alignment.kept(translator)[{name!r}]['aer'][{at!r}][{what!r}]")
                title = say("Alignment error rate, {read_at}, from {measure}", read_at=read_at, measure=measure)
                show_board(rates, result, f"aer-{at}-{what}", title, recipe)
    st.caption(say(words_alignment.SOURCES))
    st.code(result["command"], language="bash", wrap_lines=True)


def show_board(rates: dict[str, Any], result: dict[str, Any], key: str, title: str, recipe: Recipe) -> None:
    """Draw one board, and put its numbers in proportion."""
    heads = np.array(rates["heads"])
    summaries = {what: np.array(rates[what]) for what in SUMMARIES}
    plot = recipe.plot(
        title,
        share_board,
        made(heads, "np.array(rates['heads'])"),
        value=ERROR_RATE,
        summaries=made(summaries, "{what: np.array(rates[what]) for what in ('mean', 'max')}"),
        low_is_good=True,
    )
    explore.draw(plot, key)
    layer, head = np.unravel_index(heads.argmin(), heads.shape)
    line = words_alignment.baselines((float(heads.min()), int(layer), int(head)), result["diagonal"], result["best"])
    mean, largest = rates["mean_of_all"], rates["max_of_all"]
    of_all = say("All heads: mean {mean:.3f}, maximum {largest:.3f}.", mean=mean, largest=largest)
    st.caption(f"{line} {of_all}")
