"""Numbers of any kind, one row per token: as a map, or one bar per token."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.differences import centred_colors
from viz.figures.drawn import Drawn
from viz.figures.tables import Cells, Points
from viz.figures.wording import Say, english, message, separated

BARS_HEIGHT = 200


def values_heatmap(
    values: np.ndarray,
    tokens: Sequence[str],
    *,
    value: str = message("value"),
    row_axis: str = message("token"),
    column_axis: str = message("dimension"),
    limit: float | None = None,
    most_labels: int = theme.MAX_NUMBERS,
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw numbers about zero: tokens in rows, numbered columns.

    Args:
        values: float (T, D).
        tokens: T tokens, drawn top to bottom.
        value: what a number is, in English, for the colour bar and the hover text.
        row_axis, column_axis: titles of the axes, in English.
        limit: where the colours end on both sides of 0, so that two maps can be compared; that of the values otherwise.
        most_labels: how many columns have their number written at most; fewer where it stands in a narrow place.
        title: text above the map.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the values, float32 (T, D).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity, and a limit that is not above 0.
    """
    values = checks.as_float("values", values, "TD")
    n_rows, n_columns = values.shape
    tokens = checks.as_tokens("tokens", tokens, n_rows, "rows")
    if limit is not None and not 0 < limit < np.inf:
        raise ValueError(f"limit is {limit!r}; allowed are numbers above 0.")
    _, colors = centred_colors(values if limit is None else np.array([limit]), labels.escape(say(value)))
    cells = go.Heatmap(
        z=values,
        hovertemplate=f"{labels.escape(say(row_axis))} %{{y}}<br>"
        f"{labels.escape(say(column_axis))} %{{x:d}}<br>{labels.escape(say(value))} %{{z:.3f}}<extra></extra>",
        **colors,
    )
    axes = {
        "xaxis": heatmap.number_axis(n_columns, column_axis, say, most=most_labels),
        "yaxis": heatmap.token_axis(tokens, row_axis, say, downwards=True),
    }
    return Drawn(
        [cells, heatmap.TICKS],
        theme.layout(
            theme.plot_height(n_rows),
            separated(say),
            title=labels.escape(title),
            left=labels.tick_width(tokens) + theme.AXIS_TITLE_HEIGHT,
            bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            **heatmap.name_cells(cells, axes, labels.hover_texts(tokens, say)),
        ),
        description=say(
            "Rows are {n} tokens, columns are numbered from 0 to {last}: {value}, orange above 0, blue below.",
            n=n_rows,
            last=n_columns - 1,
            value=say(value),
        ),
        table=Cells(values, (row_axis, column_axis), tokens, value=value),
    )


def bars(
    values: np.ndarray,
    tokens: Sequence[str],
    *,
    value: str = message("value"),
    token_axis: str = message("word"),
    top: float | None = None,
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw one bar per word, from 0 up.

    Args:
        values: float (T, K), K bars a word, which are stacked; all 0 or more.
        tokens: T words, drawn left to right.
        value: what the height of a bar is, in English.
        token_axis: title of the axis of words, in English.
        top: where the axis ends, so that two figures can be compared; just above the highest bar otherwise.
        title: text above the bars.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[k].y is the k-th column, float32 (T,).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity, and values below 0.
    """
    values = checks.as_float("values", values, "TK")
    if values.min() < 0:
        raise ValueError(f"values has {values.min():g}; a bar stands on 0, allowed are numbers from 0 up.")
    n_words, n_bars = values.shape
    tokens = checks.as_tokens("tokens", tokens, n_words, "rows")
    highest = float(values.sum(axis=1).max())
    end = float(top or highest or 1)
    texts = labels.hover_texts(tokens, say)
    return Drawn(
        [
            go.Bar(
                x=np.arange(n_words, dtype=np.int32),
                y=values[:, k].copy(),
                text=texts,
                textposition="none",
                hovertemplate=f"%{{text}}<br>{labels.escape(say(value))} %{{y:.3g}}<extra></extra>",
                marker={"color": theme.LINES[k % len(theme.LINES)]},
                showlegend=False,
            )
            for k in range(n_bars)
        ],
        theme.layout(
            BARS_HEIGHT,
            separated(say),
            title=labels.escape(title),
            left=theme.TICK_SIZE * 2 + theme.AXIS_TITLE_HEIGHT,
            bottom=theme.LEANING * labels.tick_width(tokens) + theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            barmode="stack",
            xaxis=heatmap.token_axis(tokens, token_axis, say),
            yaxis={"title": {"text": labels.escape(say(value))}, "range": [0, 1.08 * end], "automargin": False},
        ),
        description=say(
            "One bar for each of {n} words: {value}, from 0 to {highest:.3g}.",
            n=n_words,
            value=say(value),
            highest=highest,
        ),
        table=Points([(str(k), range(n_words), values[:, k], tokens) for k in range(n_bars)]),
    )
