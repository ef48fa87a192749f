"""What one head has at the places of many texts, as points: what it writes, its queries and its keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.analysis.rules import Cells, combinations, of_kind
from model.analysis.token_facts import Tokens, TokenTable
from model.interventions.edits import Head
from model.measures.corpus.batches import Batches
from model.measures.corpus.edges import LINES
from model.measures.corpus.sources import Row, Source, source_of
from model.measures.corpus.store import TokenCounts, readable
from model.measures.corpus.tap import OutputMatrices
from model.taps import hooked
from model.text.errors import Problem

MOST_TEXTS = 200  # that are read
MOST_POINTS = 1200
MOST_ROWS = 4 * MOST_POINTS  # tokens that are read, of which points are drawn
SIDES = ("outputs", "queries", "keys")
CLASSES = ("special token", "punctuation", "inside a word", "number", "capital", "other token")
_MARKS = "▁Ġ# "  # of the beginning and of the inside of words
POSITIONS = (0, 1, 2, 4, 8, 16)  # the first of each bin; the last is open


@dataclass(frozen=True)
class HeadPoints:
    """N points of one head: vectors of one side, and the places that they belong to.

    Attributes:
        vectors: float (N, K).
        texts: int (N,), which of the texts.
        places: int (N,), the token: of outputs and queries the row of the map, of keys the column.
        tokens: str (N,).
        classes: int (N,), the places of CLASSES.
        keys: int (N,), the key with the largest weight of the row; of keys -1.
        weights: float (N,), that weight; of keys 0.
        codes: int (N,), the rules that hold there, as `rules.combinations`; of keys 0.
    """

    vectors: np.ndarray
    texts: np.ndarray
    places: np.ndarray
    tokens: np.ndarray
    classes: np.ndarray
    keys: np.ndarray
    weights: np.ndarray
    codes: np.ndarray

    def drawn(self, most: int, seed: int) -> "HeadPoints":
        """At most so many of the points, drawn at random."""
        n = len(self.places)
        chosen = np.sort(np.random.default_rng(seed).permutation(n)[:most])
        return HeadPoints(**{name: array[chosen] for name, array in vars(self).items()})


@dataclass(frozen=True)
class Plane:
    """Points on their first two principal components."""

    coordinates: np.ndarray  # float (N, 2)
    shares: np.ndarray  # float (2,), of the variance


def plane(vectors: np.ndarray) -> Plane:
    """The first two principal components of vectors (N, K).

    A component has the sign with which its largest entry is positive. A ValueError of fewer than three vectors.
    """
    if len(vectors) < 3:
        raise Problem("points need three rows or more: the texts are too few or too short")
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    variances, axes = np.linalg.eigh(centred.T @ centred)  # in ascending order
    variances, axes = variances[::-1][:2].clip(min=0), axes[:, ::-1][:, :2]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    coordinates, shares = np.zeros((len(vectors), 2)), np.zeros(2)
    coordinates[:, : axes.shape[1]] = centred @ axes
    shares[: axes.shape[1]] = variances / ((centred**2).sum() or 1)
    return Plane(coordinates, shares)


def sample(texts: Sequence[Any], seed: int = 0) -> list[int]:
    """The places of at most MOST_TEXTS texts, drawn at random."""
    return np.sort(np.random.default_rng(seed).permutation(len(texts))[:MOST_TEXTS]).tolist()


def groups(points: HeadPoints, colour: str, rules: Sequence[str] = (), named: Sequence[str] = ()) -> dict[str, Any]:
    """The places of the points (n,) by the name of their colour; groups without points are left out.

    Args:
        colour: "class", "position" or "rule".
        rules: all of the kind, in order.
        named: those that have a colour of their own, the first that holds counts; others are "other rules".
    """
    if colour == "class":
        number, names = points.classes, list(CLASSES)
    elif colour == "position":
        number = np.searchsorted(POSITIONS, points.places, side="right") - 1
        names = [position_name(place) for place in range(len(POSITIONS))]
    else:
        names = [*named, "other rules", "no rule"]
        number = np.where(points.codes == 0, len(names) - 1, len(names) - 2)
        for place in range(len(named))[::-1]:
            holds = (points.codes >> rules.index(named[place])) & 1 > 0
            number = np.where(holds, place, number)
    places = {name: np.flatnonzero(number == place) for place, name in enumerate(names)}
    return {name: of_name for name, of_name in places.items() if len(of_name)}


def position_name(place: int) -> str:
    """What a bin of positions is called."""
    if place + 1 == len(POSITIONS):
        return f"≥ {POSITIONS[place]}"
    low, high = POSITIONS[place], POSITIONS[place + 1] - 1
    return str(low) if low == high else f"{low} … {high}"


@torch.inference_mode()
def read_head(model: Any, texts: Sequence[Any], head: Head, seed: int = 0) -> Mapping[str, HeadPoints]:
    """What a head has at the places of texts, by the names of SIDES.

    Outputs are what the head writes, in coordinates of its own in which all lengths and angles are those of the stream.
    Queries and keys are as the taps q and k have them: of a checkpoint before rotary positions turn them. Rows count
    that may attend to several keys. The rarest token is that of these texts.

    Args:
        texts: as an index has them: of translators pairs.
        head: its layer is a place in the layers that the model has of its kind.

    Raises:
        ValueError: no text can be read, or no index can be made of the model.
    """
    source = source_of(model)
    numbers, rows = _first_rows(source, texts)
    counts = TokenCounts(source)
    for row in rows:
        counts.add(row)
    table = counts.table()
    outputs = OutputMatrices(source, source.address(head.kind, head.layer))
    parts: dict[str, list[HeadPoints]] = {side: [] for side in SIDES}
    for batch in Batches(np.array([row.length for row in rows]), np.arange(len(rows))):
        tap = _HeadTap(source, head)
        of_batch = [rows[place] for place in batch]
        with hooked(tap):
            source.read(of_batch)
        tap.context = outputs.written(tap.module, tap.context)[:, head.head].numpy()
        for side, points in _points_of(tap, of_batch, table, numbers[batch]).items():
            parts[side].append(points)
    return {side: _joined(of_side).drawn(MOST_POINTS, seed) for side, of_side in parts.items()}


def _first_rows(source: Source, texts: Sequence[Any]) -> tuple[np.ndarray, list[Row]]:
    """The numbers and the ids of the first texts that can be read, until they have MOST_ROWS tokens."""
    numbers, rows = [], []
    n_tokens = 0
    for number, _, row in readable(source, texts):
        numbers.append(number)
        rows.append(row)
        n_tokens += row.length
        if n_tokens >= MOST_ROWS:
            break
    return np.array(numbers), rows


@dataclass
class _HeadTap:
    """A function for `model.taps.hooked` that keeps what one head has in a batch."""

    source: Source
    head: Head
    context: Any = None  # (B, H, T, K)
    q: Any = None  # (B, T, K)
    k: Any = None  # (B, S, K)
    mask: Any = None  # bool (B, T, S)
    weights: Any = None  # (B, T, S)
    together: Any = field(init=False, default=0.0)  # (B, T, S), of cross-attention the sum over layers and heads

    def __post_init__(self) -> None:
        kind = self.head.kind
        self.module = self.source.address(kind, self.head.layer)
        places = range(len(self.source.layers[kind]))
        self._same_kind = {self.source.address(kind, place) for place in places} if kind == "cross" else set()

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """See what passes a tap; it stays as it is."""
        module, _, name = address.rpartition(".")
        if name == "weights" and module in self._same_kind:
            self.together = self.together + value.double().sum(dim=1).cpu()
        if module == self.module and name in ("q", "k", "weights"):
            value_of = value.float().cpu()
            n_shared = self.source.n_heads[self.head.kind] // value_of.size(1)
            setattr(self, name, value_of[:, self.head.head // n_shared].numpy())
        elif module == self.module and name == "mask":
            self.mask = value[:, 0].cpu().numpy()
        elif module == self.module and name == "context":
            self.context = value
        return value


def _points_of(tap: _HeadTap, rows: Sequence[Row], table: TokenTable, numbers: np.ndarray) -> Mapping[str, HeadPoints]:
    """The points of a batch, by side."""
    if any(part is None for part in (tap.context, tap.q, tap.k, tap.mask, tap.weights)):
        raise ValueError(f"the pass did not go through {tap.module}, so nothing is known of its heads")
    kind = tap.head.kind
    lines = []
    for line in LINES[kind]:
        side = "source" if line == "source" else "target"
        names = [list(tap.source.names(side, getattr(row, line))) for row in rows]
        lines.append((table.tokens(names), names))
    (queries, query_names), (keys, key_names) = lines
    together = np.asarray(tap.together).argmax(-1) if kind == "cross" else None
    codes = combinations(Cells(queries, keys, tap.mask, kind != "cross", together), of_kind(kind))
    largest = tap.weights.argmax(-1)  # (B, T)
    texts, places = np.nonzero(queries.is_token & (tap.mask.sum(-1) > 1))
    at = texts, places, largest[texts, places]
    facts = (numbers[texts], places, _at(query_names, texts, places), classes_of(queries, query_names)[texts, places])
    facts = (*facts, largest[texts, places], tap.weights[at], codes[at])
    result = {name: HeadPoints(array[texts, places], *facts) for name, array in zip(SIDES, (tap.context, tap.q))}
    texts, places = np.nonzero(keys.is_token)
    none = np.zeros(len(texts), dtype=np.int64)
    facts = (numbers[texts], places, _at(key_names, texts, places), classes_of(keys, key_names)[texts, places])
    facts = (*facts, none - 1, none + 0.0, none)
    return result | {"keys": HeadPoints(tap.k[texts, places], *facts)}


def classes_of(tokens: Tokens, names: Sequence[Sequence[str]]) -> np.ndarray:
    """The class of each token, int (B, N): the first of CLASSES that it is in."""
    classes = np.full(tokens.ids.shape, len(CLASSES) - 1)
    for row, text in enumerate(names):
        letters = [name.lstrip(_MARKS) for name in text]
        n = len(text)
        classes[row, :n][[word[:1].isupper() for word in letters]] = CLASSES.index("capital")
        classes[row, :n][[word[:1].isdigit() for word in letters]] = CLASSES.index("number")
        is_inside = np.append(False, tokens.words[row, 1:n] == tokens.words[row, : n - 1])
        classes[row, :n][is_inside] = CLASSES.index("inside a word")
    classes[tokens.punctuation] = CLASSES.index("punctuation")
    classes[tokens.special] = CLASSES.index("special token")
    return classes


def _at(names: Sequence[Sequence[str]], texts: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.array([names[text][place] for text, place in zip(texts, places)], dtype=object)


def _joined(parts: Sequence[HeadPoints]) -> HeadPoints:
    names = vars(parts[0])
    return HeadPoints(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
