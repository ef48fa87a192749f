"""How well the cross-attention heads of a checkpoint align words, by the sets of links in its atlas."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.figures import head_board
from viz.text import words_heads
from viz.text.language import message, say
from viz.ui import controls, explore, shared
from viz.views import recipes
from viz.views.heads_results import REPORT
from viz.views.made import Recipe, made

ERROR_RATE = message("error rate")  # figures say what they are called with
SUMMARIES = (message("mean"), message("max"))


def show(checkpoint: str, report: dict[str, Any] | None, beside: DeltaGenerator) -> None:
    """Draw the error rate of every head, for a set of links that the visitor chooses; or say how to measure it."""
    results = report["alignment"] if report else {}
    if not results:
        st.info(say(words_heads.NO_LINKS, command=words_heads.COMMAND.format(name=checkpoint)))
        return
    with beside:
        name = controls.choose(say("Links"), list(results), "links")
        result = results[name]
        if name in words_heads.LINK_SETS:
            st.caption(say(words_heads.LINK_SETS[name]))
        shared.small(words_heads.counted(result), "counted")
    for at, by_measure in result["aer"].items():
        read_at = say(words_heads.READ_AT[at])
        st.markdown(f"**{read_at}**")
        for what, rates in shared.columns(by_measure.items(), 2):
            measure = say(words_heads.ALIGNED_FROM[what])
            st.markdown(say("From {measure}", measure=measure))
            lines = (
                recipes.loading(checkpoint),
                REPORT,
                f"rates = report['alignment'][{name!r}]['aer'][{at!r}][{what!r}]",
            )
            title = say("Alignment error rate, {read_at}, from {measure}", read_at=read_at, measure=measure)
            show_board(rates, result, f"aer-{at}-{what}", title, Recipe(f"{checkpoint} · {name}", lines))
    st.caption(f"{say(words_heads.GROUPED)} {say(words_heads.ALIGNMENT)}")


def show_board(rates: dict[str, Any], result: dict[str, Any], key: str, title: str, recipe: Recipe) -> None:
    heads = np.array(rates["heads"])
    every = np.column_stack([heads, *(rates[name] for name in SUMMARIES)])
    layers = [say("layer {n}", n=layer) for layer in range(len(heads))]
    columns = [*map(str, range(heads.shape[1])), *map(say, SUMMARIES)]
    plot = recipe.plot(
        title,
        head_board,
        made(every, f"np.column_stack([rates['heads'], *(rates[name] for name in {SUMMARIES!r})])"),
        layers,
        columns,
        texts=[[say("{x:.2f}", x=rate) for rate in row] for row in every],
        value=ERROR_RATE,
        low_is_good=True,
    )
    explore.draw(plot, key)
    layer, head = np.unravel_index(heads.argmin(), heads.shape)
    best = float(heads.min()), int(layer), int(head)
    mean, largest = rates["mean_of_all"], rates["max_of_all"]
    of_all = say("All heads: mean {mean:.3f}, maximum {largest:.3f}.", mean=mean, largest=largest)
    st.caption(f"{words_heads.baselines(best, result['diagonal'], result['best'])} {of_all}")
