"""What all pages share: the window's title, the navigation, the style."""

from pathlib import Path

import streamlit as st

from viz.screens import links, shared, tour

# A file of our own: the icons and emojis that Streamlit offers are fetched from the network.
ICON = Path(__file__).with_name("icon.svg")

st.set_page_config(page_title="Headlight", page_icon=str(ICON), layout="wide")
shared.style()
# The last ones stand below "more" where the window is narrow.
PAGES = [
    st.Page("translate.py", title="Translate", default=True),
    st.Page("lessons.py", title="Lessons"),
    st.Page("heads.py", title="Heads"),
    st.Page("inside.py", title="Inside a head"),
    st.Page("steps.py", title="Steps"),
    st.Page("steer.py", title="Steer"),
    st.Page("compare.py", title="Compare"),
    st.Page("masks.py", title="Masks"),
    st.Page("positions.py", title="Positions"),
    st.Page("training.py", title="Training"),
    st.Page("models.py", title="Models"),
    st.Page("language_model.py", title="Language model"),
    st.Page("alignment.py", title="Alignment"),
    st.Page("open_file.py", title="Open"),
    st.Page("pitfalls.py", title="Pitfalls"),
    st.Page("check.py", title="Check"),
]
page = st.navigation(PAGES, position="top")
tour.bar()
notes = st.container()
page.run()
links.tell(notes)
