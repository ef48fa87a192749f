"""What the residual stream of one of our Transformers is made of, before each attention, from recorded arrays.

The stream is a sum of what was written into it. Through a norm whose deviation is held at its value, each part passes
by itself, and the norm's bias joins the part "bias", which is the last one here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from model.analysis.effects import Arrays, sublayers
from model.analysis.score_parts import BIAS, POSITIONS, TOKENS, fold, head_name


@dataclass(frozen=True)
class StreamParts:
    """The parts of what stands at each position: names, "bias" the last, and float64 (A, T, D)."""

    names: list[str]
    values: np.ndarray

    def folded(self, group_of: Callable[[str], str] | None) -> "StreamParts":
        """Parts in which those of each group are added up; without a function that names groups, these themselves."""
        if group_of is None:
            return self
        names, values = fold(self.names, self.values, group_of)
        last = names.index(group_of(BIAS))
        order = [number for number in range(len(names)) if number != last] + [last]
        return StreamParts([names[number] for number in order], values[order])

    def plus(self, names: list[str], values: np.ndarray, bias: np.ndarray | float) -> "StreamParts":
        """These parts and more (N, T, D) before "bias", to which `bias` (D,) is added."""
        last = self.values[-1:] + bias
        return StreamParts([*self.names[:-1], *names, self.names[-1]], np.concatenate([self.values[:-1], values, last]))

    def normalised(self, weight: np.ndarray | None, bias: np.ndarray | None, eps: float) -> "StreamParts":
        """Each part after a norm that is held: LayerNorm where there is a bias, RMSNorm otherwise; no weight: none."""
        if weight is None:
            return self
        values = self.values if bias is None else self.values - self.values.mean(-1, keepdims=True)
        deviation = np.sqrt(np.square(values.sum(0)).mean(-1, keepdims=True) + eps)  # (T, 1)
        values = values * (weight / deviation)
        if bias is not None:
            values[-1] += bias
        return StreamParts(self.names, values)

    def projected(self, weight: np.ndarray, bias: np.ndarray | None) -> "StreamParts":
        """Each part times a matrix (K, D), and the bias (K,)."""
        values = self.values @ weight.T.astype(np.float64)  # (A, T, K)
        if bias is not None:
            values[-1] += bias
        return StreamParts(self.names, values)


def walk(
    trace: Arrays,
    parameters: Arrays,
    stack: str,
    *,
    pre_norm: bool,
    norm_eps: float,
    group_of: Callable[[str], str] | None = None,
) -> Iterator[tuple[str, StreamParts]]:
    """Yield the address of each attention with the parts of what it reads, and last the stack with those of its output.

    Args:
        trace: by address the arrays that a stack computed for one text, without the batch axis; a KeyError for one that
            is missing.
        parameters: by address the weights and biases of norms and output projections.
        stack: "encoder" or "decoder".
        pre_norm: whether norms stand before the sublayers, else after the residual connections.
        norm_eps: what norms add to the variance.
        group_of: names the group of a part, where parts are to be added up from the beginning.
    """

    def norm(name: str, parts: StreamParts) -> StreamParts:
        return parts.normalised(parameters.get(f"{name}.weight"), parameters.get(f"{name}.bias"), norm_eps)

    parts = _input(trace, stack).folded(group_of)
    for module, residual in sublayers(trace, stack):
        inner = norm(f"{residual}.norm", parts) if pre_norm else parts
        if module.endswith("attention"):
            yield module, inner
            names, pieces, bias = _written_by_heads(trace, parameters, module)
        else:
            names = [f"feed-forward {module.split('.')[2]}"]
            pieces, bias = trace[f"{module}.output"].astype(np.float64)[None], 0.0
        parts = parts.plus(names, pieces, bias).folded(group_of)
        if not pre_norm:
            parts = norm(f"{residual}.norm", parts)
    yield stack, norm(f"{stack}.norm", parts)


def _input(trace: Arrays, stack: str) -> StreamParts:
    """The parts of the stream before the first layer; no "positions" where none are added."""
    tokens = trace[f"{stack}.input.tokens"].astype(np.float64)  # (T, D)
    positions = trace[f"{stack}.input.positions"].astype(np.float64)  # (T, D)
    nothing = np.zeros_like(tokens)
    if not positions.any():
        return StreamParts([TOKENS, BIAS], np.stack([tokens, nothing]))
    return StreamParts([TOKENS, POSITIONS, BIAS], np.stack([tokens, positions, nothing]))


def _written_by_heads(
    trace: Arrays, parameters: Arrays, module: str
) -> tuple[list[str], np.ndarray, np.ndarray | float]:
    """What each head of an attention adds to the stream, (H, T, D), with names, and the bias (D,) of the projection."""
    context = trace[f"{module}.context"].astype(np.float64)  # (H, T, K)
    weight = parameters[f"{module}.output_projection.weight"].astype(np.float64)  # (D, H * K)
    of_heads = weight.reshape(len(weight), len(context), -1).transpose(1, 2, 0)  # (H, K, D)
    _, _, layer, name = module.split(".")
    names = [head_name(name, int(layer), head) for head in range(len(context))]
    return names, context @ of_heads, parameters.get(f"{module}.output_projection.bias", 0.0)
