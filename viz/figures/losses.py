"""The loss that runs of a grid ended with."""

from collections.abc import Sequence

import numpy as np

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn
from viz.figures.wording import Say, english, message


def loss_board(
    losses: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limit: float | None = None,
    row_axis: str = message("highest learning rate"),
    column_axis: str = message("warmup (steps)"),
    selected: Sequence[tuple[int, int]] = (),
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw one loss per run: bright where it is low, dark from a limit on.

    Args:
        losses: float (T, S).
        rows, columns: T and S names.
        limit: the loss of who has learned nothing, where the colours end; the largest where it is not given.
        row_axis, column_axis: titles of the axes, in English.
        selected: (row, column) of the runs to draw an outline round.
        title: text above the board.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the losses, float32 (T, S).

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN and infinity.
    """
    losses = checks.as_float("losses", losses, "TS")
    rows, columns = checks.as_labels(rows, columns, losses.shape)
    low, high = float(losses.min()), float(losses.max() if limit is None else limit)
    drawn = heatmap.token_heatmap(
        losses,
        rows,
        columns,
        say,
        hover=f"{labels.escape(say(row_axis))} %{{y}}<br>{labels.escape(say(column_axis))} %{{x}}<br>%{{z:.2f}}",
        description=say(
            "The loss at the end of {n} runs, from {low:.2f} to {high:.2f}; bright is low.",
            n=losses.size,
            low=low,
            high=float(losses.max()),
        ),
        value=message("loss"),
        columns=message("column"),
        title=title,
        query_axis=row_axis,
        key_axis=column_axis,
        colorscale=theme.SEQUENTIAL,
        reversescale=True,
        zmin=low,
        zmax=max(high, low + 1e-6),
        showscale=False,  # every cell has its number
    )
    drawn.add_trace(heatmap.cell_texts(drawn.data[0], [[say("{x:.2f}", x=loss) for loss in row] for row in losses]))
    drawn.layout.shapes = [heatmap.frame(row, column) for row, column in selected]
    return drawn
