"""The page Warm-up: real runs that vary peak and warmup, schedules, and a model that learns here.

A browser draws all sections but the last one (viz/web/sheets/training.js, as on the page without a server).
"""

import streamlit as st

from viz.pages.training import contents, here
from viz.text.language import say
from viz.ui import frame, sheets, widgets
from viz.ui.frame import Tile

HERE = "here"  # the code of the section that Streamlit draws


@widgets.fragment
def live() -> None:
    """The page."""
    told = contents.told(in_app=True)
    codes = list(told["tiles"])
    if widgets.code_of("section", codes[0]) != HERE:
        with st.container(key="frame"):
            sheets.show(contents, told, leaves={"section": [HERE]})
        return
    places = frame.places()
    words = told["words"]
    tiles = [
        Tile(code, words[code], words["note"] if code == HERE else "", pixels=told["tiles"][code]) for code in codes
    ]
    with places.left_controls:
        frame.note(words["lead"])
    with places.left:
        frame.choose_tile(words["show"], tiles, "section", codes[0], columns=len(tiles))
    here.show(places)


frame.opening(say("Warm-up"))
live()
