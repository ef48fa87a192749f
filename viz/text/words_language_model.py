"""The words of the page Language model."""

from viz.text.language import message

EXAMPLE = "The game was released in"
EXAMPLES = (  # in the language of the model
    EXAMPLE,
    "The river flows through the",
    "The first season of the series",
    "The storm moved",
    "She was born in",
)
NO_MODEL = message("No language model found. To train one (the data first: python -m model download):")
TRAIN = "python -m model train wikitext2-lm --data-dir data --out checkpoints/wikitext2-lm"
UNKNOWN = message("{count} of {total} words are not in the model's list of {size:,} and are read as <unk>.")
START = message("<eos>, the end of the line before, comes first. <unk>, any word that the list lacks, is never drawn.")
