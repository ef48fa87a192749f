"""The words of the page Steps."""

INTRO = (
    "The translation comes about word by word: every step reads the word before, looks at the source, and writes the "
    "next word. Play it as a film, or go from step to step with the slider: arrow keys, and the space bar to play and "
    "pause."
)
MEAN = "The mean over all heads of a layer instead of one head. No single head may look like it."
FORCED = "The film shows the reference being read: ✓ marks its word where it is among the likeliest."


def panels(decoder: str, encoder: str) -> dict[str, tuple[str, str]]:
    """Title and one line of every panel of the film.

    Args:
        decoder: what is drawn of the decoder, such as "layer 2, head 0".
        encoder: what is drawn of the encoder.
    """
    return {
        "decoder": (
            f"Masked decoder self-attention, {decoder}",
            "Rows ask, columns are read: one more row at every step, the framed one is this step's.",
        ),
        "encoder": (
            f"Encoder self-attention, {encoder}",
            "Computed once, before the first step; the frame marks the source token that this step looks at most.",
        ),
        "cross": (f"Cross-attention, {decoder}", "This step asks (row), the source tokens are read (columns)."),
        "next": ("What could be written", "The likeliest next tokens with their probabilities; ✓ was written."),
        "entropy": (
            "Entropy of the next token",
            "One bar a step: how undecided the model was, over its whole vocabulary, in nats.",
        ),
    }
