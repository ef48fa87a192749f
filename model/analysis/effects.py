"""Direct effects: what each part of a decoder itself adds to the logit of a word, from recorded arrays.

A pre-norm decoder's logits are a matrix times the norm of a sum of what heads and feed-forwards add: with the norm's
deviation fixed, they split without a rest. In a post-norm decoder every part also passes the later norms, whose
deviations are fixed likewise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

RUNNER_UP = "runner-up"
Arrays = Mapping[str, np.ndarray]
_MODULES = {"decoder_self": "self_attention", "cross": "cross_attention"}
_RESIDUALS = {"self_attention": "self", "cross_attention": "cross", "feed_forward": "ff"}


@dataclass(frozen=True)
class Effects:
    """The direct effects on the logits of the written words, in logits, in the precision of the recording.

    Attributes:
        logits: (T,) of the written words, less those that they are compared with.
        alternatives: (T,) ids of the words that they are compared with; None for the mean over the vocabulary.
        parts: (T,) each, which add up to `logits`: "input.tokens", "input.positions", the modules
            ("decoder.layers.0.self_attention"), the biases of their output projections ("....bias"), "norm" (biases of
            the norms), "output_bias".
    """

    logits: np.ndarray
    alternatives: np.ndarray | None
    parts: dict[str, np.ndarray]
    _heads: dict[str, np.ndarray] = field(repr=False)
    _directions: dict[str, list[np.ndarray]] = field(repr=False)

    @property
    def kinds(self) -> list[str]:
        """The kinds of attention whose heads have direct effects: "decoder_self", and "cross" where there is one."""
        return list(self._heads)

    def heads(self, kind: str) -> np.ndarray:
        """What each head adds for each position that it read, (L, H, T, S); a ValueError for other kinds."""
        self._check(kind)
        return self._heads[kind]

    def directions(self, kind: str) -> list[np.ndarray]:
        """By layer the directions (H, T, K) in the contexts of its heads that lead to the logits.

        A direct effect is a weight times the value that it reads, along the direction of its head and step.
        """
        self._check(kind)
        return self._directions[kind]

    def _check(self, kind: str) -> None:
        if kind not in self._heads:
            kinds = " and ".join(self._heads)
            raise ValueError(f"direct effects on a word are those of decoder heads, here of {kinds}; got {kind!r}")

    @property
    def rest(self) -> float:
        """The largest |sum of the parts - logits|."""
        sums = np.sum(list(self.parts.values()), axis=0, dtype=np.float64)
        return float(np.abs(sums - self.logits).max())


def direct_effects(
    trace: Arrays,
    parameters: Arrays,
    matrix: np.ndarray,
    bias: np.ndarray | None,
    output_ids: Sequence[int],
    against: str | Sequence[int] | None = None,
    *,
    pre_norm: bool,
    norm_eps: float,
) -> Effects:
    """Split the logit of each written word into what every part adds (direct logit attribution, Elhage et al. 2021).

    Args:
        trace: by address the arrays that a decoder computed for one sentence, without the batch axis; a KeyError for
            one that is missing.
        parameters: by address the weights and biases of norms and output projections.
        matrix, bias: (V, D) and (V,), from the decoder's output to logits.
        output_ids: T ids.
        against: what a logit is compared with: None, the mean of all logits of the step; RUNNER_UP, the most probable
            other word of each step; or T ids, else a ValueError.
        pre_norm: whether norms stand before the sublayers, else after the residual connections.
        norm_eps: what norms add to the variance.
    """
    logits = trace["logits"].astype(np.float64)
    ids = np.asarray(output_ids)
    steps = np.arange(len(output_ids))
    bias = np.zeros(len(matrix)) if bias is None else bias
    alternatives = compared_words(logits, ids, against)
    compared = logits.mean(1) if alternatives is None else logits[steps, alternatives]
    parts = {"output_bias": bias[ids] - _of_words(bias, alternatives)}
    heads: dict[str, list[np.ndarray]] = {}
    directions: dict[str, list[np.ndarray]] = {}
    modules = sublayers(trace)
    streams = [trace["decoder.input.stream"], *(trace[f"{residual}.stream"] for _, residual in modules)]  # (T, D)
    # From the output down: each part is its vector times the direction that leads from there to the compared logits.
    direction = matrix[ids].astype(np.float64) - _of_words(matrix, alternatives)  # (T, D)
    direction, parts["norm"] = _before_norm(direction, streams[-1], "decoder.norm", parameters, norm_eps)
    for (module, residual), before in zip(modules[::-1], streams[-2::-1], strict=True):
        output = trace[f"{module}.output"]  # (T, D)
        if not pre_norm:
            x = before.astype(np.float64) + output
            direction, of_bias = _before_norm(direction, x, f"{residual}.norm", parameters, norm_eps)
            parts["norm"] += of_bias
        if not module.endswith("attention"):
            parts[module] = (direction * output).sum(1)
            continue
        projection = f"{module}.output_projection"
        of_heads = _in_contexts(direction, parameters[f"{projection}.weight"], len(trace[f"{module}.weights"]))
        effect = _of_heads(trace, module, of_heads)
        parts[f"{module}.bias"] = (direction * parameters.get(f"{projection}.bias", 0)).sum(1)
        parts[module] = effect.sum((0, 2))
        heads.setdefault(module.rpartition(".")[2], []).insert(0, effect)
        directions.setdefault(module.rpartition(".")[2], []).insert(0, of_heads)
    for name in ("positions", "tokens"):
        parts[f"input.{name}"] = (direction * trace[f"decoder.input.{name}"]).sum(1)
    dtype = trace["logits"].dtype
    return Effects(
        (logits[steps, ids] - compared).astype(dtype),
        alternatives,
        {name: part.astype(dtype) for name, part in reversed(parts.items())},
        {kind: np.stack(heads[name]).astype(dtype) for kind, name in _MODULES.items() if name in heads},
        {kind: directions[name] for kind, name in _MODULES.items() if name in directions},
    )


def _of_words(values: np.ndarray, ids: np.ndarray | None) -> np.ndarray:
    """The rows (T, ...) that words with these ids have of values (V, ...), or the mean of all words."""
    return values.mean(0, dtype=np.float64) if ids is None else values[ids]


def _before_norm(
    direction: np.ndarray, x: np.ndarray, norm: str, parameters: Arrays, norm_eps: float
) -> tuple[np.ndarray, np.ndarray]:
    """Turn the direction (T, D) after a norm into the one before it.

    Args:
        x: (T, D), what the norm reads; its deviation is held constant.
        norm: the address of the norm among the parameters; where it has no weight, nothing is normalised.

    Returns:
        The direction before the norm, and what its bias adds along the one after it (T,).
    """
    if f"{norm}.weight" not in parameters:
        return direction, np.zeros(len(direction))
    scaled = direction * parameters[f"{norm}.weight"]
    if f"{norm}.bias" not in parameters:  # RMSNorm
        size = np.square(x, dtype=np.float64).mean(1, keepdims=True)
        return scaled / np.sqrt(size + norm_eps), np.zeros(len(direction))
    of_bias = (direction * parameters[f"{norm}.bias"]).sum(1)
    centred = scaled - scaled.mean(1, keepdims=True)
    size = x.var(1, keepdims=True, dtype=np.float64)
    return centred / np.sqrt(size + norm_eps), of_bias


def hold_norm(vector: np.ndarray, x: np.ndarray, norm: str, parameters: Arrays, norm_eps: float) -> np.ndarray:
    """A vector (D,) after a norm without its bias, held at the deviation that x (D,) gave it; unchanged without one."""
    if f"{norm}.weight" not in parameters:
        return vector
    if f"{norm}.bias" in parameters:
        vector, x = vector - vector.mean(), x - x.mean(dtype=np.float64)
    deviation = np.sqrt(np.square(x, dtype=np.float64).mean() + norm_eps)
    return vector * parameters[f"{norm}.weight"] / deviation


def compared_words(
    logits: np.ndarray, output_ids: np.ndarray, against: str | Sequence[int] | None
) -> np.ndarray | None:
    """The ids (T,) that the written words (T,) are compared with, given logits (T, V); see `direct_effects`."""
    if against is None:
        return None
    if isinstance(against, str):
        if against != RUNNER_UP:
            raise ValueError(f"against must be None, {RUNNER_UP!r} or an id per step, got {against!r}")
        logits = logits.copy()
        logits[np.arange(len(output_ids)), output_ids] = -np.inf
        return logits.argmax(1)
    ids = np.asarray(against)
    n_words = logits.shape[1]
    if ids.shape != output_ids.shape or ids.dtype.kind not in "iu":
        raise ValueError(
            f"against must hold one id for each of the {len(output_ids)} steps, got {ids.dtype} {ids.shape}"
        )
    if (wrong := ids[(ids < 0) | (ids >= n_words)]).size:
        raise ValueError(f"ids of words are 0 to {n_words - 1}, got {wrong[0]} in against")
    return ids


def sublayers(trace: Arrays, stack: str = "decoder") -> list[tuple[str, str]]:
    """The addresses of every sublayer of a stack and of its residual connection, in order."""
    addresses = []
    number, layer = 0, f"{stack}.layers.0"
    while f"{layer}.feed_forward.output" in trace:
        for name, residual in _RESIDUALS.items():
            if f"{layer}.{name}.output" in trace:
                addresses.append((f"{layer}.{name}", f"{layer}.residual_{residual}"))
        number += 1
        layer = f"{stack}.layers.{number}"
    return addresses


def _in_contexts(direction: np.ndarray, projection: np.ndarray, n_heads: int) -> np.ndarray:
    """A direction (T, D) after an output projection (D, H * K) as directions (H, T, K) in the contexts of its heads."""
    of_heads = projection.astype(np.float64).reshape(len(projection), n_heads, -1).swapaxes(0, 1)  # (H, D, K)
    # A product per head: one of all heads is large enough for numpy to wake threads, which costs more than it does.
    return direction @ of_heads


def _of_heads(trace: Arrays, module: str, directions: np.ndarray) -> np.ndarray:
    """Weights times values along directions (H, T, K), (H, T, S)."""
    weights, values = trace[f"{module}.weights"], trace[f"{module}.v"]  # (H, T, S), (G, S, K)
    values = np.repeat(values, len(weights) // len(values), axis=0)  # (H, S, K)
    return weights * (directions @ values.swapaxes(1, 2))
