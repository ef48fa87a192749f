"""What a model says to a text, in one line: what it wrote, its next words, or the words under masks."""

from collections.abc import Iterable

from model.recording import Candidates
from model.translation import Translation
from viz.stage import words
from viz.text.language import say

MOST = 3  # words that an answer names


def answer(result: Translation, next_words: Candidates | None) -> str | None:
    """The line; None of models without an output over words, and of encoders that read no mask.

    Args:
        next_words: what could have been written at each step, where that is known.
    """
    if next_words is not None and not result.source_tokens:
        return _listed(zip(next_words.tokens[-1][:MOST], next_words.probabilities[-1]))
    if result.target_tokens:
        return result.text
    return "; ".join(_listed(found[:MOST]) for found in getattr(result, "masked_words", {}).values()) or None


def _listed(found: Iterable[tuple[str, float]]) -> str:
    """Words and their probabilities."""
    return " · ".join(say("{word} {p:.1%}", word=words.label(word), p=float(p)) for word, p in found)
