"""A figure as the frame of a page shows it: axes named above and at the left, words without marks, no second legend."""

import plotly.graph_objects as go

from viz import theme
from viz.figures import labels
from viz.figures.figure import Figure

BELOW = 10  # pixels under a map whose columns are named above it
_SPARED = 12  # pixels that a title above a map needs less than one below it
_TITLE = 40  # pixels of the title of the columns
_THIN = 10  # pixels of a colour bar
_MARKS = "▁", "Ġ"  # of a space before a word


def plain_token(token: str) -> str:
    """A token without the mark of the space before it; the name of a byte of that mark stays.

    >>> plain_token("▁the"), plain_token("▁"), plain_token("ing")
    ('the', '▁', 'ing')
    """
    return token[1:] if token[:1] in _MARKS and token[1:2].strip() else token


def framed(figure: Figure, *, bar: bool = True) -> Figure:
    """Lay a map out for the frame, in place.

    Args:
        figure: a map of `viz.figures`, whose columns are named below it.
        bar: keep the colour bar, thin and without a title.
    """
    layout = figure.layout
    margin = figure.layout.margin
    for axis in (layout.xaxis, layout.yaxis):
        axis.ticktext = [plain_token(text) for text in axis.ticktext]
        axis.title.standoff = 4
        axis.title.font.size = theme.TICK_SIZE
    layout.xaxis.side = "top"
    if layout.xaxis.tickangle:
        layout.xaxis.tickangle = -45
    above = margin.b - theme.MARGIN - _SPARED
    layout.height += above + BELOW - margin.t - margin.b
    margin.t, margin.b = above, BELOW
    layout.showlegend = False
    for trace in figure.data:
        if isinstance(trace, go.Heatmap):
            shows_bar = bar and trace.showscale is not False
            trace.update(showscale=shows_bar, colorbar={"title": {"text": ""}, "thickness": _THIN})
    margin.r = 58 if bar and figure.data[0]["showscale"] else theme.MARGIN
    if layout.xaxis.tickangle:  # the last name leans to the right
        margin.r = max(margin.r, above - _TITLE)
    return figure


def shown_token(token: str) -> str:
    """A token in a sentence of a page: without the mark of a space, and what cannot be seen written out."""
    return labels.visible(plain_token(token))
