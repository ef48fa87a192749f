"""Buttons that make a picture of a figure in the browser: PNG and SVG, without a server and without a network."""

from __future__ import annotations

from pathlib import Path

import plotly.graph_objects as go
import streamlit as st

from viz.figures.export import WIDTH
from viz.language import message, say
from viz.stage import assets

_FOLDER = Path(__file__).parent
_WORDS = {  # what the browser says; it fills the place in braces
    "drawing": message("Drawing …"),
    "failed": message("No picture could be made: {reason}."),
    "not plotly": message("it is no Plotly"),
    "not loaded": message("it could not be loaded"),
}
_mount = st.components.v2.component(
    "headlight_take",
    html='<div class="take"></div>',
    css=(_FOLDER / "take.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "take.js").read_text(encoding="utf-8"),
)


def take(figure: go.Figure, name: str, key: str) -> None:
    """Show a button for a PNG and one for an SVG of a figure.

    Args:
        figure: with its title inside.
        name: of the files.
        key: a name that no other part of the page has.
    """
    width = figure.layout.width or WIDTH
    data = {
        "figure": figure.to_json(),
        "name": name,
        "script": assets.plotly_address(),
        "width": width,
        "height": figure.layout.height,
        "words": {key: say(text) for key, text in _WORDS.items()},
    }
    _mount(key=key, data=data, width="content")
