"""What a head writes when it looks at a word."""

from viz.text.language import messages

WRITES = messages(
    writes="Writes",
    # The heading; {head} is "head 2.2" or "cross head 2.2".
    writes_words="Where it looks at “{key}”, {head} raises {raised} and lowers {lowered}.",
    writes_most="Of all words here, {head} writes most when it looks at “{key}”: it raises {raised}.",
    writes_encoder=(
        "A head of the encoder writes no words: other layers read what it writes, and only the decoder predicts words. "
        "Its cross-attention has a dictionary."
    ),
    # What stands around the numbers.
    writes_all="all words",
    writes_value="added to the logit with weight 1",
    writes_here="times the weight here",
    writes_bar="{word} {logit:+.3f}<br>times the weight {weight:.3f}: {here:+.3f}",
    writes_from="written from",
    writes_ranks="the words that it raises most",
    writes_line=(
        "Added to each logit if it looked at this word alone, above the mean over the vocabulary, norms held as they "
        "were. Its weight in the row “{query}” is {weight:.2f}: times that, this is its direct effect."
    ),
    writes_all_line="For each word at the step that looks most at it, as if the head looked at nothing else.",
    writes_all_click="Click a row for the words that it lowers, too.",
)
