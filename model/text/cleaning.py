"""Turns text as people type, paste and store it into what the models read: one rule for every input.

`tidy` takes invisible characters out of every text; `as_meant` replaces, in the source language, characters that only
look different by those that they stand for. The browser has the same rule (viz/web/engine/text/tidy.js).
"""

import re
import unicodedata
from typing import Any

# Invisible characters beside control and format characters (categories Cc and Cf): the others of Unicode's
# Default_Ignorable_Code_Point, variation selectors among them, as ranges of a regular expression.
UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef"
_UNSEEN = re.compile(f"[{UNSEEN}]")
_SPACE_CONTROLS = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85"  # white space among the control characters
_JOINER = "\u200d"
_AS_EMOJI = "\ufe0f"
_KEYCAP = "\u20e3"
_BLACK_FLAG = "\U0001f3f4"

# What is read instead of a character where Unicode's own compatibility forms (NFKC) are silent or say something else.
MEANT = {
    **dict.fromkeys("’‛ʼʹ′´＇", "'"),
    **dict.fromkeys("\u2010\u2011\u2012\u2043\u2212", "-"),  # hyphens and minus; dashes are another sign
    "\u2044": "/",  # the stroke of ½, as NFKC writes it
}
# What is read instead of a quote, except in texts with „ or ‚: there they are closing quotes, which models know.
MEANT_QUOTES = {"‘": "'", **dict.fromkeys("“”‟″〝〞＂", '"')}
GERMAN_QUOTES = "„‚"
_MEANT, _MEANT_QUOTES = str.maketrans(MEANT), str.maketrans(MEANT_QUOTES)
_FRACTION = re.compile("(?<=[0-9])(?=[\u00bc-\u00be\u2150-\u215e])")  # 2½ is 2 1/2
_POWER = re.compile("(?<=[0-9])(?=[\u00b2\u00b3\u00b9\u2070\u2074-\u2079])")  # 10² is 10^2
_AREA = re.compile("(?<=m)([\u00b2\u00b3])")  # m² and cm³ stay as they are


def visible(text: str) -> str:
    """The text without invisible characters; white space stays as it is.

    Control characters, format characters (zero-width spaces, soft hyphens, marks of order and direction) and variation
    selectors go, but for those that are part of an emoji.
    """
    if text.isprintable() and not _UNSEEN.search(text):
        return text
    before = ["", *text]
    after = [*text[1:], ""]
    characters = [
        character
        for previous, character, following in zip(before, text, after)
        if not _is_unseen(character) or _in_emoji(previous, character, following)
    ]
    return "".join(characters)


def tidy(text: str) -> str:
    """The `visible` text, with white space as single spaces and none at the ends.

    Example:
        >>> tidy("  a\\n\\tb\\x00 "), tidy("\\ufeffsta\\u00adtion\\u200b"), tidy("\\u200b")
        ('a b', 'station', '')
    """
    return " ".join(visible(text).split())


def _is_unseen(character: str) -> bool:
    if character.isascii():
        return not character.isprintable() and character not in _SPACE_CONTROLS
    if unicodedata.category(character) in ("Cc", "Cf"):
        return character not in _SPACE_CONTROLS
    return bool(_UNSEEN.match(character))


def _in_emoji(before: str, character: str, after: str) -> bool:
    """Whether an unseen character, between two others, holds an emoji together (Unicode Technical Standard 51)."""
    if character == _JOINER:  # a family
        follows = _category(before) == "So" or _is_skin_tone(before) or before == _AS_EMOJI
        return follows and _category(after) in ("So", "Sm")
    if character == _AS_EMOJI:  # a sun, the keys of a telephone
        is_key = before != "" and before in "0123456789#*" and after == _KEYCAP
        return is_key or _category(before) in ("So", "Sm")
    return _is_tag(character) and (before == _BLACK_FLAG or _is_tag(before))  # the flag of a region


def _category(character: str) -> str:
    """The Unicode category of a character ("Lu"); "" for no character."""
    return unicodedata.category(character) if character else ""


def _is_skin_tone(character: str) -> bool:
    return "\U0001f3fb" <= character <= "\U0001f3ff"


def _is_tag(character: str) -> bool:
    return "\U000e0020" <= character <= "\U000e007f"


def as_meant(text: str) -> str:
    """The text with characters that only look different as those that they stand for, tidied.

    Typographic apostrophes, quotes and hyphens become plain ones (MEANT), ligatures, full-width letters and the like
    what Unicode's compatibility composition (NFKC) says.

    Example:
        >>> print(as_meant("It’s ﬁne … “really”, 2½ m² and 10²"))
        It's fine ... "really", 2 1/2 m² and 10^2
    """
    text = tidy(text).translate(_MEANT)
    if not any(quote in text for quote in GERMAN_QUOTES):
        text = text.translate(_MEANT_QUOTES)
    spaced = _POWER.sub("^", _FRACTION.sub(" ", text))
    compatible = [part if n % 2 else unicodedata.normalize("NFKC", part) for n, part in enumerate(_AREA.split(spaced))]
    return tidy("".join(compatible).translate(_MEANT))


def source_text(text: str, tokenizer: Any) -> str:
    """The text as a model reads it in its source language: `as_meant`, or `tidy` where its tokenizer says so."""
    return as_meant(text) if tokenizer.as_meant else tidy(text)
