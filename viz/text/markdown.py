"""Words of somebody else in Markdown, as Streamlit draws it: shown exactly as they are.

A backslash keeps away what Markdown is made of. It does not keep away what Streamlit's page looks for in the text that
comes out: addresses that become links, names that become emoji, arrows of ASCII. Only code is left alone there.
"""

import re

_ENDS, _WORD = re.compile(r"\s*[\r\n]\s*"), re.compile(r"\S+")
# What begins a link, a picture, code, a formula, stress, a tag or an entity.
_SPECIAL = re.compile(r"[\\`*\[\]$<>~&#|]|(?<![^\W_])_|_(?![^\W_])")
_NAME = re.compile(r":(?=[\w+-])")  # what begins a colour or a symbol
_BLOCK = re.compile(r"^(\d*)([-+=.)])")  # what makes a line a part of a list
_SOUGHT = re.compile(r"https?://|www\.|@|:[\w+-]+:", re.I)
_ARROWS = {"<->", "->", "<-", "--", ">=", "<=", "~="}
_QUOTED = re.compile(r"""([“„‘"'(]*)(.*?)([”“’"'),.;]*)""", re.S)


def literal(text: str) -> str:
    """Markdown that shows a text as it is, in one line; words that could become alive are set as code.

    >>> print(literal("There is no *step* “https://a.test/b” of a lesson."))
    There is no \\*step\\* “`https://a.test/b`” of a lesson.
    """
    line = _ENDS.sub(" ", text.strip())
    return _BLOCK.sub(r"\1\\\2", _WORD.sub(_word, line))


def _word(match: re.Match[str]) -> str:
    word = match[0]
    if word in _ARROWS:
        return _code(word)
    quoted = _QUOTED.fullmatch(word)
    if quoted and _SOUGHT.search(word):
        before, inner, after = quoted.groups()
        return before + _code(inner) + after
    return _NAME.sub("&#58;", _SPECIAL.sub(r"\\\g<0>", word))


def _code(word: str) -> str:
    """A word as code, between more backticks than it has in a row."""
    fence = "`" * (1 + max(map(len, re.findall("`+", word)), default=0))
    space = " " if "`" in word else ""
    return f"{fence}{space}{word}{space}{fence}"
