"""The language of the interface: every sentence of the app is written in English in the code and looked up here.

As in gettext, the English sentence is the key; `locale/` holds a catalogue for every other language, which
`make messages` (extract.py) keeps in step with the code. What the model, a visitor or a file said (tokens, sentences,
names of checkpoints) is never looked up.
"""

import gettext
import io
from collections.abc import Callable, Iterator
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


def _nobodys() -> str:
    return ENGLISH


# Says which language is asked for where none is set: the pages put the visitor's in its place.
asked: Callable[[], str] = _nobodys


def current() -> str:
    """The language that is spoken here and now, a key of LANGUAGES."""
    return _USED.get() or asked()


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
    """Mark a constant as a sentence of the catalogues, which `say` looks up later."""
    return text


def messages(**texts: Any) -> dict[str, Any]:
    """Mark sentences, by name, or tuples of them, as `message` marks one."""
    return texts


def say(text: str, /, **values: object) -> str:
    """Say an English sentence in the language of the visitor, as it is where it has no translation.

    Values fill the places in braces, as for `str.format`, with numbers as the language writes them; without any,
    braces are nothing special.

        >>> say("{n} of {total} heads", n=3, total=8)
        '3 of 8 heads'
        >>> with using("de"):
        ...     say("{share:.1%}", share=0.125)
        '12,5\xa0%'
    """
    spoken = current()
    text = _looked_up(text, spoken) if text else text  # a catalogue has its own header under ""
    return _filled(text, spoken, values) if values else text


def counted(number: int) -> str:
    """A count, with its thousands apart as the present language has it.

    >>> counted(14220293)
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
    return Path(__file__).parent / "locale" / language / "LC_MESSAGES" / "headlight.po"


@cache
def catalogue(language: str) -> gettext.NullTranslations:
    """The sentences of a language, compiled on first use; English has none."""
    if language == ENGLISH:
        return gettext.NullTranslations()
    from babel.messages import mofile, pofile

    compiled = io.BytesIO()
    with path_of(language).open("rb") as file:
        mofile.write_mo(compiled, pofile.read_po(file, locale=language))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def begun(text: str, small: bool = False) -> str:
    """A text with a capital at its beginning, as a label has it, or without."""
    return (text[:1].lower() if small else text[:1].upper()) + text[1:]


def _looked_up(text: str, language: str) -> str:
    """A sentence as a catalogue has it; what is also said with a small letter is there once, with that one."""
    found = catalogue(language)
    said, small = found.gettext(text), begun(text, small=True)
    if said != text or small == text:
        return said
    same = found.gettext(small)
    return text if same == small else begun(same)


def _filled(text: str, language: str, values: dict[str, object]) -> str:
    return text.format(**values) if language == ENGLISH else _Filling(language).vformat(text, (), values)


class _Filling(Formatter):
    """Puts values into a sentence of another language, numbers with its decimal and other marks."""

    def __init__(self, language: str) -> None:
        self.marks = _marks(language)

    def format_field(self, value: object, format_spec: str) -> str:
        text = format(value, format_spec)
        return text.translate(self.marks) if hasattr(value, "__float__") else text


@cache
def _marks(language: str) -> dict[int, str]:
    from babel import Locale
    from babel.numbers import get_decimal_symbol, get_group_symbol

    percent = Locale(language).percent_formats[None].suffix[0]
    return str.maketrans({",": get_group_symbol(language), ".": get_decimal_symbol(language), "%": percent})
