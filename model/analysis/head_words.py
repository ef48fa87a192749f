"""What a head writes when it looks at a key: the words whose logits it raises and lowers most.

The value of a key, through the head's slice of the output projection and all that follows on the direct path to the
logits, with the norms held at the deviations that they had (the OV circuit, Elhage et al. 2021, with the norms of one
text). Times the weight of a cell this is the direct effect of the cell.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from model.analysis.effects import Arrays, hold_norm, sublayers

MOST = 10  # words on either side


class WordLogit(NamedTuple):
    """A word and what is added to its logit."""

    word: str
    id: int
    logit: float


@dataclass(frozen=True)
class HeadWords:
    """The words that a head writes from a key to a query.

    Attributes:
        query, key: positions.
        weight: of the cell; what the head adds there is `weight` times the logits.
        logits: float32 (V,), what it would add to each word's logit if it looked at this key alone (weight 1), less the
            mean over the vocabulary.
        raised, lowered: the words whose logits it raises and lowers most, those with the largest change first.
    """

    query: int
    key: int
    weight: float
    logits: np.ndarray = field(repr=False)
    raised: list[WordLogit]
    lowered: list[WordLogit]

    @property
    def of_cell(self) -> np.ndarray:
        """float32 (V,): what the head adds in this cell to each word's logit, less the mean over the vocabulary."""
        return self.weight * self.logits


def head_words(
    weights: np.ndarray,
    query: int,
    key: int,
    logits: np.ndarray,
    words_of: Callable[[list[int]], Sequence[str]],
    most: int = MOST,
) -> HeadWords:
    """Name the words of logits (V,), what a key adds with weight 1; `weights` (T, S) are those of the head."""
    if most < 1:
        raise ValueError(f"at least one word is named, got {most}")
    centred = (logits - logits.mean(dtype=np.float64)).astype(np.float32)
    raised, lowered = (strongest_words(sign * centred, words_of, most) for sign in (1, -1))
    lowered = [word._replace(logit=-word.logit) for word in lowered]
    return HeadWords(query, key, float(weights[query, key]), centred, raised, lowered)


def strongest_words(logits: np.ndarray, words_of: Callable[[list[int]], Sequence[str]], most: int) -> list[WordLogit]:
    """The words with the largest of logits (V,), the largest first."""
    ids = np.argsort(-logits, kind="stable")[:most].tolist()
    return [WordLogit(word, index, float(logits[index])) for word, index in zip(words_of(ids), ids)]


def cell_of(weights: np.ndarray, mask: np.ndarray, query: int | None, key: int | None) -> tuple[int, int]:
    """The cell (query, key) that is meant in weights (T, S) with a mask, bool (T, S).

    Without a query that which looks most at the key, without a key that which the query looks at most; without both
    the last query. A ValueError for a cell that does not exist, or that the mask hides.
    """
    for name, place, count in zip(("query", "key"), (query, key), weights.shape):
        if place is not None and not 0 <= place < count:
            raise ValueError(f"{name} is from 0 to {count - 1}, got {place}")
    if query is None:
        query = len(weights) - 1 if key is None else int(np.where(mask[:, key], weights[:, key], -1.0).argmax())
    if key is None:
        key = int(weights[query].argmax())
    if not mask[query, key]:
        raise ValueError(f"the query {query} may not attend to the key {key}: the mask hides it")
    return query, key


def logits_from(
    trace: Arrays,
    parameters: Arrays,
    matrix: np.ndarray,
    module: str,
    vector: np.ndarray,
    step: int,
    *,
    pre_norm: bool,
    norm_eps: float,
) -> np.ndarray:
    """What a vector that a sublayer of a decoder of ours adds at a step adds to all logits, float64 (V,).

    Args:
        trace, parameters, matrix, pre_norm, norm_eps: as for `model.analysis.effects.direct_effects`.
        module: the address of the sublayer.
        vector: (D,).
    """
    modules = sublayers(trace)
    streams = [trace["decoder.input.stream"], *(trace[f"{residual}.stream"] for _, residual in modules)]  # (T, D)
    is_later = False
    for number, (name, residual) in enumerate(modules):
        is_later = is_later or name == module
        if is_later and not pre_norm:
            x = streams[number][step].astype(np.float64) + trace[f"{name}.output"][step]
            vector = hold_norm(vector, x, f"{residual}.norm", parameters, norm_eps)
    return matrix.astype(np.float64) @ hold_norm(vector, streams[-1][step], "decoder.norm", parameters, norm_eps)
