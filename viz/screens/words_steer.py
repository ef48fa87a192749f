"""The plain words of the page Steer: what can be changed, and how what comes of it is read."""

from model.interventions.edits import Edits
from viz.language import message, say

INTRO = message(
    "Change what the model does to this one sentence and see the translation answer: write another word, make "
    "heads look elsewhere, edit a mask. Every change holds for you alone and is kept in the address of the page."
)
WORD, TREE, FORCE, MASK = "word", "tree", "force", "mask"
VIEWS = {
    WORD: message("Another word"),
    TREE: message("Search tree"),
    FORCE: message("Force attention"),
    MASK: message("Edit a mask"),
}

NOTHING = message("Nothing is changed yet: this is the model's own translation. Below it can be steered.")
SAME = message("With these changes the model still writes the same words.")
DIFFERENCE = message("Before and after, word by word. Words in the same column belong together.")
RESET = message("Take every change back")

CANDIDATES = message(
    "Rows are the steps, named by the token they wrote, columns the most probable candidates of each step. Click one "
    "to write it: all before it is locked, all after it is translated anew."
)
TREE_LINE = message(
    "Row n holds the candidates for the n-th token, the most probable beginning first. A dot was kept, a star ended "
    "there, a cross was pruned; numbers are log-probabilities. Point at a node to see what the step that wrote it "
    "looked at (mean over all cross-attention heads); click one to lock the translation up to it."
)
RESCORE = message(
    "Ranks the finished translations of this search anew: log-probability divided by ((5 + length) / 6) to this power. "
    "The penalty decides nothing before, so this is what a search with it would have chosen."
)
FORCE_LINE = message(
    "Rows are the steps, named by the token they wrote, columns source tokens. Click a cell: that step then reads "
    "that source token with the chosen strength, and everything from there on is translated anew."
)
STRENGTH = message(
    "0 leaves the weights as they are; 1 makes the step read this token alone. Between: (1 − strength) · weight."
)
ONE, SOME, ALL = "one", "some", "all"
WHERE = {ONE: message("the head shown"), SOME: message("chosen heads"), ALL: message("all heads")}
MASK_LINE = message(
    "Rows ask, columns are read: blue cells may be read, orange ones are blocked. Click a cell to flip it in every "
    "layer and head; the model then runs with exactly this mask."
)
FUTURE = message(
    "This mask opens the future: a step may read a token that is written later. A model that reads a given translation "
    "can then copy what it should predict. While it writes, later tokens do not exist yet and nothing is read there."
)
EFFECT = message(
    "Loss: the mean negative log-probability, in nats, of a token of the translation that the unchanged model writes, "
    "read from beginning to end (teacher-forced)."
)
FREE_SAME = message("Free-running, the model writes the same with the edited masks and without them.")
FREE_OTHER = message("Free-running, the edited masks change what the model writes. Without them it would write:")
CHANGED = message("Changed: {changes}")
UNCHANGED = message("Without the changes the model writes: {text}")
NOTHING_WRITTEN = message("(nothing)")
TEXT_LINE = message(
    "The page's changes as they stand in its address. Both fields can be edited; empty ones change nothing."
)


def step_name(step: int, tokens: list[str]) -> str:
    """A step of the decoder, counted as on the axes, with the token it wrote."""
    return f"{step}: {tokens[step]}"


LOCKED = (message("{n} token locked at the beginning"), message("{n} tokens locked at the beginning"))
FORCED = (message("{n} attention forced"), message("{n} attentions forced"))
CELLS = (message("{n} mask cell edited"), message("{n} mask cells edited"))
OFF = (message("{n} head off"), message("{n} heads off"))
UNIFORM = (message("{n} head uniform"), message("{n} heads uniform"))


def changes(n_locked: int, edits: Edits) -> str:
    """Say what is changed."""
    counts = {
        LOCKED: n_locked,
        FORCED: len(edits.forced),
        CELLS: len(edits.cells),
        OFF: len(edits.off),
        UNIFORM: len(edits.uniform),
    }
    return ", ".join(say(one if n == 1 else many, n=n) for (one, many), n in counts.items() if n) + "."
