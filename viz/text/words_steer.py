"""The plain words of the page Steer: what can be changed, and how what comes of it is read."""

from viz.text.language import message

TREE_LINE = message(
    "Row n holds the candidates for the n-th token, the most probable beginning first. A dot was kept, a star ended "
    "there, a cross was pruned; numbers are log-probabilities. Point at a node to see what the step that wrote it "
    "looked at (mean over all cross-attention heads); click one to lock the translation up to it."
)
RESCORE = message(
    "Ranks the finished translations of this search anew: log-probability divided by ((5 + length) / 6) to this power. "
    "The penalty decides nothing before, so this is what a search with it would have chosen."
)
FUTURE = message(
    "This mask opens the future: a step may read a token that is written later. A model that reads a given translation "
    "can then copy what it should predict. While it writes, later tokens do not exist yet and nothing is read there."
)
LESS = message("The old translation is {factor} times less probable.")
MORE = message("The old translation is {factor} times more probable.")
EQUAL = message("The old translation is as probable as before.")
CHANGED = message("Changed: {changes}")
UNCHANGED = message("Without the changes the model writes: {text}")
NOTHING_WRITTEN = message("(nothing)")
