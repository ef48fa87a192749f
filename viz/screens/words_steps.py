"""The words of the page Steps."""

from viz.language import message, say

INTRO = message(
    "The translation comes about word by word: every step reads the word before, looks at the source, and writes the "
    "next word. Play it as a film, or go from step to step with the slider: arrow keys, and the space bar to play and "
    "pause."
)
MEAN = message("The mean over all heads of a layer instead of one head. Perhaps no single head looks like it.")
FORCED = message("The film shows the reference being read: ✓ marks its word where it is among the likeliest.")


def of_map(layer: int, head: int | None) -> str:
    """Which map of a kind is drawn; the head is None for the mean over all heads."""
    if head is None:
        return say("layer {layer}, mean of all heads", layer=layer)
    return say("layer {layer}, head {head}", layer=layer, head=head)


def title(layer: int, encoder_layer: int, head: int | None) -> str:
    """What the film shows, as it stands in a file; the head is None for the mean over all heads."""
    layers = {"layer": layer, "encoder_layer": encoder_layer}
    if head is None:
        return say(
            "The decoding step by step: decoder layer {layer}, encoder layer {encoder_layer}, mean of all heads",
            **layers,
        )
    return say(
        "The decoding step by step: decoder layer {layer}, encoder layer {encoder_layer}, head {head}",
        head=head,
        **layers,
    )


def panels(decoder: str, encoder: str) -> dict[str, tuple[str, str]]:
    """Title and one line of every panel of the film.

    Args:
        decoder: what is drawn of the decoder, such as "layer 2, head 0".
        encoder: what is drawn of the encoder.
    """
    return {
        "decoder": (
            say("Masked decoder self-attention, {map}", map=decoder),
            say("Rows ask, columns are read: one more row at every step, the framed one is this step's."),
        ),
        "encoder": (
            say("Encoder self-attention, {map}", map=encoder),
            say("Computed once, before the first step; the frame marks the source token that this step looks at most."),
        ),
        "cross": (
            say("Cross-attention, {map}", map=decoder),
            say("This step asks (row), the source tokens are read (columns)."),
        ),
        "next": (
            say("What could be written"),
            say("The likeliest next tokens with their probabilities; ✓ was written."),
        ),
        "entropy": (
            say("Entropy of the next token"),
            say("One bar a step: how undecided the model was, over its whole vocabulary, in nats."),
        ),
    }
