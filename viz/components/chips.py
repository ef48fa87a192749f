"""Tokens as chips that light their row or column in the large map; viz.figures.candidates_heatmap is the pure twin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import streamlit as st

_FOLDER = Path(__file__).parent
_mount = st.components.v2.component(
    "headlight_chips",
    html='<div class="chips"></div>',
    css=(_FOLDER / "chips.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "chips.js").read_text(encoding="utf-8"),
)


@dataclass(frozen=True)
class Chip:
    """One token.

    Attributes:
        token: what stands on the chip.
        words: what is said of it while it is pointed at.
        note: small print on the chip.
        row, column: of its map, -1 for none.
        map: the key of the chart that is its map.
        group: chips of the same group light up together; "" for none.
    """

    token: str
    words: str
    note: str = ""
    row: int = -1
    column: int = -1
    map: str = "heatmap"
    group: str = ""


def chips(lines: dict[str, Sequence[Chip]], weights: np.ndarray | None, hint: str, key: str) -> None:
    """Show lines of chips.

    Args:
        lines: the chips of each line, by its name.
        weights: (T, S), what the large map draws; pointing at a chip underlines the others by these. None where chips
            belong to several maps.
        hint: what is said while no chip is pointed at.
        key: a name that no other part of the page has.
    """
    data = {
        "lines": [{"name": name, "chips": [asdict(chip) for chip in line]} for name, line in lines.items()],
        "weights": None if weights is None else np.round(weights.astype(np.float64), 3).tolist(),
        "hint": hint,
    }
    _mount(key=key, data=data)
