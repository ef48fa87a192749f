"""Maps of several systems whose rows belong together: each row at the same height in every map."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from viz import theme
from viz.figures import checks, heatmap
from viz.figures.drawn import Drawn
from viz.figures.wording import Say, english


def aligned_rows(figure: Drawn, places: Sequence[int], n_rows: int, *, say: Say = english) -> Drawn:
    """Move the rows of a map apart, so that rows of other maps have their places between them.

    Args:
        figure: a map with named rows, without hatched cells; it is changed.
        places: for each of its rows the row it goes to, in growing order.
        n_rows: how many rows there are in all; those that no row goes to stay blank and have no name.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is float32 (n_rows, columns), NaN in the blank rows.

    Raises:
        ValueError: for places that are not one a row, not in growing order or outside, and for other figures.
    """
    if len(figure.data) != 2 or figure.data[1].name != heatmap.TICKS.name:
        raise ValueError(f"the figure has {len(figure.data)} traces; allowed is one map with named rows.")
    trace, table, layout = figure.data[0], figure.table, figure.layout
    places = [checks.index("a place", place, n_rows) for place in places]
    if len(places) != len(trace.z) or any(a >= b for a, b in zip(places, places[1:])):
        raise ValueError(f"places are {places}; allowed are {len(trace.z)} rows in growing order, one for each row.")
    values = np.full((n_rows, trace.z.shape[1]), np.nan, dtype=np.float32)
    values[places] = trace.z
    trace.update(z=values, hoverongaps=False)
    names = dict(zip(places, table.row_names, strict=True))
    figure.table = replace(table, values=values, row_names=[names.get(row, "") for row in range(n_rows)])
    if n_rows > len(places):
        figure.description += " " + say("Blank rows are words that only another system has.")
    layout.height += theme.plot_height(n_rows) - theme.plot_height(len(places))
    for axis in (layout.yaxis, layout.yaxis2):
        axis.range = [n_rows - 0.5, -0.5]
        axis.tickvals = [places[row] for row in axis.tickvals]
    return figure
