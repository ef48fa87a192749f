"""What heads are worth over held-out sentences: how much the model loses without each of them."""

from __future__ import annotations

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from viz.figures import head_board
from viz.text import words, words_heads
from viz.text.language import say
from viz.ui import controls, explore, shared
from viz.views import cached, heads_results, recipes
from viz.views.made import made


def show(result: cached.Shown, request: cached.Request, beside: DeltaGenerator) -> None:
    """Draw a board per kind, coloured by what was measured beside the weights."""
    colours = words_heads.COLOURS
    with beside:
        colour = controls.choose(say("Colour by"), list(colours), "colour", words_heads.LOG, colours)
    report = shared.measured(heads_results.report, request.checkpoint, words_heads.NO_REPORT)
    if report is None:
        return
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
    with beside:
        shared.small(said, "report")
    number = words_heads.NUMBERS[colour]
    found = {kind: np.array(values[number]) for kind, values in report["kinds"].items()}
    factor, unit = words_heads.unit(max(np.abs(values).max() for values in found.values()))
    explore.heading(say("Every head"), f"{say(words_heads.COLOURED[colour])} {unit}")
    read = "report = head_report.read(translator.folder, translator.config)"
    for column, (kind, values) in zip(st.columns(len(found), gap="small"), found.items()):
        texts = [[words_heads.short(one * factor) for one in row] for row in values]
        title = say(words.KINDS[kind].title)
        lines = (read, f"numbers = np.array(report['kinds'][{kind!r}][{number!r}])")
        value, known = words_heads.VALUES[colour], made(values, "numbers")
        recipe = recipes.translation(request).then(*lines)
        with column:
            st.markdown(f"**{title}**")
            plot = recipe.plot(f"{title}: {say(value)}", head_board, known, texts, value=value, colors=False)
            explore.draw(plot, f"board-{kind}")
