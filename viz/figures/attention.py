"""Attention weights: one head large, or every head at a glance."""

from collections.abc import Callable, Sequence

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, clicks, heatmap, labels
from viz.figures.drawn import Drawn
from viz.figures.montage import Montage
from viz.figures.tables import Tiles
from viz.figures.wording import Say, english, message, separated


def attention_heatmap(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    query_axis: str = message("query"),
    key_axis: str = message("key"),
    title: str = "",
    mask: np.ndarray | None = None,
    shown: np.ndarray | None = None,
    read: Sequence[str] | None = None,
    predicted: Sequence[str] | None = None,
    removed: np.ndarray | None = None,
    value: str = message("weight"),
    scale_to_max: bool = False,
    most: float = 1.0,
    say: Say = english,
) -> Drawn:
    """Draw the attention weights of one head, or a summary of several: queries in rows, keys in columns.

    Args:
        weights: float (T, S), probabilities after softmax, or a summary of such within [0, 1].
        queries: T tokens, drawn top to bottom.
        keys: S tokens, drawn left to right.
        query_axis, key_axis: what the rows and the columns are, in English.
        title: text above the map.
        mask: bool (T, S), True = may attend; the other cells are hatched and their hover text says so.
        shown: bool (T, S), False = left blank; the hover text still names the number.
        read, predicted: T tokens, what the step of each row read or predicted beside its name; the hover names it.
        removed: float (T,), the part of each row that went to columns which are not drawn; the hover text names it.
        value: what a number is, in English, for the colour bar and the hover text.
        scale_to_max: let the colours end at the largest weight instead of 1; the colour bar then says so.
        most: the largest possible weight, above 1 where dropout scaled them up: 1 / (1 - dropout).
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0].z is the weights, float32 (T, S), NaN where they are left blank.

    Raises:
        ValueError: for wrong shapes, sizes or types, NaN, and values outside [0, most].
    """
    weights = checks.as_probabilities("weights", weights, "TS", most)
    queries, keys = checks.as_labels(queries, keys, weights.shape)
    blocked = np.zeros(weights.shape, bool) if mask is None else ~checks.as_mask("mask", mask, weights.shape)
    blank = np.zeros(weights.shape, bool) if shown is None else ~checks.as_mask("shown", shown, weights.shape)
    colors = _weight_colors(weights, scale_to_max, value, say, most)
    description = say(
        "Attention of each query (row) to each key (column), from 0 to {most:.3g}.",
        most=most,
    )
    description += " " + say("Hatched cells are not allowed by the mask.") if blocked.any() else ""
    description += " " + say("Blank cells are below the threshold.") if blank.any() else ""
    texts, number = None, "%{z:.3f}"
    if blocked.any() or blank.any():
        notes = (blocked, say(heatmap.NOT_ALLOWED)), (blank & ~blocked, say(heatmap.NOT_DRAWN))
        texts, number = heatmap.noted(weights, *notes), number + "%{customdata}"
    if blank.any():  # these cells have no z
        texts, number = np.vectorize("{:.3f}{}".format, otypes=[object])(weights, texts), "%{customdata}"
    return heatmap.token_heatmap(
        np.where(blank, np.float32(np.nan), weights) if blank.any() else weights,
        queries,
        keys,
        say,
        hover=say(
            "query {query}<br>key {key}<br>{value} {number}",
            query="%{y}",
            key="%{x}",
            value=labels.escape(say(value)),
            number=number,
        ),
        description=description,
        value=value,
        title=title,
        query_axis=query_axis,
        key_axis=key_axis,
        blocked=blocked,
        cell_texts=texts,
        row_notes=_row_notes(len(queries), read, predicted, removed, say),
        **colors,
    )


def _row_notes(n: int, read, predicted, removed, say: Say) -> list[str] | None:
    """Write what the hover text adds to the name of each of n rows."""
    if read is None and predicted is None and removed is None:
        return None
    notes = [""] * n
    for name, note_of, tokens in (
        ("read", message("read {token}"), read),
        ("predicted", message("predicted {token}"), predicted),
    ):
        if tokens is not None:
            tokens = checks.as_tokens(name, tokens, n, "rows")
            said = [say(note_of, token=labels.quoted(token, say)) for token in tokens]
            notes = [f"{note}, {more}" for note, more in zip(notes, said, strict=True)]
    if removed is not None:
        removed = checks.as_float("removed", removed, "T")
        if len(removed) != n:
            raise ValueError(f"removed has {len(removed)} numbers, but the array has {n} rows; allowed is one a row.")
        hidden = [say("{mass:.3f} of this row is hidden", mass=mass) for mass in removed]
        notes = [f"{note}<br>{more}" for note, more in zip(notes, hidden, strict=True)]
    return notes


def head_overview(
    weights: np.ndarray,
    *,
    selected: tuple[int, int] | None = None,
    title: str = "",
    n_columns: int | None = None,
    shown: np.ndarray | None = None,
    layer_names: Sequence[str] | None = None,
    head_names: Sequence[str] | None = None,
    value: str = message("weight"),
    scale_to_max: bool = False,
    block: int = 1,
    say: Say = english,
) -> Drawn:
    """Draw every head of every layer as one montage: layers in rows, heads in columns, each tile a small attention map.

    A transparent cell over each tile takes the clicks (customdata = [layer, head]), so that the cells below need not
    name their heads. Zooming is off: there is one drag less to mistake a click for.

    Args:
        weights: float (L, H, T, S), probabilities after softmax or summaries; rows are queries, columns are keys.
        selected: (layer, head) to draw an outline round, counted from 0.
        title: text above the montage.
        n_columns: tiles in a row, for narrow pages; with less than H the heads of a layer continue in the next row.
        shown: bool (L, H, T, S), False = left blank.
        layer_names, head_names: L and H names where tiles are not single layers or heads.
        value: what a number is, in English.
        scale_to_max: let the colours end at the largest weight of all heads instead of 1; the colour bar then says so.
        block: draw one cell, the largest, for every block x block weights: for maps with more cells than a tile has
            pixels.
        say: puts the words of the figure into the language of the reader.

    Returns:
        The figure; data[0] is the montage (float32, NaN between tiles), data[1] a cell for each tile.

    Raises:
        ValueError: for wrong shapes or types, NaN, values outside [0, 1], and a selected head that does not exist.
    """
    weights = checks.as_probabilities("weights", weights, "LHTS")
    n_layers, n_heads, n_queries, n_keys = weights.shape
    if n_columns is not None:
        checks.index("n_columns", n_columns, n_heads + 1, least=1)
    checks.index("block", block, max(n_queries, n_keys) + 1, least=1)
    montage = Montage(
        n_layers,
        n_heads,
        -(-n_queries // block),
        -(-n_keys // block),
        n_columns or n_heads,
        _names("layer_names", layer_names, labels.layer_label, n_layers, say),
        _names("head_names", head_names, labels.head_label, n_heads, say),
    )
    colors = _weight_colors(weights, scale_to_max, value, say)
    if shown is not None and np.shape(shown) != weights.shape:
        raise ValueError(f"shown has shape {np.shape(shown)}; allowed is {weights.shape}, one cell for each weight.")
    drawn = weights if shown is None else np.where(shown, weights, np.float32(np.nan))
    if block > 1:
        for axis, size in ((2, n_queries), (3, n_keys)):
            drawn = np.fmax.reduceat(drawn, range(0, size, block), axis=axis)
    tiles = go.Heatmap(z=montage.assemble(drawn), hoverinfo="skip", **colors)
    outlines = [] if selected is None else [_outline(montage, selected)]
    coarse = [say("Each cell of a tile is the largest of {n} × {n} weights.", n=block)] if block > 1 else []
    return Drawn(
        [tiles, _head_cells(montage, weights, value, say)],
        theme.layout(
            montage.n_rows * theme.TILE_HEIGHT,
            separated(say),
            title=labels.escape(title),
            left=theme.GLYPH_WIDTH
            * max(labels.text_width(line) for text in montage.row_labels(say) for line in text.split("<br>")),
            top=theme.TICK_SIZE + theme.MARGIN,
            **montage.axes(say),
            hovermode="closest",
            dragmode=False,
            shapes=outlines,
        ),
        description=" ".join([_at_a_glance(montage, say), *coarse]),
        table=Tiles(drawn, (n_queries, n_keys), block, value),
    )


def _names(
    name: str, names: Sequence[str] | None, number: Callable[[int, Say], str], n: int, say: Say
) -> tuple[str, ...]:
    """Return n escaped names: those given, or the numbered ones."""
    given = [number(i, say) for i in range(n)] if names is None else checks.as_tokens(name, names, n, "rows or columns")
    return tuple(map(labels.escape, given))


def _at_a_glance(montage: Montage, say: Say) -> str:
    return say(
        "All maps: {first_row} to {last_row}, {first_column} to {last_column}; in each tile row = query, column = "
        "key. Click a tile to open it.",
        first_row=montage.layer_names[0],
        last_row=montage.layer_names[-1],
        first_column=montage.head_names[0],
        last_column=montage.head_names[-1],
    )


def _weight_colors(weights: np.ndarray, scale_to_max: bool, value: str, say: Say, most: float = 1.0) -> dict:
    """Return the colour settings of a map of weights."""
    top = float(weights.max()) if scale_to_max and weights.max() > 0 else most
    title = labels.escape(say(value))
    if scale_to_max:
        title = say("{value}<br>(largest<br>{top:.3g})", value=title, top=top)
    return {"colorscale": theme.SEQUENTIAL, "zmin": 0.0, "zmax": top, "colorbar": theme.color_bar(title)}


def _head_cells(montage: Montage, weights: np.ndarray, value: str, say: Say) -> go.Heatmap:
    """Lay one transparent cell over each tile, with its half of the gaps round it and the head in customdata."""
    value = labels.escape(say(value))
    rows, columns = montage.n_rows, montage.n_columns
    heads: list = [[None] * columns for _ in range(rows)]
    texts = [[""] * columns for _ in range(rows)]
    cells = np.full((rows, columns), np.nan, dtype=np.float32)
    for layer, head in np.ndindex(montage.n_layers, montage.n_heads):
        row, column = layer * montage.rows_per_layer + head // columns, head % columns
        cells[row, column] = 0
        heads[row][column] = [layer, head]
        texts[row][column] = say(
            "{layer}, {head}<br>largest {value} {weight:.3f}",
            layer=montage.layer_names[layer],
            head=montage.head_names[head],
            value=value,
            weight=weights[layer, head].max(),
        )
    x, y = montage.center(0, 0)
    return go.Heatmap(
        z=cells,
        x0=x,
        dx=montage.n_keys + montage.column_gap,
        y0=y,
        dy=montage.n_queries + montage.row_gap,
        customdata=heads,
        text=texts,
        **clicks.hover("%{text}", say("click to open")),
        hoverongaps=False,
        colorscale=[[0, theme.TRANSPARENT], [1, theme.TRANSPARENT]],
        showscale=False,
        showlegend=False,
        name="heads",
    )


def _outline(montage: Montage, selected: tuple[int, int]) -> dict:
    """Build the frame round the selected head; it lies in the gap and hides no cell."""
    if isinstance(selected, (str, int)) or len(selected) != 2:
        raise ValueError(f"selected is {selected!r}; allowed is a pair (layer, head).")
    layer = checks.index("the selected layer", selected[0], montage.n_layers)
    head = checks.index("the selected head", selected[1], montage.n_heads)
    rows, columns = montage.tile(layer, head)
    pad_y, pad_x = montage.row_gap / 4, montage.column_gap / 4
    return {
        "type": "rect",
        "x0": columns.start - 0.5 - pad_x,
        "x1": columns.stop - 0.5 + pad_x,
        "y0": rows.start - 0.5 - pad_y,
        "y1": rows.stop - 0.5 + pad_y,
        "line": {"color": theme.SELECTED, "width": theme.SELECTED_WIDTH},
        "name": "selected",
    }
