"""The plain words of the page Steer: what can be changed, and how what comes of it is read."""

from model.edits import Edits

INTRO = (
    "Change what the model does to this one sentence and see the translation answer: write another word, make "
    "heads look elsewhere, edit a mask. Every change holds for you alone and is kept in the address of the page."
)
WORD, TREE, FORCE, MASK = "word", "tree", "force", "mask"
VIEWS = {WORD: "Another word", TREE: "Search tree", FORCE: "Force attention", MASK: "Edit a mask"}

NOTHING = "Nothing is changed yet: this is the model's own translation. Below it can be steered."
SAME = "With these changes the model still writes the same words."
DIFFERENCE = "Before and after, word by word. Words in the same column belong together."
RESET = "Take every change back"

CANDIDATES = (
    "Rows are the steps, named by the token they wrote, columns the most probable candidates of each step. Click one "
    "to write it: all before it is locked, all after it is translated anew."
)
TREE_LINE = (
    "Row n holds the candidates for the n-th token, the most probable beginning first. A dot was kept, a star ended "
    "there, a cross was pruned; numbers are log-probabilities. Point at a node to see what the step that wrote it "
    "looked at (mean over all cross-attention heads); click one to lock the translation up to it."
)
RESCORE = (
    "Ranks the finished translations of this search anew: log-probability divided by ((5 + length) / 6) to this power. "
    "The penalty decides nothing before, so this is what a search with it would have chosen."
)
FORCE_LINE = (
    "Rows are the steps, named by the token they wrote, columns source tokens. Click a cell: that step then reads "
    "that source token with the chosen strength, and everything from there on is translated anew."
)
STRENGTH = "0 leaves the weights as they are; 1 makes the step read this token alone. Between: (1 − strength) · weight."
ONE, SOME, ALL = "one", "some", "all"
WHERE = {ONE: "the head shown", SOME: "chosen heads", ALL: "all heads"}
MASK_LINE = (
    "Rows ask, columns are read: blue cells may be read, orange ones are blocked. Click a cell to flip it in every "
    "layer and head; the model then runs with exactly this mask."
)
FUTURE = (
    "This mask opens the future: a step may read a token that is written later. A model that reads a given translation "
    "can then copy what it should predict. While it writes, later tokens do not exist yet and nothing is read there."
)
EFFECT = (
    "Loss: the mean negative log-probability, in nats, of a token of the translation that the unchanged model writes, "
    "read from beginning to end (teacher-forced)."
)
FREE_SAME = "Free-running, the model writes the same with the edited masks and without them."
FREE_OTHER = "Free-running, the edited masks change what the model writes. Without them it would write:"
CHANGED, UNCHANGED = "Changed: {}", "Without the changes the model writes: {}"
TEXT_LINE = "The page's changes as they stand in its address. Both fields can be edited; empty ones change nothing."


def step_name(step: int, tokens: list[str]) -> str:
    """A step of the decoder, counted as on the axes, with the token it wrote."""
    return f"{step}: {tokens[step]}"


def changes(n_locked: int, edits: Edits) -> str:
    """Say what is changed."""
    parts = []
    if n_locked:
        parts.append(f"{n_locked} {'token' if n_locked == 1 else 'tokens'} locked at the beginning")
    for items, one, many in (
        (edits.forced, "attention forced", "attentions forced"),
        (edits.cells, "mask cell edited", "mask cells edited"),
        (edits.off, "head off", "heads off"),
        (edits.uniform, "head uniform", "heads uniform"),
    ):
        if items:
            parts.append(f"{len(items)} {one if len(items) == 1 else many}")
    return ", ".join(parts) + "."
