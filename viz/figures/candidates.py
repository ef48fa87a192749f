"""What a model might have written at each step: the most probable tokens beside the one that was written."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.language import message, say

_TEXT_UP_TO = 26  # rows; more are too low for letters


def candidates_heatmap(
    probabilities: np.ndarray,
    tokens: Sequence[str],
    candidates: Sequence[Sequence[str]] | None = None,
    *,
    written: np.ndarray | None = None,
    title: str = "",
) -> go.Figure:
    """Draw the probabilities of the most probable tokens of every step, steps in rows.

    Args:
        probabilities: float (T, K), the most probable first.
        tokens: T tokens that were written at the steps.
        candidates: T times K tokens that could have been written.
        written: float (T,), the probability of the token that was written, which need not be among the candidates.
        title: text above the map.

    Returns:
        go.Figure; data[0].z is the probabilities, float32 (T, K).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN, and values outside [0, 1].
    """
    probabilities = checks.as_probabilities("probabilities", probabilities, "TK")
    n_steps, count = probabilities.shape
    tokens = checks.as_tokens("tokens", tokens, n_steps, "rows")
    rows = labels.hover_texts(tokens)
    if written is not None:
        written = checks.as_probabilities("written", written, "T")
        if len(written) != n_steps:
            raise ValueError(f"written has {len(written)} numbers, but there are {n_steps} rows; allowed is one a row.")
        rows = [
            say("{row}<br>written with probability {p:.3f}", row=row, p=p) for row, p in zip(rows, written, strict=True)
        ]
    names = [checks.as_tokens("candidates", row, count, "columns") for row in candidates or [[""] * count] * n_steps]
    if len(names) != n_steps:
        raise ValueError(f"candidates has {len(names)} rows; allowed are {n_steps}, one for each token.")
    figure = heatmap.token_heatmap(
        probabilities,
        tokens,
        [str(rank + 1) for rank in range(count)],
        hover=say(
            "step {step}<br>candidate {candidate}<br>probability {number}",
            step="%{customdata[0]}",
            candidate="%{customdata[2]}",
            number="%{z:.3f}",
        ),
        meta={
            "figure": "candidates_heatmap",
            "description": say(
                "Rows are the tokens that were written, columns the most probable candidates of each step."
            ),
            "columns": message("candidate"),
            "value": "probability",
            "range": [0.0, 1.0],
        },
        title=title,
        query_axis=message("token that was written"),
        key_axis=message("candidate (1 = most probable)"),
        cell_texts=np.array([[labels.quoted(name) for name in row] for row in names], dtype=object),
        colorscale=theme.SEQUENTIAL,
        zmin=0.0,
        zmax=1.0,
        colorbar=theme.color_bar(say("probability")),
    )
    cells = figure.data[0].customdata
    cells[..., 0] = np.array(rows, dtype=object)[:, None]
    figure.data[0].customdata = cells
    figure.layout.xaxis.tickangle = 0
    if candidates is not None and n_steps <= _TEXT_UP_TO:
        figure.data[0].text = [[labels.tick_text(name) for name in row] for row in names]
        figure.add_trace(heatmap.cell_texts(figure.data[0], figure.data[0].text))
    return figure
