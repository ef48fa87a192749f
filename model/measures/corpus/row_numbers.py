"""What one head does in each row of one text, in the numbers of which an index has histograms."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.interventions.edits import Head
from model.measures.corpus.sources import source_of
from model.measures.corpus.tap import OutputMatrices
from model.taps import hooked


@dataclass(frozen=True)
class RowNumbers:
    """The numbers of the rows of one head that count, those that may attend to several keys; arrays (N,).

    Attributes:
        rows: int, the places of the queries.
        activity: the length of what the head writes, by the length of the stream that it is added to.
        distance: int, the place of the key that it writes most from, minus that of the query.
        largest: the largest weight.
        spread: the entropy, by the largest that is possible there.
    """

    rows: np.ndarray
    activity: np.ndarray
    distance: np.ndarray
    largest: np.ndarray
    spread: np.ndarray


@torch.inference_mode()
def read_rows(model: Any, text: Any, head: Head) -> RowNumbers:
    """Read one text with a model, as an index does, and say what a head does in each row.

    Args:
        text: as an index has it: of translators a pair.
        head: its layer is a place in the layers that the model has of its kind.

    Raises:
        ValueError: the text cannot be read, or no index can be made of the model.
    """
    source = source_of(model)
    address = source.address(head.kind, head.layer)
    tap = _RowTap(address)
    with hooked(tap):
        source.read([source.row(source.cut(text))])
    if any(part is None for part in (tap.stream, tap.mask, tap.weights, tap.v, tap.context)):
        raise ValueError(f"the pass did not go through {address}, so nothing is known of its heads")
    matrices = OutputMatrices(source, address)
    weights = tap.weights[0, head.head]  # (T, S)
    written = weights * matrices.lengths(address, tap.v)[0, head.head]
    active = matrices.lengths(address, tap.context)[0, head.head] / tap.stream[0].clamp_min(1e-12)
    n_allowed = tap.mask[0, 0].sum(-1)  # (T,)
    rows = (n_allowed > 1).nonzero()[:, 0]
    spread = torch.special.entr(weights).sum(-1) / n_allowed.clamp_min(2).log()
    return RowNumbers(
        rows.numpy(),
        active[rows].numpy(),
        (written.argmax(-1)[rows] - rows).numpy(),
        weights.amax(-1)[rows].numpy(),
        spread[rows].numpy(),
    )


class _RowTap:
    """A function for `model.taps.hooked` that keeps what one attention has, and the stream that it writes to."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.stream: Any = None  # float (1, T), lengths
        self.mask: Any = None  # bool (1, 1, T, S)
        self.weights: Any = None  # (1, H, T, S)
        self.v: Any = None  # (1, G, S, K)
        self.context: Any = None  # (1, H, T, K)

    def __call__(self, address: str, value: Tensor) -> Tensor:
        """See what passes a tap; it stays as it is."""
        module, _, name = address.rpartition(".")
        if name == "stream" and self.context is None and address.partition(".")[0] == self.address.partition(".")[0]:
            self.stream = value.float().norm(dim=-1).cpu()
        elif module == self.address and name in ("mask", "weights", "v", "context"):
            setattr(self, name, value.float().cpu() if name != "mask" else value.cpu())
        return value
