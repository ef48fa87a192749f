"""The plain words of the page Positions: the encodings, how their figures are read, and what is done to the model."""

from __future__ import annotations

from dataclasses import dataclass

from viz.language import message, say

INTRO = message(
    "Attention alone does not know the order of words. A positional encoding is added to each token so that it does. "
    "Compare encodings side by side, then change the one of the live model and read what it translates."
)


@dataclass(frozen=True)
class EncodingWords:
    """What the page says about one encoding.

    Attributes:
        name: for lists and headings.
        short: for legends.
        line: one or two sentences.
    """

    name: str
    short: str
    line: str


ENCODINGS = {
    "sinusoidal": EncodingWords(
        message("the paper's formula"),
        message("paper"),
        message(
            "Column 2i is sin(pos / 10000^(2i/d)), column 2i + 1 the cosine of the same (Vaswani et al. 2017, "
            "section 3.5)."
        ),
    ),
    "sinusoidal_concatenated": EncodingWords(
        message("concatenated: sines, then cosines"),
        message("concatenated"),
        message(
            "The same waves with all sines first, then all cosines (tensor2tensor, Marian): only the columns are in "
            "another order."
        ),
    ),
    "literal_loop": EncodingWords(
        message("the literal loop (a slip)"),
        message("literal loop"),
        message(
            "A loop over i = 0, 2, 4 … that uses 2i in the exponent again: frequencies fall twice as fast, and the "
            "sine and the cosine of a pair have different ones. It looks right at a glance."
        ),
    ),
    "none": EncodingWords(message("none"), message("none"), message("Zeros: every position looks the same.")),
    "learned_start": EncodingWords(
        message("learned, before training"),
        message("learned (random)"),
        message(
            "An nn.Embedding as it begins: random numbers (normal, standard deviation 0.02). No model here has one."
        ),
    ),
    "learned": EncodingWords(
        message("learned, on a toy task"),
        message("learned (toy)"),
        message(
            "The same table after training here and now, not in a translator: one attention head that sees nothing "
            "but positions had to look at the place before each. The models of this project have computed positions."
        ),
    ),
}
COMPARED = {"first": "sinusoidal", "second": "literal_loop"}
CHOICES = {"first": message("First encoding"), "second": message("Second encoding")}
TITLES = {"first": message("First: {name}"), "second": message("Second: {name}")}
LEGENDS = {"first": message("first: {name}"), "second": message("second: {name}")}
RESIDUALS = {"first": message("Residual, first"), "second": message("Residual, second")}
COLUMNS = {
    "first": (message("first: sine"), message("first: cosine")),
    "second": (message("second: sine"), message("second: cosine")),
}


def learned(steps: int, loss: float, hits: float) -> str:
    """How the training of the learned table went."""
    return say(
        "Trained here for {steps} steps to a loss of {loss:.3f}; the head then looks at the place before in {hits:.0%} "
        "of the positions.",
        steps=steps - 1,
        loss=loss,
        hits=hits,
    )


HEATMAP = message(
    "Rows are positions, columns are dimensions: the numbers that are added to the token at each position."
)
DIFFERENCE = message("First minus second, cell by cell.")
SAME_WAVES = message(
    "With the columns put in the same order the largest difference is {difference}: the waves are the same."
)
WAVES = message("Each line is one dimension: its value at every position.")
NO_DIMENSIONS = message("Choose at least one dimension to see its wave.")
SIMILARITY = message(
    "The dot product of the encodings of any two positions. Where it depends on their distance only, all diagonals "
    "have one colour."
)
OFFSET = message("The mean dot product of positions that lie so far apart.")
RESIDUAL = message(
    "The residual is the largest distance of any dot product from that mean, in float64: 0, up to rounding, where "
    "similarity is a function of the offset only."
)
WAVELENGTH = message(
    "How many positions a dimension needs for one wave, on a logarithmic axis. In the paper's formula the sine and the "
    "cosine of a pair share one."
)
NO_WAVES = message("Neither encoding has waves: none and learned positions have no wavelength.")

LIVE = message(
    "The encoding of the model is scaled, shifted or switched off while it translates; only you see it. Translations "
    "on this page are greedy."
)
SCALE = message("What the encoding is multiplied with before it is added: 1 is as trained, 0 is off.")
SHIFT = message(
    "Every token seems to stand so many positions later. The paper chose sinusoids so that a shift is a rotation."
)
OFF = message("The same as a scale of 0.")
WHERE = {"both": message("encoder and decoder"), "encoder": message("encoder only"), "decoder": message("decoder only")}
SIDES = {"both": ("encoder", "decoder"), "encoder": ("encoder",), "decoder": ("decoder",)}
NAMED = {  # the values of SIDES
    ("encoder", "decoder"): message("encoder and decoder"),
    ("encoder",): message("encoder"),
    ("decoder",): message("decoder"),
}
SHUFFLE = message("The changed run reads the same words in another order; tokens of a word stay together.")
SHUFFLED = message(
    "Without positions the encoder is order-blind: shuffle its input and its output is shuffled, too, and nothing "
    "else. The number is the largest difference between the output for the shuffled sentence and the shuffled output, "
    "with the encoder's positions off and as trained."
)
ONE_WORD = message("One word, or equal words only, have no other order: type a longer sentence.")
ADDED = message(
    "What was added in the changed run, as recorded: rows are the tokens of the source, columns are dimensions."
)


def what_changed(scale: float, shift: int, where: str, shuffled: bool) -> str:
    """One line on how the changed run differs from the model as trained.

    Args:
        scale, shift: of the encoding.
        where: a key of WHERE.
        shuffled: whether the words are in another order.
    """
    parts = []
    if scale != 1:
        parts.append(say("positions off") if scale == 0 else say("positions × {scale:g}", scale=scale))
    if shift and scale:
        parts.append(say("shifted by {shift}", shift=shift))
    if parts:
        parts.append(say(WHERE[where]))
    if shuffled:
        parts.append(say("words shuffled"))
    return ", ".join(parts) or say("nothing is changed yet: move a control")
