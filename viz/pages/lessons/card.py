"""What a lesson is made of: cards, each with a question to guess at and one picture, and pictures of two sorts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import streamlit as st

from viz.figures import Drawn
from viz.stage import assets
from viz.stage import message as stage_message
from viz.stage.stage import stage
from viz.ui import plot, staged
from viz.views import cached
from viz.views.cached import Request
from viz.views.cached import compute as steer
from viz.views.changes import Changes
from viz.views.recipes import translation
from viz.views.view import ROW, View

MODEL = "en-de"  # whose numbers the lessons are about
ASKED = "lesson-asked"  # in the session: what was asked for on the stage since the card came
HEIGHT = 590  # pixels of a figure
Place = Mapping[str, object]


class Picture(Protocol):
    """What stands beside a card."""

    def draw(self, answered: bool) -> None:
        """Show it, before the guess or with the answer."""

    def link(self) -> tuple[str, Mapping[str, str]]:
        """The page on which the visitor can go on, and its query."""


@dataclass(frozen=True)
class Card:
    """One card.

    Attributes:
        look: what to look at.
        question: to guess at.
        guesses: two to four; those that are not tokens of the model are messages.
        right: which of them is right, from 0.
        answer: with places in braces for its numbers.
        numbers: makes them, from the model or the files that ship.
        picture: what stands beside it.
    """

    look: str
    question: str
    guesses: Sequence[str]
    right: int
    answer: str
    numbers: Callable[[], Mapping[str, object]]
    picture: Picture


@dataclass(frozen=True)
class Story:
    """A lesson.

    Attributes:
        name: its title.
        line: what it is about, in a sentence.
        minutes: how long it takes.
        cards: in their order.
        sources: what to read.
    """

    name: str
    line: str
    minutes: int
    cards: Sequence[Card]
    sources: str


def asks(text: str, **changes: object) -> Request:
    """A sentence for the model of the lessons, with what is changed inside it."""
    return Request(MODEL, text, changes=Changes(**changes))


def at(tokens: Sequence[str], token: str) -> int:
    """Where a token stands first; a ValueError where the model is another one and it does not stand there."""
    return list(tokens).index(token)


@dataclass(frozen=True)
class OnStage:
    """The stage, as a card sets it.

    Attributes:
        before: what is shown before the guess.
        place: given the translation and whether the answer shows, what is open; "ring" is the cell to frame.
        after: what is shown with the answer; None: the same.
        chosen: how the maps are drawn.
        page: where the link leads.
    """

    before: Request
    place: Callable[[cached.Shown, bool], Place]
    after: Request | None = None
    chosen: View = View()
    page: str = ""

    def draw(self, answered: bool) -> None:
        request, state = self._request(answered), st.session_state
        result = steer(request)
        place = {**self.place(result, answered), **state.get(ASKED, {})}
        ring = place.pop("ring", None)
        state[staged.QUERY] = {name: str(one) for name, one in place.items()}
        chosen = replace(self.chosen, text=request.text)
        shown = staged.shown_of(result, request, chosen, translation(request), rowwise=request.is_plain)
        setting = state[staged.QUERY] | {"ring": ring}
        stage(stage_message.message(shown, assets.PARTS.keep, setting=setting), self._asked)

    def link(self) -> tuple[str, Mapping[str, str]]:
        request = self._request(True)
        place = {name: str(one) for name, one in self.place(steer(request), True).items() if name != "ring"}
        return self.page, replace(self.chosen, text=request.text).address() | request.changes.address() | place

    def _request(self, answered: bool) -> Request:
        return self.after if answered and self.after else self.before

    @staticmethod
    def _asked(query: dict[str, str]) -> None:
        st.session_state[ASKED] = {name: one for name, one in query.items() if name in (*ROW, "layer", "head")}


@dataclass(frozen=True)
class Figures:
    """Figures below each other, one or two.

    Attributes:
        draws: given whether the answer shows, each figure and its height in pixels.
        page, query: where the link leads.
        on_click: called with the numbers of what was clicked in the first.
    """

    draws: Callable[[bool], Sequence[tuple[Drawn, int]]]
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    on_click: Callable[..., None] | None = None

    def draw(self, answered: bool) -> None:
        for number, (figure, height) in enumerate(self.draws(answered)):
            figure.layout.height = height
            plot.plot(figure, f"lesson-figure-{number}", on_click=self.on_click if number == 0 else None)

    def link(self) -> tuple[str, Mapping[str, str]]:
        return self.page, self.query
