"""What figures write: words in a reader's language, and tokens as text that Plotly draws literally.

Plotly reads labels as pseudo-HTML: the tokens `<s>` and `</s>` come out empty and `<b>k</b>` as a bold k. It also
decodes only a few entities (`&quot;` is not one of them), and starts MathJax between dollar signs where it is loaded.
"""

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain, groupby

from viz import theme

REMEMBERED = 4096  # tokens whose text is not made again: a message names each many times
_JOINERS = "\u200c\u200d"
_BYTE = re.compile("<0x([0-9A-F]{2})>")  # a token that is one byte of UTF-8
_CONTROL = re.compile("<0x([01][0-9A-F]|7F)>")  # one that is a line feed, a tab, ...
# Says a sentence, given in English, in the language of a reader, with values in its places in braces.
Say = Callable[..., str]


def english(text: str, /, **values: object) -> str:
    """Fill values into an English sentence: what figures say without an app."""
    return text.format(**values) if values else text


def message(text: str) -> str:
    """Mark a sentence that is said elsewhere."""
    return text


def escape(text: str) -> str:
    """Make Plotly draw a text as it is written."""
    return html.escape(text, quote=False).replace("$", "&#36;")


def number_marks(say: Say) -> str:
    """The decimal mark of a language, and the one between thousands, as Plotly takes them."""
    number = say("{number:,}", number=1234.5)
    return number[5] + number[1]


def hover_lines(say: Say, *parts: tuple[str, str]) -> str:
    """Lines of a hover box: what each part is, and where Plotly writes it."""
    return "<br>".join(f"{escape(say(name))} {place}" for name, place in parts)


@lru_cache(maxsize=REMEMBERED)
def visible(token: str) -> str:
    """Write out what cannot be seen, a line feed the same whether a token is that or the byte of it.

    >>> visible("a\\tb\\n"), visible(" the"), visible("\\u200b"), visible(""), visible("<0x0A>")
    ('a␉b␊', '␣the', '[U+200B]', '∅', '␊')
    """
    token = _CONTROL.sub(lambda match: chr(int(match[1], 16)), token)
    return "".join(map(_visible_character, ["", *token], token, [*token[1:], ""])) or "∅"


def _visible_character(before: str, character: str, after: str) -> str:
    code = ord(character)
    category = unicodedata.category(character)
    if character == " ":
        return "␣" if {before, after} & {"", " "} else " "
    if code < 32:
        return chr(0x2400 + code)
    if code == 127:
        return "␡"
    if character in _JOINERS and not before.isascii() and not after.isascii():
        return character  # it joins two signs, as in families of emoji and in Persian
    selector = not before and "VARIATION SELECTOR" in unicodedata.name(character, "")
    if category in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs") or selector:
        return f"[U+{code:04X}]"
    # A mark with nothing before it (a piece of a word) needs something to stand on.
    return f"◌{character}" if _extends(character) and not before else character


def is_byte(token: str) -> bool:
    """Whether a token is one byte of a character, such as <0xE2>."""
    return _BYTE.fullmatch(token) is not None


def spell_bytes(tokens: Sequence[str]) -> list[str]:
    """Name tokens that are single bytes by the character that they spell together, and which of its bytes each is.

    Tokens are those of one text, in order. What belongs to one sign (marks, skin tones, what a joiner joins, flags)
    counts as one character. Control characters and bytes that make up no character keep their names.

    >>> spell_bytes(["na", "<0xC3>", "<0xAF>", "<0x24>", "<0xF0>", "<0x0A>"])
    ['na', 'ï 1/2', 'ï 2/2', '$', '<0xF0>', '<0x0A>']
    """
    codes = [_BYTE.fullmatch(token) for token in tokens]
    names = list(tokens)
    place = 0
    for _, group in groupby(codes, key=bool):
        run = list(group)
        spelt = bytes(int(code[1], 16) for code in run if code).decode("utf-8", "surrogateescape")
        if spelt:
            names[place : place + len(run)] = chain.from_iterable(map(_byte_names, _characters(spelt)))
        place += len(run)
    return names


def _byte_names(character: str) -> list[str]:
    spelt = character.encode("utf-8", "surrogateescape")
    if unicodedata.category(character[0]) in ("Cc", "Cs"):  # Cs: a byte that is part of no character
        return [f"<0x{byte:02X}>" for byte in spelt]
    if len(spelt) == 1:
        return [character]
    return [f"{character} {number}/{len(spelt)}" for number in range(1, len(spelt) + 1)]


def _characters(text: str) -> list[str]:
    """The text in what readers take for one character each (the rules of Unicode's annex 29 that bytes here need)."""
    characters: list[str] = []
    for character in text:
        before = characters[-1] if characters else "\n"
        is_printable = unicodedata.category(before[-1]) not in ("Cc", "Cs")
        half_a_flag = len(before) == 1 and _is_flag_letter(before) and _is_flag_letter(character)
        if is_printable and (_extends(character) or before[-1] == "\u200d" or half_a_flag):
            characters[-1] += character
        else:
            characters.append(character)
    return characters


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _extends(character: str) -> bool:
    tone_of_skin = "\U0001f3fb" <= character <= "\U0001f3ff"
    return unicodedata.category(character) in ("Mn", "Me") or character in _JOINERS or tone_of_skin


def tick_text(token: str) -> str:
    """A token, escaped and shortened."""
    return escape(_shortened(token))


def tick_width(tokens: Sequence[str]) -> float:
    """The pixels that the widest tick label takes."""
    return theme.GLYPH_WIDTH * max(text_width(_shortened(token)) for token in tokens)


@lru_cache(maxsize=REMEMBERED)
def _shortened(token: str) -> str:
    """A token, cut to theme.MAX_TICK_WIDTH columns, never inside a letter with marks or a joined emoji."""
    text = visible(token)
    if text_width(text) <= theme.MAX_TICK_WIDTH:
        return text
    n_characters = end = 0
    for i, character in enumerate(text):
        if n_characters < theme.MAX_TICK_WIDTH and i and not _extends(character) and text[i - 1] != "\u200d":
            end = i
        n_characters += text_width(character)
    return text[:end] + "…"


def text_width(text: str) -> int:
    """The columns a text takes, wide characters (Chinese, emoji) as two."""
    if text.isascii():
        return len(text)
    return sum(0 if _extends(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def quoted(token: str, say: Say) -> str:
    """A token in quotation marks, escaped; right-to-left text does not reorder the words beside it."""
    return in_quotes(_isolated(token), say)


@lru_cache(maxsize=REMEMBERED)
def _isolated(token: str) -> str:
    text = visible(token)
    if any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in text):
        text = f"\u2068{text}\u2069"
    return escape(text)


def in_quotes(text: str, say: Say) -> str:
    """The text in the quotation marks of the language."""
    return say("“{text}”", text=text)


def hover_text(token: str, position: int, say: Say = english) -> str:
    """A token and its position, as hover texts name it."""
    return f"{position} {quoted(token, say)}"


def hover_texts(tokens: Sequence[str], say: Say) -> list[str]:
    """The hover text of every token."""
    return [hover_text(token, position, say) for position, token in enumerate(tokens)]


def tick_step(n: int, most: int = theme.MAX_TICKS) -> int:
    """The distance between labelled ticks: the smallest power of two that leaves at most `most` labels."""
    return 1 << (-(-n // most) - 1).bit_length()
