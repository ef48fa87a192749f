"""The plain words of the page Heads: what can be done to heads, and how to read what comes of it."""

from __future__ import annotations

INTRO = (
    "Switch heads off and see the translation answer; see what each head adds and not only where it looks, what it "
    "does over many sentences, and which heads look alike. Changes hold for you alone and are kept in the address."
)
KNOCK, ADDS, ROLES = "knock-out", "contribution", "roles"
PARTS = {KNOCK: "Knock out", ADDS: "Contribution", ROLES: "Roles"}

OFF, SOLO, UNIFORM, OPEN = "off", "solo", "uniform", "open"
ACTIONS = {OFF: "switch it off or on", SOLO: "solo", UNIFORM: "make it uniform", OPEN: "only show it"}
ACTION = (
    "Off: the weights of the head become 0. Solo: all other heads of its kind are off; a second time all are on. "
    "Uniform: the head reads everything that its mask allows equally."
)
BOARD = (
    "Rows are layers, columns are heads. Click a cell; what a click does is chosen above. The framed head is drawn "
    "below."
)

NONE, HERE, LOG, BLEU, GRADIENT = "nothing", "this sentence", "log-probability", "BLEU", "gradient"
COLOURS = {
    NONE: "nothing",
    HERE: "this sentence",
    LOG: "held-out: log-probability",
    BLEU: "held-out: BLEU",
    GRADIENT: "held-out: gradient",
}
VALUES = {
    NONE: "no number",
    HERE: "change without it (nats)",
    LOG: "change without it (nats a token)",
    BLEU: "change of BLEU without it",
    GRADIENT: "size of the change, estimated (nats a token)",
}
COLOURED = {
    NONE: "Cells have no colour: choose what they are coloured by, or compute it for this sentence.",
    HERE: "Change of the log-probability of the old translation when this head alone is off: blue, it gets less "
    "probable; orange, more.",
    LOG: "The same over held-out sentences, with their references, for each token.",
    BLEU: "Change of BLEU (greedy) over held-out sentences when this head alone is off: blue, translations get worse. "
    "Over few sentences BLEU moves by a point or more by chance.",
    GRADIENT: "Estimate of the size of the change from one backward pass, without a sign (Michel et al. 2019): the "
    "more orange, the more the head matters.",
}
IMPORTANCE = "Importance of every head"
NO_REPORT = (
    "This checkpoint has no numbers over held-out sentences yet. To make them: python -m model heads --data FILE"
)
SAME = "The translation stays the same."
LEFT_OUT = "The address also holds changes of single cells, made on another page; they are not made here."
FORCED = "The reference is read as before; what changes is how probable the model finds it."
BEFORE_AFTER = (
    "The same tokens are read before and after, so that rows and columns stay what they are. A head that is off is 0 "
    "throughout."
)

WEIGHTS, ROLLOUT = "weights", "rollout"
ADD_VIEWS = {WEIGHTS: "Beside the weights", ROLLOUT: "Through all layers"}
ADDED = (
    "A weight says where a head looks, not how much comes from there. What a key adds is weight × value × output "
    "projection; its length is compared here, as a share of its row (Kobayashi et al. 2020)."
)
SINKS_NONE, SINKS_SPECIAL, SINKS_ALL = "nothing", "special tokens", "special tokens and punctuation"
SINKS = (SINKS_NONE, SINKS_SPECIAL, SINKS_ALL)
SINK = (
    "Heads with nothing to do look at the start, the end or a full stop. Leaving these keys out and scaling the rest "
    "of each row up shows what else is read; how much was removed is said below and beside each row."
)
ROLLED = (
    "Attention followed through all layers, heads averaged, the residual connection counted as much as the attention "
    "(Abnar and Zuidema 2020). Colours end at the largest value."
)
ROLLS = {
    "encoder": "Encoder: how much of each output of the encoder comes from each source token.",
    "source": "Decoder, through the cross-attention: how much of each step comes from each source token.",
    "target": "Decoder: how much of each step comes from the tokens that it had read.",
}

HELD_OUT, SENTENCE = "held-out", "sentence"
SOURCES = {HELD_OUT: "held-out sentences", SENTENCE: "this sentence"}
ROLE = (
    "Positional: the largest weight keeps one distance in at least 90 % of the rows that can (Voita et al. 2019). Else "
    "the place that holds most of the mass, if more than a third. Broad: at least 80 % of the entropy of an even "
    "spread. Rows that can read one key only are not counted."
)
ALIGNS = (
    "⇄ marks heads that align words: on every set of links that was measured, their largest weight finds the source "
    "word of a target word more often than the diagonal does, either at the step that predicts the word (output) or at "
    "the one that reads it (input). Below and on the page Alignment are the error rates, and what the sets are worth."
)
NO_ALIGNMENT = (
    "Which heads align words was not measured for these weights. To do so: python -m model align --data FOLDER --save"
)
NUMBER_NAMES = {
    "entropy": "entropy (nats)",
    "relative_entropy": "entropy / even spread",
    "distance": "mean distance (tokens)",
    "previous": "previous token",
    "same": "same token",
    "next": "next token",
    "first": "first token",
    "last": "last token",
    "punctuation": "punctuation",
}
CROSS_NAMES = {"previous": "place before", "same": "same place", "next": "place after"}
IMPOSSIBLE = {"decoder_self": ("next", "last")}  # what a decoder cannot read
MAP = (
    "Points are heads of one kind; their distances come near the Jensen-Shannon distance of what they read, the mean "
    "over rows. The axes mean nothing by themselves. Click a point to open its head."
)


def unit(largest: float) -> tuple[float, str]:
    """By what numbers are multiplied that shall stand in small cells, and how that is said.

    Args:
        largest: of their sizes.

    Returns:
        A power of 1000 that brings it into the range from 1 to 1000, or near; and a sentence, "" where it is 1.

    Example:
        >>> unit(0.064)
        (1000.0, 'The numbers in the cells are thousandths; point at one for the whole number.')
    """
    factor, names = 1.0, {1.0: "", 1e3: "thousandths", 1e6: "millionths"}
    while 0 < largest * factor < 1 and factor < max(names):
        factor *= 1000
    said = f"The numbers in the cells are {names[factor]}; point at one for the whole number." if names[factor] else ""
    return factor, said


def short(number: float) -> str:
    """A number with its sign in four characters or so.

    Example:
        >>> [short(number) for number in (-64.2, 0.25, 9.96, 0, -0.01)]
        ['-64', '+0.2', '+10', '0', '0']
    """
    text = f"{number:+.1f}" if abs(number) < 9.95 else f"{number:+.0f}"
    return "0" if float(text) == 0 else text
