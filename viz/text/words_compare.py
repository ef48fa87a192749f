"""The words of the page Compare."""

from viz.text import words
from viz.text.language import message, say

SENTENCE, MODEL, SEARCH = "sentence", "model", "search"
VERSUS = {SENTENCE: message("Sentences"), MODEL: message("Models"), SEARCH: message("Searches")}
B_EXAMPLE = "The animal didn't cross the street because it was too wide."
EQUAL = message("Nothing differs: A and B are the same run.")
CHANGE_B = message("Nothing differs yet: change a word of sentence B.")
ONE_MODEL = message(
    "There is only one checkpoint, so both sides use the same model. To train another: python -m model train --help"
)
NO_ORDER = message("Heads of different models do not correspond: head 3 in A is unrelated to head 3 in B.")
LANGUAGES = message("A translates {a}, B {b}: one of them reads a language it was not trained on.")


def two_models(a: tuple[object, object], b: tuple[object, object]) -> str:
    """Say what comparing two models cannot tell, given source and target language of each."""
    if a == b:
        return say(NO_ORDER)
    names = ["-".join(words.language(code, "?") for code in model) for model in (a, b)]
    return say(LANGUAGES, a=names[0], b=names[1])
