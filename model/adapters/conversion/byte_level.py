"""Tokens of byte-level vocabularies (GPT-2's, BART's; Radford et al. 2019, section 2.2), spelt as text.

They write each byte as a printable character, so that a space is "Ġ" and "ü" is "Ã¼".
"""

import re
import unicodedata
from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence
from typing import Any

from tokenizers.decoders import ByteLevel

from model.text.special import BYTE_TOKENS, MARK

# Bytes that are printable characters of Latin-1 stand for themselves, the others for the characters from 256 on.
_OWN = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
_BYTE_OF = {chr(byte): byte for byte in _OWN}
_BYTE_OF |= {chr(256 + place): byte for place, byte in enumerate(sorted({*range(256)} - {*_OWN}))}
_SPECIAL = re.compile(r"<.*>|\[.*\]")


def speller(tokenizer: Any) -> Callable[[str | None, int], str]:
    """How a token, None for an id that has none, and its id are written on an axis."""
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    byte_level = isinstance(getattr(backend, "decoder", None), ByteLevel)
    added_tokens = {token.content for token in backend.get_added_tokens_decoder().values()} if byte_level else set()

    def spell(token: str | None, index: int) -> str:
        if token is None:
            return f"<{index}>"
        return (
            spelt(token) if byte_level and token not in added_tokens else token
        )  # an added token is what it looks like

    return spell


def spelt(token: str) -> str:
    """A token of a byte-level vocabulary as text, other tokens as they are.

    A space is "▁"; what is not a whole character or cannot be seen is <0x..>.
    """
    if not all(character in _BYTE_OF for character in token):
        return token
    return "".join(map(_visible, bytes(_BYTE_OF[character] for character in token).decode("utf-8", "surrogateescape")))


def is_coded(tokens: Sequence[str]) -> bool:
    """Whether the tokens of a text are those of a byte-level vocabulary, although no tokenizer says so.

    All their characters stand for bytes, and these are a text (a token at the end may be a part of a character) with
    more in it than letters that stand for themselves. Special tokens count as they look.
    """
    if not all(character in _BYTE_OF for token in tokens for character in token):
        tokens = [token for token in tokens if not _SPECIAL.fullmatch(token)]
    coded = "".join(tokens)
    if coded.isascii() or not all(character in _BYTE_OF for character in coded):
        return False
    try:
        text = getincrementaldecoder("utf-8")().decode(bytes(_BYTE_OF[character] for character in coded))
    except UnicodeDecodeError:
        return False
    return not text.isascii() or any(ord(character) > 255 for character in coded)


def _visible(character: str) -> str:
    if character == " ":
        return MARK
    if unicodedata.category(character)[0] in "CZ":  # control characters, parts of a character, other spaces
        return "".join(BYTE_TOKENS[byte] for byte in character.encode("utf-8", "surrogateescape"))
    return character
