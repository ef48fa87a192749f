"""The language of the interface: every sentence of the app is written in English in the code and looked up here.

As in gettext, the English sentence is the key; `locale/` holds a catalogue for every other language, which
`make messages` (extract.py) keeps in step with the code. What the model, a visitor or a file said (tokens, sentences,
names of checkpoints) is never looked up.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

ENGLISH = "en"
PARAMETER = "lang"  # of an address
LANGUAGES = {ENGLISH: "English", "de": "Deutsch", "ko": "한국어"}
_USED: ContextVar[str | None] = ContextVar("language", default=None)


def language_of_visitor() -> str:
    """Which language is asked for where none is set: the pages put the visitor's in its place."""
    return ENGLISH


def current() -> str:
    """The language that is spoken here, a key of LANGUAGES."""
    return _USED.get() or language_of_visitor()


@contextmanager
def using(language: str) -> Iterator[None]:
    """Speak a language (a key of LANGUAGES, else a ValueError) inside the block, in this thread."""
    if language not in LANGUAGES:
        raise ValueError(f"there is no language {language!r}: choose one of {', '.join(LANGUAGES)}")
    token = _USED.set(language)
    try:
        yield
    finally:
        _USED.reset(token)


def message(text: str) -> str:
    """Mark a sentence of the catalogues, which `say` looks up later."""
    return text


def messages(**texts: Any) -> dict[str, Any]:
    """Mark sentences, or tuples of them, by name."""
    return texts


def say(text: str, /, **values: object) -> str:
    """Say an English sentence in the language of the visitor, where there is a translation.

    Values fill the places in braces, as for `str.format`, with numbers as the language writes them; without any, braces
    are nothing special.

        >>> say("{n} of {total} heads", n=3, total=8)
        '3 of 8 heads'
        >>> with using("de"):
        ...     say("{share:.1%}", share=0.125)
        '12,5\xa0%'
    """
    language = current()
    text = catalogue(language).get(text, text)
    if not values:
        return text
    return text.format(**values) if language == ENGLISH else _Filling(language).vformat(text, (), values)


def format_count(number: int) -> str:
    """A count, with its thousands apart.

    >>> format_count(14220293)
    '14,220,293'
    """
    return say("{number:,}", number=number)


def listed(names: list[str]) -> str:
    """Names as a list in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b, and c'
    """
    from babel.lists import format_list

    return format_list(names, locale=current())


def path_of(language: str) -> Path:
    """The catalogue of a language."""
    return Path(__file__).parent / "locale" / language / "LC_MESSAGES" / "headlight.po"


@cache
def catalogue(language: str) -> dict[str, str]:
    """What English sentences are in a language, read on first use; English has none.

    What is said with a capital and without stands in the file once, without.
    """
    if language == ENGLISH:
        return {}
    from babel.messages.pofile import read_po

    with path_of(language).open("rb") as file:
        translations = {
            str(entry.id): str(entry.string) for entry in read_po(file, locale=language) if entry.id and entry.string
        }
    return {begun(text): begun(translation) for text, translation in translations.items()} | translations


def begun(text: str, small: bool = False) -> str:
    """A text with a capital at its beginning, or without."""
    return (text[:1].lower() if small else text[:1].upper()) + text[1:]


@cache
class _Filling(Formatter):
    """Puts values into a sentence, numbers with the marks of a language."""

    def __init__(self, language: str) -> None:
        from babel import Locale

        locale = Locale(language)
        symbols = locale.number_symbols["latn"]
        percent = locale.percent_formats[None].suffix[0]
        self.marks = str.maketrans({",": symbols["group"], ".": symbols["decimal"], "%": percent})

    def format_field(self, value: object, format_spec: str) -> str:
        text = format(value, format_spec)
        return text.translate(self.marks) if hasattr(value, "__float__") else text
