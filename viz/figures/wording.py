"""The words of figures: English here, and put into another language by the `say` that a figure function is given."""

from typing import Protocol


def message(text: str) -> str:
    return text


class Say(Protocol):
    """Says a sentence, given in English, in the language of a reader, with values in its places in braces."""

    def __call__(self, text: str, /, **values: object) -> str: ...


def separators(say: Say) -> str:
    """The decimal point and what stands between thousands, as Plotly wants them."""
    number = say("{number:,}", number=1234.5)
    return number[5] + number[1]


def english(text: str, /, **values: object) -> str:
    return text.format(**values) if values else text
