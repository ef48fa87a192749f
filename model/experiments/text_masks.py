"""Masks that came after 2017, on a language model: a sliding window, several documents in a row, a prefix.

Each changes which of the earlier tokens a query reads, or, with a prefix, which later ones; the model was trained with
the causal mask.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model import masks
from model.language_model import LanguageModel
from model.running.translator import Writer
from model.taps import record
from model.text.cleaning import source_text
from model.text.errors import check_tokens

MASKS = ("window", "documents", "prefix")
MAX_TOKENS = 64  # of a row: with more, nobody can read the matrices
WINDOW = 4  # keys at most, a query's own among them


@dataclass(frozen=True)
class Packed:
    """Texts in one row, each begun by the end of the line before it."""

    ids: Tensor  # (1, T)
    tokens: list[str]
    documents: Tensor  # (1, T), the number of the text of each token

    @property
    def prefix(self) -> int:
        """How many tokens the first text has, its start among them."""
        return int((self.documents == 0).sum())


def pack_texts(writer: Writer, texts: Sequence[str]) -> Packed:
    """Put texts into one row; a ValueError if they are too long together."""
    start = writer.tokenizer.eos_id
    rows = [[start, *writer.tokenizer.encode(source_text(text, writer.tokenizer))] for text in texts]
    ids = check_tokens([index for row in rows for index in row], min(MAX_TOKENS, writer.config.max_length))
    documents = [number for number, row in enumerate(rows) for _ in row]
    return Packed(torch.tensor([ids]), writer.tokenizer.tokens(ids), torch.tensor([documents]))


def text_masks(packed: Packed, window: int = WINDOW) -> dict[str, Tensor]:
    """The masks, bool (1, 1, T, T), by name of MASKS, and as "causal" that of the model."""
    n = packed.ids.size(1)
    causal = masks.causal_mask(n)
    return {
        "causal": causal,
        "window": masks.combine(causal, masks.window_mask(n, n, window)),
        "documents": masks.document_mask(packed.documents),
        "prefix": masks.prefix_mask(n, packed.prefix),
    }


@dataclass(frozen=True)
class TextPass:
    """The recording of one text under one mask."""

    mask: np.ndarray  # bool (T, T)
    weights: np.ndarray  # float32 (L, H, T, T)
    loss: float  # mean, in nats per token, over the next tokens in the row


@torch.inference_mode()
def read_under(model: LanguageModel, ids: Tensor, mask: Tensor) -> TextPass:
    """Read ids (1, T) under a mask (1, 1, T, T) in every layer, recorded."""
    with record("*.self_attention.weights") as trace:
        logits = model(ids, mask)  # (1, T, V)
    layers = [trace[f"decoder.layers.{layer}.self_attention.weights"][0] for layer in range(model.config.n_layers)]
    log_probabilities = logits[0, :-1].float().log_softmax(-1)
    of_next = log_probabilities.gather(-1, ids[0, 1:, None])
    loss = -float(of_next.mean()) if len(of_next) else 0.0
    return TextPass(mask[0, 0].numpy(), torch.stack(layers).float().numpy(), loss)
