"""The bar of a lesson, above whatever page its step is about.

The step is in the address as lesson=NAME-NUMBER.
"""

from __future__ import annotations

import streamlit as st

from viz.text import words_lessons
from viz.text.language import say
from viz.text.words_lessons import LESSONS, Lesson
from viz.ui import shared, ways

PARAMETER = "lesson"


def address(name: str, number: int) -> str:
    """The link to a step of a lesson.

    Args:
        name: of LESSONS.
        number: of the step, from 1.
    """
    step = LESSONS[name].steps[number - 1]
    return ways.address(step.page, {PARAMETER: f"{name}-{number}", **step.query})


def read(value: str) -> tuple[str, int] | None:
    """The lesson and the number of its step (from 1) that an address names; None where it names none."""
    name, _, number = value.rpartition("-")
    if name not in LESSONS or not (number.isascii() and number.isdigit() and len(number) < 3):
        return None
    return (name, int(number)) if 1 <= int(number) <= len(LESSONS[name].steps) else None


def present() -> dict[str, str]:
    """The parameter of the step whose bar is shown, for links that shall keep it; empty where there is none."""
    value = st.query_params.get(PARAMETER, "")
    return {PARAMETER: value} if read(value) else {}


def bar() -> None:
    """Show the step that the address names; nothing where it names none."""
    value = st.query_params.get(PARAMETER)
    if value is None:
        return
    found = read(value)
    if found is None:
        shared.warn(words_lessons.unknown(value))
        return
    _show(*found, LESSONS[found[0]])


def _show(name: str, number: int, lesson: Lesson) -> None:
    step = lesson.steps[number - 1]
    with st.container(border=True, key="tour"):
        look, think = st.columns([8, 3], gap="medium")
    with look:
        st.caption(words_lessons.progress(lesson, number))
        st.markdown(say(step.look))
    with think:
        st.markdown(f"**{say(step.question)}**")
        with st.expander(say(words_lessons.ANSWER)):
            st.markdown(say(step.answer))
        links = []
        if number > 1:
            links.append(ways.link(say(words_lessons.BACK), address(name, number - 1)))
        if number < len(lesson.steps):
            links.append(ways.link(say(words_lessons.NEXT), address(name, number + 1)))
        links.append(ways.link(say(words_lessons.END), ways.address("lessons")))
        st.html(" · ".join(links))
