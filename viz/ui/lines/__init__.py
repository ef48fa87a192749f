"""Attention as lines between two columns of tokens; viz.figures.attention_lines is the pure twin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import streamlit as st

from viz import theme
from viz.figures import labels
from viz.figures.lines import choose_lines, line_style
from viz.text.language import message, say

_FOLDER = Path(__file__).parent
_DASHES = {"solid": "", "dash": "8 5", "dot": "2 4", "dashdot": "8 4 2 4"}  # Plotly's names as SVG draws them
_WORDS = {  # what the browser says; it fills the places in braces
    "heads": message("Heads"),
    "all": message("all"),
    "reads": message("“{token}” attends to {parts}"),
    "read by": message("“{token}” gets attention from {parts}"),
    "reads nothing": message("“{token}” attends to nothing that is drawn."),
    "read by nothing": message("“{token}” gets no attention that is drawn."),
    "part": message("“{token}” {weight} ({head})"),
}
_mount = st.components.v2.component(
    "headlight_lines",
    html='<div class="lines"></div>',
    css=(_FOLDER / "lines.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "lines.js").read_text(encoding="utf-8"),
)


def lines(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    head_names: Sequence[str],
    titles: tuple[str, str],
    hint: str,
    key: str,
    shown: np.ndarray | None = None,
) -> int:
    """Show the attention of several heads as lines: queries on the left, keys on the right.

    Args:
        weights: float (H, T, S), probabilities, or summaries of such within [0, 1].
        queries, keys: T and S tokens.
        head_names: H names.
        titles: of the left and the right column, in English.
        hint: what is said while nothing is pointed at.
        key: a name that no other part of the page has.
        shown: bool (H, T, S), False = no line.

    Returns:
        How many cells have a weight above 0 and no line, those that `shown` leaves out not counted.

    Raises:
        ValueError: as `viz.figures.attention_lines`.
    """
    chosen = choose_lines(weights, shown)
    styles = [line_style(head) for head in range(len(head_names))]
    data = {
        "heads": [
            {"name": name, "color": color, "dash": _DASHES[dash]}
            for name, (color, dash) in zip(head_names, styles, strict=True)
        ],
        "queries": [labels.visible(token) for token in queries],
        "keys": [labels.visible(token) for token in keys],
        "titles": list(map(say, titles)),
        "lines": np.stack([chosen.head, chosen.query, chosen.key], axis=1).tolist(),
        "weights": np.round(chosen.weight.astype(np.float64), 3).tolist(),
        "hint": hint,
        "words": {name: say(text) for name, text in _WORDS.items()},
        "rowHeight": theme.ROW_HEIGHT,
    }
    _mount(key=key, data=data)
    return chosen.n_left_out
