"""The strong edges of a model as a browser fetches them, which tests a visitor's own idea of a head."""

from typing import Any

import numpy as np

from model.analysis import maps as analysis
from model.measures.corpus.edges import LEVEL_OF_ONE, LINES, NONE
from model.measures.corpus.hypothesis import EdgeTexts
from viz.stage.files import WEB
from viz.stage.payload.head_rows import begins_word
from viz.stage.words import unique_labels
from viz.text import errors
from viz.text.language import messages, say
from viz.views.view import pin_of

NAME = "edges"  # of the file, below the name of the model
WORDS = messages(
    idea="Test an idea",
    query="Query",
    key="Key",
    occurrence="Occurrence",
    key_is="The key is",
    distance_from="Distance from",
    to="to",
    distance_to="Distance to",
    best="Best:",
    name_score="{name} ({x:.2f})",
    precision="precision",
    recall="recall",
    of_all="of all strong edges",
    strong="strong edges",
    percent="{x:.1%}",
    number="{n:,}",
    pairs_there=(
        "{pairs:,} queries in {texts:,} texts have such a key. A strong edge: the largest weight, at least 0.3."
    ),
    no_pair="No pair of tokens in these texts is of that kind.",
    fits="fits",
    elsewhere="looks elsewhere",
    other="does not fit",
    whole="A distance is a whole number such as -1, or nothing.",
)
CHOICES = {
    "forms": messages(
        any="any token",
        words="one of the words",
        expression="a regular expression",
        capital="with a capital",
        punctuation="punctuation",
        special="a special token",
    ),
    "occurrences": messages(any="first or again", first="for the first time", again="again"),
    "relations": messages(any="anywhere", same="the same token", after_same="after the same token", aligned="aligned"),
}
PROBLEMS = WEB / "sheets/makers/atlas/hypothesis.js"  # says what is wrong with an idea


def choices() -> dict[str, dict[str, str]]:
    """What can be chosen, by code, in the language of here."""
    return {name: {code: say(text) for code, text in texts.items()} for name, texts in CHOICES.items()}


def problems() -> dict[str, str]:
    """What browsers say is wrong with an idea, in the language of here, by the English sentence."""
    return errors.said_in([PROBLEMS])


def idea_file(texts: EdgeTexts) -> dict[str, Any]:
    """The edges, and what hypotheses ask of their tokens."""
    edges = texts.edges
    mark = analysis.word_mark(edges.names)
    return {
        "texts": edges.texts,
        "names": [unique_labels([name])[0].removeprefix("Ġ") for name in edges.names],
        "begins": np.array([begins_word(name, mark) for name in edges.names], np.uint8),
        "special": texts.special.astype(np.uint8),
        "punctuation": texts.punctuation.astype(np.uint8),
        "spellings": texts.spellings,
        "lines": {
            name: {
                "ids": line.ids.astype(np.uint16 if len(edges.names) < 2**16 else np.int32),
                "lengths": line.lengths.astype(np.uint16),
                "words": texts.words[name].astype(np.uint16 if len(texts.spellings) < 2**16 else np.int32),
            }
            for name, line in edges.lines.items()
        },
        "kinds": {
            kind: {
                "keys": of_kind.keys,
                "levels": of_kind.levels,
                "together": of_kind.together.astype(np.uint8),
                "layers": of_kind.layers,
                "lines": LINES[kind],
                "pin": pin_of(kind, 1),
            }
            for kind, of_kind in edges.kinds.items()
        },
        "none": NONE,
        "level_of_one": LEVEL_OF_ONE,
    }
