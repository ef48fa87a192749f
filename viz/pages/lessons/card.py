"""What a lesson is made of: cards, each with a question to guess at and one picture, and pictures of two sorts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import streamlit as st

from viz.figures import Drawn
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
    """What to look at, a question with two to four guesses, which of them is right, and the answer.

    Attributes:
        guesses: those that are not tokens of the model are messages.
        numbers: makes those of the answer, from the model or the files that ship.
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
    """A lesson: its title, what it is about, how long it takes, and what to read."""

    name: str
    line: str
    minutes: int
    sources: str
    cards: list[Card] = field(default_factory=list)


def card(story: Story, **parts) -> Callable[[Callable], Callable]:
    """Add a card to a lesson, with the function that makes the numbers of its answer; parts as of Card."""
    return lambda numbers: story.cards.append(Card(**parts, numbers=numbers)) or numbers


def asks(text: str, **changes: object) -> Request:
    return Request(MODEL, text, changes=Changes(**changes))


def at(tokens: Sequence[str], token: str) -> int:
    """Where a token stands first; a ValueError where the model is another one and it does not stand there."""
    return list(tokens).index(token)


@dataclass(frozen=True)
class OnStage:
    """The stage, as a card sets it.

    Attributes:
        before, after: what is shown before the guess and with the answer; None: the same.
        place, then: what is open (of the cross-attention unless said), and what changes with the answer; functions
            make them of the translation. "ring" is the cell to frame.
        chosen: how the maps are drawn.
        page: where the link leads.
    """

    before: Request
    place: Place | Callable[[cached.Shown], Place] = field(default_factory=dict)
    then: Place | Callable[[cached.Shown], Place] = field(default_factory=dict)
    after: Request | None = None
    chosen: View = View()
    page: str = ""

    def draw(self, answered: bool) -> None:
        request, place, chosen = self._set(answered)
        state = st.session_state
        place |= state.get(ASKED, {})
        ring = place.pop("ring", None)
        state[staged.QUERY] = {name: str(one) for name, one in place.items()}
        shown = staged.shown_of(steer(request), request, chosen, translation(request), rowwise=request.is_plain)
        setting = state[staged.QUERY] | {"ring": ring}
        staged.put(shown, asked=self._asked, setting=setting)

    def link(self) -> tuple[str, Mapping[str, str]]:
        request, place, chosen = self._set(True)
        place = {name: str(one) for name, one in place.items() if name != "ring"}
        return self.page, chosen.address() | request.changes.address() | place

    def _set(self, answered: bool) -> tuple[Request, dict, View]:
        request = self.after if answered and self.after else self.before
        place = {"kind": "cross"}
        for part in (self.place, self.then) if answered else (self.place,):
            place |= part(steer(request)) if callable(part) else part
        return request, place, replace(self.chosen, text=request.text)

    @staticmethod
    def _asked(query: dict[str, str]) -> None:
        st.session_state[ASKED] = {name: one for name, one in query.items() if name in (*ROW, "layer", "head")}


@dataclass(frozen=True)
class Figures:
    """A figure, or two below each other.

    Attributes:
        draws: given whether the answer shows, a figure, or several and their heights in pixels.
        page, query: where the link leads.
        on_click: called with the numbers of what was clicked in the first.
    """

    draws: Callable[[bool], Drawn | list[tuple[Drawn, int]]]
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    on_click: Callable[..., None] | None = None

    def draw(self, answered: bool) -> None:
        drawn = self.draws(answered)
        for number, (figure, height) in enumerate(drawn if isinstance(drawn, list) else [(drawn, HEIGHT)]):
            figure.layout.height = height
            plot.plot(figure, f"lesson-figure-{number}", on_click=self.on_click if number == 0 else None)

    def link(self) -> tuple[str, Mapping[str, str]]:
        return self.page, self.query
