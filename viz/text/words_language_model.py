"""The plain words of the page Language model."""

from __future__ import annotations

from viz.text.language import message, say

INTRO = message(
    "A language model reads a text and says how probable each word is as the next one. Type a beginning, look at the "
    "next word, let the model go on, and see what its heads look at."
)
EXAMPLE = "The game was released in"
NO_MODEL = message("There is no language model. To train one (the data first: python -m model download):")
TRAIN = "python -m model train wikitext2-lm --data-dir data --out checkpoints/wikitext2-lm"

UNKNOWN = message("{count} of {total} words are not in the model's list of {size:,} and are read as <unk>.")
READ = message("The model reads: {tokens}")
START = message("The end of the line before, <eos>, comes first: so a text may be empty.")
UNK_DRAWN = message(
    "\\<unk>, the word for all that the list lacks, is never drawn: its probability goes to the others."
)

OWN = message("What the model says: its softmax over all words, the {count} most probable as bars.")
DRAWN = message("What is drawn from, the same words in the same order: {how}; \\<unk> is left out.")
NEXT_AXIS, PROBABILITY = message("next word"), message("probability")
TITLES = {"own": message("As the model says"), "drawn": message("As it is drawn")}
FIGURES = {
    "own": message("The next word: as the model says"),
    "drawn": message("The next word: as it is drawn"),
}
CHANCES = {
    "own": message("Words with a chance, as the model says"),
    "drawn": message("Words with a chance, as it is drawn"),
}
SUMS = {
    "own": message("Probability of these {count}, as the model says"),
    "drawn": message("Probability of these {count}, as it is drawn"),
}
TEMPERATURE = message(
    "Scores are divided by it: below 1 the probable becomes more probable, above 1 all words more alike, and 0 leaves "
    "only the most probable."
)
TOP_K = message("Only so many of the most probable words stay (Fan et al. 2018).")
TOP_P = message(
    "Only the most probable words that it takes to reach this sum of probabilities stay (Holtzman et al. 2020)."
)
SEED = message("The same seed draws the same words.")
ALL = message("all")
CONTINUED = message("Drawn with seed {seed}, word by word from distributions restricted like the one above.")

HEADS = message(
    "A head of the model at the beginning you typed, recorded before dropout; \\<unk> stands for words it lacks."
)
MASK = message(
    "The causal mask as the matrix of numbers that is added to the scores before the softmax: 0 (blue) where a word "
    "may be read, -inf (orange) where it may not, because it comes later. exp(-inf) is 0, so the weight there is 0. It "
    "is made from the very mask that the model used, the same in every layer and head."
)
MASK_LARGE = message("Point at a cell for its number.")


def how_drawn(temperature: float, top_k: int, top_p: float) -> str:
    """The settings of a draw, in words."""
    said = [say("temperature {temperature:g}", temperature=temperature)]
    said.append(say("the {count} most probable", count=top_k) if top_k else say("all words"))
    if top_p < 1:
        said.append(say("the most probable up to {share:g} in all", share=top_p))
    return ", ".join(said)
