"""The plain words of the page Language model."""

from __future__ import annotations

INTRO = (
    "A language model reads a text and says how probable each word is as the next one. Type a beginning, look at the "
    "next word, let the model go on, and see what its heads look at."
)
EXAMPLE = "The game was released in"
NO_MODEL = "There is no language model. To train one (the data first: python -m model download):"
TRAIN = "python -m model train wikitext2-lm --data-dir data --out checkpoints/wikitext2-lm"

UNKNOWN = "{count} of {total} words are not in the model's list of {size:,} and are read as <unk>."
READ = "The model reads: {tokens}"
START = "The end of the line before, <eos>, comes first: so a text may be empty."
UNK_DRAWN = "\\<unk>, the word for all that the list lacks, is never drawn: its probability goes to the others."

OWN = "What the model says: its softmax over all words, the {count} most probable as bars."
DRAWN = "What is drawn from, the same words in the same order: {how}; \\<unk> is left out."
NEXT_AXIS, PROBABILITY = "next word", "probability"
TEMPERATURE = (
    "Scores are divided by it: below 1 the probable becomes more probable, above 1 all words more alike, and 0 leaves "
    "only the most probable."
)
TOP_K = "Only so many of the most probable words stay (Fan et al. 2018)."
TOP_P = "Only the most probable words that it takes to reach this sum of probabilities stay (Holtzman et al. 2020)."
SEED = "The same seed draws the same words."
ALL = "all"
CONTINUED = "Drawn with seed {seed}, word by word from distributions restricted like the one above."

HEADS = "A head of the model at the beginning you typed, recorded before dropout; \\<unk> stands for words it lacks."
MASK = (
    "The causal mask as the matrix of numbers that is added to the scores before the softmax: 0 (blue) where a word "
    "may be read, -inf (orange) where it may not, because it comes later. exp(-inf) is 0, so the weight there is 0. It "
    "is made from the very mask that the model used, the same in every layer and head."
)
MASK_LARGE = " Point at a cell for its number."


def how_drawn(temperature: float, top_k: int, top_p: float) -> str:
    """The settings of a draw, in words."""
    said = [f"temperature {temperature:g}"]
    said.append(f"the {top_k} most probable" if top_k else "all words")
    if top_p < 1:
        said.append(f"the most probable up to {top_p:g} in all")
    return ", ".join(said)
