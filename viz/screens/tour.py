"""The bar of a lesson, above whatever page its step is about.

The step is in the address as lesson=NAME-NUMBER. Links load the page anew: within a session, controls that two pages
share keep their values, and a step shall come with its own.
"""

from __future__ import annotations

import html
from urllib.parse import urlencode

import streamlit as st

from viz.language import say
from viz.screens import shared, speaking, words_lessons
from viz.screens.words_lessons import LESSONS, Lesson

PARAMETER = "lesson"


def address(name: str, number: int) -> str:
    """The link to a step of a lesson.

    Args:
        name: of LESSONS.
        number: of the step, from 1.
    """
    step = LESSONS[name].steps[number - 1]
    return f"/{step.page}?{urlencode(speaking.address({PARAMETER: f'{name}-{number}', **step.query}))}"


def read(value: str) -> tuple[str, int] | None:
    """The lesson and the number of its step (from 1) that an address names; None where it names none."""
    name, _, number = value.rpartition("-")
    if name not in LESSONS or not (number.isascii() and number.isdigit() and len(number) < 3):
        return None
    return (name, int(number)) if 1 <= int(number) <= len(LESSONS[name].steps) else None


def link(label: str, target: str) -> str:
    """A link to another page in the same window, as HTML."""
    return f'<a href="{html.escape(target)}" target="_self" style="color: inherit">{html.escape(label)}</a>'


def _lessons() -> str:
    query = urlencode(speaking.address({}))
    return f"/lessons?{query}" if query else "/lessons"


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
    with st.container(border=True, key="tour", gap="small"):
        st.caption(words_lessons.progress(lesson, number))
        st.markdown(say(step.look))
        st.markdown(f"**{say(step.question)}**")
        with st.expander(say(words_lessons.ANSWER)):
            st.markdown(say(step.answer))
        links = []
        if number > 1:
            links.append(link(say(words_lessons.BACK), address(name, number - 1)))
        if number < len(lesson.steps):
            links.append(link(say(words_lessons.NEXT), address(name, number + 1)))
        links.append(link(say(words_lessons.END), _lessons()))
        st.html(" · ".join(links))
