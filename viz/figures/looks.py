"""Looks: pictures of the stage that the server computes when they are asked for, as plain data without their numbers.

Those of recordings are made in the browser (viz/recording/looks.js).

A look is `{"data", "layout", "hover"}`; the browser (viz/stage/map.js) puts in `z` and what the hover box says. A
go.Figure validates every setting, which takes a hundred times as long. Titles of axes are as said.
"""

from collections.abc import Sequence

from viz import theme
from viz.figures import heatmap, labels
from viz.figures.drawn import LEGEND, clear
from viz.figures.labels import Say

MAX_LABELS = 24  # on one axis: more cost more time than the map itself
GRID = {"gridcolor": "rgba(128,128,128,0.2)", "zeroline": True, "zerolinecolor": "rgba(128,128,128,0.6)"}  # of bars
_ROW, _COLUMN, _CELL = (f"%{{customdata[{place}]}}" for place in range(3))


def next_words(names: Sequence[str], say: Say) -> dict:
    """The look of the most probable next words, three bars for each."""
    hover = say("{word}<br>model {own}<br>sampling {drawn}", word=_ROW, own=_COLUMN, drawn=_CELL)
    kinds = {
        say("sampling"): {"color": theme.MAY_ATTEND},
        say("falls out"): {"color": "rgba(138,141,147,0.55)"},
        say("model"): {"color": theme.TRANSPARENT, "line": {"color": theme.HATCH_FILL, "width": 1.5}},
    }
    bar = {"type": "bar", "orientation": "h", "y": list(range(len(names))), "hovertemplate": hover + "<extra></extra>"}
    bar |= {"textposition": "outside", "constraintext": "none", "cliponaxis": False}
    two_rows = 46  # pixels: of the legend, in a narrow window
    layout = layout_of(labels.tick_width(names) + 30, two_rows, say, bottom=30) | {
        "barmode": "overlay",
        "bargap": 0.3,
        "xaxis": {"tickformat": ".0%", "rangemode": "tozero", **GRID, "zeroline": False},
        "yaxis": tick_axis(names, say("next word"), downwards=True),
        "legend": LEGEND | {"xref": "container", "yref": "container", "yanchor": "top"},
        "showlegend": True,
    }
    bars = [bar | {"name": name, "marker": marker} for name, marker in kinds.items()]
    return {"data": bars, "layout": layout, "hover": None}


def tick_axis(tokens: Sequence[str], title: str, *, downwards: bool = False, **more) -> dict:
    small = {"text": labels.escape(title), "standoff": 4, "font": {"size": theme.TICK_SIZE}}
    texts, step = list(map(labels.tick_text, tokens)), labels.tick_step(len(tokens), MAX_LABELS)
    return heatmap.axis(texts, step=step, downwards=downwards) | {"title": small, "tickangle": 0} | more


def layout_of(left: float, top: float, say: Say, *, right: int = 58, bottom: int = 10) -> dict:
    """The layout that all looks share, with room in pixels."""
    margin = {"l": round(left) + 10, "r": right, "t": round(top) + 10, "b": bottom, "autoexpand": False}
    return clear(say) | {"margin": margin, "dragmode": False, "showlegend": False}
