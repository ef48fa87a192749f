"""What all pages share: the window's title, the navigation, the style."""

from pathlib import Path

import streamlit as st

from viz.app import starting
from viz.app.menu import MENU
from viz.text.language import say
from viz.ui import language_menu, widgets

# A file of our own: Streamlit fetches its icons and emojis from the network.
ICON = Path(__file__).with_name("icon.svg")
PAGES = ICON.parents[1] / "pages"
MARK = ICON.with_name("mark.svg")  # the same with the name beside it, in a colour for light and dark

st.set_page_config(page_title="Headlight", page_icon=str(ICON), layout="wide")
st.logo(MARK)
starting.wait()

from viz.ui import shared  # noqa: E402


def groups() -> dict[str, list[st.Page]]:
    """The pages by the menu that they stand in."""
    first = next(iter(next(iter(MENU.values()))))
    return {
        say(group): [
            st.Page(PAGES / f"{file}.py", title=say(name), default=file == first) for file, name in pages.items()
        ]
        for group, pages in MENU.items()
    }


st.html(shared.STYLE)
with widgets.part():
    language_menu.bar()
    page = st.navigation(groups(), position="top")
    page.run()
