"""LayerNorm beside RMSNorm: on the vectors of a language model, and in place of the norms that it was trained with."""

import copy

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.language_model import LanguageModel
from model.running.translator import Writer


def layer_norm(x: np.ndarray, eps: float) -> np.ndarray:
    """(x - mean) / sqrt(variance + eps) over the last axis (Ba et al. 2016), without learned weights."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps)


def rms_norm(x: np.ndarray, eps: float) -> np.ndarray:
    """x / sqrt(mean(x^2) + eps) over the last axis (Zhang and Sennrich 2019), without learned weights."""
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)


def last_streams(writer: Writer, text: str) -> np.ndarray:
    """The residual stream at the last token of a text, float32 (2 * layers + 1, D), first and after each sublayer.

    In a pre-norm model with a final norm these are what its norms get, in their order.
    """
    trace = writer.read(text).trace
    names = ["decoder.input"]
    for layer in range(len(writer.model.decoder.layers)):
        names += [f"decoder.layers.{layer}.residual_{part}" for part in ("self", "ff")]
    return np.stack([trace[f"{name}.stream"][-1] for name in names])


@torch.inference_mode()
def next_words(writer: Writer, text: str, swapped: bool = False) -> np.ndarray:
    """The probabilities of the word after a text, float64 (V,).

    `swapped`: as if every LayerNorm were an RMSNorm with the same weights, or every RMSNorm a LayerNorm.
    """
    model = _with_other_norms(writer.model) if swapped else writer.model
    ids = torch.tensor([[writer.tokenizer.eos_id, *writer.tokenizer.encode(text)]])
    return model(ids)[0, -1].double().softmax(-1).numpy()


def _with_other_norms(model: LanguageModel) -> LanguageModel:
    """A copy: others may be computing with the model itself."""
    model = copy.deepcopy(model)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, (nn.LayerNorm, nn.RMSNorm)):
                setattr(module, name, _OtherNorm(child))
    return model


class _OtherNorm(nn.Module):
    """RMSNorm with the weights of a LayerNorm, or LayerNorm with those of an RMSNorm, which has no bias."""

    def __init__(self, norm: nn.LayerNorm | nn.RMSNorm) -> None:
        super().__init__()
        self.norm = norm

    def forward(self, x: Tensor) -> Tensor:
        norm = self.norm
        if isinstance(norm, nn.RMSNorm):
            assert norm.eps is not None, "our configurations name it"
            return F.layer_norm(x, norm.normalized_shape, norm.weight, eps=norm.eps)
        return F.rms_norm(x, norm.normalized_shape, norm.weight, eps=norm.eps) + norm.bias
