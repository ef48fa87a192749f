"""The page Masks: who may attend to whom in a padded batch, and what leaks where a mask is left out.

A browser draws it (viz/web/sheets/makers/masks.js, as on the page without a server).
"""

import streamlit as st

from viz.pages.masks import contents
from viz.pages.masks.page import TYPED
from viz.text.language import say
from viz.ui import frame, sheets, widgets


@widgets.fragment
def live() -> None:
    """The page."""
    with st.container(key="frame"):
        sheets.show(contents, contents.told(in_app=True), types=TYPED)


frame.opening(say("Masks"))
live()
