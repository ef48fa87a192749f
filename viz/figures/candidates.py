"""What a model might have written at each step: the most probable tokens beside the one that was written."""

from collections.abc import Sequence

import numpy as np

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn
from viz.figures.wording import Say, english, message

_TEXT_UP_TO = 26  # rows; more are too low for letters


def candidates_heatmap(
    probabilities: np.ndarray,
    tokens: Sequence[str],
    candidates: Sequence[Sequence[str]] | None = None,
    *,
    written: np.ndarray | None = None,
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw the probabilities of the most probable tokens of every step, steps in rows.

    Args:
        probabilities: float (T, K), the most probable first.
        tokens: T tokens that were written at the steps.
        candidates: T times K tokens that could have been written.
        written: float (T,), the probability of the token that was written, which need not be among the candidates.
        title: text above the map.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the probabilities, float32 (T, K).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN, and values outside [0, 1].
    """
    probabilities = checks.as_probabilities("probabilities", probabilities, "TK")
    n_steps, count = probabilities.shape
    tokens = checks.as_tokens("tokens", tokens, n_steps, "rows")
    notes = None
    if written is not None:
        written = checks.as_probabilities("written", written, "T")
        if len(written) != n_steps:
            raise ValueError(f"written has {len(written)} numbers, but there are {n_steps} rows; allowed is one a row.")
        notes = ["<br>" + say("written with probability {p:.3f}", p=p) for p in written]
    names = [checks.as_tokens("candidates", row, count, "columns") for row in candidates or [[""] * count] * n_steps]
    if len(names) != n_steps:
        raise ValueError(f"candidates has {len(names)} rows; allowed are {n_steps}, one for each token.")
    figure = heatmap.token_heatmap(
        probabilities,
        tokens,
        [str(rank + 1) for rank in range(count)],
        say,
        hover=say(
            "step {step}<br>candidate {candidate}<br>probability {number}",
            step="%{y}",
            candidate="%{customdata}",
            number="%{z:.3f}",
        ),
        description=say("Row = written token, column = candidate, the most probable of each step first."),
        columns=message("candidate"),
        value="probability",
        title=title,
        query_axis=message("written token"),
        key_axis=message("candidate (1 = most probable)"),
        cell_texts=np.array([[labels.quoted(name, say) for name in row] for row in names], dtype=object),
        row_notes=notes,
        colorscale=theme.SEQUENTIAL,
        zmin=0.0,
        zmax=1.0,
        colorbar=theme.color_bar(say("probability")),
    )
    figure.layout.xaxis.tickangle = 0
    if candidates is not None and n_steps <= _TEXT_UP_TO:
        figure.data[0].text = [[labels.tick_text(name) for name in row] for row in names]
        figure.add_trace(heatmap.cell_texts(figure.data[0], figure.data[0].text))
    return figure
