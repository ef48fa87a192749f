"""Attention as lines from the tokens that ask to the tokens that are read, a colour for each head."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, labels
from viz.figures.drawn import Drawn
from viz.figures.tables import Links
from viz.figures.wording import Say, english, message, separated

LEAST_WEIGHT = 3 / 255  # fainter lines cannot be seen
MOST_LINES = 4000  # more take a browser longer than a moment
_STRENGTHS = 8  # Plotly gives a trace one opacity: lines are sorted into so many
_COLUMN_TITLE_HEIGHT = 22  # pixels
_ASKING, _READ = 0.0, 1.0  # the two columns


@dataclass(frozen=True)
class Lines:
    """The lines that are drawn, the weakest first so that strong ones lie on top.

    Attributes:
        head, query, key: int (N,), what each line joins.
        weight: float32 (N,).
        n_left_out: cells with a weight above 0 that could have a line and have none.
    """

    head: np.ndarray
    query: np.ndarray
    key: np.ndarray
    weight: np.ndarray
    n_left_out: int


def choose_lines(weights: np.ndarray, shown: np.ndarray | None = None) -> Lines:
    """Choose the cells that become lines: weights of at least LEAST_WEIGHT, the MOST_LINES largest of them.

    Args:
        weights: float (H, T, S), probabilities after softmax, or summaries of such within [0, 1].
        shown: bool (H, T, S), False = no line whatever the weight.

    Returns:
        The lines.

    Raises:
        ValueError: for wrong shapes or types, NaN, and values outside [0, 1].
    """
    weights = checks.as_probabilities("weights", weights, "HTS")
    if shown is not None and np.shape(shown) != weights.shape:
        raise ValueError(f"shown has shape {np.shape(shown)}; allowed is {weights.shape}, one cell for each weight.")
    allowed = np.ones(weights.shape, bool) if shown is None else np.asarray(shown, dtype=bool)
    drawn = allowed & (weights >= LEAST_WEIGHT)
    head, query, key = np.nonzero(drawn)
    order = np.argsort(weights[drawn], kind="stable")[-MOST_LINES:]
    chosen = [place[order].astype(np.int32) for place in (head, query, key)]
    return Lines(*chosen, weights[drawn][order], int((allowed & (weights > 0)).sum()) - len(order))


def line_style(head: int) -> tuple[str, str]:
    """Return colour and dash of a head; when the colours are used up they come again with another dash."""
    turn, color = divmod(head, len(theme.LINES))
    return theme.LINES[color], theme.DASHES[turn % len(theme.DASHES)]


def attention_lines(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    head_names: Sequence[str] | None = None,
    query_axis: str = message("query"),
    key_axis: str = message("key"),
    title: str = "",
    shown: np.ndarray | None = None,
    say: Say = english,
) -> Drawn:
    """Draw the attention of several heads as lines: queries on the left, keys on the right.

    Args:
        weights: float (H, T, S), probabilities after softmax, or summaries of such within [0, 1].
        queries: T tokens, left, top to bottom.
        keys: S tokens, right, top to bottom.
        head_names: H names where the maps are not numbered heads.
        query_axis, key_axis: what stands left and right, in English.
        title: text above the lines.
        shown: bool (H, T, S), False = no line.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; opacity is the weight, in steps of one eighth; one legend entry a head takes its lines away and
        brings them back (double-click: this head alone). The last two traces are the tokens.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN, and values outside [0, 1].
    """
    lines = choose_lines(weights, shown)
    n_heads, n_queries, n_keys = np.shape(weights)
    queries, keys = checks.as_labels(queries, keys, (n_queries, n_keys))
    names = [labels.head_label(head, say) for head in range(n_heads)]
    if head_names is not None:
        names = checks.as_tokens("head_names", head_names, n_heads, "heads")
    n_rows = max(n_queries, n_keys)
    height = n_rows * theme.ROW_HEIGHT
    layout = theme.layout(
        height,
        separated(say),
        title=labels.escape(title),
        left=labels.tick_width(queries),
        top=2 * theme.LEGEND_HEIGHT + _COLUMN_TITLE_HEIGHT,
        xaxis={"visible": False, "range": [_ASKING, _READ], "fixedrange": True},
        yaxis={"visible": False, "range": [n_rows - 0.5, -0.5], "fixedrange": True},
        annotations=_column_titles(say(query_axis), say(key_axis)),
        hovermode="closest",
        dragmode=False,
    )
    layout.margin.r += round(labels.tick_width(keys))
    legend = layout.legend
    legend.itemclick, legend.itemdoubleclick = "toggle", "toggleothers"
    legend.x, legend.xanchor, legend.y = 0, "left", 1 + _COLUMN_TITLE_HEIGHT / height
    heads = [trace for head, name in enumerate(names) for trace in _of_head(lines, head, labels.escape(name))]
    return Drawn(
        [*heads, _tokens(queries, _ASKING, "left", say), _tokens(keys, _READ, "right", say)],
        layout,
        description=say(
            "Lines lead from queries (left) to keys (right), stronger for larger weights, one colour per head. {n} "
            "lines are drawn, {left_out} fainter ones left out.",
            n=len(lines.weight),
            left_out=lines.n_left_out,
        ),
        table=Links(
            names,
            queries,
            keys,
            list(zip(*(part.tolist() for part in (lines.head, lines.query, lines.key, lines.weight)), strict=True)),
        ),
    )


def _of_head(lines: Lines, head: int, name: str) -> list[go.Scatter]:
    """Draw the lines of one head, a trace for each strength, behind one entry of the legend."""
    color, dash = line_style(head)
    style = {"mode": "lines", "legendgroup": name, "name": name, "hoverinfo": "skip"}
    nowhere = _numbers([np.nan])
    traces = [go.Scatter(x=nowhere, y=nowhere, line={"color": color, "dash": dash}, **style)]
    strength = np.clip(np.ceil(lines.weight * _STRENGTHS), 1, _STRENGTHS).astype(int)
    for step in range(1, _STRENGTHS + 1):
        of_step = (lines.head == head) & (strength == step)
        if of_step.any():
            # One trace holds many lines: a gap (NaN) ends each of them.
            gap = np.full(of_step.sum(), np.nan)
            traces.append(
                go.Scatter(
                    x=_numbers(np.tile([_ASKING, _READ, np.nan], of_step.sum())),
                    y=_numbers(np.stack([lines.query[of_step], lines.key[of_step], gap], axis=1).ravel()),
                    line={"color": color, "dash": dash, "width": theme.LINE_WIDTH},
                    opacity=step / _STRENGTHS,
                    showlegend=False,
                    **style,
                )
            )
    return traces


def _tokens(tokens: Sequence[str], x: float, side: str, say: Say) -> go.Scatter:
    """Write a column of tokens beside the lines."""
    return go.Scatter(
        x=_numbers([x] * len(tokens)),
        y=_numbers(range(len(tokens))),
        text=[labels.tick_text(token) for token in tokens],
        customdata=labels.hover_texts(tokens, say),
        mode="text",
        textposition=f"middle {side}",
        cliponaxis=False,
        hovertemplate="%{customdata}<extra></extra>",
        showlegend=False,
        name=side,
    )


def _column_titles(query_axis: str, key_axis: str) -> list[dict]:
    """Write over the two columns what they are."""
    ends = {"xref": "paper", "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
    return [
        {"text": labels.escape(text), "x": x, "xanchor": anchor, **ends}
        for text, x, anchor in ((query_axis, _ASKING, "left"), (key_axis, _READ, "right"))
    ]


def _numbers(values) -> np.ndarray:
    return np.array(values, dtype=np.float32)
