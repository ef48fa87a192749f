"""Break it: how many heads of the cross-attention a translation can do without."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from model.interventions.edits import Edits, Head
from viz.pages.lessons.card import Link, Story, asks, card
from viz.stage.assets import stage
from viz.stage.payload.payloads import Action
from viz.text import errors
from viz.ui.stage import stage_page, steering
from viz.views.cached import Request, cache_results, compute
from viz.views.results.heads_results import importance
from viz.views.view import View

SENTENCE = asks("A man is riding a bicycle down the street.")
WORD = "Fahrrad"
BOARD = tuple(np.ndindex(3, 8))  # layers and heads
# Off one after the other, each time the head that costs the old translation least (tests find the same).
ORDER = "25 02 23 13 14 27 01 16 04 06 26 00 05 03 24 12 07 20 17 15 21 22 11 10"
GREEDY = tuple((int(layer), int(head)) for layer, head in ORDER.split())
OFF, PROBLEM = "lesson-off", "lesson-problem"  # in the session: by card what the visitor has changed; why not


def without(heads: Iterable[tuple[int, int]]) -> Request:
    """The sentence with these heads, (layer, head) of the cross-attention, off."""
    return asks(SENTENCE.text, edits=Edits(off=tuple(Head("cross", *head) for head in sorted(heads))))


@cache_results()
def alone() -> int:
    """How many heads can be off, one at a time, with the word still in the translation."""
    return sum(WORD in without([head]).translated().text for head in BOARD)


@cache_results()
def greedy() -> int:
    """How many heads can be off in the order of GREEDY with the word still in the translation."""
    return next(n for n in range(len(GREEDY)) if WORD not in compute(without(GREEDY[: n + 1])).text)


@dataclass(frozen=True)
class Tiles:
    """The heads of the cross-attention as tiles, which the visitor switches off and on."""

    after: Sequence[tuple[int, int]] = ()  # heads that are off with the answer, until the visitor switches some

    def draw(self, answered: bool) -> None:
        """Show them; `answered`: with those of the answer off."""
        request, state = self._request(answered), st.session_state
        state[stage_page.QUERY], view = {}, View(text=request.text)
        payload = steering.payload(request, compute(request), view, state.pop(PROBLEM, ""), setting={"kind": "cross"})

        def apply(action: Action) -> None:
            try:
                state[OFF][self, answered] = replace(request, changes=steering.after(request, action))
            except ValueError as error:
                state[PROBLEM] = errors.sentence(error)

        stage(payload, lambda _: None, on_did=apply)

    def link(self) -> Link:
        """Where the page Steer goes on with it."""
        request = self._request(True)
        return "steer", {"text": request.text, "kind": "cross"} | request.changes.address()

    def _request(self, answered: bool) -> Request:
        heads_off = st.session_state.setdefault(OFF, {})
        return heads_off.get((self, answered)) or without(self.after if answered else ())


STORY = Story(
    "Break it",
    "Switch off heads, and see how long the translation holds.",
    "Voita et al. 2019 · Michel et al. 2019",
)


@card(
    "All 24 heads of the cross-attention, layers in rows. Click one to switch it off, or on again.",
    "How many of them can you switch off, each alone, without losing “Fahrrad”?",
    "8 16 24".split(),
    "{n}: each alone can go and “Fahrrad” stays.",
    "The costliest is head {head} of layer {layer}: without it the old translation is {factor:.1f} times less "
    "probable.",
    Tiles(),
    right=2,
)
def each() -> dict:
    changes = importance(SENTENCE)["cross"]
    layer, head = BOARD[changes.argmin()]
    return {"n": alone(), "layer": layer, "head": head, "factor": math.exp(-changes.min())}


@card(
    "Now two whole layers at once: all sixteen heads of layers 0 and 1.",
    "What happens to the bicycle?",
    ("“Fahrrad” stays", "It becomes another word", "The sentence ends early"),
    "“{text}” The last layer still reads the source.",
    "But the old translation is {factor:.1f} times less probable.",
    Tiles(BOARD[:16]),
    right=0,
)
def layers() -> dict:
    request = without(BOARD[:16])
    return {"text": compute(request).text, "factor": math.exp(-steering.cost(request))}


@card(
    "Your turn: switch off as many heads as you can while “Fahrrad” stays.",
    "How many of the 24 can be off at the same time?",
    ("About 5", "About 12", "About 20"),
    "Always taking the head that costs least, {greedy} can go, as now drawn: “{text}” Can you switch off one more?",
    "Heads that matter little alone may matter together.",
    Tiles(GREEDY[:21]),
    right=2,
)
def played() -> dict:
    return {"greedy": greedy(), "text": compute(without(GREEDY[: greedy()])).text}


@card(
    "The finale: all 24 heads off. Nothing of the source reaches the decoder.",
    "What will it write?",
    ("Nothing", "The same sentence", "A sentence about something else"),
    "“{text}” Without the source the decoder is a language model: it writes what German often says.",
    "The old translation has lost {drop:.0f} nats.",
    Tiles(BOARD),
    right=2,
)
def finale() -> dict:
    request = without(BOARD)
    return {"text": compute(request).text, "drop": -steering.cost(request)}
