"""One query of one attention head, step by step, as recorded or with something done differently."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from model.attention import masked_softmax
from model.config import TransformerConfig
from model.translation import Translation

RECORDED = ("q", "k", "v", "mask", "raw_scores", "scores", "weights", "context")


@dataclass(frozen=True)
class Switches:
    """What is done differently from the model as it translates."""

    scaled: bool = True  # whether scores are divided by sqrt(K)
    temperature: float = 1.0  # what scores are divided by besides, above 0
    masked: bool = True  # whether the mask is obeyed
    dropout: float = 0.0  # probability of dropping each weight, below 1
    draw: int = 0  # number of the draw that decides which are dropped


AS_RECORDED = Switches()


def are_whole(config: TransformerConfig) -> bool:
    """Whether these steps are all that weights come from: no bias of positions, no cap of scores, no sink."""
    return config.positional not in ("alibi", "buckets") and not config.score_cap and not config.attention_sink


@dataclass(frozen=True)
class Row:
    """Every step of one query through one head, in order."""

    q: np.ndarray  # (K,), what the query asks for
    k: np.ndarray  # (S, K), what each key offers
    products: np.ndarray  # (S, K), q times k, dimension by dimension
    raw_scores: np.ndarray  # (S,), q k^T: the sum of each key's products
    scaled: np.ndarray  # (S,), divided by sqrt(K) and the temperature
    mask: np.ndarray  # bool (S,), True = may attend
    scores: np.ndarray  # (S,), -inf where masked
    weights: np.ndarray  # (S,), softmax of the scores
    dropped: np.ndarray  # (S,), the weights after dropout
    v: np.ndarray  # (S, K), what each key hands over
    weighted: np.ndarray  # (S, K), each v times its weight after dropout
    context: np.ndarray  # (K,), their sum


def recorded(result: Translation, kind: str, layer: int) -> dict[str, np.ndarray]:
    """What `row` takes, the arrays of RECORDED, of one layer, as the model numbers it, of a whole trace."""
    module = result.modules(kind)[result.layers(kind).index(layer)]
    return {name: result.trace[f"{module}.{name}"] for name in RECORDED}


def compute(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: np.ndarray,
    switches: Switches = AS_RECORDED,
    raw_scores: np.ndarray | None = None,
) -> Row:
    """Compute every step of one query, (K,), (S, K), (S, K) and bool (S,) (Vaswani et al. 2017, equation 1).

    raw_scores (S,) are those recorded, where q and k were turned after they were (rotary positions).
    """
    mask = mask if switches.masked else np.ones_like(mask)
    products = q * k  # (S, K)
    raw_scores = products.sum(axis=-1) if raw_scores is None else raw_scores  # (S,)
    scaled = raw_scores / ((math.sqrt(len(q)) if switches.scaled else 1.0) * switches.temperature)
    scores = np.where(mask, scaled, np.array(-np.inf, dtype=q.dtype))
    weights = masked_softmax(torch.from_numpy(scores)).numpy()
    return Row(q, k, products, raw_scores, scaled, mask, scores, weights, v=v, **_read(weights, v, switches))


def row(arrays: Mapping[str, np.ndarray], head: int, query: int, switches: Switches = AS_RECORDED) -> Row:
    """One query of one head of a layer: as `recorded`, and recomputed only what a switch changes."""
    mask, group = arrays["mask"][0, query], group_of(arrays, head)
    k, v = arrays["k"][group], arrays["v"][group]
    own = {name: arrays[name][head, query] for name in ("q", "raw_scores", "scores", "weights", "context")}
    kept = {}
    if switches.scaled and switches.temperature == 1 and (switches.masked or mask.all()):
        kept = own | _read(own["weights"], v, switches) | ({} if switches.dropout else {"context": own["context"]})
    return replace(compute(own["q"], k, v, mask, switches, own["raw_scores"]), **kept)


def group_of(arrays: Mapping[str, np.ndarray], head: int) -> int:
    """Whose keys and values a head reads, where several share them (grouped-query attention)."""
    return head * len(arrays["v"]) // len(arrays["weights"])


def softmax_gradient(weights: np.ndarray) -> float:
    """How strongly softmax answers a change of its scores: the Frobenius norm of its Jacobian diag(w) - w w^T.

    From 0, where one key takes all, to 0.5, where two keys share evenly.
    """
    weights = weights.astype(np.float64)
    return float(np.linalg.norm(np.diag(weights) - np.outer(weights, weights)))


def _read(weights: np.ndarray, v: np.ndarray, switches: Switches) -> dict[str, np.ndarray]:
    dropped = weights
    if switches.dropout:
        left = leaves(len(weights), switches.dropout, switches.draw)
        dropped = np.where(left, weights / (1 - switches.dropout), 0).astype(weights.dtype)
    weighted = dropped[:, None] * v  # (S, K)
    return {"dropped": dropped, "weighted": weighted, "context": weighted.sum(axis=0)}


def leaves(n_keys: int, dropout: float, draw: int) -> np.ndarray:
    """Which of the weights of a row a draw of dropout leaves, bool (S,)."""
    return np.random.default_rng(draw).random(n_keys) >= dropout
