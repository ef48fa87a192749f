"""The words of the page Four systems."""

from dataclasses import dataclass

from model import catalogue
from viz.text import words
from viz.text.language import message, say, say_n

INTRO = message("One sentence through every model of a direction.")
SHOWS = {
    "one": message("One system"),
    "all": message("Side by side"),
    "words": message("Word by word"),
    "lengths": message("Quality by length"),
}
ONE, ALL, WORDS, LENGTHS_OF = SHOWS
SCORE = message(
    "Computing time on this machine, and the translation's log-probability. Models with different tokens cannot be "
    "compared by it."
)
EXAMPLES = {
    "en": words.EXAMPLES,
    "de": {
        message("A short one"): "Ein Mann fährt auf einem Fahrrad die Straße hinunter.",
        message("Two dogs"): "Zwei Hunde spielen mit einem roten Ball im Schnee.",
        message("No caption"): "Das Tier überquerte die Straße nicht, weil es zu müde war.",
        message("A long one"): (
            "An einem sonnigen Tag im Sommer sitzt eine Gruppe junger Leute vor einem alten Gebäude auf dem Gras, und "
            "während einige von ihnen essen und miteinander reden, spielt ein kleines Mädchen in einem roten Kleid mit "
            "einem kleinen braunen Hund, der einen gelben Ball im Maul hat."
        ),
    },
}


@dataclass(frozen=True)
class SystemWords:
    name: str
    line: str  # how a step of it knows of the source
    map: str  # title of what is drawn of it


SYSTEMS = {
    catalogue.TRANSFORMER: SystemWords(
        message("Transformer"),
        message("Every step reads all source tokens, in every layer and head."),
        message("Transformer: cross-attention"),
    ),
    catalogue.GRU_ATTENTION: SystemWords(
        message("GRU with attention"),
        message("Word by word; every step reads the encoder's states (Bahdanau et al. 2015)."),
        message("GRU with attention: additive attention"),
    ),
    catalogue.GRU: SystemWords(
        message("GRU"),
        message("Word by word; every step knows the source only as one vector (Cho et al. 2014)."),
        message("GRU: one vector"),
    ),
}
MISSING = message(
    "Not found for this direction: {systems}. The page offers all models in the folder of checkpoints and needs two "
    "for one direction. To train one (the data first: python -m model download):"
)
PRESETS = {
    ("de", "en"): {
        catalogue.TRANSFORMER: "multi30k-de-en",
        catalogue.GRU_ATTENTION: "multi30k-de-en-gru-attention",
        catalogue.GRU: "multi30k-de-en-gru",
    },
    ("en", "de"): {catalogue.TRANSFORMER: "en-de"},
}
TRAIN = "python -m model train {preset} --data-dir data --out checkpoints/{preset}"
OTHER_DIRECTION = message(
    "python -m model train CONFIG.json --data-dir data --out checkpoints/NAME   # --help: what is in it"
)

ALIGNED = message("One row per place in the translations; beside each word, the source word with the largest weight.")
MAPS = message("Words that belong together share a row in every picture. Subwords are merged into words.")
SAME = message(
    "Columns are the numbers of the source vector that each step read. Largest difference between two words: "
    "{difference}."
)
ROW_AXIS = message("word being written")
ASKS, KEY_AXIS = message("word being written (query)"), message("source (key)")
NUMBER, NUMBER_AXIS = message("number"), message("number of the vector")
MEAN = message("mean")
LAYER = message("Of a Transformer. A model with fewer layers shows its last one.")
HEAD = message(
    "Of a Transformer. The mean of all heads is not a real head; a model with fewer heads shows its last one."
)
NO_MAP = message("the one vector")

LENGTHS = message(
    "Each point is a group of sentences of similar length (x: mean number of words, split at spaces). Measured "
    "once, by the commands below; the signatures say whether case counts."
)
NO_LENGTHS = message(
    "Not measured yet for {names}. The command below measures it and keeps it in the model's card.json; FILE.tsv has "
    "lines of source<TAB>reference, in this direction."
)
MEASURE = "python -m model evaluate --data FILE.tsv --checkpoint {name} --by-length --save-as multi30k/test_2016_flickr"
QUALITIES = {"bleu": "BLEU", "chrf": "chrF"}
# The headings of the table of lengths, as a card names them.
COLUMNS = (message("model"), message("words"), message("shortest"), message("longest"), message("sentences"))
LENGTH_AXIS = message("words of the source")


def direction(languages: catalogue.Direction) -> str:
    return " → ".join(say(words.LANGUAGES.get(code, code)) for code in languages)


def unknown(side: str, count: int) -> str:
    if side == "source":
        return say_n(
            "{n} word is not in its list and read as <unk>.", "{n} words are not in its list and read as <unk>.", count
        )
    return say_n(
        "{n} word is <unk>, which the text leaves out.", "{n} words are <unk>, which the text leaves out.", count
    )
