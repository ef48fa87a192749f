"""A mask in numbers: what it must not let change, what a change of it moves, a row in which it leaves no key."""

import numpy as np
import streamlit as st

from model.experiments import masks as mask_experiments
from viz.figures.framed import shown_token
from viz.pages.masks.compared import Choices, Compared
from viz.text import errors, words
from viz.text.language import message, say
from viz.text.words_masks import SENTENCES, kind_of
from viz.ui import controls, frame, shared
from viz.views.results import mask_results
from viz.views.results.mask_results import Request, Result

ROWS = {
    "scores": message("score"),
    "-inf": message("−inf, then softmax"),
    "-1e9": message("−1e9, then softmax"),
    "fused": "F.scaled_dot_product_attention",
    "ours": message("this project"),
}


def show_numbers(request: Request, selection: Choices) -> None:
    """What padding and the future change, with the mask and without."""
    count = controls.slider(say(SENTENCES["pads"]), 1, 16, 4, key="pads")
    measures = (
        (say(SENTENCES["padding"]), say(SENTENCES["about_padding"]), count),
        (say(SENTENCES["leak"]), say(SENTENCES["about_leak"])),
    )
    for title, line, *pads in shared.columns(measures):
        frame.picture_title(title, small=line)
        try:
            on, off = map(words.number, mask_results.differences(request, selection.sentence, *pads))
        except ValueError as error:
            shared.warn(errors.sentence(error))
            continue
        with shared.row(gap="large"):
            st.metric(say(SENTENCES["mask_on"]), on)
            st.metric(say(SENTENCES["mask_off"]), off)


def show_nothing(compared: Compared, selection: Choices, result: Result, place: tuple[int, int]) -> None:
    """A row of scores in which no key is left, as softmax takes it four ways."""
    frame.picture_title(say("What if all keys of a query are blocked?"), small=say("This head's first row, four ways:"))
    scores = result.original.scores[kind_of(compared.mask)][selection.sentence, *place, 0]
    table = {say("key"): compared.names[1]}
    for name, row in ({"scores": scores} | mask_experiments.nothing_to_attend(scores)).items():
        table[say(ROWS[name])] = ["NaN" if np.isnan(number) else say("{x:.3f}", x=number) for number in row]
    st.dataframe(table, hide_index=True, key="nothing")
    frame.note(say("NaN spreads through the whole sentence; a uniform row attends to padding and future, too."))


def effect(compared: Compared, selection: Choices, result: Result, place: tuple[int, int]) -> str:
    """How much the change moves weights, logits and the likeliest next tokens."""
    kind = kind_of(compared.mask)
    index = (selection.sentence, *place)
    pairs = result.likeliest[selection.sentence]
    rows = [
        say(SENTENCES["step"], step=t, a=shown_token(a), b=shown_token(b)) for t, (a, b) in enumerate(pairs) if a != b
    ]
    change = np.abs(result.original.weights[kind][index] - result.with_changes.weights[kind][index]).max()
    line = say(
        SENTENCES["changes"],
        weight=words.number(float(change)),
        logit=words.number(result.difference[selection.sentence]),
        n=len(rows),
        total=len(pairs),
    )
    return f"{line} {' · '.join(rows)}"
