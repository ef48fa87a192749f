"""The words of the page Inside a head."""

from __future__ import annotations

from dataclasses import dataclass

from model.experiments.inside import Switches
from viz.language import message, say

INTRO = message(
    "One head and one word that asks, step by step, with the numbers that the model computed for this translation. "
    "Switches show what would follow if one step were done differently."
)
QUERY = message("Position of the word that asks; the arrow keys go from word to word.")
UNSCALED = message("Leaves out the division by √d_head, which keeps softmax away from rows with a single large weight.")
TEMPERATURE = message(
    "The scores are divided by this number before softmax: above 1 the row gets flatter, below 1 more peaked. The "
    "model has 1."
)
UNMASKED = message("Softmax over all keys, also those that the model may not read here.")
DROPOUT = message(
    "In training every weight is set to 0 with a fixed probability and the others are scaled up; in translating "
    "nothing is dropped."
)
NO_DROPOUT = message("This model was built without dropout.")
DRAW = message("Which weights are dropped is a matter of chance: every number is another draw.")
ENTROPY = message("How spread out the row is: 0 nats where one key takes all, ln n where n keys share evenly.")
GRADIENT = message(
    "How strongly the weights answer a small change of what softmax was given: the Frobenius norm of diag(w) − w wᵀ. "
    "It is 0 where one key takes all; the largest possible value is {limit}, where two keys share evenly; n "
    "keys that share evenly give √(n−1)/n."
)
LARGEST = message("The largest weight of the row.")
TOTAL = message("A row adds up to 1 before dropout; after it only on average over many draws.")
ALL = message("all")
STEP = message("Tab leads here, the arrow keys go along, Enter chooses.")
THE_HEAD = message("The recorded map of the whole head; the frame marks the row whose steps are shown.")
RECORDED = message("These are the recorded numbers; products, scaled scores and weighted values follow from them.")
NOTHING_HIDDEN = message("Here the mask hides nothing, so that taking it off changes nothing.")


@dataclass(frozen=True)
class StepWords:
    """What the page says about one step.

    Attributes:
        name: short, for a button and the URL.
        title: of its figures.
        line: what they show.
    """

    name: str
    title: str
    line: str


STEPS = {
    "project": StepWords(
        message("q, k"),
        message("Query and keys"),
        message(
            "One row of numbers for the word that asks, one for each word that can be read: projections of what the "
            "layer knows of each (x of the word that asks, y of those that are read)."
        ),
    ),
    "multiply": StepWords(
        message("products"),
        message("Their products"),
        message("Each key's row, multiplied by the query dimension by dimension."),
    ),
    "add": StepWords(
        message("scores"),
        message("Raw scores"),
        message("The products of each key added up: large where key and query point the same way."),
    ),
    "scale": StepWords(
        message("scaling"), message("Scaled scores"), message("Every score divided by the same number.")
    ),
    "mask": StepWords(
        message("mask"),
        message("Mask"),
        message("Blue keys may be read; orange ones are blocked: they get −∞ (hatched), whatever their score was."),
    ),
    "softmax": StepWords(
        message("softmax"),
        message("Weights"),
        message("Every score to its exponential, divided by the sum of all: the weights add up to 1."),
    ),
    "dropout": StepWords(
        message("dropout"),
        message("Weights after dropout"),
        message("As in training: some weights are 0, the others are scaled up."),
    ),
    "values": StepWords(
        message("values"),
        message("Values and weighted values"),
        message("What each key hands over, and the same times its weight."),
    ),
    "context": StepWords(
        message("context"),
        message("Context"),
        message("The weighted values added up: what this head hands on for the word that asks."),
    ),
}


def formula(step: str, d_head: int, bias: bool, switches: Switches) -> str:
    """The equation of a step in LaTeX; t is the query, j a key, i a dimension.

    Args:
        step: a key of STEPS.
        d_head: K.
        bias: whether the projections have one.
        switches: what is done differently.
    """
    plus = {name: f" + b^{name}" if bias else "" for name in "QKV"}
    parts = [rf"\sqrt{{{d_head}}}"] * switches.scaled + [f"{switches.temperature:g}"] * (switches.temperature != 1)
    divisor = r" \cdot ".join(parts)
    # What softmax and dropout give goes on as the last step called it.
    weight = r"\tilde w_{tj}" if switches.dropout else "w_{tj}"
    keep = f"{1 - switches.dropout:g}"
    return {
        "project": rf"q_t = x_t W^Q{plus['Q']} \qquad k_j = y_j W^K{plus['K']}",
        "multiply": r"p_{ji} = q_{ti}\, k_{ji}",
        "add": r"r_{tj} = \sum_i p_{ji} = q_t \cdot k_j",
        "scale": rf"s_{{tj}} = \frac{{r_{{tj}}}}{{{divisor}}}" if divisor else r"s_{tj} = r_{tj}",
        "mask": say(r"s_{tj} = -\infty \text{ where } j \text{ is blocked}")
        if switches.masked
        else say(r"s_{tj} \text{ stays as it is for every } j"),
        "softmax": r"w_{tj} = \frac{e^{s_{tj}}}{\sum_{j'} e^{s_{tj'}}}",
        "dropout": rf"\tilde w_{{tj}} = \frac{{m_j\, w_{{tj}}}}{{{keep}}} \qquad P(m_j = 1) = {keep}",
        "values": rf"v_j = y_j W^V{plus['V']} \qquad u_j = {weight}\, v_j",
        "context": rf"c_t = \sum_j u_j = \sum_j {weight}\, v_j",
    }[step]


def what_changed(switches: Switches, hidden: bool) -> str:
    """Say what is recomputed because of the switches.

    Args:
        switches: what is done differently.
        hidden: whether the mask blocks a key of this row.
    """
    parts = []
    if not switches.scaled:
        parts.append(say("without the division by √d_head"))
    if switches.temperature != 1:
        parts.append(say("at temperature {temperature:g}", temperature=switches.temperature))
    if not switches.masked and hidden:
        parts.append(say("without the mask"))
    if switches.dropout:
        parts.append(say("with dropout {dropout:g}, draw {draw}", dropout=switches.dropout, draw=switches.draw))
    if parts:
        said = [say("Recomputed from the recorded q, k and v: {changes}.", changes=", ".join(parts))]
    else:
        said = [say(RECORDED)]
    if not switches.masked and not hidden:
        said.append(say(NOTHING_HIDDEN))
    return " ".join(said)
