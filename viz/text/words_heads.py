"""The words about heads: measures, kinds and roles."""

from viz.text.language import message, messages, say

# By what `model.measures.atlas` calls them; of cross-attention some are called otherwise.
MEASURES = messages(
    sharpness="role and sharpness",
    entropy="entropy (nats)",
    relative_entropy="entropy / even spread",
    distance="mean distance (tokens)",
    previous="previous token",
    same="same token",
    next="next token",
    first="first token",
    last="last token",
    punctuation="punctuation",
    rare="rarest token",
    log_probability="log-probability without it (nats per word)",
    bleu="BLEU without it",
    gradient="importance by gradient (nats per word)",
    effect="size of the direct effect (logits)",
    agreement="agreement of weights and direct effect",
    norms="agreement of weights and contributions",
    occlusion="agreement of weights and left-out tokens",
    input_gradient="agreement of weights and gradient × input",
    aer_output="alignment error, step that writes",
    aer_input="alignment error, step that reads",
)
CROSS_MEASURES = messages(previous="place before", same="same place", next="place after")
IMPOSSIBLE = {"decoder_self": ("next", "last")}  # what a decoder cannot read
SIGNED = ("sharpness", "log_probability", "bleu", "agreement", "norms", "occlusion", "input_gradient")
LOW_IS_GOOD = ("aer_output", "aer_input")
LOW_FIRST = (*LOW_IS_GOOD, "log_probability", "bleu")  # when a board is sorted: what is missed most
ABOUT = messages(
    sharpness="Orange heads are sharp, blue ones broad. ★ keeps one distance, ⇄ aligns words.",
    log_probability="Blue: the model's own translation gets less probable when this head alone is off.",
    gradient="Estimates the change without this head by one backward pass (Michel et al. 2019).",
    effect="Direct effect on the logit of the written word, against the most probable other word; effects through "
    "later layers do not count.",
    agreement="Kendall's rank correlation of a row of weights with the direct effects of its keys.",
)
SHORT_KINDS = messages(encoder_self="Encoder", decoder_self="Decoder", cross="Cross")
ROLE = message(
    "Positional: the largest weight keeps one distance in at least 90 % of the rows that can, if half of all and at "
    "least 3 can (Voita et al. 2019). Else the place that holds most of the weight, if more than a third. Broad: at "
    "least 80 % of the entropy of an even spread. Rows with one allowed key and rows of zeros are not counted: a "
    "head with no others has no choice, or attends to nothing."
)
# What `model.analysis.head_roles.roles` names, the measures above among it; of a positional head after a prefix.
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


def role(name: str, short: bool = False) -> str:
    """A role of a head, by a name of `model.analysis.head_roles.roles`; short: with a star for a positional head.

    >>> role("positional: 2 before"), role("positional: 2 before", short=True)
    ('positional: 2 before', '★ 2 before')
    """
    place = name.removeprefix(POSITIONAL)
    said = say(ROLE_NAMES.get(place, place))
    if place == name:
        return said
    return f"★ {said}" if short else say("positional: {place}", place=said)


def measure(name: str, kind: str) -> str:
    """What a measure is called, of a kind of attention."""
    return say(CROSS_MEASURES.get(name, MEASURES[name]) if kind == "cross" else MEASURES[name])


def unit(largest: float) -> tuple[float, str]:
    """The power of 1000 that brings the largest number of small cells to 0.1 or more, and a sentence, "" where it is 1.

    >>> unit(0.064)
    (1000.0, 'The numbers in the cells are multiplied by 1,000; point at one for the number itself.')
    """
    factor = 1.0
    while 0 < largest * factor < 0.1 and factor < 1e6:
        factor *= 1000
    if factor == 1:
        return factor, ""
    line = message("The numbers in the cells are multiplied by {factor:,.0f}; point at one for the number itself.")
    return factor, say(line, factor=factor)


def short(number: float, signed: bool) -> str:
    """A number in four characters or so.

    >>> [short(number, True) for number in (-64.2, 0.25, 9.96, 0, -0.001)]
    ['-64', '+0.25', '+10', '0', '0']
    """
    text = f"{number:{'+' if signed else ''}.{2 if abs(number) < 9.95 else 0}f}"
    return "0" if float(text) == 0 else text
