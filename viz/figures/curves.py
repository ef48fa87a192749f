"""Lines over steps, positions, dimensions or distances; bars per word; measured deviations per claim."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.figure import LEGEND, QUIET, Figure, build_figure, dots, polylines
from viz.figures.labels import Say, english, message
from viz.figures.tables import Line, LineWithTexts, Points
from viz.theme import Settings

CURVES_HEIGHT = 320
SECOND_PANEL = 70
BARS_HEIGHT = 200
MARKED = 1.1  # by how much the axis is longer where there are marks above bars
LOWER_PANEL = 240
CLAIM_HEIGHT = 44  # pixels
SEED_SYMBOLS = "circle", "diamond", "square"
MARKERS_UP_TO = 12  # points of a line
RATES, LOSSES = (0.66, 0.9), (0, 0.54)  # from where to where, of the height from below; titles stand above
LEGEND_LETTERS = 110  # that fit in one row of the legend
# What is drawn of a claim: symbol, size and colour.
PARTS = {
    message("measured"): ("circle", 11, theme.LINES[0]),
    message("allowed"): ("line-ns-open", 20, theme.LINES[1]),
    message("with the mask off"): ("diamond-open", 11, theme.LINES[3]),
}
ABOUT = message("A chart of {y} over {x}, from {low:.3g} to {high:.3g}.")
Mark = tuple[str, float, float, str]  # the name of a line, x, y and text of a point of it


def curves(
    lines: Mapping[str, np.ndarray],
    *,
    x_axis: str = message("training step"),
    y_axis: str = message("value"),
    log_x: bool = False,
    log_y: bool = False,
    marks: Sequence[Mark] = (),
    reach: tuple[float, ...] = (),
    say: Say = english,
) -> Figure:
    """Draw lines of named points over one pair of axes.

    Args:
        lines: name to float (2, n), x and y, in the order of the legend; above 0 where the axis is logarithmic.
        marks: points to mark, such as a peak.
        reach: numbers that the upright axis holds besides, so that figures beside each other can share it.
    """
    return _line_chart(_checked(lines), x_axis, y_axis, say, log_x=log_x, log_y=log_y, marks=marks, reach=reach)


def encoding_panels(
    table: np.ndarray,
    columns: Sequence[int],
    *,
    column_axis: str = message("dimension"),
    row_axis: str = message("position"),
    say: Say = english,
) -> Figure:
    """Draw a table (T, D) of T positions or distances, a row per column, over some of its columns as lines.

    Both share one axis, that of the positions; the lines are the traces after the map.
    """
    table = checks.as_float("table", table, "TD")
    figure = heatmap.grid(
        table.T, {}, say, message("value"), (column_axis, row_axis), **heatmap.centred(table, least=1.0)
    )
    if not columns:
        return figure
    names = [f"{say(column_axis)} {column}" for column in columns]
    lower = _line_chart(_numbered(table.T[list(columns)], names), row_axis, message("value"), say)
    figure.description += " " + lower.description
    figure.add_traces([trace.update(yaxis="y2", showlegend=True) for trace in lower.data])
    left = max(figure.layout.margin.l, lower.layout.margin.l)
    figure.layout.update(
        height=figure.layout.height + LOWER_PANEL,
        margin={"l": left, "t": theme.AXIS_HEIGHT, "b": theme.LEGEND_HEIGHT},
        xaxis={"side": "top", "title": {"standoff": 4}},
        yaxis_domain=(0.42, 1),
        yaxis2=lower.layout.yaxis,
        yaxis2_domain=(0, 0.38),
        legend=LEGEND | {"y": 0, "yanchor": "top"},
    )
    figure.data[0].update(colorbar={"title": {"text": ""}, "thickness": 10, "y": 0.71, "len": 0.58})
    return figure


def offset_lines(similarity: np.ndarray, names: Sequence[str], *, say: Say = english) -> Figure:
    """Draw, for each of K named encodings, the mean dot product (K, T) of positions 0, 1, ... T - 1 apart."""
    lines = _numbered(checks.as_float("similarity", similarity, "KT"), names)
    return _line_chart(lines, message("offset (positions apart)"), message("mean dot product"), say)


def wavelength_lines(wavelengths: np.ndarray, names: Sequence[str], *, say: Say = english) -> Figure:
    """Draw, for each of K named encodings, the positions that each dimension needs for one wave (K, D), above 0."""
    lines = _numbered(checks.as_float("wavelengths", wavelengths, "KD"), names)
    return _line_chart(lines, message("dimension"), message("wavelength (positions)"), say, log_y=True)


def run_curves(
    rates: Mapping[str, np.ndarray],
    losses: Mapping[str, np.ndarray],
    *,
    limit: float,
    step: float | None = None,
    say: Say = english,
) -> Figure:
    """Draw learning rate and training loss of runs in two panels over one axis of steps.

    Args:
        rates, losses: name to float (2, n), step and value.
        limit: in nats, drawn as a line: the entropy of word frequencies, smoothed as the labels are.
        step: marked in both panels.
    """
    steps = message("training step")
    rate = message("learning rate")
    loss = message("training loss")
    rate_lines, loss_lines = _checked(rates), _checked(losses)
    figure = _line_chart(rate_lines, steps, rate, say)
    lower = _line_chart(loss_lines, steps, loss, say, reach=(limit,))
    panels = (say(rate), rate_lines), (say(loss), loss_lines)
    figure.table = Points([(f"{name}, {panel}", x, y) for panel, lines in panels for name, x, y in lines])
    figure.description += " " + lower.description
    figure.add_traces([trace.update(yaxis="y2", showlegend=False) for trace in lower.data])
    line = {"color": theme.LINES[-1], "width": 1, "dash": "dot"}
    note = labels.escape(say("entropy of word frequencies, smoothed"))
    figure.add_hline(limit, yref="y2", line=line, annotation_text=note)
    if step is not None:
        figure.add_shape(type="line", x0=step, x1=step, yref="paper", y0=0, y1=1, line=line)
    figure.layout.update(
        height=figure.layout.height + SECOND_PANEL,
        xaxis_anchor="y2",
        yaxis_domain=RATES,
        yaxis2=lower.layout.yaxis,
        yaxis2_domain=LOSSES,
    )
    # Upright, the two titles would run into each other where the figure is low.
    for axis, (_, top) in (("yaxis", RATES), ("yaxis2", LOSSES)):
        title = figure.layout[axis].title
        place = {"xref": "paper", "yref": "paper", "x": 0, "y": top, "xanchor": "left", "yanchor": "bottom"}
        figure.add_annotation(text=title.text, showarrow=False, **place)
        title.text = ""
    return figure


def _checked(lines: Mapping[str, np.ndarray]) -> list[Line]:
    return [(name, *checks.as_float("line", line, "2n")) for name, line in lines.items()]


def _numbered(values: np.ndarray, names: Sequence[str]) -> list[Line]:
    """K named lines (K, N) over 0 to N - 1."""
    x = np.arange(values.shape[1], dtype=np.int32)
    return [(name, x, row) for name, row in zip(checks.as_tokens("names", names, len(values)), values)]


def _line_chart(
    lines: list[Line],
    x_axis: str,
    y_axis: str,
    say: Say,
    *,
    log_x: bool = False,
    log_y: bool = False,
    reach: tuple[float, ...] = (),
    marks: Sequence[Mark] = (),
) -> Figure:
    """Draw lines whose arrays are checked; the keyword arguments are those of `curves`."""
    x_axis, y_axis = say(x_axis), say(y_axis)
    across, up = labels.escape(x_axis), labels.escape(y_axis)
    names = [name for name, *_ in lines]
    traces: list[go.Scatter] = []
    points = [*lines, *((text, np.array([x], np.float32), np.array([y], np.float32)) for _, x, y, text in marks)]
    for i, (name, x, y) in enumerate(points):
        is_line = i < len(lines)
        line = theme.line(i if is_line else names.index(marks[i - len(lines)][0]))
        trace = go.Scatter(x=x, y=y, name=labels.escape(name), line=line, showlegend=is_line)
        trace.mode = "lines+markers" if len(x) <= MARKERS_UP_TO else "lines"
        trace.marker = {} if is_line else {"size": 9, "symbol": "diamond"}
        hover = f"%{{fullData.name}}<br>{across} %{{x:,.6~g}}<br>{up} %{{y:.4~g}}<extra></extra>"
        traces.append(trace.update(hovertemplate=hover))
    ys = np.concatenate([y for *_, y in lines])
    return build_figure(
        traces,
        CURVES_HEIGHT,
        say,
        left=2 * theme.TICK_SIZE + theme.AXIS_HEIGHT,
        top=theme.LEGEND_HEIGHT * (1 + sum(len(name) + 8 for name in names) // LEGEND_LETTERS),
        xaxis=_axis(across, np.concatenate([x for _, x, _ in lines]), log_x),
        yaxis=_axis(up, np.append(ys, np.array(reach, np.float32)), log_y),
        description=say(ABOUT, x=x_axis, y=y_axis, low=ys.min(), high=ys.max()),
        table=Points(points),
    )


def _axis(title: str, numbers: np.ndarray, log: bool) -> Settings:
    """An axis with a fixed range round the numbers."""
    low, high = numbers.min(), numbers.max()
    if log:
        low, high = np.log10(low), np.log10(high)
    elif 0 < low < high / 4:
        low = 0.0
    room = 0.04 * (high - low) or 0.5
    exponents = "power" if log else "e" if high < 0.01 else "none"
    scale = {"type": "log" if log else None, "exponentformat": exponents, "range": [low and low - room, high + room]}
    return {"title": title, "zeroline": False, "automargin": False} | scale


def bars(
    values: np.ndarray,
    tokens: Sequence[str],
    *,
    value: str = message("value"),
    token_axis: str = message("word"),
    top: float | None = None,
    marks: Mapping[int, str] = {},
    mark_name: str = "",
    label_every: int = 1,
    say: Say = english,
) -> Figure:
    """Draw one bar per word from 0 up, of K stacked parts (T, K); data[k].y is the k-th column.

    Args:
        top: where the axis ends, otherwise just above the highest bar.
        marks: by the place of a bar what is marked above it, as a text; the trace after the bars.
        mark_name: what is marked.
        label_every: which bars are named under the axis, where there is no room for all; the others say it on hover.
    """
    values = checks.as_float("values", values, "TK")
    tokens = labels.spell_bytes(checks.as_tokens("tokens", tokens, len(values)))
    highest = values.sum(axis=1).max()
    x = np.arange(len(values), dtype=np.int32)
    title = labels.escape(say(value))
    bar = {"x": x, "text": labels.hover_texts(tokens, say), "textposition": "none", "showlegend": False}
    bar["hovertemplate"] = f"%{{text}}<br>{title} %{{y:.3g}}<extra></extra>"
    traces: list[Any] = [
        go.Bar(**bar, y=column, marker_color=theme.line(k)["color"]) for k, column in enumerate(values.T)
    ]
    across = heatmap.side(tokens, token_axis, say)
    for labelled in ("tickvals", "ticktext"):
        across[labelled] = across[labelled][::label_every]
    end = 1.08 * float(top or highest or 1)
    description = say(ABOUT, x=say(token_axis), y=say(value), low=0, high=highest)
    if marks:
        end *= MARKED
        traces.append(_marks_above(values.sum(axis=1), marks, say(mark_name), 0.06 * end))
        listed = "; ".join(f"{tokens[place]}: {text}" for place, text in marks.items())
        description += f" {say(mark_name)}: {listed}."
    return build_figure(
        traces,
        BARS_HEIGHT,
        say,
        left=theme.TICK_SIZE + theme.AXIS_HEIGHT,
        bottom=theme.LEANING * labels.tick_width(tokens) + theme.AXIS_HEIGHT,
        barmode="stack",
        xaxis=across,
        yaxis={"title": title, "range": [0, end], "automargin": False},
        description=description,
        table=Points([(str(k), x, column, tokens) for k, column in enumerate(values.T)]),
    )


def _marks_above(heights: np.ndarray, marks: Mapping[int, str], name: str, above: float) -> go.Scatter:
    """Marks at bars of these heights, each with its text for the hover box."""
    places = list(marks)
    return go.Scatter(
        x=np.array(places, dtype=np.int32),
        y=heights[places] + np.float32(above),
        mode="markers",
        marker={"symbol": "triangle-down", "size": 9, "color": theme.LINES[1]},
        text=[labels.escape(text) for text in marks.values()],
        hovertemplate=f"{labels.escape(name)}<br>%{{text}}<extra></extra>",
        showlegend=False,
    )


def deviations(values: np.ndarray, names: Sequence[str], *, say: Say = english) -> Figure:
    """Draw how far from its limit each of N claims is, on a logarithmic axis that begins with 0.

    A click on a dot selects its row (customdata = [row]).

    Args:
        values: float (N, 3), from 0 up: measured, allowed, and measured while the mask that the claim rests on is
            off; -inf where there is no such number.
    """
    values = checks.as_float("values", values, "NK", masked=True)
    n = len(values)
    values[np.isneginf(values)] = np.nan
    names = checks.as_tokens("names", names, n)
    above = np.log10(values[values > 0])
    low, high = (int(np.floor(above.min())), int(np.ceil(above.max()))) if above.size else (-1, 0)
    zero = 10.0 ** (low - 1)
    places = np.where(values == 0, zero, values)
    rows = np.arange(n)
    numbered = [[row] for row in rows.tolist()]
    traces = [
        dots(column, rows, numbered, say(part), look, labels.hover_lines(say, (part, "%{x:.2g}")), mode="markers")
        for column, (part, look) in zip(places.T, PARTS.items())
    ]
    margins = polylines(list(places.T[:2]), [rows, rows])  # from the dot to its limit
    titles = [f"<b>{labels.escape(name)}</b>" for name in names]
    line = {"color": theme.LINES[0], "width": theme.LINE_WIDTH}
    ticks = range(low, high + 1, max(1, round((high - low) / 6)))
    return build_figure(
        [*traces, go.Scatter(**margins, mode="lines", line=line, **QUIET)],
        n * CLAIM_HEIGHT,
        say,
        top=theme.LEGEND_HEIGHT,
        xaxis={
            "type": "log",
            "range": [low - 1.2, high + 0.2],
            "title": labels.escape(say("deviation")),
            "tickvals": [zero, *(10.0**exponent for exponent in ticks)],
            "ticktext": ["0", *(f"10<sup>{exponent}</sup>" for exponent in ticks)],
            "zeroline": False,
            "fixedrange": True,
        },
        yaxis=heatmap.axis(
            titles, step=1, ticklabelposition="inside top", ticklabelshift=8, range=[n - 0.5, -0.75], fixedrange=True
        ),
        dragmode=False,
        description=say("Each of {n} rows is a claim: a dot for what was measured, a stroke for what is allowed.", n=n),
        table=Points([(say(part), values[:, k], rows, names) for k, part in enumerate(PARTS)]),
    )


def changes_by_seed(
    values: np.ndarray,
    names: Sequence[str],
    seeds: Sequence[str],
    *,
    value: str = message("perplexity"),
    say: Say = english,
) -> Figure:
    """Draw the results of runs that differ in one thing each, a row per change and a dot per seed.

    A grey band over all rows reaches from the lowest to the highest dot of the first: what it is compared with.

    Args:
        values: float (N, K), of N changes and K seeds; -inf where a run is missing.
        names, seeds: of the changes and of the seeds.
    """
    values = checks.as_float("values", values, "NK", masked=True)
    names = checks.as_tokens("names", names, len(values))
    seeds = checks.as_tokens("seeds", seeds, values.shape[1])
    title = labels.escape(say(value))
    n = len(names)
    traces, lines = _dots_of_seeds(values, names, seeds, title)
    results = values[~np.isneginf(values)]
    low, high = (float(results.min()), float(results.max())) if results.size else (0.0, 1.0)
    room = 0.06 * (high - low) or 0.5
    figure = build_figure(
        traces,
        n * CLAIM_HEIGHT,
        say,
        top=theme.LEGEND_HEIGHT,
        xaxis={"title": title, "range": [low - room, high + room], "zeroline": False, "automargin": False},
        yaxis=heatmap.axis(
            [f"<b>{labels.escape(name)}</b>" for name in names],
            step=1,
            ticklabelposition="inside top",
            ticklabelshift=8,
            range=[n - 0.5, -0.75],
        ),
        description=say(
            "Each of {n} rows is a change, each dot a run: {value} from {low:.4g} to {high:.4g}.",
            n=n,
            value=say(value),
            low=low,
            high=high,
        ),
        table=Points([line for line in lines if len(line[1])]),
    )
    if (first := values[0][~np.isneginf(values[0])]).size:
        _add_band(figure, first.min(), first.max())
    return figure


def _dots_of_seeds(
    values: np.ndarray, names: list[str], seeds: Sequence[str], title: str
) -> tuple[list[go.Scatter], list[LineWithTexts]]:
    """The dots of each seed over values (N, K) as `changes_by_seed` has them, and the same as lines of its table."""
    traces: list[go.Scatter] = []
    lines: list[LineWithTexts] = []
    columns: Sequence[np.ndarray] = list(values.T)
    for k, (seed, column) in enumerate(zip(seeds, columns)):
        rows = np.flatnonzero(~np.isneginf(column))
        row_names = [names[row] for row in rows]
        look = SEED_SYMBOLS[k % len(SEED_SYMBOLS)], 11, theme.LINES[k % len(theme.LINES)]
        hover = f"%{{text}}<br>{labels.escape(seed)}<br>{title} %{{x:.4g}}"
        text = [labels.escape(name) for name in row_names]
        numbered = [[int(row)] for row in rows]
        traces.append(dots(column[rows], rows, numbered, seed, look, hover, mode="markers", text=text))
        lines.append((seed, rows.astype(np.int32), column[rows], row_names))
    return traces, lines


def _add_band(figure: Figure, low: float, high: float) -> None:
    """Lay a grey band over all rows, below what is drawn."""
    grey = theme.LINES[-1]
    band = {"x0": low, "x1": high, "y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    figure.add_shape(type="rect", **band, fillcolor=grey, opacity=0.3, line={"width": 1, "color": grey})
