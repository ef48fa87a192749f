"""What all pages share: the window's title, the navigation, the style."""

from pathlib import Path

import streamlit as st

from viz.language import say
from viz.screens import speaking, starting

# A file of our own: the icons and emojis that Streamlit offers are fetched from the network.
ICON = Path(__file__).with_name("icon.svg")
MARK = ICON.with_name("mark.svg")  # the same with the name beside it, in a colour for light and dark

st.set_page_config(page_title="Headlight", page_icon=str(ICON), layout="wide")
st.logo(MARK)
starting.wait()

from viz.screens import shared, tour  # noqa: E402
from viz.ui import choices  # noqa: E402


def groups() -> dict[str, list[st.Page]]:
    """The pages of the menu, by group."""
    return {
        say("Explore"): [
            st.Page("translate_page.py", title=say("Translate"), default=True),
            st.Page("compare.py", title=say("Compare")),
            st.Page("models.py", title=say("Four systems")),
            st.Page("language_model.py", title=say("Language model")),
            st.Page("open_file.py", title=say("Your own model")),
        ],
        say("Change"): [
            st.Page("heads.py", title=say("Heads")),
            st.Page("steer.py", title=say("Steer")),
            st.Page("masks.py", title=say("Masks")),
            st.Page("positions.py", title=say("Positions")),
        ],
        say("Learn"): [
            st.Page("lessons.py", title=say("Lessons")),
            st.Page("pitfalls.py", title=say("Pitfalls")),
            st.Page("training.py", title=say("Warm-up")),
        ],
        say("Measure"): [
            st.Page("alignment.py", title=say("Alignment")),
            st.Page("check.py", title=say("Self-check")),
        ],
    }


shared.style()
with choices.part():
    speaking.bar()
    page = st.navigation(groups(), position="top")
    tour.bar()
    page.run()
