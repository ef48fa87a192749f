"""Errors as sentences of the page, in the visitor's language."""

from collections.abc import Iterable
from pathlib import Path

from model.results.translation import KINDS
from model.text.errors import Phrase
from viz.text import language
from viz.text.language import say


def sentence(error: ValueError) -> str:
    """An error as a sentence: a Problem translated; the English of files and links after words on it.

    >>> from model.text.errors import THE_TEXT, Problem
    >>> from viz.text.language import using
    >>> with using("de"):
    ...     sentence(Problem("{what} has {n} tokens; at most {most} are allowed", what=THE_TEXT, n=300, most=256))
    'Der Text hat 300 Tokens; erlaubt sind höchstens 256.'
    """
    ours = isinstance(error, Phrase)
    words = text_of(error) if ours else str(error) or type(error).__name__
    first = words.split(" ", 1)[0]
    if "_" not in first and first not in KINDS:  # names of settings stay as they are spelt
        words = words[:1].upper() + words[1:]
    words = words.rstrip(".") + "."
    return words if ours else f"{say('This file or link cannot be used.')} {words}"


def text_of(phrase: Phrase) -> str:
    """The phrase of an error in the language of the page."""
    values = {name: text_of(value) if isinstance(value, Phrase) else value for name, value in phrase.values.items()}
    return say(phrase.template, **values)


def said_in(modules: Iterable[Path]) -> dict[str, str]:
    """What JavaScript says as a problem, by the English sentence, in the language of here; in English nothing."""
    if language.current() == language.ENGLISH:
        return {}
    sources = "\n".join(path.read_text(encoding="utf-8") for path in modules)
    translated = language.catalogue(language.current())
    return {text: translation for text, translation in translated.items() if f'"{text}"' in sources}
