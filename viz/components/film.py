"""The decoding as a film that plays in the browser; viz.figures.step_film is the pure twin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import streamlit as st
from plotly.colors import sample_colorscale

from viz import theme
from viz.figures import labels
from viz.figures.film import STEP_MILLISECONDS, Film
from viz.language import message, say

_FOLDER = Path(__file__).parent
_COLORS = sample_colorscale(theme.SEQUENTIAL, np.linspace(0, 1, 256).tolist())
# What film.js says; it fills the places in braces.
_TEXTS = {
    "back": message("Back"),
    "cell": message("query {i} “{query}”, key {j} “{key}”: weight {weight}"),
    "film": message("Film"),
    "here": message("Here {entropy} nats."),
    "highest": message("highest {entropy} nats"),
    "looked": message("“{token}” {weight}"),
    "masked": message("query {i} “{query}”, key {j} “{key}”: not allowed (masked)"),
    "next": message("Next"),
    "noStep": message("The address asks for step “{asked}”, but the steps of this film are 0 to {last}."),
    "notWritten": message("Not written yet."),
    "nothing": message("weight 0"),
    "hatched": message("not allowed (masked) · blank: not written yet"),
    "pause": message("Pause"),
    "play": message("Play"),
    "point": message("Point at a cell to read its weight."),
    "sentence": message(
        "Step {step} of 0 to {last}: reads “{read}”, writes “{written}”. Entropy of the next token {entropy} nats. "
        "Looks most at {looked}."
    ),
    "step": message("Step"),
    "stepNow": message("step {step}: reads {read}, writes {written}"),
}
_mount = st.components.v2.component(
    "headlight_film",
    html='<div class="film"></div>',
    css=(_FOLDER / "film.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "film.js").read_text(encoding="utf-8"),
)


def film(film: Film, panels: Mapping[str, tuple[str, str]], key: str) -> None:
    """Show a film with a slider over its steps, which buttons and the keyboard move; no step asks the server.

    Args:
        film: what is shown.
        panels: title and one line of "decoder", "cross", "encoder", "next" and "entropy".
        key: a name that no other part of the page has.
    """
    decoder = np.where(film.mask, film.decoder, np.float32(np.nan))
    data = {
        "read": _visible(film.read),
        "written": _visible(film.written),
        "source": _visible(film.source),
        "decoder": _rounded(decoder),
        "cross": _rounded(film.cross),
        "encoder": _rounded(film.encoder),
        "candidates": [_visible(row) for row in film.candidates],
        "probabilities": _rounded(film.probabilities),
        "entropy": np.round(film.entropy.astype(np.float64), 3).tolist(),
        "mostRead": [film.most_read(step) for step in range(film.n_steps)],
        "panels": panels,
        "texts": {name: say(text) for name, text in _TEXTS.items()},
        "colors": _COLORS,
        "hatch": [theme.HATCH_FILL, theme.HATCH_LINE],
        "selected": theme.SELECTED,
        "delay": STEP_MILLISECONDS,
    }
    _mount(key=key, data=data)


def _visible(tokens: list[str]) -> list[str]:
    return [labels.visible(token) for token in tokens]


def _rounded(weights: np.ndarray) -> list[list[float | None]]:
    """The rows of a map with three decimals; None where there is no number."""
    rounded = np.round(weights.astype(np.float64), 3)
    return np.where(np.isnan(rounded), None, rounded).tolist()
