"""What heads of a model of transformers compare and carry, split by what wrote it, for `model.analysis.circuits`."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.adapters.readers.explanation.layer_inputs import LayerInputs
from model.adapters.readers.explanation.part_rows import PartRows
from model.adapters.readers.explanation.score_parts import (
    attention_of,
    part_of_head,
    rows_of_layer,
    rows_of_pass,
    split_head,
)
from model.adapters.readers.layout import Attention, Layout, ReaderConfig
from model.analysis.circuits import HeadName, HeadParts
from model.interventions.edits import Head

_MOST_LAYERS = 4  # whose parts are kept
Run = Callable[[Mapping[str, Tensor]], Any]  # the model over rows of inputs, without a cache


class CircuitParts:
    """The parts of any head of a model for one text: those of a layer are computed when one of its heads is asked for.

    Args:
        layers: the input of each layer; of those that it lacks the parts take a whole pass.
        run, inputs: the model, and the tensors of the text.
        trace: what the model computed for it, by address.
    """

    def __init__(
        self,
        layout: Layout,
        config: ReaderConfig,
        layers: LayerInputs,
        run: Run,
        inputs: Mapping[str, Tensor],
        trace: Mapping[str, np.ndarray],
    ) -> None:
        self._layout = layout
        self._config = config
        self._layers = layers
        self._run = run
        self._inputs = inputs
        self._trace = trace
        self._rows: dict[str, PartRows] = {}  # by the address of an attention, the newest last

    def of_head(self, name: HeadName) -> HeadParts:
        """The parts of one head; a ValueError if there is no such head, or they would not be exact."""
        target = attention_of(self._layout, self._config, Head(*name))
        rows = self._rows_of(target)
        module = target.layer.address
        values = part_of_head(rows.values[module], name.head, target.layer.n_heads)
        return HeadParts(
            split_head(rows, self._config, self._trace, target.layer, name.head),
            self._trace[f"{module}.weights"][name.head],
            list(values),
            np.stack(list(values.values())),
            _gram(target, name.head, values),
        )

    def _rows_of(self, target: Attention) -> PartRows:
        module = target.layer.address
        if module not in self._rows:
            rows = rows_of_layer(self._layout, self._layers, target)
            if rows is None:
                rows = rows_of_pass(self._layout, self._run, self._inputs, target)
            while len(self._rows) >= _MOST_LAYERS:
                self._rows.pop(next(iter(self._rows)))
            self._rows[module] = rows
        return self._rows[module]


@torch.inference_mode()
def _gram(attention: Attention, head: int, values: Mapping[str, np.ndarray]) -> np.ndarray:
    """The lengths and angles (K, K) of what the projection makes of each dimension of a head's context."""
    size = next(iter(values.values())).shape[-1]
    projection = attention.projection
    assert projection is not None  # else its scores could not be split
    parameter = next(projection.parameters())
    contexts = torch.zeros(size + 1, attention.layer.n_heads * size, dtype=parameter.dtype, device=parameter.device)
    contexts[:size, head * size : (head + 1) * size] = torch.eye(size)
    written = projection.forward(contexts)
    matrix = (written[:size] - written[size:]).double().cpu().numpy()  # (K, D)
    return matrix @ matrix.T
