"""Whether a circuit is enough, and whether its edges are causes: heads replaced outside of it, edges cut one by one.

What a circuit keeps of an answer is its faithfulness (Wang et al. 2022). Replaced are heads only: embeddings and
feed-forward layers stay, and what they read changes with the heads.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.analysis.circuits import Circuit, Edge, HeadName
from model.interventions.cuts import Cut
from model.interventions.patches import Donor
from model.results.translation import SIDES, Translation, module_of
from model.running.patching import Pass

_CUT_SIDES = {"q": "queries", "k": "keys"}
_NOTHING = 1e-6  # of a difference of logits, of which nothing can be a share


@dataclass(frozen=True)
class Faithfulness:
    """What is left of a logit, less that of another word, where heads are replaced.

    Attributes:
        whole: where none is.
        heads: where all heads are replaced but those of the circuit.
        places: where those of the circuit are replaced, too, at positions at which they are not in it.
        nothing: where all heads are replaced.
    """

    whole: float
    heads: float
    places: float
    nothing: float

    def share(self, kept: float) -> float | None:
        """What is kept of the difference that all heads make, 1 = all; None where they make none."""
        made = self.whole - self.nothing
        return (kept - self.nothing) / made if abs(made) > _NOTHING else None


@dataclass(frozen=True)
class EdgeCut:
    """One edge cut.

    Attributes:
        logit: of the word less that of the other one, without the edge.
        weight: of the target head, from its position to the key where it looks most, before.
        predicted: that weight as the split predicts it, with norms held; None of an edge of values.
        actual: that weight in the pass in which the edge is cut; None of an edge of values.
    """

    edge: Edge
    logit: float
    weight: float
    predicted: float | None
    actual: float | None


def faithfulness(
    system: Any, result: Translation, circuit: Circuit, others: Sequence[Translation], patched: bool = False
) -> Faithfulness:
    """Replace all heads outside of a circuit of a result.

    What a head writes at each position becomes the mean of what it wrote in other results, over their positions; with
    `patched` what it wrote in the one other result at the position that corresponds, and where none does it stays. At
    the first position of a decoder, where a head sees that position alone, it stays as well.

    Raises:
        ValueError: without other results; with several where one is patched from.
    """
    if not others or (patched and len(others) > 1):
        wanted = "one other text" if patched else "other texts"
        raise ValueError(f"heads are replaced by what they wrote in {wanted}, got {len(others)}")
    passed: Pass = system.pass_at(result, circuit.step)
    replaced = _patched(result, others[0]) if patched else _means(result, others)

    def left(keeps: Mapping[str, np.ndarray]) -> float:
        with torch.inference_mode():
            logits = passed.run(lambda address, value: _replace(address, value, replaced, keeps), 1)[0]
        return circuit.compare(logits.double().cpu().numpy())

    places = {module: np.zeros(contexts.shape[:2], bool) for module, contexts in replaced.items()}  # (H, T)
    heads = {module: keep.copy() for module, keep in places.items()}
    nothing = {module: keep.copy() for module, keep in places.items()}
    for node in circuit.nodes:
        module = module_of(node.place.kind, node.place.layer)
        places[module][node.place.head, node.place.position] = True
        heads[module][node.place.head] = True
    return Faithfulness(circuit.compare(passed.logits), left(heads), left(places), left(nothing))


def cut_edges(system: Any, result: Translation, circuit: Circuit) -> Iterator[EdgeCut]:
    """Cut each edge of a circuit on its own, the largest first.

    What the source wrote is left out of the queries, keys or values of the target, at all positions; of queries and
    keys norms are no longer held (`Edits(cut=...)`), of values they are.
    """
    parts = system.circuit_parts(result)
    looks_at = {node.place: (node.key, node.weight) for node in circuit.nodes}
    for edge in circuit.edges:
        key, weight = looks_at[edge.target]
        name = edge.target.name
        of_head = parts.of_head(name)
        if edge.side == "v":
            value = of_head.values[of_head.value_names.index(edge.part)]  # (S, K)
            n_heads = len(result.trace[f"{module_of(name.kind, name.layer)}.weights"])
            logits = _without_value(system.pass_at(result, circuit.step), name, n_heads, value)
            yield EdgeCut(edge, circuit.compare(logits), weight, None, None)
            continue
        cut = Cut(*name, _CUT_SIDES[edge.side], edge.part)
        path = system.cut_path(result, cut, of_head.scores)
        logit = circuit.compare(path.result.trace["logits"][circuit.step])
        at = edge.target.position, key
        yield EdgeCut(edge, logit, weight, float(path.predicted[at]), float(path.actual[at]))


def _means(result: Translation, others: Sequence[Translation]) -> dict[str, np.ndarray]:
    """By module the mean context of each head over other results and their positions, as (H, T, K) of this result."""
    means = {}
    for module in _modules(result):
        name = f"{module}.context"
        rows = np.concatenate([other.trace[name][:, _first(module) :] for other in others], axis=1)  # (H, N, K)
        if not rows.shape[1]:
            raise ValueError("the other texts are too short: they have no position after the first")
        contexts = result.trace[name].copy()
        contexts[:, _first(module) :] = rows.mean(axis=1, keepdims=True, dtype=np.float64)
        means[module] = contexts
    return means


def _patched(result: Translation, other: Translation) -> dict[str, np.ndarray]:
    """By module the contexts (H, T, K) of a result, with those of another one at positions that correspond."""
    donor = Donor.between(other, result)
    contexts = {}
    for kind in result.kinds:
        pairs = donor.pairs[SIDES[kind][0]]
        for module in result.modules(kind):
            own = result.trace[f"{module}.context"].copy()
            origins, places = [
                [pair[side] for pair in pairs if pair[1] < own.shape[1] and pair[1] >= _first(module)]
                for side in (0, 1)
            ]
            taken = other.trace[f"{module}.context"]
            inside = [number for number, origin in enumerate(origins) if origin < taken.shape[1]]
            own[:, [places[number] for number in inside]] = taken[:, [origins[number] for number in inside]]
            contexts[module] = own
    return contexts


def _modules(result: Translation) -> list[str]:
    return [module for kind in result.kinds for module in result.modules(kind)]


def _first(module: str) -> int:
    """The first position at which a head is replaced."""
    return 1 if module.startswith("decoder.") and module.endswith("self_attention") else 0


def _replace(
    address: str, value: Tensor, replaced: Mapping[str, np.ndarray], keeps: Mapping[str, np.ndarray]
) -> Tensor:
    """Contexts (B, H, T, K) with those of heads that are not kept replaced; a pass may have fewer queries."""
    module, _, name = address.rpartition(".")
    if name != "context":
        return value
    length = value.size(2)
    keep = torch.from_numpy(keeps[module][:, :length]).to(value.device)[None, :, :, None]
    others = torch.from_numpy(replaced[module][:, :length]).to(value.device, value.dtype)[None]
    return torch.where(keep, value, others)


def _without_value(passed: Pass, name: HeadName, n_heads: int, part: np.ndarray) -> np.ndarray:
    """The logits (V,) where a part (S, K) is left out of the values of one head, and of no other that shares them."""
    module = module_of(name.kind, name.layer)

    def leave_out(address: str, value: Tensor) -> Tensor:
        if address != f"{module}.v":
            return value
        value = value.repeat_interleave(n_heads // value.size(1), dim=1)
        value[:, name.head] -= torch.from_numpy(part[: value.size(2)]).to(value.device, value.dtype)
        return value

    with torch.inference_mode():
        return passed.run(leave_out, 1)[0].double().cpu().numpy()
