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
    """L x H equal tiles of T x S cells, with gaps of empty cells between them; a layer may take several rows."""

    shape: tuple[int, int, int, int]
    n_columns: int  # tiles in a row

    @property
    def rows_per_layer(self) -> int:
        return -(-self.shape[1] // self.n_columns)

    @property
    def gaps(self) -> tuple[int, int]:
        """Empty cells between two rows and two columns of tiles."""
        return max(1, round(self.shape[2] / 10)), max(1, round(self.shape[3] / 10))

    @property
    def pitches(self) -> tuple[int, int]:
        """Cells from one tile to the next, downwards and to the right."""
        return self.shape[2] + self.gaps[0], self.shape[3] + self.gaps[1]

    def tiles(self, heads: np.ndarray, nothing: object) -> np.ndarray:
        """Put what belongs to the heads (L, H, ...) in the places of their tiles (rows, columns, ...)."""
        places = np.full((len(heads), self.rows_per_layer * self.n_columns, *heads.shape[2:]), nothing, heads.dtype)
        places[:, : self.shape[1]] = heads
        return places.reshape(-1, self.n_columns, *heads.shape[2:])

    def assemble(self, weights: np.ndarray) -> np.ndarray:
        """Lay all heads (L, H, T, S) out in one float32 array, NaN between them."""
        (down, across), (height, width) = self.gaps, self.pitches
        tiles = self.tiles(np.pad(weights, ((0, 0), (0, 0), (0, down), (0, across)), constant_values=np.nan), np.nan)
        return tiles.swapaxes(1, 2).reshape(len(tiles) * height, self.n_columns * width)[:-down, :-across].copy()

    def row_labels(self, names: Sequence[str], say: Say) -> list[str]:
        if self.rows_per_layer == 1:
            return list(names)
        parts = []
        for first in range(0, self.shape[1], self.n_columns):
            last = min(first + self.n_columns, self.shape[1]) - 1
            several = say("heads {first}–{last}", first=first, last=last)
            parts.append(several if last > first else labels.head_label(first, say))
        return [f"{name}<br>{part}" for name in names for part in parts]

    def column_labels(self, say: Say) -> list[str]:
        if self.rows_per_layer == 1:
            return [labels.head_label(head, say) for head in range(self.shape[1])]
        heads = (range(column, self.shape[1], self.n_columns) for column in range(self.n_columns))
        return [say("heads {numbers}", numbers=", ".join(map(str, some))) for some in heads]

    def axis(self, texts: list[str], side: int) -> dict:
        """An axis that labels the rows (side 0) or columns (1) of tiles, with half a gap round them.

        Everywhere in the plot the nearest marker is so that of the tile under the pointer.
        """
        pitch, first = self.pitches[side], (self.shape[2 + side] - 1) / 2
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
    (data[0], NaN between tiles) need not name their heads. There is no zooming to mistake a click for.

    Args:
        weights: float (L, H, T, S), probabilities after softmax or summaries.
        selected: (layer, head) to draw an outline round, counted from 0.
        n_columns: tiles in a row; with less than H the heads of a layer continue in the next row.
        shown: bool (L, H, T, S), False = left blank.
        layer_names: L names where tiles are not numbered layers.
    """
    weights = checks.as_probabilities("weights", weights, "LHTS")
    n_layers, n_heads = weights.shape[:2]
    montage = Montage(weights.shape, n_columns or n_heads)
    names = [labels.layer_label(layer, say) for layer in range(n_layers)]
    if layer_names is not None:
        names = checks.as_tokens("layer_names", layer_names, n_layers)
    names = list(map(labels.escape, names))
    drawn = weights if shown is None else np.where(shown, weights, np.float32(np.nan))
    colors = heatmap.weight_colors(weights, False, WEIGHT, say)
    rows, columns = montage.row_labels(names, say), montage.column_labels(say)
    return figure(
        [
            go.Heatmap(z=montage.assemble(drawn), hoverinfo="skip", **colors),
            _head_cells(montage, weights, names, say),
        ],
        len(rows) * theme.TILE_HEIGHT,
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
    heads, texts = (np.empty(weights.shape[:2], dtype=object) for _ in "12")
    value = labels.escape(say(WEIGHT))
    for layer, head in np.ndindex(heads.shape):
        heads[layer, head] = [layer, head]
        texts[layer, head] = say(
            "{layer}, {head}<br>largest {value} {weight:.3f}",
            layer=names[layer],
            head=labels.head_label(head, say),
            value=value,
            weight=weights[layer, head].max(),
        )
    return go.Heatmap(
        z=montage.tiles(np.zeros(heads.shape, np.float32), np.nan),
        x0=(weights.shape[3] - 1) / 2,
        dx=montage.pitches[1],
        y0=(weights.shape[2] - 1) / 2,
        dy=montage.pitches[0],
        customdata=montage.tiles(heads, None).tolist(),
        text=montage.tiles(texts, "").tolist(),
        **clickable("%{text}", say),
        hoverongaps=False,
        colorscale=[[0, theme.TRANSPARENT], [1, theme.TRANSPARENT]],
        showscale=False,
        showlegend=False,
        name="heads",
    )


def _outline(montage: Montage, selected: tuple[int, int]) -> dict:
    down, column = divmod(selected[1], montage.n_columns)
    outline = heatmap.frame(0, 0) | {"name": "selected"}
    places = selected[0] * montage.rows_per_layer + down, column
    for name, place, pitch, gap, size in zip("yx", places, montage.pitches, montage.gaps, montage.shape[2:]):
        outline[f"{name}0"] = place * pitch - 0.5 - gap / 4
        outline[f"{name}1"] = place * pitch + size - 0.5 + gap / 4
    return outline
