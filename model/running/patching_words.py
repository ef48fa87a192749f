"""Which words two texts are compared by when one is patched into the other, and the passes that end before them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from model.interventions.patches import Donor
from model.results.translation import Translation
from model.running.patching import Pass, Patching
from model.text.errors import Problem

MOST_ALIKE = 12  # words that two language models' texts go on with alike before they differ


@dataclass(frozen=True)
class ComparedWords:
    """What is said of the words; what is None is chosen.

    Attributes:
        answer: the id of the word that A writes.
        against: the id of the word that its logit is compared with.
        step: how many words of the output, the same for both texts, come before it.
    """

    answer: int | None = None
    against: int | None = None
    step: int | None = None


MakePass = Callable[
    [Translation, Sequence[int]], Pass
]  # of a result the pass over its text, with written words after it
Spell = Callable[[list[int]], list[str]]  # ids as they are written on an axis


def id_of_one_token(word: str | int, encode: Callable[[str], list[int]], spell: Spell, size: int) -> int:
    """The id of a word that is one token of a vocabulary of a size, or of an id in it; else a ValueError."""
    ids = [word] if isinstance(word, int) else encode(word)
    if len(ids) != 1:
        raise Problem(
            "{word!r} is {n} tokens of this model ({tokens}); give one",
            word=word,
            n=len(ids),
            tokens=", ".join(spell(ids)),
        )
    if not 0 <= ids[0] < size:
        raise ValueError(f"ids of words are 0 to {size - 1}, got {ids[0]}")
    return ids[0]


def compare_outputs(
    make_pass: MakePass, spell: Spell, a: Translation, b: Translation, compared: ComparedWords, reverse: bool
) -> Patching:
    """Patch between two sources that were translated, or whose translations were read.

    The words are the first in which both outputs differ, or the answer where A writes it; both decoders read what A
    wrote before.
    """
    step = _step_of_outputs(a.predicted_ids, b.predicted_ids, compared)
    beginning = a.predicted_ids[:step]
    passes = make_pass(a, beginning), make_pass(b, beginning)
    answer, against = compared.answer, compared.against
    if answer is None:
        answer = _written(a.predicted_ids, beginning, passes[0])
    if against is None:
        against = _written(b.predicted_ids, beginning, passes[1])
    return patching_of(spell, a, b, *passes, answer, against, step, reverse)


def compare_continuations(
    make_pass: MakePass, spell: Spell, a: Translation, b: Translation, compared: ComparedWords, reverse: bool
) -> Patching:
    """Patch between two texts that a language model goes on with.

    The words are the first in which what it writes greedily differs, after as many words that are the same; where an
    answer is named, it is the word that follows the texts.
    """
    step = 0 if compared.answer is not None and compared.step is None else compared.step
    if step is not None and not 0 <= step <= MOST_ALIKE:
        raise ValueError(f"steps of what both texts go on with are 0 to {MOST_ALIKE}, got {step}")
    beginning: list[int] = []
    while True:
        passes = make_pass(a, beginning), make_pass(b, beginning)
        best = [int(either.logits.argmax()) for either in passes]
        if len(beginning) == step or (step is None and best[0] != best[1]):
            break
        if len(beginning) == MOST_ALIKE:
            raise Problem("both texts go on alike for {n} words: name the words to compare", n=MOST_ALIKE)
        beginning.append(best[0])
    answer = best[0] if compared.answer is None else compared.answer
    against = best[1] if compared.against is None else compared.against
    return patching_of(spell, a, b, *passes, answer, against, len(beginning), reverse)


def patching_of(
    spell: Spell,
    a: Translation,
    b: Translation,
    pass_a: Pass,
    pass_b: Pass,
    answer: int,
    against: int,
    step: int,
    reverse: bool,
) -> Patching:
    """Patch between two passes by words that are known."""
    donor = Donor.between(b, a) if reverse else Donor.between(a, b)
    first, second = spell([answer, against])
    return Patching(pass_a, pass_b, answer, against, (first, second), step, donor, reverse)


def _step_of_outputs(a: Sequence[int], b: Sequence[int], compared: ComparedWords) -> int:
    if compared.step is not None:
        if not 0 <= compared.step <= len(a):
            raise ValueError(f"steps of this output are 0 to {len(a)}, got {compared.step}")
        return compared.step
    if compared.answer in a:
        return a.index(compared.answer)
    for step, (first, second) in enumerate(zip(a, b)):
        if first != second:
            return step
    if len(a) != len(b):
        return min(len(a), len(b))
    raise Problem("both texts give the same output: name the words to compare, and the step")


def _written(output_ids: Sequence[int], beginning: Sequence[int], passed: Pass) -> int:
    """The word that was written after a beginning, or the most probable one where another was written."""
    step = len(beginning)
    if step < len(output_ids) and list(output_ids[:step]) == list(beginning):
        return output_ids[step]
    return int(passed.logits.argmax())
