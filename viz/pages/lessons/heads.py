"""Break it: how many heads of the cross-attention a translation can do without."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from model.interventions.edits import Edits, Head
from viz.pages.lessons.card import Card, Story, asks
from viz.stage.stage import stage
from viz.text import errors
from viz.text.language import message
from viz.ui import staged, steering
from viz.views import cached, heads_results
from viz.views.cached import Request
from viz.views.cached import compute as steer
from viz.views.view import View

SENTENCE = asks("A man is riding a bicycle down the street.")
WORD = "Fahrrad"
LAYERS, HEADS = 3, 8
BOARD = [(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
# Off one after the other, each time the head that costs the old translation least (tests find the same).
GREEDY = (
    *((2, 0), (1, 1), (1, 6), (1, 5), (2, 1), (0, 5), (0, 6), (1, 3), (2, 3), (0, 4), (0, 3), (1, 7)),
    *((0, 7), (0, 0), (2, 4), (0, 2), (1, 4), (0, 1), (2, 6), (2, 7), (1, 0), (1, 2), (2, 5), (2, 2)),
)
OFF = "lesson-off"  # in the session: by card the code of the visitor's edits


def without(heads: object) -> Request:
    """The sentence without some heads, each (layer, head)."""
    edits = Edits(off=tuple(Head("cross", layer, head) for layer, head in sorted(heads)))
    return asks(SENTENCE.text, edits=edits)


def lost(request: Request) -> float:
    """By how much less probable the old translation is, in nats."""
    return -steering.cost(request)


@st.cache_data(show_spinner=cached.Waiting(message("Computing …")), show_time=True)
def alone() -> int:
    """How many heads can be off, one at a time, with the word still in the translation."""
    return sum(WORD in without([head]).translated().text for head in BOARD)


def _alone() -> dict[str, object]:
    found = heads_results.importance(SENTENCE)
    layer, head = np.unravel_index(found["cross"].argmin(), found["cross"].shape)
    return {"n": alone(), "layer": layer, "head": head, "factor": math.exp(-found["cross"].min())}


def _layer() -> dict[str, object]:
    request = without(BOARD[:HEADS])
    return {"text": steer(request).text, "factor": math.exp(lost(request))}


@st.cache_data(show_spinner=cached.Waiting(message("Computing …")), show_time=True)
def greedy() -> int:
    """How many heads can be off in the order of GREEDY with the word still in the translation."""
    return next((n for n in range(1, len(GREEDY) + 1) if WORD not in steer(without(GREEDY[:n])).text), 25) - 1


def _played() -> dict[str, object]:
    return {"greedy": greedy(), "text": steer(without(GREEDY[: greedy()])).text, "all": len(BOARD)}


def _finale() -> dict[str, object]:
    request = without(BOARD)
    return {"text": steer(request).text, "drop": lost(request)}


@dataclass(frozen=True)
class Tiles:
    """The heads of the cross-attention, to be switched off, with both translations above.

    Attributes:
        name: of the card, whose changes are kept apart from those of others.
        before, after: heads that are off before the guess and with the answer, until the visitor switches some.
    """

    name: str
    before: tuple = ()
    after: tuple = ()

    def draw(self, answered: bool) -> None:
        edits = self._edits(answered)
        request = asks(SENTENCE.text, edits=Edits.from_code(edits))
        st.session_state[staged.QUERY] = {}
        problem = st.session_state.pop("lesson-problem", "")
        place: Mapping[str, object] = {"kind": "cross"}
        told = steering.told(request, steer(request), View(text=request.text), problem, setting=place)
        stage(told, lambda _: None, on_did=lambda action: self._did(action, request, answered))

    def link(self) -> tuple[str, Mapping[str, str]]:
        return "steer", {"text": SENTENCE.text, "kind": "cross", "edits": self._edits(True)}

    def _edits(self, answered: bool) -> str:
        kept = st.session_state.get(OFF, {})
        return kept.get((self.name, answered), without(self.after if answered else self.before).changes.edits.code)

    def _did(self, action: dict, request: Request, answered: bool) -> None:
        state = st.session_state
        try:
            edits = steering.after(request, action).edits.code
        except ValueError as error:
            state["lesson-problem"] = errors.sentence(error)
            return
        state[OFF] = state.get(OFF, {}) | {(self.name, answered): edits}


STORY = Story(
    name=message("Break it"),
    line=message("Switch off heads, and see how long the translation holds."),
    minutes=5,
    cards=(
        Card(
            look=message(
                "These are all 24 heads of the cross-attention: layers in rows, heads in columns. Click one to switch "
                "it off; click again to have it back. Above stand the translation and what it cost."
            ),
            question=message("How many of them can you switch off, each alone, without losing “Fahrrad”?"),
            guesses=("8", "16", "24"),
            right=2,
            answer=message(
                "{n}: each alone can go and “Fahrrad” stays. The costliest is head {head} of layer {layer}: without "
                "it the old translation is {factor:.1f} times less probable."
            ),
            numbers=_alone,
            picture=Tiles("alone"),
        ),
        Card(
            look=message(
                "Now a whole layer at once: all eight heads of layer 0, the first to read the source. Guess before "
                "you look."
            ),
            question=message("What happens to the bicycle?"),
            guesses=(
                message("“Fahrrad” stays"),
                message("It becomes another word"),
                message("The sentence ends early"),
            ),
            right=0,
            answer=message(
                "“{text}” The other two layers still read the source. But the old translation is {factor:.1f} times "
                "less probable than before."
            ),
            numbers=_layer,
            picture=Tiles("layer", after=tuple(BOARD[:HEADS])),
        ),
        Card(
            look=message("Your turn: switch off as many heads as you can while “Fahrrad” stays in the translation."),
            question=message("How many of the 24 can be off at the same time?"),
            guesses=(message("About 5"), message("About 12"), message("About 20")),
            right=2,
            answer=message(
                "Always taking the head that costs least, {greedy} of {all} can go, as now drawn: “{text}” Can you "
                "switch off one more? Heads that matter little alone may matter together."
            ),
            numbers=_played,
            picture=Tiles("play", after=GREEDY[:20]),
        ),
        Card(
            look=message(
                "The finale: all 24 heads off. The decoder still has its self-attention and its feed-forward layers, "
                "but nothing of the source reaches it."
            ),
            question=message("What will it write?"),
            guesses=(message("Nothing"), message("The same sentence"), message("A sentence about something else")),
            right=2,
            answer=message(
                "“{text}” Without the source the decoder is a language model: it writes what German often says. The "
                "old translation has lost {drop:.0f} nats."
            ),
            numbers=_finale,
            picture=Tiles("finale", after=tuple(BOARD)),
        ),
    ),
    sources="Voita et al. 2019 · Michel et al. 2019",
)
