"""Reads a SentencePiece model file (.spm): its pieces, and what it does to a text before it cuts."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

MAX_BYTES = 20_000_000
MAX_REPLACEMENTS = 500_000
MAX_KEY = 64  # bytes that are replaced
UNIGRAM = 1
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def read_sentencepiece(path: Path) -> dict[str, Any]:
    """Read what `model.text.pieces.PieceTokenizer` needs to cut as the file says.

    Args:
        path: the file.

    Returns:
        "pieces", "replacements", "prefix" and "squeeze", as its arguments.

    Raises:
        ValueError: if the file is missing, damaged, too large, or of a kind that is not read here.
    """
    from transformers.convert_slow_tokenizer import import_protobuf

    if not path.is_file():
        raise ValueError(f"the file {path} does not exist")
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"{path} has {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} are read")
    proto = import_protobuf().ModelProto()
    try:
        proto.ParseFromString(path.read_bytes())
    except Exception as error:  # protobuf's own, which is no ValueError
        raise ValueError(f"{path} is not a SentencePiece model: {error}") from None
    spaces, trainer = proto.normalizer_spec, proto.trainer_spec
    kinds = {piece.type for piece in proto.pieces}
    if trainer.model_type != UNIGRAM or kinds & {USER_DEFINED, BYTE} or trainer.treat_whitespace_as_suffix:
        raise ValueError(f"{path}: only unigram models without bytes, symbols of users and suffixed spaces can be read")
    if UNKNOWN not in kinds or NORMAL not in kinds or not spaces.escape_whitespaces:
        raise ValueError(f"{path} is not a whole SentencePiece model")
    try:
        replacements = _replacements(spaces.precompiled_charsmap)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return {
        "pieces": [(piece.piece, piece.score) for piece in proto.pieces if piece.type == NORMAL],
        "replacements": replacements,
        "prefix": spaces.add_dummy_prefix,
        "squeeze": spaces.remove_extra_whitespaces,
    }


def _replacements(compiled: bytes) -> dict[str, str]:
    """What is written instead of what, from the map that SentencePiece compiles: a trie and the texts it points to.

    The trie is a double array of 32-bit units (Aoki 1989; the layout is that of the library darts-clone): a child of a
    node lies at the node's base XOR its byte.
    """
    if not compiled:
        return {}
    size = struct.unpack("<I", compiled[:4])[0] if len(compiled) >= 4 else 0
    if not size or size % 4 or size + 4 >= len(compiled):
        raise ValueError("its table of characters is damaged")
    units = np.frombuffer(compiled, "<u4", size // 4, offset=4).astype(np.int64)
    texts = compiled[4 + size :]
    labels = units & (1 << 31 | 0xFF)
    bases = (units >> 10) << ((units & 1 << 9) >> 6)
    letters = np.arange(1, 256)
    found: dict[str, str] = {}
    spelt, steps = MAX_KEY, 0  # bytes of what is found, and of what may be under way; each can be one step
    waiting = [(b"", int(bases[0]))]
    while waiting:
        key, base = waiting.pop()
        steps += 1
        if steps > spelt:
            raise ValueError("its table of characters is damaged")  # it leads round, or nowhere
        places = base ^ letters
        inside = places < len(units)
        for letter, place in zip(letters[inside], places[inside]):
            if labels[place] != letter:
                continue
            longer, below = key + bytes([letter]), int(place ^ bases[place])
            if len(longer) > MAX_KEY or len(found) > MAX_REPLACEMENTS or below >= len(units):
                raise ValueError("its table of characters is damaged")
            if units[place] >> 8 & 1:
                start = int(units[below] & 0x7FFFFFFF)
                end = texts.find(b"\0", start)
                if end < 0:
                    raise ValueError("its table of characters is damaged")
                spelt += len(longer)
                try:
                    found[longer.decode()] = texts[start:end].decode()
                except UnicodeDecodeError:
                    raise ValueError("its table of characters is damaged") from None
            waiting.append((longer, below))
    if not found:
        raise ValueError("its table of characters is damaged")
    return found
