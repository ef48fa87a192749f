"""The plain words of the page Heads: what can be done to heads, and how to read what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from viz.text.language import message, say

INTRO = message("What each head does over many sentences, what it adds to a translation, and which heads look alike.")
TO_STEER = message("Switch heads off in this sentence, on the page Steer →")
ROLES, ADDS, WORTH = "roles", "contribution", "importance"
PARTS = {ROLES: message("Roles"), ADDS: message("Contribution"), WORTH: message("Importance")}

LOG, BLEU, GRADIENT = "log-probability", "bleu", "gradient"
NUMBERS = {LOG: "log_probability", BLEU: "bleu", GRADIENT: "gradient"}  # what a report calls them
COLOURS = {
    LOG: message("held-out: log-probability"),
    BLEU: message("held-out: BLEU"),
    GRADIENT: message("held-out: gradient"),
}
VALUES = {
    LOG: message("change without it (nats per token)"),
    BLEU: message("change of BLEU without it"),
    GRADIENT: message("size of the change, estimated (nats per token)"),
}
COLOURED = {
    LOG: message(
        "Change of the log-probability of the reference, per token, when this head alone is off: blue, it gets less "
        "probable; orange, more."
    ),
    BLEU: message(
        "Change of BLEU (greedy) over held-out sentences when this head alone is off: blue, translations get worse. "
        "Over few sentences BLEU moves by a point or more by chance."
    ),
    GRADIENT: message(
        "Estimate of the size of the change from one backward pass, without a sign (Michel et al. 2019): the "
        "more orange, the more the head matters."
    ),
}
NO_REPORT = message(
    "This checkpoint has no numbers over held-out sentences yet. To make them: python -m model heads --data FILE"
)

WEIGHTS, ROLLOUT = "weights", "rollout"
ADD_VIEWS = {WEIGHTS: message("Beside the weights"), ROLLOUT: message("Through all layers")}
ADDED = message(
    "A weight says where a head looks, not how much comes from there. What a key adds is weight × value × output "
    "projection; its length is compared here, as a share of its row (Kobayashi et al. 2020)."
)
SINKS_NONE, SINKS_SPECIAL, SINKS_ALL = "nothing", "special", "punctuation"
SINKS = {
    SINKS_NONE: message("nothing"),
    SINKS_SPECIAL: message("special tokens"),
    SINKS_ALL: message("special tokens and punctuation"),
}
SINK = message(
    "Heads with nothing to do look at the start, the end or a full stop. Leaving these keys out and scaling the rest "
    "of each row up shows what else is read; how much was removed is said below and beside each row."
)
ROLLED = message(
    "Attention followed through all layers, heads averaged, the residual connection counted as much as the attention "
    "(Abnar and Zuidema 2020). Colours end at the largest value."
)
_STEP, _SOURCE, _OUTPUT = message("step (token it read)"), message("source token"), message("output of the encoder")


@dataclass(frozen=True)
class RolledWords:
    """How a rollout is spoken of, in English: short name, title, how to read it, and its axes."""

    name: str
    title: str
    line: str
    query_axis: str
    key_axis: str


ROLLOUTS = {  # by what `model.measures.contribution.rollouts` calls them
    "encoder": RolledWords(
        name=message("Encoder"),
        title=message("Attention through all layers: encoder"),
        line=message("Encoder: how much of each output of the encoder comes from each source token."),
        query_axis=_OUTPUT,
        key_axis=_SOURCE,
    ),
    "source": RolledWords(
        name=message("Source"),
        title=message("Attention through all layers: source"),
        line=message("Decoder, through the cross-attention: how much of each step comes from each source token."),
        query_axis=_STEP,
        key_axis=_SOURCE,
    ),
    "target": RolledWords(
        name=message("Target"),
        title=message("Attention through all layers: target"),
        line=message("Decoder: how much of each step comes from the tokens that it had read."),
        query_axis=_STEP,
        key_axis=message("token so far"),
    ),
}
TO_OUTPUTS = replace(  # the source, where the encoder's maps are missing
    ROLLOUTS["source"],
    line=message(
        "Decoder, through the cross-attention: how much of each step comes from each output of the encoder. The maps "
        "of the encoder, which would lead on to its tokens, are not there."
    ),
    key_axis=_OUTPUT,
)


HELD_OUT, SENTENCE = "held-out", "sentence"
SOURCES = {HELD_OUT: message("held-out sentences"), SENTENCE: message("this sentence")}
ROLE = message(
    "Positional: the largest weight keeps one distance in at least 90 % of the rows that can, if half of all and at "
    "least 3 can (Voita et al. 2019). Else the place that holds most of the mass, if more than a third. Broad: at "
    "least 80 % of the entropy of an even spread. Rows that can read one key only, and rows of zeros, are not "
    "counted: a head without any other has no choice, or reads nothing."
)
SHARP = message(
    "Orange heads are sharp, blue ones broad (one half minus entropy / even spread). ★ marks a positional head."
)
ALIGNS = message(
    "⇄ marks heads that align words: on every set of links that was measured, their largest weight finds the source "
    "word of a target word more often than the diagonal does, either at the step that predicts the word (output) or at "
    "the one that reads it (input). Below and on the page Alignment are the error rates, and what the sets are worth."
)
NO_ALIGNMENT = message(
    "Which heads align words was not measured for these weights. To do so: python -m model align --data FOLDER --save"
)
NUMBER_NAMES = {
    "entropy": message("entropy (nats)"),
    "relative_entropy": message("entropy / even spread"),
    "distance": message("mean distance (tokens)"),
    "previous": message("previous token"),
    "same": message("same token"),
    "next": message("next token"),
    "first": message("first token"),
    "last": message("last token"),
    "punctuation": message("punctuation"),
}
CROSS_NAMES = {"previous": message("place before"), "same": message("same place"), "next": message("place after")}
# What `model.analysis.head_roles.roles` names, the texts above among it; of a positional head after a prefix.
POSITIONAL = "positional: "
ROLE_NAMES = {
    "broad": message("broad"),
    "nothing": message("nothing"),
    "no choice": message("no choice"),
    "mixed": message("mixed"),
    "2 before": message("2 before"),
    "3 before": message("3 before"),
    "2 after": message("2 after"),
    "3 after": message("3 after"),
}
ALIGNS_AT = {"output": message("⇄ output"), "input": message("⇄ input"), "": ""}
ALIGNED_AT = {
    "output": message("yes, read at the output"),
    "input": message("yes, read at the input"),
    "": message("no"),
}
IMPOSSIBLE = {"decoder_self": ("next", "last")}  # what a decoder cannot read
MAP = message(
    "Points are heads of one kind; their distances come near the Jensen-Shannon distance of what they read, the mean "
    "over rows. The axes mean nothing by themselves. Click a point to open its head."
)
TOO_MANY = message(
    "Every head is compared with every other one for this; with {n} heads over so many tokens that would take too "
    "long. A shorter text, or fewer layers, can be compared."
)
UNITS = {
    1.0: "",
    1e3: message("The numbers in the cells are thousandths; point at one for the whole number."),
    1e6: message("The numbers in the cells are millionths; point at one for the whole number."),
}


def head(kind: str, layer: int, head: int) -> str:
    """Say which head a figure is of.

    Args:
        kind: title of the kind of attention, in English.
        layer, head: its numbers.

    Example:
        >>> head("Cross-attention", 1, 5)
        'Cross-attention, layer 1, head 5'
    """
    return say("{kind}, layer {layer}, head {head}", kind=say(kind), layer=layer, head=head)


def role(name: str) -> str:
    """Say a role of a head, a name of `model.analysis.head_roles.roles`.

    Example:
        >>> role("positional: 2 before")
        'positional: 2 before'
    """
    if name.startswith(POSITIONAL):
        return say("positional: {place}", place=_place(name))
    return _place(name)


def short_role(name: str) -> str:
    """As `role`, with a star for a positional head."""
    return f"★ {_place(name)}" if name.startswith(POSITIONAL) else _place(name)


def _place(name: str) -> str:
    """Say where a head of a role looks."""
    name = name.removeprefix(POSITIONAL)
    return say(ROLE_NAMES.get(name, name))


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
    factor = 1.0
    while 0 < largest * factor < 1 and factor < max(UNITS):
        factor *= 1000
    return factor, say(UNITS[factor])


def short(number: float) -> str:
    """A number with its sign in four characters or so.

    Example:
        >>> [short(number) for number in (-64.2, 0.25, 9.96, 0, -0.01)]
        ['-64', '+0.2', '+10', '0', '0']
    """
    text = f"{number:+.1f}" if abs(number) < 9.95 else f"{number:+.0f}"
    return "0" if float(text) == 0 else text
