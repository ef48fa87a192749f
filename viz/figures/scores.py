"""Numbers about zero: scores before softmax, and differences of two maps."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.language import message, say

_PLACES = {"query": "%{customdata[0]}", "key": "%{customdata[1]}"}  # in a hover text
ROUNDING = 1e-5  # what two passes in float32 over the same tokens may differ by


def scores_heatmap(
    scores: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    mask: np.ndarray | None = None,
    *,
    query_axis: str = message("query (asks)"),
    key_axis: str = message("key (is read)"),
    title: str = "",
) -> go.Figure:
    """Draw the scores of one head before softmax, with masked cells hatched.

    Args:
        scores: float (T, S); -inf = masked.
        queries: T tokens, drawn top to bottom.
        keys: S tokens, drawn left to right.
        mask: bool (T, S), True = may attend; masks cells whose score is still finite too (raw scores); the hover
            text keeps their number.
        query_axis, key_axis: what the rows and the columns are, in English.
        title: text above the map.

    Returns:
        go.Figure; data[0].z is the scores, float32 (T, S), NaN where they are -inf. The colours reach as
        far below 0 as above, and masked cells do not stretch them.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and +inf.
    """
    scores = checks.as_float("scores", scores, "TS", masked=True)
    queries, keys = checks.as_labels(queries, keys, scores.shape)
    blocked = np.isneginf(scores)
    if mask is not None:
        blocked |= ~checks.as_mask("mask", mask, scores.shape)
    description = say("Rows ask, columns are read: the score of each query token with each key token, before softmax.")
    if blocked.any():
        description += " " + say("Hatched cells are masked.")
    limit, colors = centred_colors(scores[~blocked], say("score"))
    score = "%{customdata[2]}" if blocked.any() else "%{z:.3f}"
    return heatmap.token_heatmap(
        np.where(np.isneginf(scores), np.float32(np.nan), scores),
        queries,
        keys,
        hover=say("query {query}<br>key {key}<br>score {score}", score=score, **_PLACES),
        meta={
            "figure": "scores_heatmap",
            "description": description,
            "value": message("score"),
            "range": [-limit, limit],
        },
        title=title,
        query_axis=query_axis,
        key_axis=key_axis,
        blocked=blocked,
        cell_texts=heatmap.value_texts(scores, blocked, ".3f") if blocked.any() else None,
        **colors,
    )


def difference_heatmap(
    a_minus_b: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    a: str = "A",
    b: str = "B",
    query_axis: str = message("query (asks)"),
    key_axis: str = message("key (is read)"),
    title: str = "",
) -> go.Figure:
    """Draw the difference of two maps on colours that are symmetric about 0.

    Args:
        a_minus_b: float (T, S), the first map minus the second.
        queries: T tokens, drawn top to bottom.
        keys: S tokens, drawn left to right.
        a, b: names of the first and the second map, in English.
        query_axis, key_axis: what the rows and the columns are, in English.
        title: text above the map.

    Returns:
        go.Figure; data[0].z is the difference, float32 (T, S). Where it is nowhere above ROUNDING, the colours end at
        1, and the map is blank: what two ways of computing the same differ by is no finding.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity.
    """
    difference = checks.as_float("a_minus_b", a_minus_b, "TS")
    queries, keys = checks.as_labels(queries, keys, difference.shape)
    told = np.where(np.abs(difference) > ROUNDING, difference, 0)
    limit, colors = centred_colors(told, f"{labels.tick_text(say(a))}<br>− {labels.tick_text(say(b))}")
    return heatmap.token_heatmap(
        difference,
        queries,
        keys,
        hover=say("query {query}<br>key {key}<br>difference {difference}", difference="%{z:+.3f}", **_PLACES),
        meta={
            "figure": "difference_heatmap",
            "description": say(
                "Rows ask, columns are read: {a} minus {b} for each query and key token; "
                "orange where {a} is larger, blue where {b} is.",
                a=say(a),
                b=say(b),
            ),
            "value": message("difference"),
            "range": [-limit, limit],
        },
        title=title,
        query_axis=query_axis,
        key_axis=key_axis,
        **colors,
    )


def centred_colors(values: np.ndarray, title: str, least: float = 0.0) -> tuple[float, dict]:
    """Return the end of a colour range that is symmetric about 0, and the colour settings.

    Args:
        values: the finite values that shall fit; may be empty.
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
