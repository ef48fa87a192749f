"""The losses of training: cross entropy, and modules that return the mean loss of a batch."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from model.gru import GruModel
from model.language_model import LanguageModel
from model.text.special import PAD_ID
from model.training.config import TrainingConfig
from model.transformer import Transformer


def smoothed_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """Mean cross entropy in nats per token of logits (B, T, V) and ids (B, T), of which padding does not count.

    The target distribution q is (1 - smoothing) on the right token plus smoothing spread evenly over the vocabulary
    (Szegedy et al. 2016; section 5.4 of Vaswani et al. 2017). Over nothing but padding it is 0.
    """
    return _SmoothedCrossEntropy.apply(logits.flatten(0, 1), targets.flatten(), smoothing)


class _SmoothedCrossEntropy(torch.autograd.Function):
    """`cross_entropy` of PyTorch in half the time: log sum exp(z) - q . z, with the gradient softmax(z) - q."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        """The mean loss of logits z (N, V) and targets (N,)."""
        is_counted = (targets != PAD_ID).to(z.dtype)  # (N,)
        share = is_counted / is_counted.sum().clamp(min=1)  # (N,), what each token weighs in the mean
        p = z.softmax(-1)  # (N, V)
        # The largest p is 1 / sum exp(z - max z), and at least 1 / V.
        log_sum = z.amax(-1) - p.amax(-1).log()  # (N,)
        right = z.gather(1, targets[:, None])[:, 0]  # (N,)
        losses = log_sum - (1 - smoothing) * right  # (N,)
        if smoothing:  # a logit of -inf, times 0, would be NaN
            losses -= smoothing * z.mean(-1)
        ctx.save_for_backward(p, targets, share)
        ctx.smoothing = smoothing
        return (losses * share).sum()  # under autocast a product of matrices would round

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]: one gradient, of the mean loss
        ctx: Any, gradient: Tensor
    ) -> tuple[Tensor, None, None]:
        p, targets, share = ctx.saved_tensors
        weight = (gradient * share)[:, None]  # (N, 1)
        dz = (p - ctx.smoothing / p.size(1)).mul_(weight)  # (N, V)
        dz.scatter_add_(1, targets[:, None], (ctx.smoothing - 1) * weight)
        return dz, None, None


class TranslationLoss(nn.Module):
    """Cross entropy of every next target token, with a configuration's label smoothing and teacher forcing."""

    def __init__(self, model: Transformer | GruModel, config: TrainingConfig) -> None:
        super().__init__()
        self.model = model
        self.smoothing = config.label_smoothing
        self.forcing = {"teacher_forcing": config.teacher_forcing} if isinstance(model, GruModel) else {}

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """The mean loss in nats per token of src (B, S) and tgt (B, T), with start and end tokens."""
        logits = self.model(src, tgt[:, :-1], **self.forcing)  # (B, T - 1, V)
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return smoothed_cross_entropy(logits, tgt[:, 1:], self.smoothing)


class NextWordLoss(nn.Module):
    """Cross entropy of tgt (B, T), the id that follows each id of src (B, T)."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """The mean loss of src and tgt (B, T), ids, in nats per token."""
        return self.model.loss(src, tgt)
