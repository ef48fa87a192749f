"""The plain words of the page Positions: the encodings, how their figures are read, and what is done to the model."""

from __future__ import annotations

from dataclasses import dataclass

INTRO = (
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
        "the paper's formula",
        "paper",
        "Column 2i is sin(pos / 10000^(2i/d)), column 2i + 1 the cosine of the same (Vaswani et al. 2017, "
        "section 3.5).",
    ),
    "sinusoidal_concatenated": EncodingWords(
        "concatenated: sines, then cosines",
        "concatenated",
        "The same waves with all sines first, then all cosines (tensor2tensor, Marian): only the columns are in "
        "another order.",
    ),
    "literal_loop": EncodingWords(
        "the literal loop (a slip)",
        "literal loop",
        "A loop over i = 0, 2, 4 … that uses 2i in the exponent again: frequencies fall twice as fast, and the sine "
        "and the cosine of a pair have different ones. It looks right at a glance.",
    ),
    "none": EncodingWords("none", "none", "Zeros: every position looks the same."),
    "learned_start": EncodingWords(
        "learned, before training",
        "learned (random)",
        "An nn.Embedding as it begins: random numbers (normal, standard deviation 0.02). No model here has one.",
    ),
    "learned": EncodingWords(
        "learned, on a toy task",
        "learned (toy)",
        "The same table after training here and now, not in a translator: one attention head that sees nothing but "
        "positions had to look at the place before each. The models of this project have computed positions.",
    ),
}
COMPARED = {"first": "sinusoidal", "second": "literal_loop"}


def learned(steps: int, loss: float, hits: float) -> str:
    """How the training of the learned table went."""
    return (
        f"Trained here for {steps - 1} steps to a loss of {loss:.3f}; the head then looks at the place before in "
        f"{hits:.0%} of the positions."
    )


HEATMAP = "Rows are positions, columns are dimensions: the numbers that are added to the token at each position."
DIFFERENCE = "First minus second, cell by cell."
SAME_WAVES = "With the columns put in the same order the largest difference is {}: the waves are the same."
WAVES = "Each line is one dimension: its value at every position."
NO_DIMENSIONS = "Choose at least one dimension to see its wave."
SIMILARITY = (
    "The dot product of the encodings of any two positions. Where it depends on their distance only, all diagonals "
    "have one colour."
)
OFFSET = "The mean dot product of positions that lie so far apart."
RESIDUAL = (
    "The residual is the largest distance of any dot product from that mean, in float64: 0, up to rounding, where "
    "similarity is a function of the offset only."
)
WAVELENGTH = (
    "How many positions a dimension needs for one wave, on a logarithmic axis. In the paper's formula the sine and the "
    "cosine of a pair share one."
)
NO_WAVES = "Neither encoding has waves: none and learned positions have no wavelength."

LIVE = (
    "The encoding of the model is scaled, shifted or switched off while it translates; only you see it. Translations "
    "on this page are greedy."
)
SCALE = "What the encoding is multiplied with before it is added: 1 is as trained, 0 is off."
SHIFT = "Every token seems to stand so many positions later. The paper chose sinusoids so that a shift is a rotation."
OFF = "The same as a scale of 0."
WHERE = {"both": "encoder and decoder", "encoder": "encoder only", "decoder": "decoder only"}
SIDES = {"both": ("encoder", "decoder"), "encoder": ("encoder",), "decoder": ("decoder",)}
SHUFFLE = "The changed run reads the same words in another order; tokens of a word stay together."
SHUFFLED = (
    "Without positions the encoder is order-blind: shuffle its input and its output is shuffled, too, and nothing "
    "else. The number is the largest difference between the output for the shuffled sentence and the shuffled output, "
    "with the encoder's positions off and as trained."
)
ONE_WORD = "One word, or equal words only, have no other order: type a longer sentence."
ADDED = "What was added in the changed run, as recorded: rows are the tokens of the source, columns are dimensions."


def what_changed(scale: float, shift: int, where: str, shuffled: bool) -> str:
    """One line on how the changed run differs from the model as trained.

    Args:
        scale, shift: of the encoding.
        where: a key of WHERE.
        shuffled: whether the words are in another order.
    """
    parts = []
    if scale != 1:
        parts.append("positions off" if scale == 0 else f"positions × {scale:g}")
    if shift and scale:
        parts.append(f"shifted by {shift}")
    if parts:
        parts.append(WHERE[where])
    if shuffled:
        parts.append("words shuffled")
    return ", ".join(parts) or "nothing is changed yet: move a control"
