"""The words of the page Check."""

INTRO = (
    "Is what this app draws what the model computed? Every claim below is measured now, on your sentence, and stands "
    "with the largest deviation found. Numbers of 32 bits carry about seven digits, so that two ways to compute the "
    "same differ in the last ones."
)
ALL_HOLD = "All claims hold for this sentence."
COLUMNS = ("Claim", "Holds", "Largest deviation", "Allowed", "Numbers compared", "With the mask off")
HOLDS, BROKEN, NOTHING = "yes", "NO", "nothing to compare"
MASK_OFF = (
    "“With the mask off” is the same measurement while the mask that the claim rests on is off, for that pass only: "
    "it shows that a breach would be noticed."
)
NEXT = (
    "What a mask does, and what leaks without it, is on the page Masks; other known mistakes are on the page Pitfalls."
)
CLAIMS = {
    "rows": ("Rows sum to 1", "The weights of every row of every map, of every layer and head, added up."),
    "softmax": (
        "Every map is the softmax of its scores",
        "The recorded scores, after scaling and mask, through a softmax in 64 bits, against the recorded weights.",
    ),
    "masked": (
        "Masked cells are 0",
        "The weights in all cells that a mask hides, with three pads at the end of the source and of what the decoder "
        "reads, so that every kind of attention has such cells. They must be 0, not nearly 0.",
    ),
    "future": (
        "Nothing sees the future",
        "From every step on, all later tokens are replaced by <unk>: the logits of the steps before must stay.",
    ),
    "padding": (
        "Padding changes nothing",
        "Three pads at both ends, as a longer sentence in the same batch brings them: the logits must stay.",
    ),
    "cached_logits": (
        "Cached decoding equals the full pass: logits",
        "Token by token with kept keys and values, as the search decodes, and what was recorded, against one pass over "
        "all tokens.",
    ),
    "cached_maps": (
        "Cached decoding equals the full pass: maps",
        "The row that each step of cached decoding attends with, and the maps that are drawn, against one pass over "
        "all tokens.",
    ),
    "decoded": (
        "What is recorded is what was decoded",
        "The log-probability of every token when the search wrote it, against the recorded logits.",
    ),
    "positions": (
        "Positions are those of the formula",
        "The positional encodings that were added, against the formula computed in 64 bits.",
    ),
}


def broken(names: list[str]) -> str:
    """Say which claims do not hold."""
    claims = "; ".join(names)
    return f"Not every claim holds for this sentence: {claims}. Please report it with the sentence and the model."
