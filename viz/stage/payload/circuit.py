"""The circuit of a word and the graph of all heads, as browsers draw them."""

from typing import Any, NotRequired, TypedDict

import numpy as np

from model.analysis.circuits import SIDES, Circuit, HeadGraph
from model.running.circuit_check import EdgeCut, Faithfulness

SHARE = 0.02  # of a side of a head, from which edges of the graph travel
MOST_EDGES = 40_000  # the largest


class CircuitPayload(TypedDict):
    """The circuit of a word: `Circuit.to_dict`, and the words. Edges name their nodes by number."""

    word: str
    other: str | None  # what the logit is compared with; None: the mean of all words
    least: float  # the share of the logit from which it was traced
    answer: int
    against: int | None
    logit: float
    step: int
    nodes: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    heads: list[tuple[str, int, int]]  # all of them: kind, layer as the model numbers it, head
    effects: np.ndarray  # of each the logits that it adds itself


class KeptPayload(TypedDict):
    """What is left of the logit where heads outside of the circuit are replaced, as `Faithfulness`."""

    whole: float
    heads: float
    places: float
    nothing: float
    texts: int  # over which means were taken; 0: over the positions of the text itself
    threshold: float  # from which the circuit was pruned


class EdgePayload(TypedDict):
    """One edge cut: the logits that are lost, and the largest weight of the head before, as predicted and as it is."""

    lost: float
    weight: float
    predicted: float | None
    actual: float | None


class HeadGraphPayload(TypedDict):
    """Who uses whom in a text: N heads and E edges, the largest share first."""

    heads: list[tuple[str, int, int]]  # kind, layer as the model numbers it, head
    least: float
    source: np.ndarray  # (E,) the number of a head
    target: np.ndarray  # (E,)
    side: np.ndarray  # (E,) the number of "q", "k", "v"
    share: np.ndarray  # (E,)


class CircuitAnswers(TypedDict):
    """Where a browser fetches circuits, part by part; in a file what was fetched."""

    address: NotRequired[str]
    word: NotRequired[CircuitPayload]
    kept: NotRequired[KeptPayload]
    graph: NotRequired[HeadGraphPayload]


def word_payload(circuit: Circuit, word: str, other: str | None, least: float) -> CircuitPayload:
    """What travels of a circuit, and of its words as they are shown."""
    names = {"word": word, "other": other}
    heads = [tuple(head) for head in circuit.effects]
    of_heads = {"heads": heads, "effects": np.array(list(circuit.effects.values()), np.float32)}
    payload: Any = circuit.to_dict() | names | of_heads | {"least": least}
    return payload


def kept_payload(kept: Faithfulness, n_texts: int, threshold: float) -> KeptPayload:
    """What travels of the check of a circuit."""
    return {
        "whole": kept.whole,
        "heads": kept.heads,
        "places": kept.places,
        "nothing": kept.nothing,
        "texts": n_texts,
        "threshold": threshold,
    }


def edge_payload(cut: EdgeCut, circuit: Circuit) -> EdgePayload:
    """What travels of an edge of a circuit that was cut."""
    lost = circuit.logit - cut.logit
    return {"lost": lost, "weight": cut.weight, "predicted": cut.predicted, "actual": cut.actual}


def graph_payload(graph: HeadGraph) -> HeadGraphPayload:
    """What travels of the graph of all heads."""
    edges = graph.edges(SHARE)[:MOST_EDGES]
    numbers = {head: number for number, head in enumerate(graph.heads)}
    sides = list(SIDES)
    return {
        "heads": [(head.kind, head.layer, head.head) for head in graph.heads],
        "least": SHARE,
        "source": np.array([numbers[source] for source, *_ in edges], np.uint16),
        "target": np.array([numbers[target] for _, target, *_ in edges], np.uint16),
        "side": np.array([sides.index(side) for *_, side, _ in edges], np.uint8),
        "share": np.array([share for *_, share in edges], np.float32),
    }
