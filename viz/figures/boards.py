"""Boards, whose cells have their numbers or words written on them, and heads as points of a plane."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn, clickable, figure
from viz.figures.tables import Board, Points
from viz.figures.wording import Say, english, message

ROW_HEIGHT = 34  # pixels: room for a number in every cell
MAP_HEIGHT = 380
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")
_COLORS = {
    "signed": message("orange above 0, blue below"),
    "low": message("bright where it is small"),
    "high": message("bright where it is large"),
}
_TEXT_UP_TO = 26  # rows; more are too low for letters


def head_board(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    texts: Sequence[Sequence[str]] | None = None,
    names: Sequence[Sequence[str]] | None = None,
    value: str = message("value"),
    signed: bool = False,
    low_is_good: bool = False,
    selected: tuple[int, int] | None = None,
    say: Say = english,
) -> Drawn:
    """Draw one number per head (R, C): what is large is bright, or numbers about 0 in two colours.

    Args:
        texts: R times C texts to write into the cells; the numbers where there are none.
        names: R times C names for the hover box; row and column where there are none.
        signed: let the colours be symmetric about 0.
        low_is_good: let small numbers have the bright colours; of numbers that are not signed.
        selected: (row, column) to draw a frame round.
    """
    values = checks.as_float("values", values, "RC")
    n_rows, n_columns = values.shape
    rows = checks.as_tokens("rows", rows, n_rows)
    columns = checks.as_tokens("columns", columns, n_columns)
    written = _texts("texts", texts or [[say("{x:.3g}", x=number) for number in row] for row in values], n_columns)
    named = _texts("names", names or [[f"{row}, {column}" for column in columns] for row in rows], n_columns)
    if signed:
        colors = heatmap.centred(values, "")
    else:
        low, high = min(0.0, float(values.min())), float(values.max())
        colors = {"zmin": low, "zmax": high if high > low else 1.0, "colorscale": theme.SEQUENTIAL}
    board = go.Heatmap(
        z=values,
        text=[list(map(labels.escape, row)) for row in named],
        hovertemplate=f"%{{text}}<br>{labels.escape(say(value))} %{{z:.4g}}<extra></extra>",
        xgap=theme.CELL_GAP,
        ygap=theme.CELL_GAP,
        showscale=False,
        reversescale=low_is_good and not signed,
        **colors,
    )
    frames = []
    if selected is not None:
        frames.append(heatmap.frame(*selected) | {"name": "selected"})
    over, beside = ([labels.tick_text(name) for name in some] for some in (columns, rows))
    return figure(
        [board, heatmap.cell_texts(board, [list(map(labels.escape, row)) for row in written])],
        n_rows * ROW_HEIGHT,
        say,
        left=labels.tick_width(rows),
        bottom=theme.TICK_SIZE,
        xaxis=heatmap.axis(over, labels.number_step(n_columns), "", tickangle=0, fixedrange=True),
        yaxis=heatmap.axis(beside, labels.tick_step(n_rows), "", downwards=True, fixedrange=True),
        dragmode=False,
        shapes=frames,
        description=say(
            "One cell per head: {value}, {colors}.",
            value=say(value),
            colors=say(_COLORS["signed" if signed else "low" if low_is_good else "high"]),
        ),
        table=Board(values, named, written, value),
    )


def _texts(name: str, texts: Sequence[Sequence[str]], n_columns: int) -> list[list[str]]:
    return [checks.as_tokens(name, row, n_columns) for row in texts]


def loss_board(
    losses: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limit: float | None = None,
    selected: Sequence[tuple[int, int]] = (),
    say: Say = english,
) -> Drawn:
    """Draw the loss (T, S) that each run of a grid ended with, of T peaks of the learning rate and S warmups.

    Args:
        limit: the loss of who has learned nothing, where the colours end; the largest where it is not given.
        selected: (row, column) of the runs to draw an outline round.
    """
    losses = checks.as_float("losses", losses, "TS")
    titles = message("highest learning rate"), message("warmup (steps)")
    peak, warmup = map(say, titles)
    low, high = float(losses.min()), float(losses.max() if limit is None else limit)
    drawn = heatmap.grid(
        losses,
        rows,
        columns,
        say,
        hover=f"{peak} %{{y}}<br>{warmup} %{{x}}<br>%{{z:.2f}}",
        description=say(
            "The loss at the end of {n} runs, from {low:.2f} to {high:.2f}; bright is low.",
            n=losses.size,
            low=low,
            high=float(losses.max()),
        ),
        titles=titles,
        names=("query", message("column")),
        value=message("loss"),
        colorscale=theme.SEQUENTIAL,
        reversescale=True,
        zmin=low,
        zmax=max(high, low + 1e-6),
        showscale=False,  # every cell has its number
    )
    drawn.add_trace(heatmap.cell_texts(drawn.data[0], [[say("{x:.2f}", x=loss) for loss in row] for row in losses]))
    drawn.layout.shapes = [heatmap.frame(row, column) for row, column in selected]
    return drawn


def candidates_heatmap(
    probabilities: np.ndarray,
    tokens: Sequence[str],
    candidates: Sequence[Sequence[str]] | None = None,
    *,
    written: np.ndarray | None = None,
    say: Say = english,
) -> Drawn:
    """Draw what a model might have written at each step: the most probable tokens first (T, K), steps in rows.

    Args:
        tokens: T tokens that were written at the steps.
        candidates: T times K tokens that could have been written.
        written: float (T,), the probability of the token that was written, which need not be among the candidates.
    """
    probabilities = checks.as_probabilities("probabilities", probabilities, "TK")
    n_steps, count = probabilities.shape
    tokens = checks.as_tokens("tokens", tokens, n_steps)
    notes = None
    if written is not None:
        written = checks.as_probabilities("written", written, "T")
        notes = ["<br>" + say("written with probability {p:.3f}", p=p) for p in written]
    names = _texts("candidates", candidates or [[""] * count] * n_steps, count)
    words = {"step": "%{y}", "candidate": "%{customdata}", "number": "%{z:.3f}"}
    drawn = heatmap.grid(
        probabilities,
        tokens,
        [str(rank + 1) for rank in range(count)],
        say,
        hover=say("step {step}<br>candidate {candidate}<br>probability {number}", **words),
        description=say("Row = written token, column = candidate, the most probable of each step first."),
        titles=(message("written token"), message("candidate (1 = most probable)")),
        names=("query", message("candidate")),
        value="probability",
        notes=notes,
        customdata=np.array([[labels.quoted(name, say) for name in row] for row in names], dtype=object),
        **heatmap.weight_colors(probabilities, False, message("probability"), say),
    )
    drawn.layout.xaxis.tickangle = 0
    if candidates is not None and n_steps <= _TEXT_UP_TO:
        drawn.data[0].text = [[labels.tick_text(name) for name in row] for row in names]
        drawn.add_trace(heatmap.cell_texts(drawn.data[0], drawn.data[0].text))
    return drawn


def head_map(
    points: np.ndarray,
    places: Sequence[tuple[int, ...]],
    groups: Sequence[str],
    *,
    axes: tuple[str, str] | None = None,
    selected: tuple[int, ...] | None = None,
    say: Say = english,
) -> Drawn:
    """Draw heads as points (N, 2), by two numbers, or near each other where they are alike; a click opens one.

    Args:
        places: N times the numbers of a head, the last two its layer and its head (customdata).
        groups: N times the name of the group that a head belongs to; each has a trace with a colour and a sign.
        axes: what x and y are; None where only distances mean something.
        selected: the place of the head to draw a ring round.
    """
    points, places = checks.as_float("points", points, "ND"), [tuple(map(int, place)) for place in places]
    groups = np.array(checks.as_tokens("groups", groups, len(points)), dtype=object)
    traces = [
        _points(i, name, np.flatnonzero(groups == name), points, places, say)
        for i, name in enumerate(dict.fromkeys(groups))
    ]
    table = Points([(trace.name, trace.x, trace.y, trace.text) for trace in traces])
    if selected is not None:
        traces.append(_ring(points[places.index(tuple(selected))]))
    if axes is None:
        limit = float(np.abs(points).max()) * 1.15 or 1.0
        x = {"range": [-limit, limit], "showticklabels": False, "showgrid": False, "zeroline": False}
        x["fixedrange"] = True
        layout = {"xaxis": x, "yaxis": x | {"scaleanchor": "x"}}
        description = say("Each point is a head, numbered in its layer; near points are heads that look alike.")
    else:
        across, up = map(say, axes)
        layout = {"xaxis": {"title": {"text": across}}, "yaxis": {"title": {"text": up}}}
        layout |= {"left": 4 * theme.TICK_SIZE, "bottom": theme.AXIS_HEIGHT}
        description = say("Each point is a head: {x} from left to right, {y} upwards.", x=across, y=up)
    return figure(
        traces,
        MAP_HEIGHT,
        say,
        top=theme.LEGEND_HEIGHT,
        hovermode="closest",
        dragmode=False,
        **layout,
        description=description,
        table=table,
    )


def _points(
    i: int, name: str, at: np.ndarray, points: np.ndarray, places: list[tuple[int, ...]], say: Say
) -> go.Scatter:
    return go.Scatter(
        x=points[at, 0].copy(),
        y=points[at, 1].copy(),
        customdata=[list(places[one]) for one in at],
        text=[f"{places[one][-2]}.{places[one][-1]}" for one in at],
        textposition="top center",
        mode="markers+text",
        marker={
            "size": 11,
            "color": theme.line(i)["color"],
            "symbol": SYMBOLS[(i + i // len(theme.LINES)) % len(SYMBOLS)],  # 49 groups before one looks like another
        },
        **clickable(f"{labels.escape(name)} %{{text}}<br>%{{x:.3g}}, %{{y:.3g}}", say),
        name=labels.escape(name),
    )


def _ring(place: np.ndarray) -> go.Scatter:
    line = {"width": theme.SELECTED_WIDTH}
    return go.Scatter(
        x=place[:1].copy(),
        y=place[1:].copy(),
        mode="markers",
        marker={"size": 20, "symbol": "circle-open", "color": theme.SELECTED, "line": line},
        hoverinfo="skip",
        showlegend=False,
        name="selected",
    )
