"""Looks: pictures of the stage that the server computes when they are asked for, as plain data without their numbers.

Those of recordings are made in the browser (viz/recording/looks.js).

A look is `{"data", "layout", "hover"}`; the browser (viz/stage/map.js) puts in `z` and what the hover box says. A
go.Figure validates every setting, which takes a hundred times as long. Titles of axes are as said.
"""

from collections.abc import Sequence

from viz import theme
from viz.figures import heatmap, labels
from viz.figures.drawn import clear
from viz.figures.labels import Say

MAX_LABELS = 24  # on one axis: more cost more time than the map itself
GRID = {"gridcolor": "rgba(128,128,128,0.2)", "zeroline": True, "zerolinecolor": "rgba(128,128,128,0.6)"}  # of bars


def tick_axis(tokens: Sequence[str], title: str, *, downwards: bool = False, **more) -> dict:
    small = {"text": labels.escape(title), "standoff": 4, "font": {"size": theme.TICK_SIZE}}
    texts, step = list(map(labels.tick_text, tokens)), labels.tick_step(len(tokens), MAX_LABELS)
    return heatmap.axis(texts, step=step, downwards=downwards) | {"title": small, "tickangle": 0} | more


def layout_of(left: float, top: float, say: Say, *, right: int = 58, bottom: int = 10) -> dict:
    """The layout that all looks share, with room in pixels."""
    margin = {"l": round(left) + 10, "r": right, "t": round(top) + 10, "b": bottom, "autoexpand": False}
    return clear(say) | {"margin": margin, "dragmode": False, "showlegend": False}
