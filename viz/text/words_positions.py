"""The words of the page Positions."""

from dataclasses import dataclass

from viz.text.language import message, say

INTRO = message(
    "Without a causal mask attention does not know word order (with one a model can learn it, Haviv et al. 2022), so "
    "every token gets a positional encoding."
)
VIEWS = {
    "encoding": message("Encoding"),
    "difference": message("Two compared"),
    "similarity": message("Similarity"),
    "wavelengths": message("Wavelengths"),
    "order": message("Word order"),
}


@dataclass(frozen=True)
class EncodingWords:
    name: str
    short: str  # for legends
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
            "The same waves with all sines first, then all cosines, as in the MarianMT of transformers. "
            "(tensor2tensor and Marian also divide by d/2 − 1 instead of d/2, which changes the wavelengths.)"
        ),
    ),
    "literal_loop": EncodingWords(
        message("the literal loop (a common slip)"),
        message("literal loop"),
        message(
            "A loop over i = 0, 2, 4 … that uses 2i in the exponent again: frequencies fall twice as fast, and the "
            "sine and the cosine of a pair differ."
        ),
    ),
    "none": EncodingWords(message("none"), message("none"), message("Zeros: every position looks the same.")),
    "learned_start": EncodingWords(
        message("learned, before training"),
        message("learned (random)"),
        message(
            "Random numbers before training (normal, standard deviation 0.02 as in BERT and GPT-2; nn.Embedding "
            "itself starts with 1)."
        ),
    ),
    "learned": EncodingWords(
        message("learned, on a toy task"),
        message("learned (toy)"),
        message(
            "The same table after training here, on a toy task: one attention head that sees only positions learned "
            "to attend to the previous one."
        ),
    ),
}
COMPARED = {"first": "sinusoidal", "second": "literal_loop"}
CHOICES = {"first": message("First encoding"), "second": message("Second encoding")}
TITLES = {"first": message("First: {name}"), "second": message("Second: {name}")}
LEGENDS = {"first": message("first: {name}"), "second": message("second: {name}")}
THE_RESIDUAL, COLUMNS = message("residual"), (message("sine"), message("cosine"))


def learned(steps: int, loss: float, hits: float) -> str:
    return say(
        "Trained here for {steps} steps to a loss of {loss:.3f}; the head then attends most to the previous position "
        "in {hits:.0%} of the rows.",
        steps=steps - 1,
        loss=loss,
        hits=hits,
    )


TABLE = message("Row = position, column = dimension. Click a column to see its wave.")
DIFFERENCE = message("First minus second, cell by cell: at most {difference}.")
SAME_WAVES = message("With columns in the same order they differ by at most {difference}: the waves are the same.")
NO_DIMENSIONS = message("Choose at least one dimension to see its wave.")
SIMILARITY = message(
    "Dot products of all pairs of positions; below, their mean by distance. If only distance matters, each diagonal "
    "has one colour."
)
RESIDUAL = message("The residual is the largest deviation from that mean, in float64.")
WAVELENGTH = message("Wavelength in positions. In the paper's formula a sine and its cosine share one.")
NO_WAVES = message("Neither encoding has waves: none and learned positions have no wavelength.")

LIVE = message("In the model, on Steer:")
ON_STEER = {
    message("positions off"): {"scale": "0"},
    message("off in the encoder"): {"scale": "0", "stacks": "encoder"},
    message("half as strong"): {"scale": "0.5"},
    message("shifted by 20"): {"shift": "20"},
}
SHUFFLE = message("The same words in another order; tokens of a word stay together.")
TRAINED = message("Off: the encoder has no positions.")
SAME = message("Both orders give the same translation.")
OTHER = message("The two orders give different translations.")
SHUFFLED = message(
    "Without positions the encoder is order-blind: shuffled input gives shuffled output. The numbers are the "
    "largest difference between the two."
)
ONE_WORD = message("This sentence has no other order: type one with two different words or more.")
