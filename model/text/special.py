"""The ids and marks that every tokenizer of this project shares, and rows of ids as one padded tensor."""

from __future__ import annotations

from collections.abc import Sequence

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
