"""What a lesson is made of: cards, each with a question and one picture in two states, which is data.

A browser draws cards (viz/web/lessons): in the app it asks for each state of a card, and the page without a server has
them as files. `StatePayload` in viz/web/lessons/state.js names what a state has.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from viz.figures import Figure
from viz.figures.framed import framed
from viz.stage import assets
from viz.stage.payload import message as stage_message
from viz.text import errors
from viz.ui import frame
from viz.ui.plot import plot
from viz.ui.stage import stage_page, steering
from viz.views import changes
from viz.views.cached import Request, compute
from viz.views.changes import Changes
from viz.views.snippets import Plot
from viz.views.view import BEAM, ROW, View

MODEL = "en-de"  # that the lessons which ship are about
LOWEST = 150  # pixels of a figure beside others
LEAST = 200  # pixels of the large picture of a stage
ACTION = "action"  # of what a browser asks: a change on the stage, as JSON
Link = tuple[str, Mapping[str, str]]  # a page on which the visitor can go on, and its query
State = dict[str, Any]  # what a browser is told of a card before a guess, or with the answer


@dataclass(frozen=True)
class Card:
    """A question with two to four guesses; those that are not tokens are messages."""

    look: str
    question: str
    guesses: Sequence[str]
    answer: str  # one sentence
    detail: str  # what is small below it, or nothing
    picture: Any  # gives its state before the guess or with the answer, and a link: as OnStage and Figures
    right: int  # which of the guesses is
    numbers: Callable[[], Mapping[str, object]]  # of the answer, from the model or the files that ship
    live: Callable[[str], str] | None = None  # says what is so in another model, by its name; the picture draws that


@dataclass(frozen=True)
class Story:
    """A lesson: its name, a line about it, its sources, and its cards in order."""

    name: str
    line: str
    sources: str
    cards: Sequence[Card] = ()


def card(*parts: Any, right: int, live: Callable[[str], str] | None = None) -> Callable[[Callable], Card]:
    """Make a card, its parts as in Card, of the function that makes the numbers of its answer."""
    return lambda numbers: Card(*parts, right=right, numbers=numbers, live=live)


def request_translation(text: str, beam: int = BEAM, **changed: Any) -> Request:
    """A translation by the model whose numbers the lessons are about, with changes."""
    return Request(text, MODEL, beam, changes=Changes(**changed))


def view_of(request: Request) -> View:
    """The view of what a card translates."""
    model = "" if request.model == MODEL else request.model
    return View(request.text, model, request.beam, request.penalty, request.reference)


def stage_of(message: bytes, title: Sequence[str] = ()) -> State:
    """A stage of a card: its message, and what stands above it where there are several."""
    return {"message": np.frombuffer(message, np.uint8), "title": list(title)}


def address_of(request: Request) -> Link:
    """Page and query of what a request translates."""
    return "steer" if request.changes else "", {**view_of(request).address(), **request.changes.address()}


def show_on_stage(
    request: Request, place: Mapping[str, str], ring: tuple[int, int] | None, asked: Mapping[str, str]
) -> State:
    """The state of a card that shows a translation.

    Args:
        place: what is open, as an address has it.
        ring: row and column of the cell to frame.
        asked: what the visitor has opened since.
    """
    place = {**place} | {name: value for name, value in asked.items() if name in (*ROW, "layer", "head")}
    version = stage_page.version_of(compute(request), request, view_of(request), splits=False, query=place)
    setting = place | {"rings": [ring] if ring else []}
    page, text = address_of(request)
    message = stage_message.message(version, assets.keep, setting=setting, least=LEAST)
    return {"stages": [stage_of(message)], "setting": setting, "query": {"page": page, **text, **place}}


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

    def state(self, answered: bool, asked: Mapping[str, str] = {}) -> State:
        """What a browser shows; `answered`: with the answer in it; `asked`: what the visitor has opened since."""
        return show_on_stage(*self._set(answered), asked)

    def link(self) -> Link:
        """Where the picture can be played with."""
        request, place, _ = self._set(True)
        page, text = address_of(request)
        return page, {**text, **place}

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


@dataclass(frozen=True)
class Tiles:
    """The heads of the cross-attention as tiles, which the visitor switches off and on."""

    before: Request
    after: Callable[[], Request] | None = None  # what is changed with the answer, at first

    def state(self, answered: bool, asked: Mapping[str, str] = {}) -> State:
        """What a browser shows; `answered`: with the heads off that the answer is about; `asked`: other changes."""
        request = self._request(answered)
        if any(name in asked for name in changes.NAMES) or ACTION in asked:
            request = replace(request, changes=changes.read(asked))
        problem = ""
        if ACTION in asked:
            try:
                request = replace(request, changes=steering.apply_action(request, json.loads(asked[ACTION])))
            except ValueError as error:
                problem = errors.sentence(error)
        setting = {"kind": "cross"}
        view = view_of(request)
        about = {"query": setting, "setting": setting, "splits": False}
        message = steering.payload(request, compute(request), view, problem, **about)
        query = view.address() | request.changes.address()
        about = {"setting": setting, "query": {"page": "steer", **query, **setting}, "board": True}
        return {"stages": [stage_of(message)], **about}

    def link(self) -> Link:
        """Where the page Steer goes on with it."""
        request = self._request(True)
        return "steer", view_of(request).address() | {"kind": "cross"} | request.changes.address()

    def _request(self, answered: bool) -> Request:
        return self.after() if answered and self.after else self.before


@dataclass(frozen=True)
class Figures:
    """Figures of a card, before and after the answer."""

    # Whether the answer shows, and where the visitor has chosen another model, its name -> figures.
    draws: Callable[..., Figure | Plot | Sequence[Figure | Plot]]
    page: str  # where the link leads
    query: Mapping[str, str] | Callable[[], Mapping[str, str]] = field(default_factory=dict)  # of that page
    shares: Sequence[float] = (1.0,)  # of what is left of the window, which each figure takes
    clicks: Callable[[bool], State] | None = None  # what a click on the first figure shows: `opened_cells`, `picks`

    def state(self, answered: bool, asked: Mapping[str, str] = {}) -> State:
        """What a browser shows; `answered`: with the answer in it; `asked`: of which other model, under "model"."""
        model = asked.get("model", "")
        answer = self.draws(answered, model) if model else self.draws(answered)
        figures = [answer] if isinstance(answer, (Figure, Plot)) else answer
        clicks = self.clicks(answered) if self.clicks else {}
        count = len(figures) + bool(clicks.get("picks", {}).get("lines"))
        drawn = [
            figure_of(figure, count == 1, share, clicks=not number and bool(clicks))
            for number, (figure, share) in enumerate(zip(figures, self.shares[-count:]))
        ]
        return {"figures": drawn, **clicks}

    def link(self) -> Link:
        """Where they can be played with."""
        return self.page, self.query() if callable(self.query) else self.query


def figure_of(figure: Figure | Plot, is_alone: bool = True, share: float = 1.0, clicks: bool = False) -> State:
    """What a browser draws of a figure; `share` of what is left of the window."""
    figure = figure if isinstance(figure, Figure) else figure.figure
    if figure.layout.xaxis.ticktext and figure.layout.yaxis.ticktext:  # a map
        figure = framed(figure.copy())
    return plot.payload(figure, clicks=clicks, fills=(frame.LEAST if is_alone else LOWEST, 0, share))


def opened_cells(figure: Figure) -> State:
    """A click on a cell shows that of another figure, which is as large, until the next click."""
    return {"opened": figure_of(figure)}


def picks(cells: Sequence[tuple[int, int]], picked: Sequence[int], most: int, lines: Figure | Plot | None) -> State:
    """A click on a cell frames it, and shows its lines, of at most some cells.

    Args:
        cells: rows and columns, each of which the first figure frames, in this order.
        picked: the numbers of those that are framed at first.
        most: cells at once; the oldest goes.
        lines: of each cell one, and then of each another one; none before the answer.
    """
    drawn = lines and figure_of(lines, is_alone=False)
    return {"picks": {"cells": list(cells), "picked": list(picked), "most": most, "lines": drawn}}
