"""The words of the page Self-check."""

from viz.text.language import message, say

INTRO = message("Is what this app draws what the model computed?")
LAST, MINE = "last", "mine"
RUNS = {LAST: message("Last recorded run"), MINE: message("Run on my sentence")}
OVER = message("The worst of {n} held-out sentences ({data}) with the model {model}, recorded by the command below.")
DIGITS = message("Numbers of 32 bits carry about seven digits: two ways to compute the same differ in the last ones.")
ALL_HOLD = message("All claims hold.")
COLUMNS = (
    message("Claim"),
    message("Holds"),
    message("Largest deviation"),
    message("Allowed"),
    message("Numbers compared"),
    message("With the mask off"),
)
HOLDS, BROKEN, NOTHING = message("yes"), message("NO"), message("nothing to compare")
MASK_OFF = message(
    "“With the mask off” is the same measurement while the mask that the claim rests on is off, for that pass only: "
    "it shows that a breach would be noticed."
)
NEXT = message(
    "What a mask does, and what leaks without it, is on the page Masks; other known mistakes are on the page Pitfalls."
)
CLAIMS = {
    "rows": (
        message("Rows sum to 1"),
        message("The weights of every row of every map, of every layer and head, added up."),
    ),
    "softmax": (
        message("Every map is the softmax of its scores"),
        message(
            "The recorded scores, after scaling and mask, through a softmax in 64 bits, against the recorded weights."
        ),
    ),
    "masked": (
        message("Masked cells are 0"),
        message(
            "The weights in all cells that a mask hides, with three pads at the end of the source and of what the "
            "decoder reads, so that every kind of attention has such cells. They must be 0, not nearly 0."
        ),
    ),
    "future": (
        message("Nothing sees the future"),
        message(
            "From every step on, all later tokens are replaced by <unk>: the logits of the steps before must stay."
        ),
    ),
    "padding": (
        message("Padding changes nothing"),
        message(
            "Three pads after source and target, as a longer sentence in the same batch adds them: the logits must "
            "stay."
        ),
    ),
    "cached_logits": (
        message("Cached decoding equals the full pass: logits"),
        message(
            "Token by token with kept keys and values, as the search decodes, and what was recorded, against one pass "
            "over all tokens."
        ),
    ),
    "cached_maps": (
        message("Cached decoding equals the full pass: maps"),
        message(
            "The attention row of each step of cached decoding, and the maps drawn, against one pass over all tokens."
        ),
    ),
    "decoded": (
        message("What is recorded is what was decoded"),
        message("The log-probability of every token when the search wrote it, against the recorded logits."),
    ),
    "positions": (
        message("Positions are those of the formula"),
        message("The positional encodings that were added, against the formula computed in 64 bits."),
    ),
    "effects": (
        message("Direct effects add up to the logits"),
        message(
            "What every part of the decoder adds directly to the logit of each written word, less the mean over the "
            "vocabulary, summed in 64 bits, against that logit."
        ),
    ),
}


def broken(names: list[str]) -> str:
    """Say which claims do not hold, given their names in English."""
    return say(
        "Not every claim holds for this sentence: {claims}. Please report it with the sentence and the model.",
        claims="; ".join(map(say, names)),
    )
