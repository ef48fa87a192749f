"""Maps of several systems whose rows belong together: each row at the same height in every map."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks
from viz.language import say


def aligned_rows(figure: go.Figure, places: Sequence[int], n_rows: int) -> go.Figure:
    """Move the rows of a map apart, so that rows of other maps have their places between them.

    Args:
        figure: a map with named rows, one trace, without hatched cells.
        places: for each of its rows the row it goes to, in growing order.
        n_rows: how many rows there are in all; those that no row goes to stay blank and have no name.

    Returns:
        go.Figure; data[0].z is float32 (n_rows, columns), NaN in the blank rows.

    Raises:
        ValueError: for places that are not one a row, not in growing order or outside, and for other figures.
    """
    if len(figure.data) != 1 or figure.data[0].type != "heatmap":
        raise ValueError(f"the figure has {len(figure.data)} traces; allowed is one map.")
    trace = figure.data[0]
    places = [checks.index("a place", place, n_rows) for place in places]
    if len(places) != len(trace.z) or any(a >= b for a, b in zip(places, places[1:])):
        raise ValueError(f"places are {places}; allowed are {len(trace.z)} rows in growing order, one for each row.")
    values = np.full((n_rows, trace.z.shape[1]), np.nan, dtype=np.float32)
    values[places] = trace.z
    cells = np.full((n_rows, *np.shape(trace.customdata)[1:]), "", dtype=object)
    cells[places] = trace.customdata
    trace.update(z=values, customdata=cells, hoverongaps=False)
    blank = " " + say("Blank rows are words that only another system has.") if n_rows > len(places) else ""
    layout, meta = figure.layout, figure.layout.meta
    names: list[str] = [""] * n_rows
    for place, name in zip(places, meta["row_names"], strict=True):
        names[place] = name
    layout.meta = {
        **meta,
        "figure": "aligned_rows",
        "row_names": names,
        "n_rows": n_rows,
        "description": meta["description"] + blank,
    }
    layout.height += theme.plot_height(n_rows) - theme.plot_height(len(places))
    layout.yaxis.range = [n_rows - 0.5, -0.5]
    layout.yaxis.tickvals = [places[row] for row in layout.yaxis.tickvals]
    return figure
