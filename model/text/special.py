"""What every tokenizer of this project shares: ids, marks, tokens by their ids; and rows of ids as a padded tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import torch
from torch import Tensor

PAD_ID, BOS_ID, EOS_ID, UNK_ID = 0, 1, 2, 3
SPECIAL_TOKENS = ("<pad>", "<s>", "</s>", "<unk>")
BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))
MARK = "\u2581"  # the space before a word, as in SentencePiece


def pad_ids(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of ids to one (B, longest) int64 tensor, padded on the right with PAD_ID."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD_ID] * (longest - len(row))] for row in rows])


class Vocabulary:
    """The tokens of one language, or of both where they share theirs.

    Args:
        tokens: the token of every id.
    """

    lowercase = False

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = list(tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    @property
    def source(self) -> Self:
        """What cuts the source: itself."""
        return self

    @property
    def target(self) -> Self:
        """What cuts the target: itself."""
        return self

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """The token strings of ids, as they stand in the vocabulary.

        Raises:
            ValueError: if an id is not in the vocabulary; the message names the first of them.
        """
        for index in ids:
            if not 0 <= index < len(self):
                raise ValueError(f"token ids must be 0 to {len(self) - 1}, got {index}")
        return [self._tokens[index] for index in ids]


def as_unicode(text: str) -> str:
    """The text with unpaired surrogates, which are not Unicode text, as U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
