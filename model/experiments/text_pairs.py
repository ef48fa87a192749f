"""Pairs of texts that differ in little and part what a model writes: where does the difference come from?

Each was chosen by patching (`model.running.patching`), on the checkpoints that ship and on SmolLM2-135M. What was found
with them is in docs/teaching.md, and `python -m benchmarks.patching --pairs-only` measures it again.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class TextPair:
    """Two texts for one model: into the pass over the second is put what the pass over the first had.

    Attributes:
        title: what they differ in, in English, to be translated.
        model: the name of the checkpoint that reads them, or "" for any language model.
        clean, corrupted: the texts, A and B of `Translator.patching`.
        answer, against: the words whose logits are compared, each one token; "" for the first that differ.
    """

    title: str
    model: str
    clean: str
    corrupted: str
    answer: str = ""
    against: str = ""


PAIRS = (
    TextPair("Gender: brother or sister", "en-de", "Where is my brother?", "Where is my sister?"),
    TextPair("Gender: man or woman", "en-de", "I saw the man yesterday.", "I saw the woman yesterday."),
    TextPair("Number: dog or dogs", "en-de", "The dog is sleeping.", "The dogs are sleeping."),
    TextPair("Tense: reads or read", "en-de", "She reads a book.", "She read a book."),
    TextPair("Sie or du: sir or Tom", "en-de", "Can I help you, sir?", "Can I help you, Tom?"),
    TextPair("Negation: no book or a book", "en-de", "I have no book.", "I have a book."),
    TextPair("Place of a word: yesterday", "en-de", "Yesterday I saw Tom.", "I saw Tom yesterday."),
    TextPair("Subject and object", "en-de", "The woman loves the man.", "The man loves the woman."),
    TextPair("German sie: she or they", "de-en", "Sie ist müde.", "Sie sind müde."),
    TextPair("German Sie or sie: you or they", "de-en", "Wo wohnen Sie?", "Wo wohnen sie?"),
)
LANGUAGE_MODEL_PAIRS = (
    TextPair(
        "Names swapped",
        "",
        "When Mary and John went to the store, John gave a drink to",
        "When Mary and John went to the store, Mary gave a drink to",
        " Mary",
        " John",
    ),
    TextPair("Capital and country", "", "The capital of France is", "The capital of Italy is", " Paris", " Rome"),
    TextPair(
        "A fact: fruit or flower",
        "",
        "Gold is a metal. An apple is a",
        "Gold is a metal. A rose is a",
        " fruit",
        " flower",
    ),
    TextPair("Number: keys or key", "", "The keys on the table", "The key on the table", " are", " is"),
)
