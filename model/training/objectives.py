"""What training makes small: modules that hold a model and turn a batch into its mean loss a token.

Modules, so that several processes can wrap them. A batch's tensors are their arguments.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.gru import GruModel
from model.language_model import LanguageModel
from model.tokenizer import PAD_ID
from model.training.config import TrainingConfig
from model.transformer import Transformer


class TranslationLoss(nn.Module):
    """Cross entropy of every next target token.

    Args:
        model: that is trained.
        config: label_smoothing and, for a recurrent model, teacher_forcing are used.
    """

    def __init__(self, model: Transformer | GruModel, config: TrainingConfig) -> None:
        super().__init__()
        self.model = model
        self.smoothing = config.label_smoothing
        self.forcing = {"teacher_forcing": config.teacher_forcing} if isinstance(model, GruModel) else {}

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Args: src (B, S); tgt (B, T + 1), start and end token included. Returns: the mean in nats, a scalar."""
        logits = self.model(src, tgt[:, :-1], **self.forcing)  # (B, T, V)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return smoothed_cross_entropy(logits, tgt[:, 1:], self.smoothing)


class NextWordLoss(nn.Module):
    """Cross entropy of every next word, by a language model.

    Args:
        model: that is trained.
    """

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Args: src (B, T), what is read; tgt (B, T), what follows each. Returns: the mean in nats, a scalar."""
        return self.model.loss(src, tgt)


def smoothed_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Mean cross entropy a token with label smoothing (Szegedy et al. 2016; section 5.4 of Vaswani et al. 2017).

    The target distribution is (1 - smoothing) on the right token plus smoothing spread evenly over the vocabulary.

    Args:
        logits: (B, T, V).
        targets: (B, T) ids; padding does not count.
        smoothing: in [0, 1); 0 gives plain cross entropy.

    Returns:
        The mean in nats, a scalar.
    """
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD_ID, label_smoothing=smoothing)
