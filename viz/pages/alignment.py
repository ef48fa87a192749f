"""The page Alignment: every cross-attention head of a checkpoint as a word aligner."""

from __future__ import annotations

import streamlit as st

from model.catalogue import available, checkpoints_folder
from viz.text import errors, words, words_alignment
from viz.text.language import say
from viz.ui import alignment_boards, choices, controls, shared
from viz.views import cached


@choices.fragment
def live() -> None:
    """The part that every choice redraws."""
    default = cached.default_checkpoint()
    names = list(dict.fromkeys([*available("transformer"), *available("gru")]))
    name = controls.among(say("Model"), names or [default], "model", default)
    try:
        alignment_boards.show(name)
        card = cached.translator(name).card
    except ValueError as error:
        st.error(say("The results of this model cannot be read."))
        folder = say("The folder is {folder}.", folder=checkpoints_folder())
        shared.small(f"{errors.sentence(error)} {folder}", "no-model")
        return
    shared.small(words.describe_card(name, card), "card")


st.title(say("Alignment"))
st.markdown(say(words_alignment.INTRO))
live()
