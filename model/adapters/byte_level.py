"""Tokens of byte-level vocabularies (GPT-2's, BART's; Radford et al. 2019, section 2.2), spelt as text.

They write each byte as a printable character, so that a space is "Ġ" and "ü" is "Ã¼".
"""

import unicodedata
from collections.abc import Callable
from typing import Any

from tokenizers.decoders import ByteLevel

from model.text.special import BYTE_TOKENS, MARK

# Bytes that are printable characters of Latin-1 stand for themselves, the others for the characters from 256 on.
_OWN = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
_OTHERS = [byte for byte in range(256) if byte not in _OWN]
_BYTE_OF = {chr(byte): byte for byte in _OWN} | {chr(256 + place): byte for place, byte in enumerate(_OTHERS)}


def speller(tokenizer: Any) -> Callable[[str | None, int], str]:
    """How the tokens of a tokenizer, of `tokenizers` or of `transformers`, are written on an axis.

    Returns:
        A function of a token, None for an id that has none, and of the id.
    """
    own = getattr(tokenizer, "backend_tokenizer", tokenizer)
    byte_level = isinstance(getattr(own, "decoder", None), ByteLevel)
    added = {token.content for token in own.get_added_tokens_decoder().values()} if byte_level else set()

    def spell(token: str | None, index: int) -> str:
        if token is None:
            return f"<{index}>"
        return spelt(token) if byte_level and token not in added else token  # an added token is what it looks like

    return spell


def spelt(token: str) -> str:
    """A token of a byte-level vocabulary as text; what is not made of the characters for bytes stays as it is.

    A space is "▁"; what is not a whole character or cannot be seen is <0x..>.
    """
    if not all(character in _BYTE_OF for character in token):
        return token
    text = bytes(map(_BYTE_OF.__getitem__, token)).decode("utf-8", "surrogateescape")
    return "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character == " ":
        return MARK
    if unicodedata.category(character)[0] in "CZ":  # control characters, parts of a character, other spaces
        return "".join(BYTE_TOKENS[byte] for byte in character.encode("utf-8", "surrogateescape"))
    return character
