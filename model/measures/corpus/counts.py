"""What an index adds up of the heads of one kind of attention; batch by batch, without keeping a map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.analysis.rules import of_kind
from model.analysis.token_facts import TokenTable
from model.measures.corpus import activity
from model.measures.corpus.batch_cells import DISTANCES, BatchCells
from model.measures.corpus.combinations import CombinationSums, explained_row
from model.measures.corpus.edges import EdgeRows
from model.measures.corpus.kept_rows import KeptRows, RowValues
from model.measures.corpus.pairs import PairCounts
from model.measures.heads.counts import rounded

BINS = 20  # of the histograms of shares, from 0 to 1
DRAWN, OF_REST, MOST_ACTIVE = 240, 120, 12  # rows of each head that are kept
SHOWN_ACTIVE = 5  # of the most active, in a report
UNEXPLAINED = 0.5  # of what a row writes, from which it is one that the rules do not explain
MEASURES = ("weight", "written")


@dataclass(frozen=True)
class BatchTexts:
    """Which texts are read together: of each, int (B,), its number, its group and by kind where its edges begin.

    `draw` has random numbers for them. Texts without edges begin at -1.
    """

    numbers: np.ndarray
    groups: np.ndarray
    starts: Mapping[str, np.ndarray]
    draw: np.random.Generator


class KindCounts:
    """Sums, histograms and kept rows of all heads of one kind of attention, and their edges in `n_edge_rows` rows."""

    def __init__(self, kind: str, n_layers: int, n_heads: int, table: TokenTable, n_edge_rows: int) -> None:
        self.kind = kind
        self.rules = of_kind(kind)
        self.n_heads = n_heads
        self.shape = (n_layers, n_heads)
        self._table = table
        self.n_rows = np.zeros((), dtype=np.int64)
        self.distance = np.zeros((2, n_layers, n_heads, len(DISTANCES)))
        self.largest = np.zeros((n_layers, n_heads, BINS), dtype=np.int64)
        self.spread = np.zeros((n_layers, n_heads, BINS), dtype=np.int64)
        self.activity = np.zeros((n_layers, n_heads, activity.BINS), dtype=np.int64)
        self.combinations = CombinationSums(n_layers, n_heads)
        self.drawn = KeptRows(n_layers, n_heads, DRAWN)
        self.rest = KeptRows(n_layers, n_heads, OF_REST)
        self.rest_activity = np.zeros_like(self.activity)
        self.top = KeptRows(n_layers, n_heads, MOST_ACTIVE)
        self.pairs = PairCounts(n_layers * n_heads, len(table.names))
        self.edges = EdgeRows(n_layers, n_heads, n_edge_rows)

    def arrays(self) -> dict[str, np.ndarray]:
        """All that was counted, by name: what `load` takes."""
        arrays: dict[str, np.ndarray] = {}
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                arrays[name] = value
            elif isinstance(value, CombinationSums | KeptRows | PairCounts | EdgeRows):
                arrays |= {f"{name}.{key}": array for key, array in value.arrays().items()}
        return arrays

    def load(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on from what was counted before."""
        for name, array in arrays.items():
            part, _, key = name.rpartition(".")
            setattr(getattr(self, part) if part else self, key, array)

    def add(
        self, layer: int, cells: BatchCells, texts: BatchTexts, weights: Tensor, lengths: Tensor, active: Tensor
    ) -> None:
        """Count one layer of a batch.

        Args:
            weights: (B, H, T, S).
            lengths: (B, H, S), of the values as they are written: ||v W_O||.
            active: (B, H, T), how active each row is.
        """
        weights = weights * cells.rows[..., None]
        written = weights * lengths[:, :, None]
        places = self.combinations.places(cells.codes)
        for measure, masses in enumerate((weights, written)):
            self.combinations.add(layer, measure, places, cells.sums(masses.numpy()))
            self.distance[measure, layer] += (masses.sum(0).flatten(-2) @ cells.by_distance).double().numpy()
        is_row = cells.rows.expand(active.shape).numpy()
        largest, keys = weights.max(-1)  # (B, H, T)
        self._count_rows(layer, cells, weights, largest, is_row)
        if layer == 0:
            self.combinations.add_even(places, cells.even)
            self.n_rows += cells.is_row.sum()  # in place: it stays an array, which `arrays` keeps
        values = RowValues(texts.numbers, active.numpy(), weights.numpy(), written.numpy())
        total = written.sum(-1)
        rest = (written * cells.unexplained).sum(-1) > UNEXPLAINED * total
        self._keep_rows(layer, values, is_row, rest.numpy() & is_row, texts.draw)
        self._count_pairs(layer, cells, written, is_row)
        self.edges.add(layer, texts.starts[self.kind], cells.is_row, largest.numpy(), keys.numpy(), active.numpy())

    def add_together(self, cells: BatchCells, texts: BatchTexts, keys: np.ndarray) -> None:
        """Keep the keys (B, T) that all heads of cross-attention look at most."""
        self.edges.add_together(texts.starts[self.kind], cells.is_row, keys)

    def _count_rows(self, layer: int, cells: BatchCells, weights: Tensor, largest: Tensor, is_row: np.ndarray) -> None:
        """Histograms of the largest weight and of the spread, as a share of the largest possible entropy."""
        spread = torch.special.entr(weights).sum(-1) / cells.log_allowed
        for histogram, share in ((self.largest, largest), (self.spread, spread)):
            bins = (share * BINS).long().clamp(0, BINS - 1).numpy()
            histogram[layer] += activity.count_rows(bins, is_row, BINS)

    def _keep_rows(
        self, layer: int, values: RowValues, is_row: np.ndarray, is_rest: np.ndarray, draw: np.random.Generator
    ) -> None:
        bins = activity.bins_of(values.activity)
        self.activity[layer] += activity.count_rows(bins, is_row, activity.BINS)
        self.rest_activity[layer] += activity.count_rows(bins, is_rest, activity.BINS)
        order = draw.random(is_row.shape)
        self.drawn.add(layer, np.where(is_row, order, np.inf), values)
        self.rest.add(layer, np.where(is_rest, order, np.inf), values)
        active = np.where(is_row, values.activity, -np.inf)
        is_first = np.arange(active.shape[2]) == active.argmax(axis=2)[..., None]  # the most active row of each text
        self.top.add(layer, np.where(is_first & is_row, -active, np.inf), values)

    def _count_pairs(self, layer: int, cells: BatchCells, written: Tensor, is_row: np.ndarray) -> None:
        largest, keys = written.max(-1)  # (B, H, T)
        texts, heads, rows = np.nonzero(is_row & (largest.numpy() > 0))
        self.pairs.add(
            heads + layer * self.n_heads,
            cells.cells.queries.ids[texts, rows],
            cells.cells.keys.ids[texts, keys.numpy()[texts, heads, rows]],
            largest.numpy()[texts, heads, rows],
        )

    def report(self, per_tenth: int, n_pairs: int) -> dict[str, Any]:
        """What a report has of this kind; see `model.measures.corpus.index.measure`."""
        names = list(self.rules)
        alone = self.combinations.alone(len(names))
        edges = activity.tenths(self.activity)
        rest_edges = activity.tenths(self.rest_activity)
        heads = list(np.ndindex(self.shape))
        total = self.distance.sum(-1)[1]  # (L, H), of what is written
        return {
            "rows": int(self.n_rows),
            "rules": names,
            "even": rounded(self.combinations.alone_even(len(names))),
            "alone": {name: rounded(alone[place]) for place, name in enumerate(MEASURES)},
            "explained": {
                name: _by_head(
                    self.shape,
                    [
                        explained_row(self.combinations.explained(place, *head, n_rules=len(names)), names)
                        for head in heads
                    ],
                )
                for place, name in enumerate(MEASURES)
            },
            "distance": {name: rounded(_as_shares(self.distance[place])) for place, name in enumerate(MEASURES)},
            "largest": self.largest.tolist(),
            "spread": self.spread.tolist(),
            "activity": activity.shown(self.activity).tolist(),
            "tenths": _three_digits(edges),
            "unexplained_tenths": _three_digits(rest_edges),
            "drawn": self._rows_by_tenth(self.drawn, edges, per_tenth),
            "unexplained": self._rows_by_tenth(self.rest, rest_edges, (per_tenth + 1) // 2),
            "top": _by_head(
                self.shape,
                [
                    self.top.of_head(layer, head, -np.inf, np.inf, min(SHOWN_ACTIVE, per_tenth + 1))
                    for layer, head in heads
                ],
            ),
            "pairs": _by_head(
                self.shape, [self._pairs_of(layer, head, n_pairs, float(total[layer, head])) for layer, head in heads]
            ),
        }

    def _rows_by_tenth(self, kept: KeptRows, edges: np.ndarray, most: int) -> list:
        """For each head ten lists of rows, from the least active tenth to the most active one."""
        of_heads = []
        for layer, head in np.ndindex(self.shape):
            bounds = [-np.inf, *edges[layer, head], np.inf]
            of_heads.append([kept.of_head(layer, head, low, high, most) for low, high in zip(bounds, bounds[1:])])
        return _by_head(self.shape, of_heads)

    def _pairs_of(self, layer: int, head: int, most: int, total: float) -> list[list]:
        """[query, key, rows, share of all that the head writes] for each of the pairs with the largest shares."""
        pairs = self.pairs.of_head(layer * self.n_heads + head, most)
        names = self._table.names
        return [
            [names[query], names[key], count, round(written / total, 4)]
            for query, key, count, written in pairs
            if total
        ]


def _by_head(shape: tuple[int, int], values: Sequence[Any]) -> list[list[Any]]:
    """Values of all heads, in order, as a list of layers."""
    n_layers, n_heads = shape
    return [list(values[layer * n_heads : (layer + 1) * n_heads]) for layer in range(n_layers)]


def _as_shares(values: np.ndarray) -> np.ndarray:
    """Values (..., N) divided by their sums; 0 where these are 0."""
    total = values.sum(axis=-1, keepdims=True)
    return np.divide(values, total, out=np.zeros_like(values), where=total > 0)


def _three_digits(values: np.ndarray) -> Any:
    """Numbers with three significant digits, as lists."""
    return np.vectorize(lambda value: float(f"{value:.3g}"))(values).tolist()
