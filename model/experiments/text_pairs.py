"""Pairs of texts that differ in one thing, to find by activation patching what part of a model carries it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TextPair:
    """Two texts that a model answers differently because of one word.

    Attributes:
        title: what differs, in English.
        model: name of the checkpoint, or of the model of transformers, that reads both.
        clean, corrupted: the texts; what a pass over the first had is put into a pass over the second.
        answer, against: the words whose logits are compared, as for `Translator.patching`; "" for the first that
            differ in what both write.
    """

    title: str
    model: str
    clean: str
    corrupted: str
    answer: str = ""
    against: str = ""


PAIRS = (
    TextPair("Gender: brother, sister", "en-de", "Where is my brother?", "Where is my sister?"),
    TextPair("Number: book, books", "en-de", "The book is on the table.", "The books are on the table."),
)
