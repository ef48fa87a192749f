"""How commands name heads: LAYER-HEAD, with a letter for the kind of attention where a model has several."""

import re
from collections.abc import Iterable

from model.interventions.edits import Head

KIND_LETTERS = {"e": "encoder_self", "d": "decoder_self", "c": "cross"}
_HEAD = re.compile(r"([edc]?)(\d{1,3})-(\d{1,3})", re.ASCII)


def head_of(option: str, code: str, kinds: Iterable[str]) -> Head:
    """The head that a code like "23-0" or "c0-1" names; `kinds` are those that the model has.

    A ValueError, which names the option, where the code cannot be read or does not say which kind of attention.
    """
    kinds = list(kinds)
    letters = [letter for letter, kind in KIND_LETTERS.items() if kind in kinds]
    if not letters:
        raise ValueError(f"{option}: this model has no attention heads")
    match = _HEAD.fullmatch(code)
    if not match:
        raise ValueError(f"{option} takes heads as LAYER-HEAD, 23-0 for example, got {code!r}")
    if not match[1] and len(letters) > 1:
        choices = ", ".join(letter + code for letter in letters)
        raise ValueError(f"{option} {code}: say which kind of attention, {choices} (encoder, decoder, cross)")
    return Head(KIND_LETTERS[match[1] or letters[0]], int(match[2]), int(match[3]))
