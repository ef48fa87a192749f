"""What the stage is told of the next word of a text: its distribution, how it can be drawn, and a continuation.

The browser computes what temperature, top-k and top-p leave of the distribution (sampling.js): it follows the finger.
"""

from typing import Any

import numpy as np

from model.analysis import maps as analysis
from viz.figures import labels, looks
from viz.stage.words import field
from viz.text.language import counted, message, say
from viz.views.view import MOST_DRAWN, SEEDS, TOP_KS, Chance

SHOWN = 20  # words that have a bar


def told(logits: np.ndarray, tokenizer: Any, chance: Chance, continued: str, unknown: int | None = None) -> dict:
    """What `next` is in a message: logits, the largest first, bars without their numbers, and controls.

    Args:
        logits: float32 (V,), of the next word.
        tokenizer: has `tokens(ids)`, the names of tokens.
        continued: what was drawn.
        unknown: the id of a word that is never drawn, if there is one.
    """
    order = np.argsort(-logits, kind="stable")
    names, usual = tokenizer.tokens(order[:SHOWN].tolist()), Chance()
    temperature = say("Divides the logits: below 1 likely words get likelier, at 0 only the likeliest stays.")
    top_k = say("Keeps only the k most probable words (Fan et al. 2018).")
    top_ks = {str(k): counted(k) if k else message("all") for k in TOP_KS}
    top_p = say("Keeps the fewest top words whose probabilities reach p (Holtzman et al. 2020).")
    seed = say("The same seed draws the same words.")
    return {
        "logits": logits[order] if unknown is None else np.where(order == unknown, -np.inf, logits[order]),
        "own": np.exp(analysis.log_softmax(logits))[order[:SHOWN]].astype(np.float32),
        "names": list(map(labels.visible, names)),
        "said": labels.hover_texts(names, say),
        "look": looks.next_words(names, say),
        "fields": [
            field("range", "temperature", say("Temperature"), usual.temperature, temperature, low=0, high=2, step=0.05),
            field("choice", "top-k", say("Top-k"), str(usual.top_k), top_k, top_ks),
            field("range", "top-p", say("Top-p"), usual.top_p, top_p, low=0.05, high=1, step=0.05),
        ],
        "writing": [
            field("range", "count", say("Words to draw"), usual.count, low=1, high=MOST_DRAWN),
            field("number", "seed", say("Seed"), chance.seed or 0, seed, low=0, high=SEEDS - 1),
        ],
        "seed": chance.seed,
        "continued": continued,
    }
