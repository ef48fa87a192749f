"""What the stage is told of the next word of a text: its distribution, what can be drawn of it, and a continuation.

While temperature, top-k and top-p are moved, the browser computes what is left of the distribution (sampling.js), with
the numbers that are given here: a message each time would not follow a finger.
"""

from collections.abc import Callable, Sequence

import numpy as np

from viz.figures import labels, looks
from viz.stage.form import field
from viz.text.language import counted, message, messages, say
from viz.views.view import MOST_DRAWN, SEEDS, TOP_KS, Chance

SHOWN = 20  # words that have a bar
STEP = 0.05  # of temperature and top-p
TEMPERATURE_HELP = message("Divides the logits: below 1 likely words get likelier, at 0 only the likeliest stays.")
TOP_K_HELP = message("Keeps only the k most probable words (Fan et al. 2018).")
TOP_P_HELP = message("Keeps the fewest top words whose probabilities reach p (Holtzman et al. 2020).")
SEED_HELP = message("The same seed draws the same words.")
WORDS = messages(  # by the names that the browser code uses
    after_text="The next word after “{text}”",
    can_be_drawn="{left} of {total} words can be drawn; the {count} bars hold {share} (model: {own}).",
    go_on="Continue the text",
    again="Draw again",
)


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
        tokens: gives the names of ids.
        never: ids that are not drawn.
        chance: how words are drawn.
        continued: what was drawn after the text.
    """
    order = np.argsort(-logits, kind="stable")
    ordered = logits[order].astype(np.float64)
    own = np.exp(ordered - ordered[0])
    top_ks = [[str(k), counted(k) if k else say("all")] for k in TOP_KS]
    names = tokens(order[:SHOWN].tolist())
    return {
        "logits": logits[order],
        "never": np.flatnonzero(np.isin(order, never)).tolist(),
        "own": (own / own.sum())[:SHOWN].astype(np.float32),
        "names": [labels.visible(name) for name in names],
        "said": labels.hover_texts(names, say),
        "look": looks.next_words(names, say),
        "fields": [
            field("range", "temperature", message("Temperature"), Chance.temperature, say(TEMPERATURE_HELP), **_to(2)),
            field("choice", "top-k", message("Top-k"), str(Chance.top_k), say(TOP_K_HELP), options=top_ks),
            field("range", "top-p", message("Top-p"), Chance.top_p, say(TOP_P_HELP), **_to(1, STEP)),
        ],
        "writing": [
            field("range", "count", message("Words to draw"), Chance.count, **_to(MOST_DRAWN, 1, 1)),
            field("number", "seed", message("Seed"), chance.seed or 0, say(SEED_HELP), low=0, high=SEEDS - 1),
        ],
        "seed": chance.seed,
        "continued": continued,
    }


def _to(high: float, low: float = 0, step: float = STEP) -> dict:
    return {"low": low, "high": high, "step": step, "unit": ""}
