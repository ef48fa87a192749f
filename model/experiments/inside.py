"""One query of one attention head, step by step, as recorded or with a step changed.

For models of this project and of the transformers library alike: the recorded arrays are those of RECORDED, and of
SOMETIMES those that a model has.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from model.analysis.rotation import Rotation
from model.attention import masked_softmax
from model.config import StackConfig
from model.relative import rotary_frequencies
from model.results.translation import Translation

RECORDED = ("q", "k", "v", "mask", "raw_scores", "scores", "weights", "context")
SOMETIMES = ("bias", "sink")


@dataclass(frozen=True)
class Switches:
    """Changes of single steps; the defaults are the model as it translates."""

    scaled: bool = True  # whether scores are divided by sqrt(K)
    temperature: float = 1.0  # what scores are divided by besides, above 0
    masked: bool = True  # whether the mask is obeyed
    dropout: float = 0.0  # probability of dropping each weight, below 1
    draw: int = 0  # number of the draw that decides which are dropped


AS_RECORDED = Switches()


def are_whole(config: StackConfig) -> bool:
    """Whether the steps of `Row` are all that lead to the weights of a model of this project: no bias, cap or sink."""
    return config.positional not in ("alibi", "buckets") and not config.score_cap and not config.attention_sink


@dataclass(frozen=True)
class Scoring:
    """How the products of one query with S keys become its scores, beside the mask."""

    divisor: float  # sqrt(K) in the paper
    cap: float = 0.0  # divided products become cap * tanh(products / cap); 0: they stay
    bias: np.ndarray | None = None  # (S,), added then: relative positions
    sink: float | None = None  # score of a learned sink, which takes a part of the softmax that no key gets


@dataclass(frozen=True)
class Row:
    """Every step of one query through one head, in order."""

    q: np.ndarray  # (K,), what the query asks for
    k: np.ndarray  # (S, K), what each key offers
    products: np.ndarray  # (S, K), q times k, dimension by dimension
    raw_scores: np.ndarray  # (S,), q k^T: the sum of each key's products
    scaled: np.ndarray  # (S,), divided by sqrt(K) and the temperature
    mask: np.ndarray  # bool (S,), True = may attend
    scores: np.ndarray  # (S,), capped and with a bias where the model has them, -inf where masked
    weights: np.ndarray  # (S,), softmax of the scores
    dropped: np.ndarray  # (S,), the weights after dropout
    v: np.ndarray  # (S, K), what each key hands over
    weighted: np.ndarray  # (S, K), each v times its weight after dropout
    context: np.ndarray  # (K,), their sum


def recorded(result: Translation, kind: str, layer: int) -> dict[str, np.ndarray]:
    """The arrays of RECORDED and SOMETIMES of one layer, as `row` takes them, from a result with its whole trace.

    `layer` is the number in the model.
    """
    module = result.modules(kind)[result.layers(kind).index(layer)]
    names = [*RECORDED, *(name for name in SOMETIMES if f"{module}.{name}" in result.trace)]
    return {name: result.trace[f"{module}.{name}"] for name in names}


def rotation(result: Translation, kind: str, layer: int) -> Rotation | None:
    """The rotation of queries and keys in a layer of a model of this project; None without rotary positions.

    Takes a result with its whole trace; `layer` is the number in the model.
    """
    module = result.modules(kind)[result.layers(kind).index(layer)]
    trace = result.trace
    config = result.config
    if f"{module}.relative.q" not in trace or not isinstance(config, StackConfig):
        return None
    angles = rotary_frequencies(config.d_head, config.rotary_base).numpy()  # (K / 2,)
    angles = np.repeat(angles, 2) if config.positional == "rotary" else np.tile(angles, 2)  # (K,)
    return Rotation(
        plain_q=trace[f"{module}.q"],
        plain_k=trace[f"{module}.k"],
        q=trace[f"{module}.relative.q"],
        k=trace[f"{module}.relative.k"],
        angles=angles,
    )


def scoring(arrays: Mapping[str, np.ndarray], head: int, query: int, cap: float = 0.0) -> Scoring:
    """How a recorded layer, with scores capped at `cap` (0: not), turned the products of one query into scores.

    Arrays are those of a layer by their names at the taps, (H, T, ...).
    """
    bias = arrays["bias"][head, query] if "bias" in arrays and arrays["bias"].any() else None
    return Scoring(_divisor(arrays, cap), cap, bias, _sink_score(arrays, head, query))


def _divisor(arrays: Mapping[str, np.ndarray], cap: float) -> float:
    """The divisor of a layer's products: models differ in it, so it is estimated from the scores (least squares)."""
    products, scores = (arrays[name].astype(np.float64) for name in ("raw_scores", "scores"))  # (H, T, S)
    scores = scores - arrays.get("bias", 0.0)
    is_allowed = np.isfinite(scores)
    if cap:
        is_allowed &= np.abs(scores) < 0.9 * cap  # nearer to the cap the tangent has lost the digits
        scores = cap * np.arctanh(np.where(is_allowed, scores, 0.0) / cap)
    share = (products[is_allowed] * scores[is_allowed]).sum()
    return float((products[is_allowed] ** 2).sum() / share) if share else math.sqrt(arrays["q"].shape[-1])


def _sink_score(arrays: Mapping[str, np.ndarray], head: int, query: int) -> float | None:
    """The score of a learned sink, by the weight that it takes; None where there is none."""
    weight = float(arrays["sink"][head, query]) if "sink" in arrays else 0.0
    if not 0 < weight < 1:
        return None
    scores = arrays["scores"][head, query].astype(np.float64)
    most = scores.max()
    return float(most + np.log(np.exp(scores - most).sum()) + np.log(weight / (1 - weight)))


def compute(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: np.ndarray,
    switches: Switches = AS_RECORDED,
    raw_scores: np.ndarray | None = None,
    scoring: Scoring | None = None,
) -> Row:
    """Compute every step of one query, (K,), (S, K), (S, K) and bool (S,) (Vaswani et al. 2017, equation 1).

    Args:
        q, k, v, mask: the query, and keys, values and mask cells that it may read.
        switches: changes of single steps.
        raw_scores: (S,) recorded products; needed with rotary positions, which turn q and k after they are recorded.
        scoring: None for that of the equation.
    """
    scoring = scoring or Scoring(math.sqrt(len(q)))
    mask = mask if switches.masked else np.ones_like(mask)
    products = q * k  # (S, K)
    unscaled: np.ndarray = products.sum(axis=-1) if raw_scores is None else raw_scores  # (S,)
    scaled = unscaled / ((scoring.divisor if switches.scaled else 1.0) * switches.temperature)
    scores = scoring.cap * np.tanh(scaled / scoring.cap) if scoring.cap else scaled
    scores = scores if scoring.bias is None else scores + scoring.bias
    scores = np.where(mask, scores, np.array(-np.inf, dtype=q.dtype))
    if scoring.sink is None:
        weights = masked_softmax(torch.from_numpy(scores)).numpy()
    else:
        sink = torch.tensor([scoring.sink], dtype=torch.from_numpy(scores).dtype)
        weights = masked_softmax(torch.cat([torch.from_numpy(scores), sink]))[:-1].numpy()
    dropped, weighted = _weighted_values(weights, v, switches)
    return Row(
        q=q,
        k=k,
        products=products,
        raw_scores=unscaled,
        scaled=scaled,
        mask=mask,
        scores=scores,
        weights=weights,
        dropped=dropped,
        v=v,
        weighted=weighted,
        context=weighted.sum(axis=0),
    )


def row(
    arrays: Mapping[str, np.ndarray], head: int, query: int, switches: Switches = AS_RECORDED, cap: float = 0.0
) -> Row:
    """One query of one head of a layer: as `recorded`, with only what a switch changes computed again.

    Arrays are those of a layer by their names at the taps, (H, T, ...).
    """
    mask = arrays["mask"][0, query]
    group = group_of(arrays, head)
    k, v = arrays["k"][group], arrays["v"][group]
    raw_scores = arrays["raw_scores"][head, query]
    row_of_head = compute(arrays["q"][head, query], k, v, mask, switches, raw_scores, scoring(arrays, head, query, cap))
    if not switches.scaled or switches.temperature != 1 or not (switches.masked or mask.all()):
        return row_of_head
    weights = arrays["weights"][head, query]
    dropped, weighted = _weighted_values(weights, v, switches)
    return replace(
        row_of_head,
        scores=arrays["scores"][head, query],
        weights=weights,
        dropped=dropped,
        weighted=weighted,
        context=weighted.sum(axis=0) if switches.dropout else arrays["context"][head, query],
    )


def group_of(arrays: Mapping[str, np.ndarray], head: int) -> int:
    """Whose keys and values (G, S, K) one of H heads reads, where several share them (Ainslie et al. 2023)."""
    return head * len(arrays["v"]) // len(arrays["weights"])


def softmax_gradient(weights: np.ndarray) -> float:
    """How strongly softmax answers a change of its scores: the Frobenius norm of its Jacobian diag(w) - w w^T.

    Of weights (S,): from 0, where one key takes all, to 0.5, where two keys share evenly.
    """
    weights = weights.astype(np.float64)
    return float(np.linalg.norm(np.diag(weights) - np.outer(weights, weights)))


def _weighted_values(weights: np.ndarray, v: np.ndarray, switches: Switches) -> tuple[np.ndarray, np.ndarray]:
    """The weights (S,) after dropout, and the values (S, K) times these."""
    dropped = weights
    if switches.dropout:
        remain = leaves(len(weights), switches.dropout, switches.draw)
        dropped = np.where(remain, weights / (1 - switches.dropout), 0).astype(weights.dtype)
    return dropped, dropped[:, None] * v


def leaves(n_keys: int, dropout: float, draw: int) -> np.ndarray:
    """Which weights of a row remain after a draw of dropout, bool (S,)."""
    return np.random.default_rng(draw).random(n_keys) >= dropout
