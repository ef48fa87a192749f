"""The page Lessons: a browser draws the cards (viz/web/lessons), and asks for each state of one when it is opened."""

from functools import cache, partial

import streamlit as st

from viz.pages.lessons import contents, since
from viz.stage import assets
from viz.stage.payload.packing import pack
from viz.text import errors
from viz.text.language import current, say
from viz.ui import frame, shared


@cache
def _mounted():
    return assets.component("headlight_lessons", "lessons/app.js")


frame.opening(say("Lessons"))
with st.container(key="frame"):
    language = current()
    address = assets.keep_answers(f"lessons {language}", partial(contents.answer, language))
    try:
        lessons = contents.stories()
    except ValueError as error:  # the operator's file; the lessons that ship are there
        shared.warn(errors.sentence(error))
        lessons = contents.LESSONS
    index = contents.index(lessons) | {"models": since.recorded.models(), "address": address}
    _mounted()(key="lessons", data=pack(index))
