"""Every head of every layer at a glance, as one montage of small maps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz import theme
from viz.figures import checks, heatmap, labels
from viz.figures.drawn import Drawn, clickable, figure
from viz.figures.tables import Tiles
from viz.figures.wording import Say, english, message

WEIGHT = message("weight")


@dataclass(frozen=True)
class Montage:
    """The geometry of L x H equal tiles of T x S cells, with gaps of empty cells between them.

    Args:
        n_layers, n_heads: L and H.
        n_queries, n_keys: T and S.
        n_columns: tiles in a row; with less than n_heads a layer takes several rows.
    """

    n_layers: int
    n_heads: int
    n_queries: int
    n_keys: int
    n_columns: int

    @property
    def rows_per_layer(self) -> int:
        """Rows of tiles that one layer takes."""
        return -(-self.n_heads // self.n_columns)

    @property
    def n_rows(self) -> int:
        """Rows of tiles in all."""
        return self.n_layers * self.rows_per_layer

    @property
    def gaps(self) -> tuple[int, int]:
        """Empty cells between two rows and two columns of tiles."""
        return max(1, round(self.n_queries / 10)), max(1, round(self.n_keys / 10))

    @property
    def pitches(self) -> tuple[int, int]:
        """Cells from one tile to the next, downwards and to the right."""
        return self.n_queries + self.gaps[0], self.n_keys + self.gaps[1]

    def place(self, layer: int, head: int) -> tuple[int, int]:
        """The row and the column of tiles in which a head is."""
        return layer * self.rows_per_layer + head // self.n_columns, head % self.n_columns

    def assemble(self, weights: np.ndarray) -> np.ndarray:
        """Lay all heads (L, H, T, S) out in one float32 array, NaN between them."""
        (row_gap, column_gap), (y_pitch, x_pitch) = self.gaps, self.pitches
        shape = self.n_rows * y_pitch - row_gap, self.n_columns * x_pitch - column_gap
        cells = np.full(shape, np.nan, dtype=np.float32)
        for layer, head in np.ndindex(self.n_layers, self.n_heads):
            row, column = self.place(layer, head)
            top, left = row * y_pitch, column * x_pitch
            cells[top : top + self.n_queries, left : left + self.n_keys] = weights[layer, head]
        return cells

    def row_labels(self, names: Sequence[str], say: Say) -> list[str]:
        """Name every row of tiles by its layer, and by its heads where a layer takes several rows."""
        if self.rows_per_layer == 1:
            return list(names)
        parts = []
        for first in range(0, self.n_heads, self.n_columns):
            last = min(first + self.n_columns, self.n_heads) - 1
            several = say("heads {first}–{last}", first=first, last=last)
            parts.append(several if last > first else labels.head_label(first, say))
        return [f"{name}<br>{part}" for name in names for part in parts]

    def column_labels(self, say: Say) -> list[str]:
        """Name every column of tiles by its head, or by all of them where layers take several rows."""
        if self.rows_per_layer == 1:
            return [labels.head_label(head, say) for head in range(self.n_heads)]
        heads = (range(column, self.n_heads, self.n_columns) for column in range(self.n_columns))
        return [say("heads {numbers}", numbers=", ".join(map(str, some))) for some in heads]

    def axis(self, texts: list[str], side: int) -> dict:
        """An axis that labels the rows (side 0) or columns (1) of tiles, with half a gap round them.

        Everywhere in the plot the nearest marker is so that of the tile under the pointer.
        """
        pitch, first = self.pitches[side], ((self.n_queries, self.n_keys)[side] - 1) / 2
        start = -0.5 - self.gaps[side] / 2
        ends = [start, start + len(texts) * pitch]
        settings = heatmap.axis(texts, labels.tick_step(len(texts)), "", fixedrange=True)
        places = [first + pitch * tile for tile in settings["tickvals"]]
        return settings | {"title": None, "tickvals": places, "range": ends if side else ends[::-1]}


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
    (data[0], NaN between tiles) need not name their heads. Zooming is off: there is one drag less to mistake a click
    for.

    Args:
        weights: float (L, H, T, S), probabilities after softmax or summaries.
        selected: (layer, head) to draw an outline round, counted from 0.
        n_columns: tiles in a row; with less than H the heads of a layer continue in the next row.
        shown: bool (L, H, T, S), False = left blank.
        layer_names: L names where tiles are not numbered layers.
    """
    weights = checks.as_probabilities("weights", weights, "LHTS")
    n_layers, n_heads, n_queries, n_keys = weights.shape
    if n_columns is not None:
        checks.index("n_columns", n_columns, n_heads + 1, least=1)
    if shown is not None and np.shape(shown) != weights.shape:
        raise ValueError(f"shown has shape {np.shape(shown)}; allowed is {weights.shape}, one cell for each weight.")
    montage = Montage(n_layers, n_heads, n_queries, n_keys, n_columns or n_heads)
    names = [labels.layer_label(layer, say) for layer in range(n_layers)]
    if layer_names is not None:
        names = checks.as_tokens("layer_names", layer_names, n_layers, "rows or columns")
    names = list(map(labels.escape, names))
    drawn = weights if shown is None else np.where(shown, weights, np.float32(np.nan))
    colors = heatmap.weight_colors(weights, False, WEIGHT, say)
    rows, columns = montage.row_labels(names, say), montage.column_labels(say)
    return figure(
        [
            go.Heatmap(z=montage.assemble(drawn), hoverinfo="skip", **colors),
            _head_cells(montage, weights, names, say),
        ],
        montage.n_rows * theme.TILE_HEIGHT,
        say,
        left=theme.GLYPH_WIDTH * max(labels.text_width(line) for text in rows for line in text.split("<br>")),
        top=theme.TICK_SIZE + theme.MARGIN,
        yaxis=montage.axis(rows, 0),
        xaxis=montage.axis(columns, 1) | {"side": "top", "automargin": True},
        hovermode="closest",
        dragmode=False,
        shapes=[] if selected is None else [_outline(montage, selected)],
        description=say(
            "All maps: {first_row} to {last_row}, {first_column} to {last_column}; in each tile row = query, column = "
            "key. Click a tile to open it.",
            first_row=names[0],
            last_row=names[-1],
            first_column=labels.head_label(0, say),
            last_column=labels.head_label(n_heads - 1, say),
        ),
        table=Tiles(drawn, WEIGHT),
    )


def _head_cells(montage: Montage, weights: np.ndarray, names: list[str], say: Say) -> go.Heatmap:
    """Lay one transparent cell over each tile, with its half of the gaps round it and the head in customdata."""
    shape = montage.n_rows, montage.n_columns
    heads, texts = np.full(shape, None), np.full(shape, "", dtype=object)
    cells = np.full(shape, np.nan, dtype=np.float32)
    value = labels.escape(say(WEIGHT))
    for layer, head in np.ndindex(weights.shape[:2]):
        place = montage.place(layer, head)
        cells[place], heads[place] = 0, [layer, head]
        texts[place] = say(
            "{layer}, {head}<br>largest {value} {weight:.3f}",
            layer=names[layer],
            head=labels.head_label(head, say),
            value=value,
            weight=weights[layer, head].max(),
        )
    return go.Heatmap(
        z=cells,
        x0=(montage.n_keys - 1) / 2,
        dx=montage.pitches[1],
        y0=(montage.n_queries - 1) / 2,
        dy=montage.pitches[0],
        customdata=heads.tolist(),
        text=texts.tolist(),
        **clickable("%{text}", say),
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
    outline = {"type": "rect", "line": {"color": theme.SELECTED, "width": theme.SELECTED_WIDTH}, "name": "selected"}
    sizes = montage.n_queries, montage.n_keys
    for name, place, pitch, gap, size in zip("yx", montage.place(layer, head), montage.pitches, montage.gaps, sizes):
        outline[f"{name}0"] = place * pitch - 0.5 - gap / 4
        outline[f"{name}1"] = place * pitch + size - 0.5 + gap / 4
    return outline
