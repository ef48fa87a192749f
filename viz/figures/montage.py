"""Where the tile of a head lies in the montage of all heads."""

from dataclasses import dataclass

import numpy as np

from viz.figures import heatmap, labels
from viz.figures.wording import Say


@dataclass(frozen=True)
class Montage:
    """The geometry of L x H equal tiles of T x S cells, with gaps of empty cells between them.

    Args:
        n_layers, n_heads: L and H.
        n_queries, n_keys: T and S, the cells of a tile.
        n_columns: tiles in a row; with less than n_heads a layer takes several rows.
        layer_names, head_names: what the L layers and the H heads are called.
    """

    n_layers: int
    n_heads: int
    n_queries: int
    n_keys: int
    n_columns: int
    layer_names: tuple[str, ...]
    head_names: tuple[str, ...]

    @property
    def rows_per_layer(self) -> int:
        """Rows of tiles that one layer takes."""
        return -(-self.n_heads // self.n_columns)

    @property
    def n_rows(self) -> int:
        """Rows of tiles in all."""
        return self.n_layers * self.rows_per_layer

    @property
    def row_gap(self) -> int:
        """Empty cells between two rows of tiles."""
        return max(1, round(self.n_queries / 10))

    @property
    def column_gap(self) -> int:
        """Empty cells between two columns of tiles."""
        return max(1, round(self.n_keys / 10))

    def tile(self, layer: int, head: int) -> tuple[slice, slice]:
        """Return the rows and columns of the montage that hold a head."""
        row = layer * self.rows_per_layer + head // self.n_columns
        top = row * (self.n_queries + self.row_gap)
        left = head % self.n_columns * (self.n_keys + self.column_gap)
        return slice(top, top + self.n_queries), slice(left, left + self.n_keys)

    def center(self, layer: int, head: int) -> tuple[float, float]:
        """Return x and y of the middle of a tile."""
        rows, columns = self.tile(layer, head)
        return (columns.start + columns.stop - 1) / 2, (rows.start + rows.stop - 1) / 2

    def assemble(self, weights: np.ndarray) -> np.ndarray:
        """Lay all heads out in one array, NaN between them.

        Args:
            weights: float32 (L, H, T, S).

        Returns:
            float32, as large as all tiles and the gaps between them.
        """
        height = self.n_rows * (self.n_queries + self.row_gap) - self.row_gap
        width = self.n_columns * (self.n_keys + self.column_gap) - self.column_gap
        cells = np.full((height, width), np.nan, dtype=np.float32)
        for layer in range(self.n_layers):
            for head in range(self.n_heads):
                cells[self.tile(layer, head)] = weights[layer, head]
        return cells

    def row_labels(self, say: Say) -> list[str]:
        """Name every row of tiles by its layer, and by its heads where a layer takes several rows."""
        names = []
        for row in range(self.n_rows):
            name = self.layer_names[row // self.rows_per_layer]
            if self.rows_per_layer > 1:
                first = row % self.rows_per_layer * self.n_columns
                last = min(first + self.n_columns, self.n_heads) - 1
                heads = say("heads {first}–{last}", first=first, last=last)
                name += f"<br>{heads if last > first else labels.head_label(first, say)}"
            names.append(name)
        return names

    def column_labels(self, say: Say) -> list[str]:
        """Name every column of tiles by its head, or by all of them where layers take several rows."""
        return [
            self.head_names[column]
            if self.rows_per_layer == 1
            else say("heads {numbers}", numbers=", ".join(map(str, range(column, self.n_heads, self.n_columns))))
            for column in range(self.n_columns)
        ]

    def axes(self, say: Say) -> dict:
        """Return both axes: fixed ranges with half a gap round the tiles, a label for each row and column of tiles."""
        y_pitch, x_pitch = self.n_queries + self.row_gap, self.n_keys + self.column_gap
        # Half a gap on all sides: everywhere in the plot the nearest marker is that of the tile under the pointer.
        top, left = -0.5 - self.row_gap / 2, -0.5 - self.column_gap / 2
        return {
            "yaxis": _tile_axis(
                self.row_labels(say), y_pitch, (self.n_queries - 1) / 2, [top + self.n_rows * y_pitch, top]
            ),
            "xaxis": _tile_axis(
                self.column_labels(say), x_pitch, (self.n_keys - 1) / 2, [left, left + self.n_columns * x_pitch]
            )
            | {"side": "top", "automargin": True},
        }


def _tile_axis(texts: list[str], pitch: int, first: float, ends: list[float]) -> dict:
    """Build an axis that labels tiles: the first at coordinate first, then one every pitch cells."""
    settings = heatmap.axis(texts, labels.tick_step(len(texts)), "", range=ends, fixedrange=True)
    return settings | {"title": None, "tickvals": [first + pitch * tile for tile in settings["tickvals"]]}
