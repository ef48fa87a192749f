"""Messages of errors: a template in English and its values, so that the app can translate it."""

from collections.abc import Mapping, Sequence
from typing import Self, TypeVar


class Phrase:
    """A template as for `str.format` and its values, some of them perhaps Phrases; as a text it is English."""

    def __init__(self, template: str, /, **values: object) -> None:
        self.template, self.values = template, values

    def __str__(self) -> str:
        return self.template.format(**self.values) if self.values else self.template


THE_TEXT = Phrase("the text")


class Problem(Phrase, ValueError):
    """An error that users can cause, with a message in every language; that of a plain ValueError is in English.

    Example:
        >>> raise Problem("the text has {n:,} characters", n=20_001)
        Traceback (most recent call last):
        model.text.errors.Problem: the text has 20,001 characters
    """

    @classmethod
    def of(cls, template: str, values: Mapping[str, object]) -> Self:
        """The one with a template and values that another process has sent."""
        return cls(template, **values)


def check_characters(text: str, most: int, what: Phrase = THE_TEXT) -> None:
    """Refuse a text that is too long."""
    if len(text) > most:
        raise Problem("{what} has {n:,} characters; at most {most:,} are allowed", what=what, n=len(text), most=most)


_Ids = TypeVar("_Ids", bound=Sequence[int])


def check_tokens(ids: _Ids, most: int, what: Phrase = THE_TEXT) -> _Ids:
    """The ids, if they are not too many."""
    if len(ids) > most:
        raise Problem("{what} has {n} tokens; at most {most} are allowed", what=what, n=len(ids), most=most)
    return ids
