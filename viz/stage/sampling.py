"""What the stage is told of the next word of a text: its distribution, what can be drawn of it, and a continuation.

While temperature, top-k and top-p are moved, the browser computes what is left of the distribution (sampling.js), with
the numbers that are given here: a message each time would not follow a finger.
"""

from collections.abc import Callable, Sequence

import numpy as np

from viz.figures import labels, looks
from viz.stage.form import field
from viz.text.language import counted, message, say
from viz.views.view import MOST_DRAWN, SEEDS, TOP_KS, Chance

SHOWN = 20  # words that have a bar


def told(
    logits: np.ndarray,
    tokens: Callable[[list[int]], list[str]],
    never: Sequence[int],
    chance: Chance,
    continued: str,
) -> dict:
    """What `next` is in a message: logits, the largest first, bars without their numbers, and controls.

    Args:
        logits: float32 (V,), after the last word of the text.
        tokens: gives the names of ids, of which `never` are not drawn.
        continued: what was drawn after the text.
    """
    order = np.argsort(-logits, kind="stable")
    ordered = logits[order].astype(np.float64)
    own = np.exp(ordered - ordered[0])
    names, usual = tokens(order[:SHOWN].tolist()), Chance()
    temperature = say("Divides the logits: below 1 likely words get likelier, at 0 only the likeliest stays.")
    top_k = say("Keeps only the k most probable words (Fan et al. 2018).")
    top_ks = {str(k): counted(k) if k else message("all") for k in TOP_KS}
    top_p = say("Keeps the fewest top words whose probabilities reach p (Holtzman et al. 2020).")
    seed = say("The same seed draws the same words.")

    def to(high: float, low: float = 0, step: float = 0.05) -> dict:
        return {"low": low, "high": high, "step": step, "unit": ""}

    return {
        "logits": logits[order],
        "never": np.flatnonzero(np.isin(order, never)).tolist(),
        "own": (own / own.sum())[:SHOWN].astype(np.float32),
        "names": [labels.visible(name) for name in names],
        "said": labels.hover_texts(names, say),
        "look": looks.next_words(names, say),
        "fields": [
            field("range", "temperature", say("Temperature"), usual.temperature, temperature, **to(2)),
            field("choice", "top-k", say("Top-k"), str(usual.top_k), top_k, top_ks),
            field("range", "top-p", say("Top-p"), usual.top_p, top_p, **to(1, 0.05)),
        ],
        "writing": [
            field("range", "count", say("Words to draw"), usual.count, **to(MOST_DRAWN, 1, 1)),
            field("number", "seed", say("Seed"), chance.seed or 0, seed, low=0, high=SEEDS - 1),
        ],
        "seed": chance.seed,
        "continued": continued,
    }
