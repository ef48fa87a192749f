"""Numbers about zero: differences of two maps, and the colours of such numbers."""

from collections.abc import Sequence

import numpy as np

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn
from viz.figures.wording import Say, english, message

ROUNDING = 1e-5  # what two passes in float32 over the same tokens may differ by


def difference_heatmap(
    a_minus_b: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    a: str = "A",
    b: str = "B",
    query_axis: str = message("query"),
    key_axis: str = message("key"),
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw the difference of two maps on colours that are symmetric about 0.

    Args:
        a_minus_b: float (T, S), the first map minus the second.
        queries: T tokens, drawn top to bottom.
        keys: S tokens, drawn left to right.
        a, b: names of the first and the second map, in English.
        query_axis, key_axis: what the rows and the columns are, in English.
        title: text above the map.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the difference, float32 (T, S). Where it is nowhere above ROUNDING, the colours end at
        1, and the map is blank: what two ways of computing the same differ by is not a finding.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity.
    """
    difference = checks.as_float("a_minus_b", a_minus_b, "TS")
    queries, keys = checks.as_labels(queries, keys, difference.shape)
    told = np.where(np.abs(difference) > ROUNDING, difference, 0)
    _, colors = centred_colors(told, f"{labels.tick_text(say(a))}<br>− {labels.tick_text(say(b))}")
    return heatmap.token_heatmap(
        difference,
        queries,
        keys,
        say,
        hover=say(
            "query {query}<br>key {key}<br>difference {difference}",
            query="%{y}",
            key="%{x}",
            difference="%{z:+.3f}",
        ),
        description=say(
            "{a} minus {b} for each query (row) and key (column); orange where {a} is larger, blue where {b} is.",
            a=say(a),
            b=say(b),
        ),
        value=message("difference"),
        title=title,
        query_axis=query_axis,
        key_axis=key_axis,
        **colors,
    )


def centred_colors(values: np.ndarray, title: str, least: float = 0.0) -> tuple[float, dict]:
    """Return the end of a colour range that is symmetric about 0, and the colour settings.

    Args:
        values: the finite values that should fit; may be empty.
        title: title of the colour bar, escaped.
        least: the smallest end, for values with a known range.

    Returns:
        (limit, settings of go.Heatmap); limit is 1 where all values are 0 or there are none.
    """
    limit = max(float(np.abs(values).max(initial=0.0)), least) or 1.0
    return limit, {
        "colorscale": theme.DIVERGING,
        "zmin": -limit,
        "zmax": limit,
        "zmid": 0.0,
        "colorbar": theme.color_bar(title),
    }
