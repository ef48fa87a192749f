"""One number a head: layers in rows, heads in columns."""

from collections.abc import Mapping
from functools import reduce

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn
from viz.figures.tables import Cells
from viz.figures.wording import NUMBER, Say, english, message

MAX_NUMBERED = 12  # columns up to which every cell names its number


def share_board(
    values: np.ndarray,
    *,
    value: str = message("value"),
    summaries: Mapping[str, np.ndarray] | None = None,
    selected: tuple[int, int] | None = None,
    low_is_good: bool = False,
    scale_to_max: bool = False,
    title: str = "",
    say: Say = english,
) -> Drawn:
    """Draw one number from 0 to 1 for every head, and numbers for whole layers beside them.

    Args:
        values: float (L, H), within [0, 1].
        value: what a number is, for the colour bar and the hover text, in English.
        summaries: by name, in English, one number a layer (L,), drawn in columns of their own at the right.
        selected: (layer, head) to draw an outline round, counted from 0.
        low_is_good: let small numbers have the bright colours.
        scale_to_max: let the colours end at the largest number instead of 1.
        title: text above the board.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the numbers, float32 (L, H and the summaries).

    Raises:
        ValueError: for wrong shapes or types, NaN, values outside [0, 1], and a selected head that does not exist.
    """
    values = checks.as_probabilities("values", values, "LH")
    n_layers, n_heads = values.shape
    summaries = dict(summaries or {})
    for name, column in summaries.items():
        if np.shape(column) != (n_layers,):
            raise ValueError(f"the summary {name!r} has shape {np.shape(column)}; allowed is ({n_layers},).")
    columns = [checks.as_probabilities(name, [column], "LH").T for name, column in summaries.items()]
    drawn = np.concatenate([values, *columns], axis=1)
    names = [str(head) for head in range(n_heads)] + [labels.tick_text(say(name)) for name in summaries]
    largest = float(drawn.max())
    top = largest if scale_to_max and largest > 0 else 1.0
    named = labels.escape(say(value))
    board = go.Heatmap(
        z=drawn,
        hovertemplate=f"%{{y}}, %{{x}}<br>{named} %{{z:.3f}}<extra></extra>",
        showscale=drawn.shape[1] > MAX_NUMBERED,  # where every cell has its number, a scale tells nothing more
        xgap=theme.CELL_GAP,
        ygap=theme.CELL_GAP,
        colorscale=theme.SEQUENTIAL,
        reversescale=low_is_good,
        zmin=0.0,
        zmax=top,
        colorbar=theme.color_bar(
            say("{value}<br>(largest<br>{top:.3g})", value=named, top=top) if scale_to_max else named
        ),
    )
    numbers = [[f"{number:.2f}" for number in row] for row in drawn]
    texts = [heatmap.cell_texts(board, numbers)] if drawn.shape[1] <= MAX_NUMBERED else []
    axes = {
        "xaxis": heatmap.axis(names, 1, message("head"), say, tickangle=0, fixedrange=True),
        "yaxis": heatmap.axis(
            list(map(str, range(n_layers))), 1, message("layer"), say, downwards=True, fixedrange=True
        ),
    }
    layers = [labels.layer_label(layer, say) for layer in range(n_layers)]
    heads = [labels.head_label(head, say) for head in range(n_heads)]
    return Drawn(
        [board, *(texts or [heatmap.TICKS])],
        theme.layout(
            theme.plot_height(n_layers),
            say(NUMBER),
            title=labels.escape(title),
            left=labels.tick_width([str(n_layers)]) + theme.AXIS_TITLE_HEIGHT,
            bottom=theme.TICK_SIZE + theme.AXIS_TITLE_HEIGHT,
            **heatmap.name_cells(board, axes, layers, heads + [labels.escape(say(name)) for name in summaries]),
            hovermode="closest",
            dragmode=False,
            shapes=_lines(n_layers, n_heads, bool(summaries), selected),
        ),
        description=_description(n_layers * n_heads, value, list(summaries), low_is_good, say),
        table=Cells(drawn, ("layer", "head"), None, [*map(str, range(n_heads)), *map(say, summaries)], value),
    )


def _description(n: int, value: str, summaries: list[str], low_is_good: bool, say: Say) -> str:
    """Say what the board of n heads shows."""
    if summaries:
        said = say(
            "Rows are layers, columns are heads: the {value} of each of {n} heads, and on the right {summaries} of "
            "each layer.",
            value=say(value),
            n=n,
            summaries=reduce(lambda a, b: say("{first} and {second}", first=a, second=b), map(say, summaries)),
        )
    else:
        said = say("Rows are layers, columns are heads: the {value} of each of {n} heads.", value=say(value), n=n)
    return f"{said} {say('Smaller is better.')}" if low_is_good else said


def _lines(n_layers: int, n_heads: int, summarised: bool, selected: tuple[int, int] | None) -> list[dict]:
    """The gap before the summaries, and the frame round the selected head."""
    shapes = []
    if summarised:
        edge = {"x0": n_heads - 0.5, "x1": n_heads - 0.5, "y0": -0.5, "y1": n_layers - 0.5}
        shapes.append({"type": "line", "line": {"color": theme.HATCH_FILL, "width": theme.SELECTED_WIDTH}, **edge})
    if selected is not None:
        layer = checks.index("the selected layer", selected[0], n_layers)
        head = checks.index("the selected head", selected[1], n_heads)
        corners = {"x0": head - 0.5, "x1": head + 0.5, "y0": layer - 0.5, "y1": layer + 0.5}
        frame = {"color": theme.SELECTED, "width": theme.SELECTED_WIDTH}
        shapes.append({"type": "rect", "line": frame, "name": "selected", **corners})
    return shapes
