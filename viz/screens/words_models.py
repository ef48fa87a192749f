"""The plain words of the page Models: the systems, how their maps are read, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass

from model import comparison
from viz.screens import words

INTRO = (
    "One sentence through every model of the same direction. A Transformer and a recurrent network with attention read "
    "the source again for each word they write; a recurrent network without attention has one vector for all of it."
)
EXAMPLES = {
    "en": words.EXAMPLES,
    "de": {
        "A short one": "Ein Mann fährt auf einem Fahrrad die Straße hinunter.",
        "Two dogs": "Zwei Hunde spielen mit einem roten Ball im Schnee.",
        "No caption": "Das Tier überquerte die Straße nicht, weil es zu müde war.",
        "A long one": "An einem sonnigen Tag im Sommer sitzt eine Gruppe junger Leute vor einem alten Gebäude auf dem "
        "Gras, und während einige von ihnen essen und miteinander reden, spielt ein kleines Mädchen in einem roten "
        "Kleid mit einem kleinen braunen Hund, der einen gelben Ball im Maul hat.",
    },
}


@dataclass(frozen=True)
class SystemWords:
    """What the page says about one system.

    Attributes:
        name: short.
        line: one sentence on how a step of it knows of the source.
        map: title of what is drawn of it.
    """

    name: str
    line: str
    map: str


SYSTEMS = {
    comparison.TRANSFORMER: SystemWords(
        "Transformer",
        "Every step reads all source tokens, in every layer and head.",
        "Cross-attention",
    ),
    comparison.GRU_ATTENTION: SystemWords(
        "GRU with attention",
        "Word by word; every step reads the encoder's states (Bahdanau et al. 2015).",
        "Additive attention",
    ),
    comparison.GRU: SystemWords(
        "GRU",
        "Word by word; all that a step knows of the source is one vector (Cho et al. 2014).",
        "One vector",
    ),
}
MISSING = (
    "Not here for this direction: {systems}. Two or more models of one direction can be compared; any that lies in the "
    "folder of checkpoints joins by itself. To train one (the data first: python -m model download):"
)
PRESETS = {
    ("de", "en"): {
        comparison.TRANSFORMER: "multi30k-de-en",
        comparison.GRU_ATTENTION: "multi30k-de-en-gru-attention",
        comparison.GRU: "multi30k-de-en-gru",
    },
    ("en", "de"): {comparison.TRANSFORMER: "en-de"},
}
TRAIN = "python -m model train {preset} --data-dir data --out checkpoints/{preset}"
OTHER_DIRECTION = "python -m model train CONFIG.json --data-dir data --out checkpoints/NAME   # --help: what is in it"

ALIGNED = (
    "A row is a place in the translations, each laid beside the first by the fewest changes. Beside a word stands the "
    "source word that its step read most, and the weight; a model without attention reads no single word."
)
MAPS = (
    "Rows are the words that were written and ask, in the same row of every picture where they belong together; "
    "columns are the source words, which are read. Subwords are merged: to a word the sum, from a word the mean. A "
    "step is named by what it wrote."
)
ONE_VECTOR = "No map: the same {size} numbers for every word."
SAME = "Columns are the numbers that each step read of the source. Largest difference between two words: {}."
ROW_AXIS = "word this step wrote"
ASKS, KEY_AXIS = f"{ROW_AXIS} (asks)", "source word (is read)"
MEAN = "mean"
LAYER = "Of a Transformer. A model with fewer layers shows its last one."
HEAD = "Of a Transformer. The mean of all heads is no head; a model with fewer heads shows its last one."
NO_WORD, NO_MAP = "", "the one vector"

LENGTHS = (
    "Each point is a group of sentences with about as many words (x: their mean number; a word is what stands between "
    "spaces). Measured once, by the commands below; whether upper and lower case count is in the signatures."
)
NO_LENGTHS = (
    "Not measured yet for {names}. The command below measures it and keeps it in the model's card.json; FILE.tsv has "
    "lines of source<TAB>reference, in this direction."
)
MEASURE = "python -m model evaluate --data FILE.tsv --checkpoint {name} --by-length --save-as multi30k/test_2016_flickr"
QUALITIES = {"bleu": "BLEU", "chrf": "chrF"}


def direction(languages: comparison.Direction) -> str:
    """The name of a direction."""
    return " → ".join(words.language(code, code) for code in languages)


def unknown(side: str, count: int) -> str:
    """Say that words of a side are not in a model's list."""
    what = "1 word is" if count == 1 else f"{count} words are"
    if side == "source":
        return f"{what} not in its list and read as <unk>."
    return f"{what} <unk>, which the text leaves out."
