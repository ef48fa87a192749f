"""A figure as it leaves the app: with its title inside, on white, and without what only the app can do."""

import textwrap

import plotly.graph_objects as go

from viz.figures import labels
from viz.figures.drawn import Drawn

WIDTH = 900  # pixels of an exported figure
TEMPLATE = "plotly_white"
_LINE = 110  # letters in a line of the note
_LINE_HEIGHT = 18  # pixels
_TITLE_HEIGHT = 48


def titled(figure: Drawn, title: str, note: str) -> Drawn:
    """Copy a figure for a file: a title and a note (plain, cut to three lines) inside, dark on white in any theme."""
    copy = Drawn(figure, description=figure.description, table=figure.table)
    lines = textwrap.wrap(note, _LINE, max_lines=3, placeholder=" …") or [""]
    small = [f'<span style="font-size:12px">{labels.escape(line)}</span>' for line in lines]
    height = _TITLE_HEIGHT + _LINE_HEIGHT * len(lines)
    layout = copy.layout
    layout.template = TEMPLATE
    layout.paper_bgcolor = layout.plot_bgcolor = "white"
    layout.title = {
        "text": "<br>".join([f"<b>{labels.escape(title)}</b>", *small]),
        "font": {"size": 16},
        "x": 0,
        "xref": "container",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 22, "l": 12},
    }
    layout.margin.t += height
    layout.margin.r = max(layout.margin.r, 24)
    layout.height += height
    for trace in copy.data:
        if trace.meta:  # as `clickable` made it
            trace.hovertemplate = trace.hovertemplate.replace(trace.meta["click"], "")
            trace.meta = None
    return copy


def in_html(figure: go.Figure) -> str:
    """The figure as JSON that can stand in the script of an HTML page: nothing in it can end the script."""
    return figure.to_json().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
