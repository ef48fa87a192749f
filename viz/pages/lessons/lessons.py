"""The page Lessons: nine stories of a few cards, each a question beside one picture."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from html import escape

import streamlit as st

from viz.pages.lessons import attention, effects, heads, masks, patching, positions, since, warmup, why
from viz.pages.lessons.card import REQUESTED, Card, Link, Story
from viz.stage import assets
from viz.text import errors
from viz.text.language import current, message, say, using
from viz.ui import frame, language_menu, shared, widgets

LESSONS: dict[str, Story] = {
    part.__name__.split(".")[-1]: replace(
        part.STORY, cards=[card for card in vars(part).values() if type(card) is Card]
    )
    for part in (attention, masks, positions, heads, warmup, effects, since, why, patching)
}
CARDS = {f"{name}-{n}": (name, n) for name, story in LESSONS.items() for n in range(1, len(story.cards) + 1)}
ADDRESS, PROJECTOR = "lesson", "projector"  # in an address
OPEN = "lesson-open"  # in the session: the card whose picture is there, and what was guessed

_PROJECTED = """<style>
:root { --hl-size-answer: 32px; --hl-size-title: 20px; --hl-size-note: 18px; }
html { font-size: 20px; }
header[data-testid="stHeader"], .st-key-language-menu { display: none !important; }
.stMainBlockContainer:has(.st-key-frame) { max-width: none; padding: 1rem 2rem 0; }
.hl-stage, .hl-look { font-size: 18px; }
</style>"""


@cache
def _keys():
    return assets.component("headlight_lesson", "pages/lesson.js", "keys")


def open_card(name: str, number: int = 0) -> None:
    """Open a card; number 0: the choice of lessons."""
    if number:
        st.query_params[ADDRESS] = f"{name}-{number}"
    else:
        st.query_params.pop(ADDRESS, None)


def project() -> None:
    """Show the card for a projector, or as before."""
    if st.query_params.pop(PROJECTOR, None) is None:
        st.query_params[PROJECTOR] = "1"


def guess_of(name: str, number: int) -> int | None:
    """What the visitor has guessed of a card."""
    return st.session_state.get(_key(name, number))


def _key(name: str, number: int) -> str:
    return f"lesson-guess-{name}-{number}"


def draw(name: str, number: int, guessed: int | None = None) -> tuple[Mapping[str, object], Link] | None:
    """Show the picture of a card; returns the numbers of its answer, and where one can go on.

    None where the models are not those that ship.
    """
    state = st.session_state
    card = LESSONS[name].cards[number - 1]
    if state.get(OPEN) != (name, number, guessed):  # what was asked for on the stage belongs to the card as it was
        state[OPEN] = (name, number, guessed)
        state.pop(REQUESTED, None)
    try:
        numbers = {} if guessed is None else card.numbers()
        card.picture.draw(guessed is not None)
        return numbers, card.picture.link()
    except (ValueError, LookupError):
        return None


def choose(places: frame.Places) -> None:
    """List the lessons beside the first picture of the first one."""
    first, *_ = LESSONS
    with places.question:
        frame.question(say("How does attention work, and what does it not tell?"))
        show_projector()
    with places.answer:
        note = say("Short stories of a few cards. Guess first; the answers are computed from the models that ship.")
        frame.answer(progress(), note)
    with places.left_controls:
        frame.picture_title(say("Choose a story"))
    with places.left:
        for number, (name, story) in enumerate(LESSONS.items(), 1):
            with st.container(key=f"lesson-tile-{name}"):
                label = f"{number}  {say(story.name)} · {minutes(name)}"
                settings = {"type": "tertiary", "width": "stretch", "on_click": open_card, "args": (name, 1)}
                st.button(label, key=f"lesson-{name}", **settings)
                frame.note(say(story.line))
    with places.right_controls:
        frame.label(say("The first picture of “{name}”", name=say(LESSONS[first].name)))
    with places.right:
        draw(first, 1)


def progress() -> str:
    """How many questions there are, and how many of them the visitor has answered."""
    guesses = {(name, number): guess_of(name, number) for name, number in CARDS.values()}
    answered = [card for card, guess in guesses.items() if guess is not None]
    if not answered:
        return say("{stories} stories, {n} questions.", stories=len(LESSONS), n=len(CARDS))
    right = sum(guesses[name, number] == LESSONS[name].cards[number - 1].right for name, number in answered)
    return say(
        "You have answered {done} of {n} questions, {right} correctly.", done=len(answered), n=len(CARDS), right=right
    )


def minutes(name: str) -> str:
    """How long a lesson takes, and how far the visitor is in it."""
    n_cards = len(LESSONS[name].cards)
    n_answered = sum(guess_of(name, number) is not None for number in range(1, n_cards + 1))
    time = say("{n} minutes", n=n_cards)
    return f"{time} · {say('{done} of {n} answered', done=n_answered, n=n_cards)}" if n_answered else time


def show_projector() -> None:
    """The button that makes the type larger, and back."""
    is_on = PROJECTOR in st.query_params
    label = say("Normal type") if is_on else say("Larger type")
    key = "lesson-leave" if is_on else "lesson-projector"
    st.button(label, key=key, on_click=project, help=say("Larger type, and nothing else on the screen"))


def show_live(live: Callable[[], str | None]) -> None:
    """What is so in another model; a sentence where that cannot be computed."""
    with st.container(key="lesson-live"):
        try:
            line = live()
        except ValueError as error:
            shared.warn(errors.sentence(error))
            return
        if line is not None:
            st.text(line)


def show_steps(name: str, number: int, total: int) -> None:
    """Where a card stands in its lesson, and the buttons to the next ones."""
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="lesson-steps"):
        dots = "●" * number + "○" * (total - number)
        label = say("Card {number} of {total}", number=number, total=total)
        html = f'<span class="hl-dots" role="img" aria-label="{escape(label)}" data-testid="lesson-dots">{dots}</span>'
        st.html(html, width="content")
        st.button(f"← {say('Back')}", key="lesson-back", on_click=open_card, args=(name, number - 1))
        last = number == total
        label, to = (say("All lessons"), (name,)) if last else (f"{say('Next')} →", (name, number + 1))
        st.button(label, key="lesson-next", on_click=open_card, args=to, type="primary")


def show_guesses(name: str, number: int) -> None:
    """What a card says of its picture, and the guesses as tiles; with one made, which is right."""
    card = LESSONS[name].cards[number - 1]
    guessed = guess_of(name, number)
    frame.picture_title(say(LESSONS[name].name))
    st.html(f'<p class="hl-look">{escape(say(card.look))}</p>')
    for guess, text in enumerate(card.guesses):
        mark = "" if guessed is None else "✓ " if guess == card.right else "✗ " if guess == guessed else ""
        settings = {"on_click": st.session_state.update, "args": ({_key(name, number): guess},), "width": "stretch"}
        with st.container(key="guessed" if guess == guessed else f"not-guessed-{guess}"):
            st.button(mark + say(text), key=f"guess-{guess}", **settings)


def show_others(name: str) -> None:
    """All lessons, small; the open one is framed."""
    with st.container(key="lesson-others"):
        frame.picture_title(say("All lessons"))
        with st.container(horizontal=True, gap="small"):
            for code, story in LESSONS.items():
                with st.container(key="lesson-here" if code == name else f"lesson-other-{code}", width="content"):
                    st.button(say(story.name), key=f"lesson-{code}", on_click=open_card, args=(code, 1))


def show(places: frame.Places, name: str, number: int) -> None:
    """Draw a card: its question, the guesses and the picture, and with a guess the answer."""
    story = LESSONS[name]
    guessed = guess_of(name, number)
    card = story.cards[number - 1]
    total = len(story.cards)
    with places.question:
        frame.question(say(card.question))
        show_projector()
    with places.left_controls:
        show_steps(name, number, total)
    with places.left:
        show_guesses(name, number)
    if guessed is None:
        with places.answer:
            frame.answer(say("Guess first: one of these {n} is right.", n=len(card.guesses)), say(story.line))
    with places.right:
        shown = draw(name, number, guessed)
    numbers, link = shown or ({}, None)
    if link is None:
        with places.notes:
            shared.warn(say("This card needs the models and the runs that ship with Headlight."))
    if numbers:
        verdict = say("Right.") if guessed == card.right else say("Not quite.")
        with places.answer:
            frame.answer(f"{verdict} {say(card.answer, **numbers)}", say(card.detail, **numbers))
    with places.left:
        if numbers and card.live is not None:
            show_live(card.live)
        frame.note(story.sources)
        show_others(name)
    with places.right_controls:
        if link is not None:
            html = language_menu.link(say("Try it on your own sentence"), *link)
            st.html(f'<p class="hl-note">{html}</p>', width="content")


@widgets.fragment
def live() -> None:
    """The page."""
    with using(current()):
        places = frame.places()
        with places.left, st.container(key="lesson-keys"):
            _keys()(key="lesson-keys-part", data=b"")
            # What is a style alone stays until another comes in its place.
            st.html(_PROJECTED if PROJECTOR in st.query_params else "<style></style>")
        value = st.query_params.get(ADDRESS)
        if value in CARDS:
            show(places, *CARDS[value])
            return
        if value is not None:
            text = message("There is no card “{asked}”; the lessons are {lessons}, their cards count from 1.")
            with places.notes:
                shared.warn(say(text, asked=value[:40], lessons=", ".join(LESSONS)))
        choose(places)


frame.opening(say("Lessons"))
live()
