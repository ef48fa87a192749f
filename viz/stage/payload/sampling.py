"""What a message of the stage holds of the next word of a text: its distribution, and a continuation.

The browser draws it (viz/web/recording/pictures/next_words.js), and computes what temperature, top-k and top-p leave of
it (viz/web/stage/changes/sampling.js): that follows the finger.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np

from model.analysis import maps as analysis
from viz.views.view import MOST_DRAWN, SEEDS, TOP_KS, Chance

SHOWN = 20  # words that have a bar


class NextPayload(TypedDict):
    """What a message has of the next word; `NextPayload` in viz/web/recording/pictures/next_words.js is its twin."""

    logits: np.ndarray  # float32 (V,), the largest first; -inf: never drawn
    probabilities: np.ndarray  # float32 (SHOWN,), probabilities of the first
    tokens: Sequence[str]  # SHOWN of them
    defaults: Mapping[str, float]  # how words are drawn unless the address says else, by its names
    top_ks: Sequence[int]  # that can be chosen; 0: all
    most_drawn: int  # words at a time
    seeds: int
    seed: int | None  # of the continuation; None: there is none
    continued: str


def payload(
    logits: np.ndarray, tokenizer: Any, chance: Chance, continued: str, unknown: int | None = None
) -> NextPayload:
    """What `next` is in a message.

    Args:
        logits: float32 (V,), of the next word.
        tokenizer: has `tokens(ids)`, the names of tokens.
        continued: what was drawn.
        unknown: the id of a word that is never drawn, if there is one.
    """
    order = np.argsort(-logits, kind="stable")
    defaults = Chance()
    return {
        "logits": logits[order] if unknown is None else np.where(order == unknown, -np.inf, logits[order]),
        "probabilities": np.exp(analysis.log_softmax(logits))[order[:SHOWN]].astype(np.float32),
        "tokens": tokenizer.tokens(order[:SHOWN].tolist()),
        "defaults": {
            "temperature": defaults.temperature,
            "top-k": defaults.top_k,
            "top-p": defaults.top_p,
            "count": defaults.count,
        },
        "top_ks": list(TOP_KS),
        "most_drawn": MOST_DRAWN,
        "seeds": SEEDS,
        "seed": chance.seed,
        "continued": continued,
    }
