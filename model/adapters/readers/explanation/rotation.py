"""Queries and keys of a layer before rotary positions turn them, by the model's own code."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.analysis.rotation import Rotation, angles_of
from model.results.translation import as_array
from model.taps import intervene, record

Tables = Callable[[Tensor], Tensor]


@torch.inference_mode()
def rotation_of(read_again: Callable[[], Any], module: str, recorded: dict[str, np.ndarray]) -> Rotation | None:
    """The rotation in one attention; None where nothing turns, or the text is too short to tell.

    Which dimensions stand in which pair differs from family to family. So nothing is turned back here: the pass is made
    again with an angle of 0 in this layer, and once with a cosine that is another number for each column of the table,
    by which every dimension says whose angle it has.

    Args:
        read_again: the pass that was recorded.
        module: the address of the attention.
        recorded: of that pass "q" (H, T, K), "k" (G, S, K), and "cos" and "sin" (T, R) where there are any.
    """
    if "cos" not in recorded or len(recorded["cos"]) < 2:
        return None
    length = float(np.hypot(recorded["cos"][0, 0], recorded["sin"][0, 0]))  # above 1 with YaRN
    plain_q, plain_k = _turned(read_again, module, lambda cosine: torch.full_like(cosine, length))
    numbered, _ = _turned(read_again, module, lambda cosine: length * _numbered(cosine))
    sizes = np.abs(plain_q).sum(axis=(0, 1))  # (K,)
    columns = np.rint(np.abs(numbered).sum(axis=(0, 1)) / np.maximum(sizes, 1e-12)).astype(int) - 2
    turns = (0 <= columns) & (columns < recorded["cos"].shape[1])  # others pass as they are
    if not turns.any():
        return None
    angles = angles_of(recorded["cos"], recorded["sin"])  # (R,)
    angles = np.where(turns, angles[np.where(turns, columns, 0)], 0.0)  # (K,)
    return Rotation(plain_q, plain_k, recorded["q"], recorded["k"], angles)


def _numbered(cosine: Tensor) -> Tensor:
    """A table in which every column has its own number, from 2."""
    return torch.arange(2, 2 + cosine.size(-1), device=cosine.device).to(cosine.dtype).expand_as(cosine).clone()


def _turned(read_again: Callable[[], Any], module: str, cosine: Tables) -> tuple[np.ndarray, np.ndarray]:
    """q and k of a pass in which one attention has these cosines, and sines of 0."""
    tables = {f"{module}.cos": cosine, f"{module}.sin": torch.zeros_like}
    with intervene(tables), record(f"{module}.q", f"{module}.k") as trace:
        read_again()
    return as_array(trace[f"{module}.q"])[0], as_array(trace[f"{module}.k"])[0]
