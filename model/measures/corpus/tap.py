"""Reduces every map of a batch inside the pass: what is counted of it is added up, and the map is dropped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from model.analysis.rules import Cells
from model.analysis.token_facts import Tokens, TokenTable
from model.measures.corpus.batch_cells import BatchCells
from model.measures.corpus.counts import BatchTexts, KindCounts
from model.measures.corpus.edges import LINES
from model.measures.corpus.sources import Row, Source


@dataclass
class _Layer:
    """What one attention has let pass so far."""

    kind: str
    place: int  # of the layer among those of its kind
    lengths: Tensor | None = None  # (B, H, S)
    mask: Tensor | None = None  # bool (B, 1, T, S)
    weights: Tensor | None = None  # (B, H, T, S)
    active: Tensor | None = None  # (B, H, T)


class PassOver(Exception):
    """All attentions were passed; what the model would compute after the last one, nobody needs."""


class OutputMatrices:
    """How long what a head writes is, for every head of a model: ||x W_O|| (Kobayashi et al. 2020, equation 5).

    Of W_O = (Q R)^T only R is needed, as the columns of Q are orthonormal.

    Args:
        only: the address of the one attention of which it is asked; else of all.
    """

    def __init__(self, source: Source, only: str | None = None) -> None:
        self._factors: dict[str, Tensor] = {}  # by address of the attention (H, K, K)
        for kind, layers in source.layers.items():
            for place in range(len(layers)):
                if only not in (None, source.address(kind, place)):
                    continue
                matrix = source.output_matrix(kind, place)  # (H, K, D)
                self._factors[source.address(kind, place)] = torch.linalg.qr(matrix.mT).R.mT

    def lengths(self, address: str, x: Tensor) -> Tensor:
        """(B, G, N, K), each of G heads that H / G heads share, as they are written: (B, H, N)."""
        return torch.linalg.vector_norm(self.written(address, x), dim=-1)

    def written(self, address: str, x: Tensor) -> Tensor:
        """Like `lengths` what is written itself, (B, H, N, K), in the coordinates of each head's Q."""
        factors = self._factors[address]
        batch, n_groups, n, width = x.shape
        rows = x.float().cpu().transpose(0, 1).reshape(n_groups, batch * n, width)
        if n_groups < len(factors):
            rows = rows.repeat_interleave(len(factors) // n_groups, dim=0)  # (H, B * N, K): one product per head
        return torch.bmm(rows, factors).unflatten(1, (batch, n)).transpose(0, 1)


@dataclass
class BatchTap:
    """A function for `model.taps.hooked` that counts a batch; after the pass `finish` counts what had to wait.

    The pass ends with a PassOver at the last attention of the model.

    Which key all heads of cross-attention look at together is known when all its layers have passed, so its maps, of
    one batch, are kept until then.
    """

    source: Source
    matrices: OutputMatrices
    counts: Mapping[str, KindCounts]  # by kind
    table: TokenTable
    rows: Sequence[Row]
    texts: BatchTexts
    _layers: dict[str, _Layer] = field(init=False, default_factory=dict)  # by address
    _streams: dict[str, Tensor] = field(init=False, default_factory=dict)  # by stack, lengths (B, T)
    _cells: dict[str, list[BatchCells]] = field(init=False, default_factory=dict)  # by kind, one for each mask
    _tokens: dict[str, Tokens] = field(init=False, default_factory=dict)  # of "source", "target" and "predicted"
    _waiting: list[_Layer] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        for kind, layers in self.source.layers.items():
            for place in range(len(layers)):
                self._layers[self.source.address(kind, place)] = _Layer(kind, place)

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """See what passes a tap; it stays as it is."""
        module, _, name = address.rpartition(".")
        if name == "stream":
            self._streams[address.partition(".")[0]] = torch.linalg.vector_norm(value.float(), dim=-1).cpu()
        elif module in self._layers:
            layer = self._layers[module]
            if name == "v":
                layer.lengths = self.matrices.lengths(module, value)
            elif name == "mask":
                layer.mask = value
            elif name == "weights":
                layer.weights = value.float().cpu()
            elif name == "context":
                stream = self._streams[address.partition(".")[0]]
                layer.active = self.matrices.lengths(module, value) / stream[:, None].clamp_min(1e-12)
                self._pass(self._layers.pop(module))
                if not self._layers:
                    raise PassOver
        return value

    def _pass(self, layer: _Layer) -> None:
        """Count a layer, or let it wait."""
        if layer.kind == "cross":
            self._waiting.append(layer)
        else:
            self._count(layer, None)

    def finish(self) -> None:
        """Count the layers of cross-attention. A ValueError if an attention of the model was not passed."""
        if self._layers:
            raise ValueError(
                f"the pass did not go through {next(iter(self._layers))}, so nothing is known of its heads"
            )
        if self._waiting:
            maps = (layer.weights for layer in self._waiting if layer.weights is not None)
            over_heads = torch.stack([weights.sum(1, dtype=torch.float64) for weights in maps])
            together = over_heads.sum(0).argmax(-1).numpy()  # (B, T)
            for layer in self._waiting:
                self._count(layer, together)
            self.counts["cross"].add_together(self._cells["cross"][0], self.texts, together)

    def _count(self, layer: _Layer, together: np.ndarray | None) -> None:
        mask, weights, lengths, active = layer.mask, layer.weights, layer.lengths, layer.active
        assert mask is not None and weights is not None and lengths is not None and active is not None
        cells = self._cells_of(layer.kind, mask, together)
        self.counts[layer.kind].add(layer.place, cells, self.texts, weights, lengths, active)

    def _cells_of(self, kind: str, mask: Tensor, together: np.ndarray | None) -> BatchCells:
        """The cells of a mask, which most layers of a kind share."""
        candidates = self._cells.setdefault(kind, [])
        for cells in candidates:
            if cells.fits(mask):
                return cells
        queries, keys = (self._tokens_of(line) for line in LINES[kind])
        cells = Cells(queries, keys, mask[:, 0].cpu().numpy(), kind != "cross", together)
        candidates.append(BatchCells(cells, self.counts[kind].rules, self.texts.groups, self.source.n_heads[kind]))
        return candidates[-1]

    def _tokens_of(self, line: str) -> Tokens:
        """The tokens of a line of all texts."""
        if line not in self._tokens:
            side = "source" if line == "source" else "target"
            names = [self.source.names(side, getattr(row, line)) for row in self.rows]
            self._tokens[line] = self.table.tokens(names)
        return self._tokens[line]
