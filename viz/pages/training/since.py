"""What each step since 2017 is worth here: a small language model as in 2017, with one change at a time."""

import streamlit as st

from viz.text import errors
from viz.text.language import counted, say
from viz.ui import explore, shared
from viz.views import board_results


def show() -> None:
    try:
        board = board_results.load()
    except ValueError as error:
        shared.warn(errors.sentence(error))
        return
    if not board.runs:
        st.info(board_results.progress(board))
        return
    st.markdown(f"**{board_results.answer(board)}**")
    shared.small(say("Perplexity against 2017: {list}", list=board_results.worth(board)), "worth")
    if line := board_results.progress(board):
        st.info(line)
    explore.draw(board_results.picture(board), "since")
    run = max(board.runs, key=lambda run: max(run.perplexity))
    line = say(
        "Each dot is a run of {steps} steps on WikiText-2, {tokens} words read; the band is the model of 2017. "
        "Short runs: what pays later does not show here.",
        steps=counted(max(run.perplexity)),
        tokens=counted(run.tokens),
    )
    shared.small(line, "since")
