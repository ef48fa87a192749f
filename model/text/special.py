"""What all tokenizers share: the special tokens with their ids, and the base classes."""

from collections.abc import Iterable, Sequence
from typing import Any, Generic, Self, TypeVar

import torch
from torch import Tensor

PAD_ID, BOS_ID, EOS_ID, UNK_ID = 0, 1, 2, 3
SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>")
BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))
MARK = "\u2581"  # the space before a word, as in SentencePiece


def join_pieces(pieces: Iterable[str]) -> str:
    """The text that pieces make, with spaces in place of MARK."""
    return "".join(pieces).replace(MARK, " ").strip()


def pad_ids(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of ids as one int64 tensor (B, longest), padded on the right."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD_ID] * (longest - len(row))] for row in rows])


class Vocabulary:
    """The tokens of one language, or of both where they share theirs, by id."""

    lowercase = False
    as_meant = True  # whether the source is read through `cleaning.as_meant`, or only through `cleaning.tidy`

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = list(tokens)
        self._ids = {token: index for index, token in enumerate(self._tokens)}

    def __len__(self) -> int:
        return len(self._tokens)

    @property
    def source(self) -> Self:
        """The tokenizer of the source language: this one, which serves both."""
        return self

    @property
    def target(self) -> Self:
        """The tokenizer of the target language: this one, which serves both."""
        return self

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The tokens of ids; a ValueError names one that is not in the vocabulary."""
        size = len(self)
        for index in ids:
            if not 0 <= index < size:
                raise ValueError(f"token ids must be 0 to {size - 1}, got {index}")
        return [self._tokens[index] for index in ids]

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text, each one token or more."""
        raise NotImplementedError

    def piece_ids(self, piece: str) -> list[int]:
        """The ids of a piece."""
        raise NotImplementedError

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, without special tokens."""
        raise NotImplementedError

    def encode(self, text: str) -> list[int]:
        """Ids without start or end token."""
        return [index for piece in self.pieces(text) for index in self.piece_ids(piece)]

    def _id_of_typed(self, token: str) -> int:
        """The id of a token that was typed: `<unk>` for special tokens and for those outside the vocabulary."""
        return UNK_ID if token in SPECIAL_TOKENS else self._ids.get(token, UNK_ID)

    def _ordinary_tokens(self, ids: Sequence[int]) -> list[str]:
        """The tokens of ids, special ones left out."""
        return [token for token in self.tokens(ids) if token not in SPECIAL_TOKENS]


Side = TypeVar("Side", bound=Vocabulary)


class Pair(Generic[Side]):
    """The tokenizers of two languages."""

    as_meant = True  # as in Vocabulary

    def __init__(self, source: Side, target: Side) -> None:
        self.source = source
        self.target = target
        self.lowercase = source.lowercase


def as_unicode(text: str) -> str:
    """The text with unpaired surrogates, which are not Unicode text, as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def switch(values: dict[str, Any], name: str, default: bool) -> bool:
    """A switch of a tokenizer's file; a ValueError if it is neither true nor false."""
    value = values.get(name, default)
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r}")
    return value
