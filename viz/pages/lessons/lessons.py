"""The page Lessons: six stories of a few cards, each beside one picture; which card is open stands in the address."""

from dataclasses import replace
from functools import cache

import streamlit as st

from viz.pages.lessons import attention, card, effects, heads, masks, positions, warmup
from viz.stage import assets
from viz.text.language import current, message, say, using
from viz.ui import choices, shared, speaking
from viz.ui.plot import plot

LESSONS: dict[str, card.Story] = {
    part.__name__.split(".")[-1]: replace(
        part.STORY, cards=[one for one in vars(part).values() if isinstance(one, card.Card)]
    )
    for part in (attention, masks, positions, heads, warmup, effects)
}
CARDS = {f"{name}-{n}": (name, n) for name, story in LESSONS.items() for n in range(1, len(story.cards) + 1)}
ADDRESS, PROJECTOR = "lesson", "projector"  # in an address
OPEN = "lesson-open"  # in the session: the card that is open, and what was guessed there

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
    return assets.component("headlight_lesson", "lesson.js", "keys")


def go(name: str, number: int = 0) -> None:
    """Open a card; number 0: the choice of lessons."""
    if number:
        st.query_params[ADDRESS] = f"{name}-{number}"
    else:
        st.query_params.pop(ADDRESS, None)


def project() -> None:
    if st.query_params.pop(PROJECTOR, None) is None:
        st.query_params[PROJECTOR] = "1"


def choose() -> None:
    with st.container(key="lesson-choice"):
        line = say("Six short stories. Guess first; the answers are computed from the models that ship.")
        shared.opening(say("Lessons"), line)
    pictures, beside = shared.picture_first()
    with beside, st.container(gap="xsmall"):
        for number, (name, story) in enumerate(LESSONS.items(), 1):
            label = f"{number}  {say(story.name)}"
            st.button(label, key=f"lesson-{name}", on_click=go, args=(name, 1), width="stretch")
            st.caption(f"{say(story.line)} {say('{n} minutes', n=story.minutes)}")
    with pictures:
        try:
            plot(attention.cover(), "picture")
        except (ValueError, LookupError):  # another model, or none
            pass


def show(name: str, number: int) -> None:
    story, state, place = LESSONS[name], st.session_state, f"lesson-guess-{name}-{number}"
    shown, total, guessed = story.cards[number - 1], len(story.cards), state.get(place)
    answered = guessed is not None
    if state.get(OPEN) != (place, guessed):  # what was asked for on the stage belongs to the card as it was
        state[OPEN] = (place, guessed)
        state.pop(card.ASKED, None)
    beside, pictures = st.columns([4, 8], gap="medium")
    with pictures:
        try:
            numbers = shown.numbers() if answered else {}
            shown.picture.draw(answered)
        except (ValueError, LookupError):
            numbers = None
            shared.warn(say("This card needs the models and the runs that ship with Headlight."))
    with beside, st.container(key="lesson-card"):
        dots = "●" * number + "○" * (total - number)
        label = say("Card {number} of {total}", number=number, total=total)
        st.html(f'<span class="hl-dots" role="img" aria-label="{label}" data-testid="lesson-dots">{dots}</span>')
        st.markdown(f"### {say(story.name)}")
        st.markdown(say(shown.look))
        st.markdown(f"**{say(shown.question)}**")
        for one, text in enumerate(shown.guesses):
            mark = "" if not answered else "✓ " if one == shown.right else "✗ " if one == guessed else ""
            does = {"on_click": state.update, "args": ({place: one},), "width": "stretch"}
            st.button(mark + say(text), key=f"guess-{one}", **does)
        if answered and numbers is not None:
            with st.container(key="lesson-answer"):
                verdict = say("Right.") if guessed == shown.right else say("Not quite.")
                st.markdown(f"**{verdict}** {say(shown.answer, **numbers)}")
        with shared.row(gap="small", key="lesson-steps"):
            st.button(f"← {say('Back')}", key="lesson-back", on_click=go, args=(name, number - 1))
            last = number == total
            label, to = (say("All lessons"), (name,)) if last else (f"{say('Next')} →", (name, number + 1))
            st.button(label, key="lesson-next", on_click=go, args=to, type="primary")
            key = "lesson-leave" if PROJECTOR in st.query_params else "lesson-projector"
            st.button("⤢", key=key, on_click=project, help=say("Larger type, and nothing else on the screen"))
        with st.container(key="lesson-sources", gap="xxsmall"):
            if numbers is not None:
                st.html(speaking.link(say("Try it on your own sentence"), *shown.picture.link()))
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
