"""The strong edges of every head: of each row the key that it looks at most, where that is much, and how active it is.

They say which heads a hypothesis fits (`model.measures.corpus.hypothesis`). A file holds them, small enough to be sent
to a browser: safetensors, compressed with gzip.
"""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from model.storage.checkpoint import replacing

ENDING = "-edges.safetensors.gz"  # of a file, in place of the ".json" of the index
STRONG = 0.3  # a weight, from which an edge is strong
NONE = 255  # the key of a row without a strong edge; texts with more tokens have no edges
MOST_EDGES = 4_000_000  # rows by heads that are kept, so that the memory does not depend on how many texts are read
LEVEL_OF_ONE = 10  # the level of an activity of 1; each level above is twice as much
HIGHEST = 15
# The lines of a text that name queries and keys; rows of cross-attention are named by the word that is written.
LINES = {"encoder_self": ("source", "source"), "decoder_self": ("target", "target"), "cross": ("predicted", "source")}


def levels_of(activity: np.ndarray) -> np.ndarray:
    """Activities as powers of two, uint8 of the same shape."""
    logs = np.floor(np.log2(np.maximum(activity, 1e-9))) + LEVEL_OF_ONE
    return np.clip(logs, 0, HIGHEST).astype(np.uint8)


class EdgeRows:
    """The edges of all heads of one kind of attention, filled batch by batch.

    Args:
        n_layers, n_heads: of the model.
        n_rows: in all texts that have edges.
    """

    def __init__(self, n_layers: int, n_heads: int, n_rows: int) -> None:
        self.keys = np.full((n_layers, n_heads, n_rows), NONE, dtype=np.uint8)
        self.levels = np.zeros((n_layers, n_heads, n_rows), dtype=np.uint8)
        self.together = np.full(n_rows, NONE, dtype=np.uint8)  # of cross-attention, what all heads look at most

    def arrays(self) -> dict[str, np.ndarray]:
        """All edges, by name."""
        return dict(vars(self))

    def add(
        self,
        layer: int,
        starts: np.ndarray,
        is_row: np.ndarray,
        largest: np.ndarray,
        keys: np.ndarray,
        active: np.ndarray,
    ) -> None:
        """Keep the edges of one layer of a batch.

        Args:
            starts: int (B,), where the rows of each text begin; -1 of texts without edges.
            is_row: bool (B, T), which rows count.
            largest: (B, H, T), the largest weight of each row.
            keys: int (B, H, T), where it is.
            active: (B, H, T), how active each row is.
        """
        texts, rows = np.nonzero(is_row & (starts >= 0)[:, None])
        places = starts[texts] + rows
        is_strong = largest[texts, :, rows].T >= STRONG  # (H, n)
        self.keys[layer][:, places] = np.where(is_strong, keys[texts, :, rows].T, NONE)
        self.levels[layer][:, places] = np.where(is_strong, levels_of(active[texts, :, rows].T), 0)

    def add_together(self, starts: np.ndarray, is_row: np.ndarray, keys: np.ndarray) -> None:
        """Keep the keys (B, T) that all heads of cross-attention look at most."""
        texts, rows = np.nonzero(is_row & (starts >= 0)[:, None])
        self.together[starts[texts] + rows] = keys[texts, rows]


@dataclass(frozen=True)
class Line:
    """One side of all texts, its tokens in a row.

    Attributes:
        ids: int (N,), the places of the tokens in `Edges.names`.
        lengths: int (texts,), the tokens of each text.
    """

    ids: np.ndarray
    lengths: np.ndarray

    @cached_property
    def starts(self) -> np.ndarray:
        """Where each text begins, int (texts,)."""
        return np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)

    @cached_property
    def text(self) -> np.ndarray:
        """The text of each token, int (N,)."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def place(self) -> np.ndarray:
        """The place of each token in its text, int (N,)."""
        return np.arange(len(self.ids)) - self.starts[self.text]


@dataclass(frozen=True)
class KindEdges:
    """The strong edges of the heads of one kind: uint8 (L, H, N), N the tokens of the line that has the queries."""

    keys: np.ndarray  # the place of the key in its text; NONE without a strong edge
    levels: np.ndarray  # how active the row is, as `levels_of`
    together: np.ndarray  # (N,) of cross-attention, the key that all heads look at most
    layers: list[int]  # as the model numbers them


@dataclass(frozen=True)
class Edges:
    """The strong edges of a model over texts, and the tokens of these."""

    names: list[str]  # the tokens, none twice
    texts: list[Any]  # as they were read: strings or pairs
    lines: Mapping[str, Line]  # "source", "target", "predicted": those that the model has
    kinds: Mapping[str, KindEdges]
    weights: str  # the SHA-256 of the model's weights, "" if it has no file of its own

    def tokens(self, line: str, text: int) -> list[str]:
        """The tokens of a line of a text."""
        side = self.lines[line]
        start = side.starts[text]
        return [self.names[number] for number in side.ids[start : start + side.lengths[text]]]


def beside(index: Path) -> Path:
    """Where the edges stand that belong to the file of an index."""
    return index.with_name(index.name.removesuffix(".json") + ENDING)


def write(path: Path, edges: Edges) -> None:
    """Write edges; the same ones give the same file."""
    arrays: dict[str, np.ndarray] = {}
    for name, line in edges.lines.items():
        arrays[f"{name}.ids"] = line.ids.astype(np.int32)
        arrays[f"{name}.lengths"] = line.lengths.astype(np.int32)
    for kind, of_kind in edges.kinds.items():
        arrays |= {f"{kind}.{name}": getattr(of_kind, name) for name in ("keys", "levels", "together")}
    about = {"names": edges.names, "texts": edges.texts, "weights": edges.weights}
    about["layers"] = {kind: of_kind.layers for kind, of_kind in edges.kinds.items()}
    content = save(arrays, {"about": json.dumps(about, ensure_ascii=False)})
    with replacing(path) as out:
        out.write_bytes(gzip.compress(content, mtime=0))


def read(path: Path, weights: str | None = None) -> Edges | None:
    """The edges in a file, or None if there is no file.

    A ValueError if it cannot be read, or, where `weights` are named, if these are not what the edges are of.
    """
    if not path.is_file():
        return None
    try:
        edges = _edges_in(gzip.decompress(path.read_bytes()))
    except (OSError, EOFError, ValueError, KeyError, SafetensorError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from None
    if weights is not None and edges.weights != weights:
        raise ValueError(f"{path} was measured with other weights: run python -m model atlas --corpus again")
    return edges


def _edges_in(content: bytes) -> Edges:
    """The edges in a safetensors file."""
    header = int.from_bytes(content[:8], "little")
    about = json.loads(json.loads(content[8 : 8 + header])["__metadata__"]["about"])
    arrays = load(content)
    sides = sorted({name.partition(".")[0] for name in arrays if name.endswith(".ids")})
    lines = {side: Line(arrays[f"{side}.ids"], arrays[f"{side}.lengths"]) for side in sides}
    kinds = {
        kind: KindEdges(arrays[f"{kind}.keys"], arrays[f"{kind}.levels"], arrays[f"{kind}.together"], layers)
        for kind, layers in about["layers"].items()
    }
    return Edges(about["names"], about["texts"], lines, kinds, about["weights"])
