"""Texts for a model to read: which examples suit it, by what it does."""

from model.adapters.readers.layout import DECODER
from model.storage.checkpoint import available
from viz.text import words
from viz.views import model_shelf
from viz.views.model_shelf import MASK

MASKED = (f"The capital of France is {MASK}.", f"The {MASK} crossed the street because it was tired.")
NAMES = "When Mary and John went to the store, John gave a drink to"
ALL = {*words.EXAMPLES.values(), *words.TEXTS.values()}  # without those that have masks


def examples_of(name: str) -> dict[str, str]:
    """Examples that suit a model, each under what its button says.

    An encoder has words masked if it predicts them; a decoder goes on with beginnings; others read whole sentences.
    """
    if name in model_shelf.SHELF:
        if mask := model_shelf.SHELF.mask(name):
            return {text: text for text in masked(mask)}
        goes_on = model_shelf.SHELF.task(name) in (DECODER, None) and model_shelf.SHELF.predicts_words(name)
        return words.TEXTS if goes_on else words.EXAMPLES
    return words.TEXTS if name in available("language_model") else words.EXAMPLES


def masked(mask: str) -> list[str]:
    """The examples of an encoder with this mask token."""
    return [text.replace(MASK, mask) for text in MASKED]


def is_example(text: str) -> bool:
    """Whether a text is one of the examples, for whatever model."""
    return text in ALL or _is_masked_example(text)


def suited(text: str, name: str) -> str:
    """A text for a model: an example gives way where it has masked words and the model predicts none, or reversed."""
    mask = model_shelf.SHELF.mask(name)
    if not is_example(text) or (text in masked(mask) if mask else not _is_masked_example(text)):
        return text
    return next(iter(examples_of(name).values()))


def _is_masked_example(text: str) -> bool:
    masks = {MASK, *map(model_shelf.SHELF.mask, model_shelf.SHELF.names())} - {""}
    return any(text in masked(mask) for mask in masks)
