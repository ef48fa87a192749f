"""What heads of our own models compare and carry, split by what wrote it, for `model.analysis.circuits`."""

from collections.abc import Iterator
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from model.analysis.circuits import Gradient, HeadName, HeadParts
from model.analysis.stream_parts import StreamParts
from model.attention import MultiHeadAttention
from model.config import HeadsByLayer
from model.interventions.edits import Head, check_head
from model.results.translation import Translation, module_of
from model.running.attribution import check_model, check_rest, parts_read_by, projected, split_head, whole_trace
from model.running.patching import Pass
from model.storage.checkpoint import AnyModel


def row_of(step: int, n_steps: int) -> int:
    """A step counted from 0, of one that may count from the end; a ValueError if there is no such step."""
    if not -n_steps <= step < n_steps:
        raise ValueError(f"steps are 0 to {n_steps - 1}, got {step}")
    return step % n_steps


def heads_of(heads_by_layer: HeadsByLayer) -> Iterator[HeadName]:
    """Every head of a model, one layer after the other."""
    for kind, layers in heads_by_layer.items():
        for layer, count in layers.items():
            yield from (HeadName(kind, layer, head) for head in range(count))


class Gradients:
    """The gradient of a logit, less that of another word, by what each head computes; made by one pass."""

    @torch.inference_mode(False)
    @torch.enable_grad()
    def __init__(self, passed: Pass, answer: int, against: int | None) -> None:
        leaves: dict[str, Tensor] = {}

        def add_leaf(address: str, value: Tensor) -> Tensor:
            if not address.endswith((".scores", ".context")):
                return value
            leaves[address] = torch.zeros_like(value, requires_grad=True)
            return value + leaves[address]

        logits = passed.run(add_leaf, 1)[0]  # (V,)
        difference = logits[answer] - (logits.mean() if against is None else logits[against])
        gradients = torch.autograd.grad(difference, list(leaves.values()), allow_unused=True)
        self._gradients = {
            address: (torch.zeros_like(leaf) if gradient is None else gradient)[0].double().cpu().numpy()
            for (address, leaf), gradient in zip(leaves.items(), gradients, strict=True)
        }

    def of_head(self, name: HeadName) -> Gradient:
        """The gradient by the scores and contexts of one head; a pass that ends early has fewer queries."""
        module = module_of(name.kind, name.layer)
        of_scores, of_contexts = (self._gradients[f"{module}.{tap}"][name.head] for tap in ("scores", "context"))
        return Gradient(of_scores, of_contexts)


class CircuitParts:
    """The parts of any head of a model for one result; those of a stream are computed when they are first asked for."""

    def __init__(self, model: AnyModel, result: Translation) -> None:
        self._model = check_model(model, result, "a circuit")
        self._result = result
        self._streams: dict[tuple[str, str], StreamParts] = {}  # by attention and stack

    def of_head(self, name: HeadName) -> HeadParts:
        """The parts of one head; errors as in `attribution.score_parts`."""
        check_head(self._model.config, Head(*name))
        module = module_of(name.kind, name.layer)
        with whole_trace():
            queries = self._stream(module, module.split(".")[0])
            keys = self._stream(module, "encoder") if name.kind == "cross" else queries
            scores = split_head(self._model, self._result, module, name.head, queries, keys)
            check_rest(scores)
            attention = cast(MultiHeadAttention, self._model.get_submodule(module))
            size = attention.d_head
            group = name.head * attention.n_groups // attention.n_heads
            rows = slice(group * size, (group + 1) * size)
            values = projected(keys, attention.v_projection, nn.Identity(), rows)
            matrix = attention.output_projection.weight.detach().numpy().astype(np.float64)  # (D, H * K)
            matrix = matrix[:, name.head * size : (name.head + 1) * size]
            weights = self._result.trace[f"{module}.weights"][name.head]
        return HeadParts(scores, weights, values.names, values.values, matrix.T @ matrix)

    def _stream(self, module: str, stack: str) -> StreamParts:
        if (module, stack) not in self._streams:
            self._streams[module, stack] = parts_read_by(self._model, self._result, module, stack)
        return self._streams[module, stack]
