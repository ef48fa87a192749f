"""The lessons as data: what a browser draws (viz/web/lessons), in the app and on the page without a server."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from streamlit import logger

from model.experiments import recorded_model
from model.text.errors import Problem
from viz.pages.lessons import (
    always,
    attention,
    effects,
    emergence,
    heads,
    masks,
    patching,
    positions,
    since,
    story_file,
    warmup,
    why,
    why_recorded,
)
from viz.pages.lessons.card import Card, State, Story
from viz.stage.payload import why as stage_why
from viz.stage.payload.packing import pack
from viz.text import errors
from viz.text.language import current, messages, say, using

LESSONS: dict[str, Story] = {
    part.__name__.split(".")[-1]: replace(
        part.STORY, cards=[card for card in vars(part).values() if type(card) is Card]
    )
    for part in (attention, masks, positions, heads, warmup, emergence, effects, always, since, why, patching)
}
CARDS = {f"{name}-{n}": (name, n) for name, story in LESSONS.items() for n in range(1, len(story.cards) + 1)}
RECORDED = ""  # in the place of another model

WORDS = messages(
    lessons="Lessons",
    question="How does attention work, and what does it not tell?",
    about="Short stories of a few cards. Guess first; the answers are computed from the models that ship.",
    choose="Choose a story",
    first_picture="The first picture of “{name}”",
    counts="{stories} stories, {n} questions.",
    progress="You have answered {done} of {n} questions, {right} correctly.",
    minutes="{n} minutes",
    answered="{done} of {n} answered",
    all="All lessons",
    back="Back",
    next="Next",
    place="Card {number} of {total}",
    guess_first="Guess first: one of these {n} is right.",
    right="Right.",
    wrong="Not quite.",
    try_it="Try it on your own sentence",
    larger="Larger type",
    normal="Normal type",
    about_larger="Larger type, and nothing else on the screen",
    model="Model",
    recorded="{name}, recorded",
    computing="Computing …",
    not_shipped="This card needs the models and the runs that ship with Headlight.",
    not_fetched="The card could not be loaded. Please try again.",
    nowhere="There is no card “{asked}”; the lessons are {lessons}, their cards count from 1.",
)
WORDS["no_parts"] = why_recorded.NO_PARTS


def stories() -> dict[str, Story]:
    """The lessons that ship and those of files, in the language of here.

    Raises:
        ValueError: a file cannot be read, or is called as a lesson that ships.
    """
    own = story_file.stories()
    for code in own.keys() & LESSONS.keys():
        raise Problem("a lesson that ships is called {code}, too: give the file another name", code=code)
    return LESSONS | own


def codes() -> list[str]:
    """The codes of all cards."""
    return [f"{name}-{n}" for name, story in stories().items() for n in range(1, len(story.cards) + 1)]


def index(lessons: Mapping[str, Story]) -> dict[str, Any]:
    """Lessons and their cards, in the language of here, without pictures and answers: `Index` in state.js."""
    return {
        "language": current(),
        "words": {name: say(text) for name, text in WORDS.items()},
        "stories": [
            {
                "code": code,
                "name": say(story.name),
                "line": say(story.line),
                "sources": story.sources,
                "cards": [
                    {
                        "look": say(card.look),
                        "question": say(card.question),
                        "guesses": list(map(say, card.guesses)),
                        "right": card.right,
                        "live": card.live is not None,
                    }
                    for card in story.cards
                ],
            }
            for code, story in lessons.items()
        ],
        "recording": recorded_model.NAME,
        "models": [],
    }


def state(code: str, answered: bool, asked: Mapping[str, str] = {}) -> State:
    """What a browser shows of a card, in the language of here.

    Args:
        code: of a card; else a KeyError.
        answered: with the answer, else before a guess.
        asked: what the visitor has opened or changed since, as an address says it; "model" is another model.
    """
    name, number = code.rsplit("-", 1)
    card = stories()[name].cards[int(number) - 1]
    model = asked.get("model", RECORDED)
    if not answered or card.live is None or model not in since.recorded.models():
        asked = {key: value for key, value in asked.items() if key != "model"}
        model = RECORDED
    try:
        told: State = {"answer": "", "detail": "", "live": "", "problem": ""}
        if answered:
            numbers = card.numbers()
            told |= {"answer": say(card.answer, **numbers), "detail": say(card.detail, **numbers)}
        told |= card.picture.state(answered, asked)
        page, query = card.picture.link()
        told["link"] = {"page": page, "query": query}
    except (ValueError, LookupError) as error:
        if name not in LESSONS and isinstance(error, ValueError):
            return {"problem": errors.sentence(error)}
        return {"problem": say(WORDS["not_shipped"])}
    if card.live is not None and model != RECORDED:
        try:
            told["live"] = say("{name}: {text}", name=model, text=card.live(model))
        except ValueError as error:
            told["live"] = errors.sentence(error)
    return told


def answer(language: str, query: Mapping[str, str]) -> bytes | None:
    """What a browser fetches: the state of a card or the parts of a recorded cell; None where there is none."""
    asked = dict(query)
    code, answered = asked.pop("card", ""), asked.pop("answered", "") == "1"
    with using(language):
        if not code:
            cell = stage_why.cell_of({**asked, "view": "why"})
            return cell and pack(dict(why_recorded.payload(cell)))
        return pack(state(code, answered, asked)) if code in codes() else None


def files(language: str) -> Iterator[tuple[str, bytes]]:
    """What `answer` gives of each card of a language before a guess and with the answer, by "card-0" and "card-1"."""
    logger.set_log_level(logging.ERROR)  # it warns of each computation that no page of the app has asked for
    with using(language):
        for code in codes():
            for answered in (False, True):
                told = state(code, answered)
                if told["problem"]:
                    raise Problem("the card {code} cannot be made: {reason}", code=code, reason=told["problem"])
                yield f"{code}-{int(answered)}", pack(told)


def recorded_files() -> Iterator[tuple[str, bytes]]:
    """What `answer` gives of each cell whose parts are recorded, by "layer-head-row" and, where it has one, "-key"."""
    for cell in why_recorded.cells():
        place = (str(number) for number in cell[1:] if number is not None)
        yield "-".join(place), pack(dict(why_recorded.payload(cell)))
