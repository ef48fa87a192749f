"""What a lesson is made of: cards, each with a question and one picture."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from viz.figures import Figure
from viz.figures.framed import framed
from viz.ui import frame
from viz.ui.plot import plot
from viz.ui.stage import stage_page
from viz.views.cached import Request, compute
from viz.views.changes import Changes
from viz.views.snippets import Plot
from viz.views.view import BEAM, ROW, View

REQUESTED = "lesson-requested"  # in the session: what the visitor requested of the stage since the card came
LOWEST = 150  # pixels of a figure beside others
LEAST = 200  # pixels of the large picture of a stage
Link = tuple[str, Mapping[str, str]]  # a page on which the visitor can go on, and its query


@dataclass(frozen=True)
class Card:
    """A question with two to four guesses; those that are not tokens are messages."""

    look: str
    question: str
    guesses: Sequence[str]
    answer: str  # one sentence
    detail: str  # what is small below it, or nothing
    picture: Any  # draws itself before the guess or with the answer, and has a link: as OnStage and Figures
    right: int  # which of the guesses is
    numbers: Callable[[], Mapping[str, object]]  # of the answer, from the model or the files that ship
    live: Callable[[], str | None] | None = None  # lets the visitor choose another model, and says what is so in that


@dataclass(frozen=True)
class Story:
    """A lesson: its name, a line about it, its sources, and its cards in order."""

    name: str
    line: str
    sources: str
    cards: Sequence[Card] = ()


def card(*parts: Any, right: int, live: Callable[[], str | None] | None = None) -> Callable[[Callable], Card]:
    """Make a card, its parts as in Card, of the function that makes the numbers of its answer."""
    return lambda numbers: Card(*parts, right=right, numbers=numbers, live=live)


def request_translation(text: str, beam: int = BEAM, **changes: Any) -> Request:
    """A translation by the model whose numbers the lessons are about, with changes."""
    return Request(text, "en-de", beam, changes=Changes(**changes))


def view_of(request: Request) -> View:
    """The view of what a card translates."""
    return View(text=request.text, beam=request.beam)


@dataclass(frozen=True)
class OnStage:
    """The stage, as a card sets it.

    Place and then are as in an address, but "step", "row" and "pin" are written tokens, "at" is a layer and a head, or
    a function that chooses them, and "ring" the cell to frame, of a written and a source token.
    """

    before: Request
    place: Mapping[str, object] = field(default_factory=dict)  # what is open, of the cross-attention unless said
    then: Mapping[str, object] = field(default_factory=dict)  # what changes with the answer
    after: Request | None = None  # what is shown with the answer, where it is something else

    def draw(self, answered: bool) -> None:
        """Show the picture; `answered`: with the answer in it."""
        request, place, ring = self._set(answered)
        query = st.session_state[stage_page.QUERY] = place | st.session_state.get(REQUESTED, {})
        version = stage_page.version_of(compute(request), request, view_of(request))
        stage_page.show_stage(
            version, on_request=self._keep_request, setting=query | {"rings": [ring] if ring else []}, least=LEAST
        )

    def link(self) -> Link:
        """Where the picture can be played with."""
        request, place, _ = self._set(True)
        text = view_of(request).address()
        return "steer" if request.changes else "", text | request.changes.address() | place

    def _set(self, answered: bool) -> tuple[Request, dict[str, str], tuple[int, int] | None]:
        request = self.after if answered and self.after else self.before
        place: dict[str, Any] = {"kind": "cross", **self.place, **(self.then if answered else {})}
        row, key = (tokens.index for tokens in (compute(request).predicted_tokens, compute(request).source_tokens))
        place |= {name: row(place[name]) for name in ("step", "row") if name in place}
        if "pin" in place:
            place["pin"] = f"t{row(place['pin'])}"
        if "at" in place:
            at = place.pop("at")
            place["layer"], place["head"] = at if isinstance(at, tuple) else at()
        ring = place.pop("ring", None)
        ring = ring and (row(ring[0]), key(ring[1]))
        return request, {name: str(value) for name, value in place.items()}, ring

    @staticmethod
    def _keep_request(query: dict[str, str]) -> None:
        st.session_state[REQUESTED] = {name: value for name, value in query.items() if name in (*ROW, "layer", "head")}


@dataclass(frozen=True)
class Figures:
    """Figures of a card, before and after the answer."""

    draws: Callable[[bool], Figure | Plot | Sequence[Figure | Plot]]  # whether the answer shows -> figures
    page: str  # where the link leads
    query: Mapping[str, str] | Callable[[], Mapping[str, str]] = field(default_factory=dict)  # of that page
    shares: Sequence[float] = (1.0,)  # of what is left of the window, which each figure takes
    on_click: Callable[..., None] | None = None  # called with the numbers of what was clicked in the first figure

    def draw(self, answered: bool) -> None:
        """Show them; `answered`: with the answer in them."""
        answer = self.draws(answered)
        answers = [answer] if isinstance(answer, (Figure, Plot)) else answer
        figures = [each if isinstance(each, Figure) else each.figure for each in answers]
        for number, (figure, share) in enumerate(zip(figures, self.shares[-len(figures) :])):
            if figure.layout.xaxis.ticktext and figure.layout.yaxis.ticktext:  # a map
                figure = framed(figure.copy())
            fills = frame.LEAST if len(figures) == 1 else LOWEST, 0, share
            plot.plot(figure, f"lesson-figure-{number}", on_click=None if number else self.on_click, fills=fills)
        frame.note(figures[-1].description)

    def link(self) -> Link:
        """Where they can be played with."""
        return self.page, self.query() if callable(self.query) else self.query
