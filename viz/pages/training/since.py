"""What each step since 2017 is worth here: a small language model as in 2017, with one change at a time."""

import numpy as np
import streamlit as st

from model.training.sweeps.board import Board
from viz.text import errors
from viz.text.language import format_count, say
from viz.ui import frame, shared, thumbnails
from viz.views.results import board_results


def tile_pixels() -> np.ndarray | None:
    """The perplexities of the runs at their end as a line; None where there are none, or they cannot be read."""
    try:
        runs = board_results.load().runs
    except ValueError:
        return None
    ends = [run.perplexity[max(run.perplexity)] for run in runs if run.perplexity]
    return thumbnails.curve_pixels(np.array(ends)) if len(ends) > 1 else None


def worth(board: Board) -> str:
    """What each change is worth."""
    return say("Perplexity against 2017: {list}", list=board_results.worth(board))


def about(board: Board) -> str:
    """What the dots of the figure are."""
    run = max(board.runs, key=lambda run: max(run.perplexity))
    return say(
        "Each dot is a run of {steps} steps on WikiText-2, {tokens} words read; the band is the model of 2017. "
        "Short runs: what pays later does not show here.",
        steps=format_count(max(run.perplexity)),
        tokens=format_count(run.tokens),
    )


def show(places: frame.Places) -> None:
    """Draw what each change does to the perplexity."""
    try:
        board = board_results.load()
    except ValueError as error:
        with places.notes:
            shared.warn(errors.sentence(error))
        return
    line = board_results.progress(board)
    if not board.runs:
        with places.right:
            st.info(line)
        return
    with places.answer:
        frame.answer(board_results.answer(board), worth(board))
    with places.left:
        frame.note(about(board))
        if line:
            st.info(line)
    with places.right:
        frame.pictures({"since": board_results.picture(board)}, is_map=False)
