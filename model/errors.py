"""What is said of an error: a template in English and its values, so that it can be said in another language."""

from __future__ import annotations


class Phrase:
    """Words with values in them, for example `Phrase("source {n}", n=2)`; as a text they are English.

    Args:
        template: as for `str.format`; where there are no values, braces are nothing special.
        values: for its places; another Phrase is one that is translated, too.
    """

    def __init__(self, template: str, /, **values: object) -> None:
        self.template, self.values = template, values

    def __str__(self) -> str:
        return self.template.format(**self.values) if self.values else self.template


THE_TEXT = Phrase("the text")


class Problem(Phrase, ValueError):
    """What whoever types and chooses can cause, in a sentence that is there in every language.

    A plain ValueError is for what only a file, an address, a command or a programmer can: it is said in English.

    Example:
        >>> raise Problem("the text has {n:,} characters", n=20_001)
        Traceback (most recent call last):
        model.errors.Problem: the text has 20,001 characters
    """
