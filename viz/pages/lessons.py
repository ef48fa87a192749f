"""The page Lessons: six guided tours over the other pages."""

from __future__ import annotations

import streamlit as st

from viz.text import words_lessons
from viz.text.language import say
from viz.ui import tour, ways

st.title(say("Lessons"))
st.markdown(say(words_lessons.INTRO))
for name, lesson in words_lessons.LESSONS.items():
    with st.container(border=True, gap="xsmall"):
        st.subheader(say(lesson.name), anchor=False)
        st.markdown(say(lesson.line))
        links = [ways.link(say(words_lessons.START), tour.address(name, 1))]
        links += [ways.link(str(number), tour.address(name, number)) for number in range(2, len(lesson.steps) + 1)]
        st.html(" · ".join(links))
