"""Heads: a number of each on a board, as points of a plane, and the maps of all of them in one montage."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import BARE, QUIET, Drawn, clickable, figure
from viz.figures.labels import Say, english, message
from viz.figures.tables import Board, Points, Tiles

ROW_HEIGHT = 34  # pixels: room for a number in every cell
MAP_HEIGHT = 380
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")


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
        texts: R times C texts to write into the cells, instead of the numbers.
        names: R times C names for the hover box, instead of row and column.
        signed: make the colours symmetric about 0.
        low_is_good: make small numbers bright, unless they are signed.
        selected: (row, column) to frame.
    """
    values = checks.as_float("values", values, "RC")
    n_rows, n = values.shape
    rows, columns = checks.as_tokens("rows", rows, n_rows), checks.as_tokens("columns", columns, n)
    texts = texts or [[say("{x:.3g}", x=number) for number in row] for row in values]
    texts = [checks.as_tokens("texts", row, n) for row in texts]
    names = names or [[f"{row}, {column}" for column in columns] for row in rows]
    names = [checks.as_tokens("names", row, n) for row in names]
    if signed:
        colors, said = heatmap.centred(values), say("orange above 0, blue below")
    else:
        low, high = min(0.0, float(values.min())), float(values.max())
        colors = {"zmin": low, "zmax": high if high > low else 1.0, "colorscale": theme.SEQUENTIAL}
        said = say("bright where it is small") if low_is_good else say("bright where it is large")
    board = go.Heatmap(
        z=values,
        text=[list(map(labels.escape, row)) for row in names],
        hovertemplate=f"%{{text}}<br>{labels.told(say, (value, '%{z:.4g}'))}<extra></extra>",
        xgap=theme.CELL_GAP,
        ygap=theme.CELL_GAP,
        showscale=False,
        reversescale=low_is_good and not signed,
        **colors,
    )
    across, down = (list(map(labels.tick_text, some)) for some in (columns, rows))
    return figure(
        [board, heatmap.cell_texts(board, [list(map(labels.escape, row)) for row in texts])],
        n_rows * ROW_HEIGHT,
        say,
        left=labels.tick_width(rows),
        bottom=theme.TICK_SIZE,
        xaxis=heatmap.axis(across, step=labels.number_step(n), tickangle=0, fixedrange=True),
        yaxis=heatmap.axis(down, downwards=True, fixedrange=True),
        dragmode=False,
        shapes=[heatmap.frame(*selected)] if selected else [],
        description=say("One cell per head: {value}, {colors}.", value=say(value), colors=said),
        table=Board(values, names, texts, value),
    )


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
        groups: N names; each group has a trace with a colour and a sign.
        axes: what x and y are; None where only distances mean something.
        selected: the place of the head to draw a ring round.
    """
    points, places = checks.as_float("points", points, "ND"), [list(map(int, place)) for place in places]
    groups, traces = np.array(checks.as_tokens("groups", groups, len(points)), dtype=object), []
    for i, name in enumerate(dict.fromkeys(groups)):
        at = np.flatnonzero(groups == name)
        symbol = SYMBOLS[(i + i // len(theme.LINES)) % len(SYMBOLS)]  # 49 groups before one looks like another
        trace = go.Scatter(
            x=points[at, 0],
            y=points[at, 1],
            customdata=[places[one] for one in at],
            text=["{}.{}".format(*places[one][-2:]) for one in at],
            textposition="top center",
            mode="markers+text",
            marker={"size": 11, "color": theme.line(i)["color"], "symbol": symbol},
            **clickable("%{fullData.name} %{text}<br>%{x:.3g}, %{y:.3g}", say),
            name=labels.escape(name),
        )
        traces.append(trace)
    table = Points([(trace.name, trace.x, trace.y, trace.text) for trace in traces])
    if selected is not None:
        x, y = points[[places.index(list(selected))]].T
        ring = {"size": 20, "symbol": "circle-open", "color": theme.SELECTED, "line.width": theme.SELECTED_WIDTH}
        traces.append(go.Scatter(x=x, y=y, mode="markers", marker=ring, **QUIET, name="selected"))
    if axes is None:
        limit = float(np.abs(points).max()) * 1.15 or 1.0
        x = BARE | {"range": [-limit, limit], "fixedrange": True}
        layout = {"xaxis": x, "yaxis": x | {"scaleanchor": "x"}, "bottom": 0}
        description = say("Each point is a head, numbered in its layer; near points are heads that look alike.")
    else:
        across, up = map(say, axes)
        layout = {"xaxis_title_text": across, "yaxis_title_text": up, "left": 4 * theme.TICK_SIZE}
        description = say("Each point is a head: {x} from left to right, {y} upwards.", x=across, y=up)
    layout |= {"top": theme.LEGEND_HEIGHT, "dragmode": False}
    return figure(traces, MAP_HEIGHT, say, **layout, description=description, table=table)


def head_overview(
    weights: np.ndarray,
    *,
    selected: tuple[int, int] | None = None,
    n_columns: int | None = None,
    shown: np.ndarray | None = None,
    layer_names: Sequence[str] | None = None,
    say: Say = english,
) -> Drawn:
    """Draw every head of every layer: layers in rows, heads in columns, each tile a small attention map.

    A transparent cell over each tile takes the clicks (data[1], customdata = [layer, head]), so that the cells below
    (data[0], NaN between tiles) need not name their heads.

    Args:
        weights: float (L, H, T, S), probabilities after softmax or summaries.
        selected: (layer, head) to frame.
        n_columns: tiles in a row; with less than H the heads of a layer continue in the next row.
        shown: bool (L, H, T, S), False = left blank.
        layer_names: L names where tiles are not numbered layers.
    """
    weights = checks.as_probabilities("weights", weights, "LHTS")
    n_layers, n_heads = weights.shape[:2]
    n_columns = n_columns or n_heads
    names = layer_names or [labels.layer_label(layer, say) for layer in range(n_layers)]
    names = list(map(labels.escape, checks.as_tokens("layer_names", names, n_layers)))
    drawn = weights if shown is None else np.where(shown, weights, np.float32(np.nan))
    rows, columns = _tile_labels(names, range(n_heads), n_columns, say)
    bar = theme.color_bar(labels.escape(say("weight")))
    outline = []
    if selected is not None:
        row, column = divmod(selected[1], n_columns)
        row += selected[0] * len(rows) // n_layers
        outline.append(heatmap.frame(row, column, room=0.48))
    montage = go.Heatmap(**_montage(drawn, n_columns), hoverinfo="skip", colorbar=bar, **heatmap.PROBABILITIES)
    return figure(
        [montage, _head_cells(weights, n_columns, names, say)],
        len(rows) * theme.TILE_HEIGHT,
        say,
        left=theme.GLYPH_WIDTH * max(labels.text_width(line) for text in rows for line in text.split("<br>")),
        top=theme.TICK_SIZE + theme.MARGIN,
        bottom=0,
        yaxis=heatmap.axis(rows, downwards=True, fixedrange=True),
        xaxis=heatmap.axis(columns, fixedrange=True, side="top", automargin=True),
        dragmode=False,
        shapes=outline,
        description=say(
            "All maps: {first_row} to {last_row}, {first_column} to {last_column}; in each tile row = query, column = "
            "key. Click a tile to open it.",
            first_row=names[0],
            last_row=names[-1],
            first_column=labels.head_label(0, say),
            last_column=labels.head_label(n_heads - 1, say),
        ),
        table=Tiles(drawn),
    )


def _tiles(heads: np.ndarray, n_columns: int, nothing: object) -> np.ndarray:
    """Put what belongs to the heads (L, H, ...) in the places of their tiles (rows, columns, ...)."""
    n_layers, n_heads, *more = heads.shape
    tiles = np.full((n_layers, -(-n_heads // n_columns) * n_columns, *more), nothing, heads.dtype)
    tiles[:, :n_heads] = heads
    return tiles.reshape(-1, n_columns, *more)


def _montage(weights: np.ndarray, n_columns: int) -> dict:
    """All heads (L, H, T, S) in one map, NaN between them; the middle of the tile in row r and column c is (c, r)."""
    (down, across) = gaps = [max(1, round(n / 10)) for n in weights.shape[2:]]
    tiles = np.pad(weights, ((0, 0), (0, 0), *((0, gap) for gap in gaps)), constant_values=np.nan)
    tiles = _tiles(tiles, n_columns, np.nan)
    rows, columns, height, width = tiles.shape
    z = tiles.swapaxes(1, 2).reshape(rows * height, columns * width)[:-down, :-across].copy()
    y0, x0 = ((1 - n) / 2 / (n + gap) for n, gap in zip(weights.shape[2:], gaps))
    return {"z": z, "x0": x0, "dx": 1 / width, "y0": y0, "dy": 1 / height}


def _tile_labels(names: list[str], heads: range, n_columns: int, say: Say) -> tuple[list[str], list[str]]:
    """Of the rows and of the columns of tiles, given the names of the layers."""
    if n_columns >= len(heads):
        return names, [labels.head_label(head, say) for head in heads]
    parts = [
        say("heads {first}–{last}", first=some[0], last=some[-1]) if some[1:] else labels.head_label(some[0], say)
        for some in (heads[first : first + n_columns] for first in heads[::n_columns])
    ]
    columns = (", ".join(map(str, heads[column::n_columns])) for column in range(n_columns))
    return [f"{name}<br>{part}" for name in names for part in parts], [
        say("heads {numbers}", numbers=one) for one in columns
    ]


def _head_cells(weights: np.ndarray, n_columns: int, names: list[str], say: Say) -> go.Heatmap:
    heads, texts = (np.empty(weights.shape[:2], dtype=object) for _ in "12")
    for layer, head in np.ndindex(heads.shape):
        heads[layer, head] = [layer, head]
        texts[layer, head] = say(
            "{layer}, {head}<br>largest {value} {weight:.3f}",
            layer=names[layer],
            head=labels.head_label(head, say),
            value=say("weight"),
            weight=weights[layer, head].max(),
        )
    return go.Heatmap(
        z=_tiles(np.zeros(heads.shape, np.float32), n_columns, np.nan),
        customdata=_tiles(heads, n_columns, None).tolist(),
        text=_tiles(texts, n_columns, "").tolist(),
        **clickable("%{text}", say),
        hoverongaps=False,
        colorscale=[[0, theme.TRANSPARENT], [1, theme.TRANSPARENT]],
        showscale=False,
        showlegend=False,
        name="heads",
    )
