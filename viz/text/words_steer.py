"""The words of the page Steer."""

from viz.text.language import message

TREE_LINE = message(
    "Row n holds the candidates for the n-th token, the most probable beginning first. Dot: kept; star: finished; "
    "cross: pruned; numbers are log-probabilities. Point at a node to see what its step attended to (mean of all "
    "cross-attention heads); click one to lock the translation up to it."
)
RESCORE = message(
    "Ranks the finished translations again: log-probability divided by ((5 + length) / 6) to this power, as a search "
    "does at its end."
)
FUTURE = message(
    "This mask opens the future: a step may attend to later tokens. With teacher forcing a model can then copy what "
    "it should predict. While it writes, later tokens do not exist yet, so nothing changes."
)
LESS = message("The old translation is {factor} times less probable.")
MORE = message("The old translation is {factor} times more probable.")
EQUAL = message("The old translation is as probable as before.")
CHANGED = message("Changed: {changes}")
MOVED = message("Scale and shift the encodings that are added to the embeddings.")
UNCHANGED = message("Without the changes the model writes: {text}")
NOTHING_WRITTEN = message("(nothing)")
