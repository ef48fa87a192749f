"""The words about heads: measures and roles, contributions, rollouts and alignment."""

from dataclasses import dataclass, replace

from viz.text.language import message, say

INTRO = message(
    "All heads over held-out sentences: colour them by a measure, click one, compare with your own sentence."
)
TO_STEER = message("Switch heads off in this sentence, on the page Steer →")
PARTS = {
    "board": message("All heads"),
    "scatter": message("Two measures"),
    "alike": message("Alike"),
    "contribution": message("Contribution"),
    "rollout": message("Through all layers"),
    "alignment": message("Alignment"),
    "table": message("Table"),
}
BOARD, SCATTER, ALIKE, ADDS, ROLLOUT, ALIGNED, TABLE = PARTS
NO_ATLAS = message("This checkpoint has no atlas yet; only your sentence is measured. To make one: {command}")
NOT_HERE = message("This was not measured in one sentence.")
COMMAND = "python -m model atlas --data FILE.tsv --checkpoint {name}"

SHARPNESS = "sharpness"
# By what `model.measures.atlas` calls them; of cross-attention some are called otherwise.
MEASURES = {
    SHARPNESS: message("role and sharpness"),
    "entropy": message("entropy (nats)"),
    "relative_entropy": message("entropy / even spread"),
    "distance": message("mean distance (tokens)"),
    "previous": message("previous token"),
    "same": message("same token"),
    "next": message("next token"),
    "first": message("first token"),
    "last": message("last token"),
    "punctuation": message("punctuation"),
    "rare": message("rarest token"),
    "log_probability": message("log-probability without it (nats per word)"),
    "bleu": message("BLEU without it"),
    "gradient": message("importance by gradient (nats per word)"),
    "effect": message("size of the direct effect (logits)"),
    "agreement": message("agreement of weights and direct effect"),
    "norms": message("agreement of weights and contributions"),
    "occlusion": message("agreement of weights and left-out tokens"),
    "input_gradient": message("agreement of weights and gradient × input"),
    "aer_output": message("alignment error, step that writes"),
    "aer_input": message("alignment error, step that reads"),
}
CROSS_MEASURES = {"previous": message("place before"), "same": message("same place"), "next": message("place after")}
IMPOSSIBLE = {"decoder_self": ("next", "last")}  # what a decoder cannot read
SIGNED = (SHARPNESS, "log_probability", "bleu", "agreement", "norms", "occlusion", "input_gradient")
LOW_IS_GOOD = ("aer_output", "aer_input")
LOW_FIRST = (*LOW_IS_GOOD, "log_probability", "bleu")  # when a board is sorted: what is missed most
ABOUT = {
    SHARPNESS: message("Orange heads are sharp, blue ones broad. ★ keeps one distance, ⇄ aligns words."),
    "log_probability": message("Blue: the model's own translation gets less probable when this head alone is off."),
    "gradient": message("Estimates the change without this head by one backward pass (Michel et al. 2019)."),
    "effect": message(
        "Direct effect on the logit of the written word, against the most probable other word; effects through "
        "later layers do not count."
    ),
    "agreement": message("Kendall's rank correlation of a row of weights with the direct effects of its keys."),
}
PLACE, BY_PLACE = "place", message("layer and head")  # how a board is sorted, if by no measure
ALL_KINDS = "all"
SHORT_KINDS = {"encoder_self": message("Encoder"), "decoder_self": message("Decoder"), "cross": message("Cross")}
BOARD_KINDS = {ALL_KINDS: message("all"), **SHORT_KINDS}
SOURCES = {
    "held-out": message("held-out sentences"),
    "sentence": message("this sentence"),
    "difference": message("difference"),
}
HELD_OUT, SENTENCE, CHANGE = SOURCES
STRONGEST = message("Strongest in these held-out sentences; each opens on the stage:")
ADDED_TO = message("“{word}” {value:+.1f} logits from “{key}”")
ATTENDS = message("“{word}” attends {value:.2f} to “{key}”")
OPEN_HERE = message("Open this head on the stage →")

ADDED = message(
    "A weight says where a head looks, not how much comes from there. What a key adds is weight × value × output "
    "projection; its length is compared here, as a share of its row (Kobayashi et al. 2020)."
)
SINKS = {
    "nothing": message("nothing"),
    "special": message("special tokens"),
    "punctuation": message("special tokens and punctuation"),
}
SINKS_NONE, SINKS_SPECIAL, SINKS_ALL = SINKS
SINK = message(
    "Heads with nothing to do often attend to the start, the end or a full stop. Leave these keys out and the rest "
    "of each row is scaled up; the amount removed is shown below and beside each row."
)
LEFT_OUT = message(
    "{n} of {total} keys are left out and the rows rescaled: these keys held {weights:.1%} of the weights and "
    "{contributions:.1%} of the contributions."
)
ROLLED = message(
    "Attention followed through all layers, heads averaged, the residual connection counted as much as the attention "
    "(Abnar and Zuidema 2020). Colours end at the largest value."
)
_STEP, _SOURCE, _OUTPUT = message("step (token it read)"), message("source token"), message("output of the encoder")


@dataclass(frozen=True)
class RolledWords:
    name: str
    title: str
    line: str
    query_axis: str
    key_axis: str


ROLLOUTS = {  # by what `model.measures.contribution.rollouts` calls them
    "encoder": RolledWords(
        message("Encoder"),
        message("Attention through all layers: encoder"),
        message("How much of each encoder output comes from each source token."),
        _OUTPUT,
        _SOURCE,
    ),
    "source": RolledWords(
        message("Source"),
        message("Attention through all layers: source"),
        message("How much of each decoder step comes from each source token, through the cross-attention."),
        _STEP,
        _SOURCE,
    ),
    "target": RolledWords(
        message("Target"),
        message("Attention through all layers: target"),
        message("How much of each decoder step comes from the tokens read before it."),
        _STEP,
        message("token so far"),
    ),
}
TO_OUTPUTS = replace(  # the source, where the encoder's maps are missing
    ROLLOUTS["source"],
    line=message(
        "How much of each decoder step comes from each encoder output. Without maps of the encoder, it cannot be "
        "followed back to the source tokens."
    ),
    key_axis=_OUTPUT,
)


ROLE = message(
    "Positional: the largest weight keeps one distance in at least 90 % of the rows that can, if half of all and at "
    "least 3 can (Voita et al. 2019). Else the place that holds most of the weight, if more than a third. Broad: at "
    "least 80 % of the entropy of an even spread. Rows with one allowed key and rows of zeros are not counted: a "
    "head with no others has no choice, or attends to nothing."
)
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
READ_AT = {
    "output": message("At the output: the step that predicts the word"),
    "input": message("At the input: one step later, the step that reads the word"),
}
ALIGNED_FROM = {
    "weights": message("attention weights"),
    "norms": message("contributions, ‖weight · value · output projection‖"),
}
GROUPED = message(
    "Rows are layers, columns are heads; on the right the mean and the maximum of a layer's heads. Brighter is better."
)
ALIGNMENT = message(
    "Every target word is linked to the source word with the largest weight and compared with links made beforehand; 0 "
    "is perfect (error rate of Och and Ney 2003; output and input as in Chen et al. 2020; contributions as in "
    "Kobayashi et al. 2020). Special tokens take no part."
)
NO_LINKS = message("The atlas of this checkpoint was made without word links. With them: {command} --links FOLDER")
LINK_SETS = {  # by name: what their links and their domain mean for the numbers
    "alignment-de-en": message(
        "European Parliament, lowercased, links made by people. Far from the captions and everyday sentences that the "
        "model was trained on: a high error rate says as much about the domain as about the heads."
    ),
    "multi30k/test_2016_flickr": message(
        "Sixty image captions, linked by a language model and not checked: take the error rate as a hint. Both "
        "languages have nearly the same word order: compare with the diagonal."
    ),
}
MAP = message(
    "Points are heads of one kind. Their distances approximate the Jensen-Shannon distance between their rows (mean "
    "over rows); the axes have no meaning of their own. Click a point to open its head."
)
TOO_MANY = message(
    "Comparing all pairs of {n} heads over this many tokens would take too long. Take a shorter text or fewer layers."
)
UNIT = message("The numbers in the cells are multiplied by {factor:,.0f}; point at one for the number itself.")


def head(kind: str, layer: int, head: int) -> str:
    """Say which head a figure is of; `kind` is its title in English.

    >>> head("Cross-attention", 1, 5)
    'Cross-attention, layer 1, head 5'
    """
    return say("{kind}, layer {layer}, head {head}", kind=say(kind), layer=layer, head=head)


def role(name: str) -> str:
    """Say a role of a head, a name of `model.analysis.head_roles.roles`.

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
    name = name.removeprefix(POSITIONAL)
    return say(ROLE_NAMES.get(name, name))


def counted_atlas(report: dict) -> str:
    made_of = {name: report[name] for name in ("sentences", "words", "data")}
    said = [say("{sentences} held-out sentences, {words} words, {data}.", **made_of)]
    if report["bleu"]:
        said.append(say("BLEU {score} on {sentences} of them.", **report["bleu"]))
    return " ".join([*said, report["credit"]])


def measure(name: str, kind: str = "") -> str:
    """What a measure is called, of a kind of attention or of all."""
    return say(CROSS_MEASURES.get(name, MEASURES[name]) if kind == "cross" else MEASURES[name])


def unit(largest: float) -> tuple[float, str]:
    """The power of 1000 that brings the largest number of small cells to 0.1 or more, and a sentence, "" where it is 1.

    >>> unit(0.064)
    (1000.0, 'The numbers in the cells are multiplied by 1,000; point at one for the number itself.')
    """
    factor = 1.0
    while 0 < largest * factor < 0.1 and factor < 1e6:
        factor *= 1000
    return factor, say(UNIT, factor=factor) if factor > 1 else ""


def short(number: float, signed: bool) -> str:
    """A number in four characters or so.

    >>> [short(number, True) for number in (-64.2, 0.25, 9.96, 0, -0.001)]
    ['-64', '+0.25', '+10', '0', '0']
    """
    text = f"{number:{'+' if signed else ''}.{2 if abs(number) < 9.95 else 0}f}"
    return "0" if float(text) == 0 else text


def baselines(best_head: tuple[float, int, int], diagonal: float, best: float) -> str:
    """One line that puts a board's error rates in proportion.

    Args:
        best_head: the smallest, its layer and its head.
        diagonal: of linking each word to the one at the same share of its sentence.
        best: the least possible with one link per target word.
    """
    error, layer, head = best_head
    return say(
        "Best head: layer {layer}, head {head} with {error:.3f}. The diagonal alone: {diagonal:.3f}. The least with "
        "one link per word: {best:.3f}.",
        layer=layer,
        head=head,
        error=error,
        diagonal=diagonal,
        best=best,
    )


def counted(result: dict) -> str:
    """One line on what was counted, of a result of `model.measures.alignment.measure`."""
    numbers = {name: result[name] for name in ("pairs", "links", "words")}
    said = [say("{pairs} pairs, {links} links, {words} target words", **numbers)]
    if result["outside"]:
        said.append(say("links left out that point outside their sentence: {n}", n=result["outside"]))
    if result["too_long"]:
        said.append(say("pairs too long: {n}", n=result["too_long"]))
    return f"{'; '.join(said)}. {say('Links: {made_by}.', made_by=result['made_by'])}"
