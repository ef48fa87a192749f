"""The page Lessons: seven stories of a few cards, each beside one picture."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import streamlit as st

from viz.pages.lessons import attention, effects, heads, masks, positions, since, warmup
from viz.pages.lessons.card import ASKED, Card, Story
from viz.stage import assets
from viz.text import errors
from viz.text.language import current, message, say, using
from viz.ui import choices, shared, speaking

LESSONS: dict[str, Story] = {
    part.__name__.split(".")[-1]: replace(part.STORY, cards=[one for one in vars(part).values() if type(one) is Card])
    for part in (attention, masks, positions, heads, warmup, effects, since)
}
CARDS = {f"{name}-{n}": (name, n) for name, story in LESSONS.items() for n in range(1, len(story.cards) + 1)}
ADDRESS, PROJECTOR = "lesson", "projector"  # in an address
OPEN = "lesson-open"  # in the session: the card whose picture is there, and what was guessed

_STYLE = """<style>
.stMainBlockContainer { padding-top: 4rem; padding-bottom: 0.5rem; }
.st-key-lesson-card { gap: 0.5rem; }
.st-key-lesson-card h3 { padding: 0 0 1rem; font-size: 1.3rem; }
.st-key-lesson-card p { line-height: 1.4; }
.st-key-lesson-card button { min-height: 2.1rem; padding: 0.15rem 0.75rem; }
[class*="st-key-guess-"] button, [class*="st-key-guess-"] button > * { justify-content: flex-start; text-align: left; }
.st-key-lesson-answer { border-left: 4px solid #e8590c; padding-left: 0.75rem; }
.hl-dots { letter-spacing: 0.3em; }
.st-key-lesson-sources .stText, .st-key-lesson-sources a { font-size: 0.8rem; opacity: 0.85; }
:has(> .st-key-lesson-keys) { position: absolute; }
</style>"""
_PROJECTED = """<style>
html { font-size: 20px; }
header[data-testid="stHeader"], .st-key-speaking { display: none !important; }
.stMainBlockContainer { max-width: none; padding: 1rem 2rem 0; }
.hl-stage { font-size: 18px; }
</style>"""


@cache
def _keys():
    return assets.component("headlight_lesson", "ui/lesson.js", "keys")


def go(name: str, number: int = 0) -> None:
    """Open a card; number 0: the choice of lessons."""
    if number:
        st.query_params[ADDRESS] = f"{name}-{number}"
    else:
        st.query_params.pop(ADDRESS, None)


def project() -> None:
    if st.query_params.pop(PROJECTOR, None) is None:
        st.query_params[PROJECTOR] = "1"


def draw(name: str, number: int, guessed: int | None = None) -> Mapping[str, object] | None:
    """Show the picture of a card, and say the numbers of its answer; None where the models are not those that ship."""
    state, card = st.session_state, LESSONS[name].cards[number - 1]
    if state.get(OPEN) != (name, number, guessed):  # what was asked for on the stage belongs to the card as it was
        state[OPEN] = (name, number, guessed)
        state.pop(ASKED, None)
    try:
        numbers = {} if guessed is None else card.numbers()
        card.picture.draw(guessed is not None)
        return numbers
    except (ValueError, LookupError):
        return None


def choose() -> None:
    with st.container(key="lesson-choice"):
        line = say("Short stories of a few cards. Guess first; the answers are computed from the models that ship.")
        shared.opening(say("Lessons"), line)
    pictures, beside = shared.picture_first()
    with beside, st.container(gap="xsmall"):
        for number, (name, story) in enumerate(LESSONS.items(), 1):
            label = f"{number}  {say(story.name)}"
            st.button(label, key=f"lesson-{name}", on_click=go, args=(name, 1), width="stretch")
            st.caption(f"{say(story.line)} {say('{n} minutes', n=len(story.cards))}")
    with pictures:
        draw("attention", 1)


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


def show(name: str, number: int) -> None:
    story, place = LESSONS[name], f"lesson-guess-{name}-{number}"
    card, total, guessed = story.cards[number - 1], len(story.cards), st.session_state.get(place)
    beside, pictures = st.columns([4, 8], gap="medium")
    with pictures:
        numbers = draw(name, number, guessed)
        if numbers is None:
            shared.warn(say("This card needs the models and the runs that ship with Headlight."))
    with beside, st.container(key="lesson-card"):
        dots = "●" * number + "○" * (total - number)
        label = say("Card {number} of {total}", number=number, total=total)
        st.html(f'<span class="hl-dots" role="img" aria-label="{label}" data-testid="lesson-dots">{dots}</span>')
        st.markdown(f"### {say(story.name)}\n\n{say(card.look)}\n\n**{say(card.question)}**")
        for one, text in enumerate(card.guesses):
            mark = "" if guessed is None else "✓ " if one == card.right else "✗ " if one == guessed else ""
            does = {"on_click": st.session_state.update, "args": ({place: one},), "width": "stretch"}
            st.button(mark + say(text), key=f"guess-{one}", **does)
        if numbers:
            with st.container(key="lesson-answer"):
                verdict = say("Right.") if guessed == card.right else say("Not quite.")
                st.markdown(f"**{verdict}** {say(card.answer, **numbers)}")
            if card.live is not None:
                show_live(card.live)
        with shared.row(gap="small", key="lesson-steps"):
            st.button(f"← {say('Back')}", key="lesson-back", on_click=go, args=(name, number - 1))
            last = number == total
            label, to = (say("All lessons"), (name,)) if last else (f"{say('Next')} →", (name, number + 1))
            st.button(label, key="lesson-next", on_click=go, args=to, type="primary")
            key = "lesson-leave" if PROJECTOR in st.query_params else "lesson-projector"
            st.button("⤢", key=key, on_click=project, help=say("Larger type, and nothing else on the screen"))
        with st.container(key="lesson-sources", gap="xxsmall"):
            if numbers is not None:
                st.html(speaking.link(say("Try it on your own sentence"), *card.picture.link()))
            st.text(story.sources)


@choices.fragment
def live() -> None:
    with using(current()):
        st.html(_STYLE + (_PROJECTED if PROJECTOR in st.query_params else ""))
        with st.container(key="lesson-keys"):
            _keys()(key="lesson-keys-part", data=b"")
        value = st.query_params.get(ADDRESS)
        if value in CARDS:
            show(*CARDS[value])
            return
        if value is not None:
            text = message("There is no card “{asked}”; the lessons are {lessons}, their cards count from 1.")
            shared.warn(say(text, asked=value[:40], lessons=", ".join(LESSONS)))
        choose()


live()
