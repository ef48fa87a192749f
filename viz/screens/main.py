"""What all pages share: the window's title, the navigation, the style."""

from pathlib import Path

import streamlit as st

from viz.language import say
from viz.screens import speaking, starting

# A file of our own: the icons and emojis that Streamlit offers are fetched from the network.
ICON = Path(__file__).with_name("icon.svg")

st.set_page_config(page_title="Headlight", page_icon=str(ICON), layout="wide")
starting.wait()

from viz.screens import links, shared, tour  # noqa: E402

shared.style()
begin_again = speaking.bar()
# The last ones stand below "more" where the window is narrow.
PAGES = [
    st.Page("translate.py", title=say("Translate"), default=True),
    st.Page("lessons.py", title=say("Lessons")),
    st.Page("heads.py", title=say("Heads")),
    st.Page("inside.py", title=say("Inside a head")),
    st.Page("steps.py", title=say("Steps")),
    st.Page("steer.py", title=say("Steer")),
    st.Page("compare.py", title=say("Compare")),
    st.Page("masks.py", title=say("Masks")),
    st.Page("positions.py", title=say("Positions")),
    st.Page("training.py", title=say("Training")),
    st.Page("models.py", title=say("Models")),
    st.Page("language_model.py", title=say("Language model")),
    st.Page("alignment.py", title=say("Alignment")),
    st.Page("open_file.py", title=say("Open")),
    st.Page("pitfalls.py", title=say("Pitfalls")),
    st.Page("check.py", title=say("Check")),
]
page = st.navigation(PAGES, position="top")
if begin_again:
    st.rerun()
tour.bar()
notes = st.container()
page.run()
links.tell(notes)
