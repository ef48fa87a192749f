"""A file of texts that somebody brings: a text per line, or pairs of a text and its translation with a tab between."""

import re
import zlib
from dataclasses import dataclass
from typing import Any

from model.text.cleaning import tidy, visible
from model.text.errors import Problem

MOST_MEGABYTES = 20  # of a file, unpacked
MOST_TEXTS = 2_000  # that are taken
MOST_CHARACTERS = 20_000  # of a line
_ENDS = re.compile("\r\n|\n|\r")
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class FileTexts:
    """The texts of a file.

    Attributes:
        texts: strings, or pairs of strings; at most MOST_TEXTS, spread evenly over the file.
        n_lines: how many lines of the file are texts.
    """

    texts: list[Any]
    n_lines: int


def read_texts(content: bytes, *, is_pairs: bool) -> FileTexts:
    """The texts of a file in UTF-8, plain or compressed with gzip; lines without a visible character do not count.

    Args:
        is_pairs: each line is a text, a tab and its translation; further columns are ignored. Else it is one text.

    Raises:
        Problem: says what is wrong with the file, and in which line.
    """
    lines = list(enumerate(_ENDS.split(_decoded(content)), start=1))
    lines = [(number, line) for number, line in lines if tidy(line)]
    if not lines:
        raise Problem("the file holds no text")
    for number, line in lines:
        if len(line) > MOST_CHARACTERS:
            raise Problem("line {n} has more than {most:,} characters", n=number, most=MOST_CHARACTERS)
    texts = [_pair(number, line) if is_pairs else visible(line).strip() for number, line in lines]
    step = max(1, len(texts) / MOST_TEXTS)
    chosen = [texts[int(place * step)] for place in range(min(len(texts), MOST_TEXTS))]
    return FileTexts(chosen, len(texts))


def _decoded(content: bytes) -> str:
    """The content of a file as text."""
    if content.startswith(_GZIP):
        content = _unpacked(content)
    if len(content) > MOST_MEGABYTES * 1_000_000:
        raise Problem("the file has more than {most} MB", most=MOST_MEGABYTES)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Problem("the file is not text in UTF-8") from None
    if "\0" in text:  # of a picture, or of text in UTF-16
        raise Problem("the file is not text in UTF-8")
    return text


def _unpacked(content: bytes) -> bytes:
    """What a file of gzip holds, as far as it may be read."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacker.decompress(content, MOST_MEGABYTES * 1_000_000 + 1)
    except zlib.error:
        raise Problem("the compressed file is damaged") from None
    if not unpacker.eof and len(unpacked) <= MOST_MEGABYTES * 1_000_000:
        raise Problem("the compressed file is damaged")
    return unpacked


def _pair(number: int, line: str) -> tuple[str, str]:
    """The two sides of a line."""
    source, target, *_ = [*line.split("\t"), ""]
    if not tidy(source) or not tidy(target):
        raise Problem("line {n} is not a pair: a text and its translation, with a tab between", n=number)
    return tidy(source), tidy(target)
