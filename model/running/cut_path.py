"""What becomes of a head whose queries or keys do without one part: predicted by the split, and as it really is.

A share in a score is not a cause: the split holds the deviations of the norms, while a cut lets them change, and what
comes after the head changes with it (Goldowsky-Dill et al. 2023).
"""

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from model.analysis.score_parts import ScoreParts
from model.interventions.cuts import Cut, leaves_out
from model.interventions.edits import Edits
from model.results.translation import Translation, module_of


@dataclass(frozen=True)
class PathCut:
    """One path cut in a text that was read.

    Attributes:
        cut: the path.
        weights: float32 (T, S), those of the head before.
        predicted: float64 (T, S), the softmax of its scores less those of the part, with the norms held.
        actual: float32 (T, S), those of the pass in which the path is cut.
        result: the recording of that pass over the same tokens; what it predicts is the output after the cut.
    """

    cut: Cut
    weights: np.ndarray = field(repr=False)
    predicted: np.ndarray = field(repr=False)
    actual: np.ndarray = field(repr=False)
    result: Translation = field(repr=False)

    @property
    def edits(self) -> Edits:
        """The cut as edits, to have a model write with it."""
        return Edits(cut=(self.cut,))


def compare_cut(cut: Cut, parts: ScoreParts, before: Translation, after: Translation) -> PathCut:
    """Compare a head before and after a cut, as its parts before the cut predict it."""
    module = module_of(cut.kind, cut.layer)
    change = parts.without(cut.side, partial(leaves_out, [cut.part]))  # (T, S)
    scores = before.trace[f"{module}.scores"][cut.head].astype(np.float64) + change
    sink = before.trace.get(f"{module}.sink")
    predicted = _softmax(scores, parts.mask, None if sink is None else _score_of_sink(before, module, cut.head))
    return PathCut(
        cut,
        before.trace[f"{module}.weights"][cut.head],
        predicted,
        after.trace[f"{module}.weights"][cut.head],
        after,
    )


def _softmax(scores: np.ndarray, mask: np.ndarray, sink: np.ndarray | None) -> np.ndarray:
    """Weights (T, S) of scores (T, S) where the mask is True, beside a sink with scores (T, 1); else 0."""
    scores = np.where(mask, scores, -np.inf)
    if sink is not None:
        scores = np.concatenate([scores, sink], axis=1)
    largest = scores.max(axis=1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(largest), largest, 0.0))
    weights = exponentials / np.maximum(exponentials.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return weights[:, : mask.shape[1]]


def _score_of_sink(result: Translation, module: str, head: int) -> np.ndarray:
    """The score (T, 1) of a learned sink, from the weight that it took."""
    scores = result.trace[f"{module}.scores"][head].astype(np.float64)  # (T, S), -inf where masked
    weight = result.trace[f"{module}.sink"][head].astype(np.float64)[:, None]  # (T, 1)
    largest = scores.max(axis=1, keepdims=True)
    log_sum = largest + np.log(np.exp(scores - largest).sum(axis=1, keepdims=True))
    return log_sum + np.log(weight) - np.log1p(-weight)
