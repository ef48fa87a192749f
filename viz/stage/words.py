"""What the stage says: names of kinds and views, titles of axes, the lines under its pictures."""

from __future__ import annotations

from typing import NamedTuple

from viz.text.language import message, say


class Kind(NamedTuple):
    """A kind of attention: its name on a button, its title, and what its queries and keys are."""

    name: str
    title: str
    query: str
    key: str


KINDS = {
    "cross": Kind(
        message("Cross"), message("Cross-attention"), message("word being written (query)"), message("source (key)")
    ),
    "encoder_self": Kind(
        message("Encoder"), message("Encoder self-attention"), message("source (query)"), message("source (key)")
    ),
    "decoder_self": Kind(
        message("Decoder"),
        message("Masked decoder self-attention"),
        message("word being written (query)"),
        message("word so far (key)"),
    ),
}
TEXT_SELF = Kind(  # of a model that only reads on: what stands for "decoder_self" there
    message("Self"),
    message("Masked self-attention"),
    message("word being written (query)"),
    message("word so far (key)"),
)
WRITTEN_ROLES = {"same token": message("last written word"), "previous token": message("word before the last")}
READ_AXIS = message("word just read (query)")
READS = message("<br>at the step that reads {token}")
WRITES = message("<br>at the step that writes {token}")
SIDES = {"source": message("Source"), "target": message("Translation")}
AS_WAVES = message("{side} as waves")
POSITIONS = message("Added to the embedding of each token: rows are positions, columns are dimensions.")
WAVES = message("Each line is one dimension of the encoding, over the positions of the sentence.")
CANDIDATES = message("The most probable next words at every step. Beam search may choose another one than the first.")
FOLLOWING = message("The most probable next words after every word of the text.")
ADDED = message("Added to the scores before the softmax: 0, and -inf for a word that comes later: its weight is 0.")
BLOCKED = message("{n} of {total} cells are blocked: a word cannot attend to later words.")
EDITED_CELLS = message("{n} of {total} cells are blocked.")
NO_MASK = message("The mask of this kind of attention is not known.")
NOTHING_BLOCKED = message("Nothing is blocked: every query may attend to every key.")

WORDS = {  # by the names that the browser code uses; it fills the places in braces
    "heads": message("Heads"),
    "kinds": message("Kind of attention"),
    "views": message("Picture"),
    "map": message("Map"),
    "mask": message("Mask"),
    "positions": message("Positions"),
    "words": message("Next words"),
    "inside": message("Inside"),
    "computing": message("Computing …"),
    "head": message("{title} · layer {layer} · head {head}"),
    "summary": message("{title} · {layer} · {head}"),
    "tile": message("{title}, layer {layer}, head {head}"),
    "role": message("Role over many sentences: {role}"),
    "entropy": message("Entropy {entropy} nats (mean of its rows)"),
    "largest": message("Largest weight {weight}"),
    "attends": message("“{query}” attends most to “{key}” ({weight})."),
    "attended": message("“{key}” gets the most attention from “{query}” ({weight})."),
    "empty": message("“{query}” attends to nothing here: all its weights are 0."),
    "strongest": message("Heads that link “{query}” most to another word:"),
    "link": message("{layer}.{head} → {key} {weight}"),
    "written": message("“{token}” was written with probability {probability}."),
    "undecided": message("Entropy of this step: {entropy} nats (0: no doubt)."),
    "instead": message("Other candidates: {others}"),
    "hidden": message("{share} of this row is hidden"),
    "below": message("not drawn (below the threshold)"),
    "play": message("Play the decoding step by step"),
    "pause": message("Pause"),
    "step": message("step {step} of {steps}"),
    "slider": message("Step of the decoding"),
    "this head": message("This head"),
    "layer": message("All heads of the layer"),
    "lines": message("Lines between the words"),
    "options": message("Map options"),
    "download": message("Download"),
    "code": message("Python"),
    "table": message("Table"),
    "projector": message("Projector: large type, PageUp and PageDown for steps (p)"),
    "probability": message("probability"),
    "word": message("written word"),
    "copy": message("Copy"),
    "reset": message("Reset"),
    "png": message("Picture (PNG)"),
    "svg": message("Picture (SVG)"),
    "html": message("Web page (HTML)"),
    "csv": message("Numbers (CSV)"),
    "query": message("query"),
    "key": message("key"),
    "weight": message("weight"),
    "source": message("Source tokens"),
    "target": message("Tokens of the translation"),
    "no plotly": message("The drawing library could not be loaded, so the large picture is shown as a table."),
    "loading": message("Loading …"),
    "failed": message("The maps of this kind could not be fetched. Please reload the page."),
    "nothing": message("(the model wrote nothing)"),
    "no attention": message("This model has no attention: it reads the whole sentence through one vector."),
    "off": message("click to hide or show its lines"),
    "pick": message("Tap or click a word to pin its row."),
}

STEERING = {  # more of them, on the page Steer
    "versions": message("Which translation"),
    "before": message("Before"),
    "after": message("After"),
    "difference": message("Difference"),
    "do": message("A click on a head"),
    "open": message("Open"),
    "off": message("Off"),
    "uniform": message("Uniform"),
    "alone": message("Alone"),
    "several": message("Several"),
    "picked": message("chosen"),
    "chosen heads": message("heads {heads}"),
    "instead_of": message("Instead of “{token}”:"),
    "type": message("another word"),
    "keep": message("Keep everything up to here"),
    "is off": message("off"),
    "is uniform": message("uniform"),
    "switch": message("Switch layer {layer}, head {head} off or on"),
    "whole layer": message("Layer {layer}: switch all its heads off or on"),
    "changes": message("Changes"),
    "take back": message("Take back: {change}"),
    "reset all": message("Reset all"),
    "copy link": message("Copy link"),
    "unchanged": message("Nothing is changed yet. Switch a head off, force a cell, edit a mask or write another word."),
    "click force": message("Click a cell to force it."),
    "strength": message("Strength"),
    "in": message("in"),
    "one head": message("this head"),
    "every head": message("all heads"),
    "click cell": message("Click or drag to block or open cells, in every layer and head."),
    "click word": message("Click a word to write it; everything before it is kept."),
    "with options": message("To change single cells, reset the map options first."),
    "importance": message("Importance"),
    "costs": message("Without it the log-probability of the old translation changes by {change} nats"),
    "changed most": message("The largest change is in “{query}” → “{key}” ({weight})."),
    "scale": message("Scale"),
    "shift": message("Shift"),
    "no change": message("Nothing changed in this head."),
    "unmatched": message("this token is not in both translations"),
    "moved": message("Scale and shift the encodings that are added to the embeddings."),
}

READING = {  # in place of the same where there is no source
    "target": message("Tokens of the text"),
    "written": message("“{token}” has probability {probability} here."),
    "instead": message("Other words there: {others}"),
    "play": message("Play step by step"),
    "slider": message("Step"),
    "probability": message("probability of the word that follows"),
    "word": message("word just read"),
}

COMPARING = {  # more of them, on the page Compare, where A stands before and B after
    "versions": message("Tiles"),
    "before": message("A"),
    "after": message("B"),
    "difference": message("Difference"),
    "minus": message("B minus A"),
    "changed most": message("The largest difference is in “{query}” → “{key}” ({weight})."),
    "no change": message("Nothing differs in this head."),
    "unmatched": message("this token has no partner on the other side"),
    "lacks kind": message("{name} has no attention of this kind."),
    "lacks head": message("{name} has no layer {layer}, head {head}."),
    "no difference": message("Only one of them has attention, so there is no difference."),
}


def spoken(kind: str, alone: bool) -> Kind:
    """What a kind is called; `alone`: there is no source."""
    return TEXT_SELF if alone and kind == "decoder_self" else KINDS[kind]


def axes(kind: str, rows: str, alone: bool = False) -> tuple[str, str]:
    """The titles of the rows and of the columns of a kind, where steps are named by the token "predicted" or "read"."""
    own = spoken(kind, alone)
    named = READ_AXIS if rows == "read" and kind != "encoder_self" else own.query
    return say(named), say(own.key)
