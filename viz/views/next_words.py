"""What a model could have written at every step: the most probable tokens, and how undecided it was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from model.analysis import maps as analysis

CANDIDATES = 5  # tokens that could have been written at a step


class NextWords(NamedTuple):
    """The distribution over the vocabulary at T steps, as far as it is shown.

    Attributes:
        candidates: T lists of the most probable tokens with their probabilities, the most probable first.
        ids: their ids.
        entropy: float32 (T,), of the whole distribution, in nats.
    """

    candidates: list[list[tuple[str, float]]]
    ids: list[list[int]]
    entropy: np.ndarray


def next_words(logits: np.ndarray, names: Callable[[Sequence[int]], Sequence[str]]) -> NextWords:
    """Read logits (T, V); `names` says what the tokens of some ids are called."""
    ids, log_probabilities = analysis.candidates(logits, CANDIDATES)
    logs = analysis.log_softmax(logits)  # (T, V); no logarithm of the probabilities again
    entropy = -(np.exp(logs) * logs).sum(axis=-1).astype(np.float32)
    rows = zip(ids.tolist(), np.exp(log_probabilities).tolist(), strict=True)
    return NextWords([list(zip(names(row), shares, strict=True)) for row, shares in rows], ids.tolist(), entropy)
