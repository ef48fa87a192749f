"""The words of the page Self-check."""

from viz.text.language import message, say

INTRO = message("Does this app draw what the model computed?")
LAST, MINE = "last", "mine"
RUNS = {LAST: message("Last recorded run"), MINE: message("Run on my sentence")}
OVER = message("The worst of {n} held-out sentences ({data}) with the model {model}, recorded by the command below.")
DIGITS = message(
    "32-bit numbers carry about seven digits; two ways of computing the same value differ in the last ones."
)
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
    "“With the mask off” repeats the measurement without the mask that the claim rests on: it shows that the check "
    "can fail."
)
NEXT = message(
    "What a mask does, and what leaks without it, is on the page Masks; other known mistakes are on the page Pitfalls."
)
CLAIMS = {
    "rows": (
        message("Rows sum to 1"),
        message("Adds up the weights of each row, in all maps of all layers and heads."),
    ),
    "softmax": (
        message("Every map is the softmax of its scores"),
        message("Compares the recorded weights with a 64-bit softmax of the recorded scores (scaled and masked)."),
    ),
    "masked": (
        message("Masked cells are 0"),
        message("The weights in all cells that a mask hides, with three pads after source and target: exactly 0."),
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
            "Compares decoding token by token with cached keys and values, and the recorded logits, with one pass "
            "over all tokens."
        ),
    ),
    "cached_maps": (
        message("Cached decoding equals the full pass: maps"),
        message("Compares the attention rows of cached decoding, and the maps drawn, with one pass over all tokens."),
    ),
    "decoded": (
        message("What is recorded is what was decoded"),
        message("Compares the log-probability of each token in the search with the recorded logits."),
    ),
    "positions": (
        message("Positions are those of the formula"),
        message("Compares the positional encodings that were added with the formula in 64 bits."),
    ),
    "effects": (
        message("Direct effects add up to the logits"),
        message(
            "Sums in 64 bits what each part of the decoder adds directly to a written word's logit (less the "
            "vocabulary mean), and compares with that logit."
        ),
    ),
}


def broken(names: list[str]) -> str:
    """Say which claims do not hold, given their names in English."""
    return say(
        "Not every claim holds for this sentence: {claims}. Please report it with the sentence and the model.",
        claims="; ".join(map(say, names)),
    )
