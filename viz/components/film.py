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

_FOLDER = Path(__file__).parent
_COLORS = sample_colorscale(theme.SEQUENTIAL, np.linspace(0, 1, 256).tolist())
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
