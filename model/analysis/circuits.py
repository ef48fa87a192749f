"""Who uses whom: of each head how much of its queries, keys and values comes from each earlier one, for one text.

With norms held, what a head compares and carries is a sum over what was written into the stream before it
(`model.analysis.score_parts`), so each earlier head has a share in it (composition, Elhage et al. 2021). From the heads
that add most to a word one can so go back, edge by edge: the circuit of this word (Wang et al. 2022 did it by hand).
Nothing here knows a model: arrays come in, arrays go out.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from model.analysis.effects import Effects
from model.analysis.score_parts import ScoreParts, by_group, head_of_part

SIDES = {"q": "queries", "k": "keys", "v": "values"}
THRESHOLD = 0.05  # the share of a logit from which what comes by an edge counts
SHARE = 0.1  # of a side of a head, from which an edge of the graph of all heads counts
MOST_NODES = 16
_NOTHING = 1e-9


class HeadName(NamedTuple):
    """One head; "head 16.0" is its name as a part, of cross-attention "cross head 1.2"."""

    kind: str  # of attention: "encoder_self", "decoder_self" or "cross"
    layer: int  # as the model numbers it
    head: int


class Place(NamedTuple):
    """One head at one position of its queries."""

    kind: str
    layer: int
    head: int
    position: int

    @property
    def name(self) -> HeadName:
        """The head, wherever it stands."""
        return HeadName(*self[:3])


@dataclass(frozen=True)
class HeadParts:
    """What one head compares and carries in one text, split by what wrote it.

    Attributes:
        scores: its scores.
        weights: (T, S).
        value_names: B names, as those of keys without "distance".
        values: float64 (B, S, K).
        gram: float64 (K, K), the product of its output matrix (K, D) with itself: lengths of what it writes.
    """

    scores: ScoreParts
    weights: np.ndarray = field(repr=False)
    value_names: list[str] = field(repr=False)
    values: np.ndarray = field(repr=False)
    gram: np.ndarray = field(repr=False)

    def shares(self) -> dict[str, "Side"]:
        """By side "q", "k" and "v" the share of each part, over all queries; no side that has nothing to share.

        "q" and "k" are shares of the score where the head looks: weights times scores above the mean over the keys. A
        head that may look at one key only has none. "v" are shares of what it writes, along what it writes. Single
        shares may be negative. They stand at one position.
        """
        of_queries, of_keys = self.scores.weighted(self.weights)
        weights = self.weights.astype(np.float64)
        directions = weights @ self.values.sum(0) @ self.gram  # (T, K)
        of_values = np.einsum("bsk,sk->b", self.values, weights.T @ directions)
        return self._shared({"q": of_queries[:, None], "k": of_keys[:, None], "v": of_values[:, None]})

    def shares_at(self, row: int) -> dict[str, "Side"]:
        """Like `shares`, of one query, with all positions apart."""
        weights = self.weights[row].astype(np.float64)
        direction = weights @ self.values.sum(0) @ self.gram  # (K,)
        return self._shared(self._parts_at(row, weights, direction))

    def amounts(self, row: int, slopes: np.ndarray, direction: np.ndarray) -> dict[str, "Side"]:
        """By side what each part adds to a logit at one query, by the gradient of the logit.

        Args:
            row: the query.
            slopes: (S,), the gradient by its scores; a pass over the beginning of the text has fewer keys.
            direction: (K,), the gradient by its context.
        """
        slopes = np.pad(slopes, (0, self.weights.shape[1] - len(slopes)))
        parts = self._parts_at(row, self.scores.slopes_before_cap(slopes, row), direction)
        return {side: Side(self._names(side), values) for side, values in parts.items()}

    def _parts_at(self, row: int, slopes: np.ndarray, direction: np.ndarray) -> dict[str, np.ndarray]:
        """By side (parts, positions): scores of a row times slopes (S,), and values it reads along a direction (K,)."""
        of_queries, of_keys = self.scores.weighted_row(row, slopes)
        at_row = np.zeros((len(of_queries), len(self.weights)))
        at_row[:, row] = of_queries
        return {"q": at_row, "k": of_keys, "v": self.weights[row] * (self.values @ direction)}

    def _shared(self, parts: Mapping[str, np.ndarray]) -> dict[str, "Side"]:
        totals = {side: float(values.sum()) for side, values in parts.items()}
        return {
            side: Side(self._names(side), values / totals[side])
            for side, values in parts.items()
            if totals[side] > _NOTHING
        }

    def _names(self, side: str) -> list[str]:
        return {"q": self.scores.query_names, "k": self.scores.key_names, "v": self.value_names}[side]


@dataclass(frozen=True)
class Side:
    """The parts of one side of a head: float64 (parts, positions), of the queries on the side "q", else of the keys."""

    names: list[str]
    values: np.ndarray = field(repr=False)

    def others(self) -> dict[str, float]:
        """The sums of all that no head wrote, by group: "words", "positions", "feed-forward", ..."""
        groups: dict[str, float] = {}
        for name, value in zip(self.names, self.values.sum(axis=1)):
            if head_of_part(name) is None:
                groups[by_group(name)] = groups.get(by_group(name), 0.0) + float(value)
        return groups


@dataclass(frozen=True)
class Node:
    """A head at a position, in a circuit.

    Attributes:
        effect: the logits that it adds itself to the word, at its step; 0 elsewhere.
        amount: the logits that come from it, itself and by way of others, by the gradient: an estimate.
        key, weight: where it looks most.
        others: by side the logits that come from what no head wrote, by group.
    """

    place: Place
    effect: float
    amount: float
    key: int
    weight: float
    others: dict[str, dict[str, float]] = field(repr=False)


class Edge(NamedTuple):
    """What `source` wrote at its position, in one side of `target`.

    `share` is its share in the score where the target looks, or in what it writes (`HeadParts.shares`); `amount` the
    logits that come from it, by the gradient: an estimate.
    """

    source: Place
    target: Place
    side: str  # of SIDES
    share: float
    amount: float

    @property
    def part(self) -> str:
        """The name of the source as a part of the stream that the target reads."""
        return part_name(self.source.name)


@dataclass(frozen=True)
class Circuit:
    """The heads that a word comes from, and those that these use, for one text.

    Attributes:
        nodes: the one with the largest effect first, each with at least one way to the word.
        edges: between them, the largest amount first.
        logit: of the word less that of the other one (less the mean of all), at the step.
        step: the row of the decoder that the word follows.
        answer: the id of the word.
        against: that of the other one; None for the mean of all.
    """

    nodes: list[Node]
    edges: list[Edge]
    logit: float
    step: int
    answer: int
    against: int | None

    def compare(self, logits: np.ndarray) -> float:
        """The logit of the word less that of the other one, of logits (V,)."""
        compared = logits.mean(dtype=np.float64) if self.against is None else logits[self.against]
        return float(logits[self.answer] - compared)

    @property
    def heads(self) -> list[HeadName]:
        """The heads, wherever they stand, in order."""
        return sorted({node.place.name for node in self.nodes})

    def to_dict(self) -> dict[str, Any]:
        """JSON: nodes and edges by number of the node, their places, shares, effects."""
        numbers = {node.place: number for number, node in enumerate(self.nodes)}
        nodes = [
            node.place._asdict()
            | {"effect": node.effect, "amount": node.amount}
            | {"key": node.key, "weight": node.weight, "others": node.others}
            for node in self.nodes
        ]
        edges = [
            {"from": numbers[edge.source], "to": numbers[edge.target]}
            | {"side": edge.side, "share": edge.share, "amount": edge.amount}
            for edge in self.edges
        ]
        word = {"answer": self.answer, "against": self.against, "logit": self.logit, "step": self.step}
        return word | {"nodes": nodes, "edges": edges}


class Gradient(NamedTuple):
    """The gradient of a logit by what one head computes, float64."""

    scores: np.ndarray  # (T, S), those that the softmax is of
    contexts: np.ndarray  # (T, K)


def trace_circuit(
    effects: Effects,
    layers: Mapping[str, Sequence[int]],
    parts_of: Callable[[HeadName], HeadParts],
    gradient_of: Callable[[HeadName], Gradient],
    *,
    step: int,
    answer: int,
    threshold: float = THRESHOLD,
    most: int = MOST_NODES,
) -> Circuit:
    """Go from the heads that add most to a word back to those that they use, the most important first.

    How much comes from a head by way of another one is the gradient of the logit by the other's scores and context,
    times its part of them (edge attribution, Syed et al. 2023).

    Args:
        effects: the direct effects on the word at the step.
        layers: by kind of attention the numbers of the layers in the model.
        parts_of: what a head compares and carries.
        gradient_of: of the logit at the step.
        answer: the id of the word.
        threshold: the share of the logit from which a direct effect, or what comes by an edge, counts; above 0.
        most: heads at positions.
    """
    if not threshold > 0:
        raise ValueError(f"the threshold is a share above 0, got {threshold:g}")
    if most < 1:
        raise ValueError(f"a circuit has at least 1 head, got {most}")
    logit = float(effects.logits[step])
    least = threshold * max(abs(logit), _NOTHING)
    of_heads = _effects_at(effects, layers, step)
    waiting = [(-abs(effect), place) for place, effect in of_heads.items() if abs(effect) >= least]
    heapq.heapify(waiting)
    nodes: dict[Place, Node] = {}
    edges: list[Edge] = []
    while waiting and len(nodes) < most:
        _, place = heapq.heappop(waiting)
        if place in nodes:
            continue
        parts, gradient = parts_of(place.name), gradient_of(place.name)
        amounts = parts.amounts(place.position, gradient.scores[place.position], gradient.contexts[place.position])
        nodes[place] = _node_at(place, of_heads.get(place, 0.0), parts, amounts)
        for edge in _edges_to(place, amounts, parts.shares_at(place.position), least):
            edges.append(edge)
            heapq.heappush(waiting, (-abs(edge.amount), edge.source))
    edges = sorted((edge for edge in edges if edge.source in nodes), key=lambda edge: -abs(edge.amount))
    against = None if effects.alternatives is None else int(effects.alternatives[step])
    return Circuit(list(nodes.values()), edges, logit, step, answer, against)


def _effects_at(effects: Effects, layers: Mapping[str, Sequence[int]], step: int) -> dict[Place, float]:
    """The direct effect of every head on the word of a step."""
    of_heads = {}
    for kind in effects.kinds:
        at_step = effects.heads(kind)[:, :, step].sum(-1)  # (L, H)
        for (layer, head), effect in np.ndenumerate(at_step):
            of_heads[Place(kind, layers[kind][layer], head, step)] = float(effect)
    return of_heads


def _node_at(place: Place, effect: float, parts: HeadParts, amounts: Mapping[str, Side]) -> Node:
    others = {side: of_side.others() for side, of_side in amounts.items()}
    row = parts.weights[place.position]
    return Node(place, effect, float(amounts["v"].values.sum()), int(row.argmax()), float(row.max()), others)


def _edges_to(place: Place, amounts: Mapping[str, Side], shares: Mapping[str, Side], least: float) -> Iterator[Edge]:
    """The edges by which that much comes; those of keys and values start at the position where it stands."""
    for side, of_side in amounts.items():
        for number, name in enumerate(of_side.names):
            source = source_of(place.kind, side, name)
            if source is None:
                continue
            for position in np.flatnonzero(np.abs(of_side.values[number]) >= least).tolist():
                share = float(shares[side].values[number, position]) if side in shares else 0.0
                amount = float(of_side.values[number, position])
                yield Edge(Place(*source, position), place, side, share, amount)


@dataclass(frozen=True)
class HeadGraph:
    """Who uses whom in one text, over all of its queries.

    Attributes:
        heads: N heads, in order.
        shares: by side "q", "k" and "v" float64 (N, N): of each head (row) the share that each other (column) has.
    """

    heads: list[HeadName]
    shares: dict[str, np.ndarray] = field(repr=False)

    def edges(self, threshold: float = SHARE) -> list[tuple[HeadName, HeadName, str, float]]:
        """From, to, side and share of all edges whose share reaches a threshold, the largest first."""
        edges = []
        for side, shares in self.shares.items():
            for target, source in np.argwhere(np.abs(shares) >= threshold).tolist():
                edges.append((self.heads[source], self.heads[target], side, float(shares[target, source])))
        return sorted(edges, key=lambda edge: -abs(edge[3]))


def head_graph(heads: Iterable[tuple[HeadName, HeadParts]]) -> HeadGraph:
    """Make the graph of the parts of all heads, which come one after the other."""
    names: list[HeadName] = []
    edges: list[tuple[str, HeadName, HeadName, float]] = []
    for name, parts in heads:
        names.append(name)
        for side, of_side in parts.shares().items():
            for part, share in zip(of_side.names, of_side.values.sum(axis=1)):
                source = source_of(name.kind, side, part)
                if source is not None:
                    edges.append((side, name, source, float(share)))
    order = {name: number for number, name in enumerate(sorted(names))}
    shares = {side: np.zeros((len(order), len(order))) for side in SIDES}
    for side, target, source, share in edges:
        shares[side][order[target], order[source]] = share
    return HeadGraph(list(order), shares)


def source_of(kind: str, side: str, part: str) -> HeadName | None:
    """The head that wrote a part of a side of a head of a kind of attention; None if no head did."""
    head = head_of_part(part)
    if head is None:
        return None
    is_cross, layer, number = head
    if is_cross:
        return HeadName("cross", layer, number)
    if kind == "cross":
        return HeadName("decoder_self" if side == "q" else "encoder_self", layer, number)
    return HeadName(kind, layer, number)


def part_name(head: HeadName) -> str:
    """The name of what a head writes, as a part of the stream: "head 16.0", of cross-attention "cross head 1.2"."""
    return f"{'cross ' if head.kind == 'cross' else ''}head {head.layer}.{head.head}"
