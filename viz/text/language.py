"""The language of the interface: every sentence of the app is written in English in the code and looked up here.

As in gettext, the English sentence is the key. `messages.json` holds, for every key, the sentence in the other
languages. What the model, a visitor or a file said (tokens, sentences, names of checkpoints) is never looked up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

ENGLISH = "en"
PARAMETER = "lang"  # of an address
LANGUAGES = {ENGLISH: "English", "de": "Deutsch", "ko": "한국어"}
MESSAGES: dict[str, dict[str, str]] = json.loads(Path(__file__).with_name("messages.json").read_text(encoding="utf-8"))

_USED: ContextVar[str | None] = ContextVar("language", default=None)


def _nobodys() -> str:
    return ENGLISH


# Says which language is asked for where none is set: the pages put the visitor's in its place.
asked: Callable[[], str] = _nobodys


def current() -> str:
    """The language that is spoken here and now, a key of LANGUAGES."""
    return _USED.get() or asked()


@contextmanager
def using(language: str) -> Iterator[None]:
    """Speak a language inside the block, in this thread.

    Args:
        language: a key of LANGUAGES.

    Raises:
        ValueError: if there is no such language.
    """
    if language not in LANGUAGES:
        raise ValueError(f"there is no language {language!r}: choose one of {', '.join(LANGUAGES)}")
    token = _USED.set(language)
    try:
        yield
    finally:
        _USED.reset(token)


def message(text: str) -> str:
    """Mark a sentence as one of the message file, and return it as it is: for constants, which `say` looks up later."""
    return text


def say(text: str, /, **values: object) -> str:
    """Say a sentence in the language of the visitor.

    Args:
        text: in English, as it stands in the message file; what has no translation is returned as it is.
        values: for the places in braces, put in with their format as by `str.format`; where none are given,
            braces are nothing special.

    Example:
        >>> say("{n} of {total} heads", n=3, total=8)
        '3 of 8 heads'
    """
    if spoken := MESSAGES.get(text):  # numbers and names have no translation: nobody need be asked for a language
        text = spoken.get(current(), text)
    return text.format(**values) if values else text


def counted(number: int) -> str:
    """A count, with its thousands apart as the present language has it.

    Example:
        >>> counted(14220293)
        '14,220,293'
    """
    return f"{number:,}".replace(",", say("1,234.5")[1])
