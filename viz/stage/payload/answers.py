"""What a model says to a text: what it wrote, its next words, or the words under masks."""

from collections.abc import Sequence
from typing import NamedTuple

from model.results.recording import Candidates
from model.results.translation import Translation
from viz.stage import words
from viz.text.language import say

MOST = 3  # words that an answer names

Probable = Sequence[tuple[str, float]]  # words without the mark of a space and their probabilities, the best first


class Answer(NamedTuple):
    """One of the three, the others empty; all of models without an output over words, and of encoders without masks."""

    text: str | None = None  # that an encoder-decoder wrote
    next: Probable = ()
    masked: Sequence[Probable] = ()  # of each mask


def answer_of(result: Translation, next_words: Candidates | None) -> Answer:
    """The answer in a result.

    Args:
        next_words: what could have been written at each step, where that is known.
    """
    if result.source_tokens and result.predicted_tokens:
        return Answer(text=result.text)
    if next_words is not None and not result.source_tokens:
        return Answer(next=_labelled(list(zip(next_words.tokens[-1], next_words.probabilities[-1]))))
    return Answer(masked=list(map(_labelled, getattr(result, "masked_words", {}).values())))


def line_of(answer: Answer) -> str | None:
    """An answer in one line; None where there is none."""
    if answer.text is not None:
        return answer.text
    return "; ".join(map(_listed, [answer.next] if answer.next else answer.masked)) or None


def _labelled(candidates: Probable) -> Probable:
    return [(words.unique_labels([word])[0], float(p)) for word, p in candidates[:MOST]]


def _listed(candidates: Probable) -> str:
    return " · ".join(say("{word} {p:.1%}", word=word, p=p) for word, p in candidates)
