"""What training makes small: modules that hold a model and turn a batch into its mean loss per token.

Modules, so that several processes can wrap them. A batch's tensors are their arguments.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from model.gru import GruModel
from model.language_model import LanguageModel
from model.training.config import TrainingConfig
from model.training.losses import smoothed_cross_entropy
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
