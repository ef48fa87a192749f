"""Beginning with the weights of a smaller model."""

from typing import Any

import torch
from torch import Tensor, nn


def find_conflict(smaller: dict[str, Any], larger: dict[str, Any]) -> str | None:
    """The first setting for which a model of the second configuration cannot begin with the weights of the first.

    d_ff may be larger, and dropout, which has no weights, may differ.
    """
    for name, value in larger.items():
        is_wider = name == "d_ff" and value > smaller[name]
        if name != "dropout" and not is_wider and smaller[name] != value:
            return name
    return None


def widen_feed_forward(parameters: dict[str, Tensor], model: nn.Module) -> dict[str, Tensor]:
    """Weights for `model` that compute what those of a model with narrower feed-forward layers do.

    Nothing reads the units that are added: their columns of W_2 (D, F) are 0, while their rows of W_1 (F, D) are those
    that `model` was built with, so that the first gradient of W_2 is not 0. Another way to the aim of Chen et al. 2016
    (Net2Net, section 2.2), who split units that are there.

    Args:
        parameters: those of the smaller model, by name.
    """
    widened = {}
    for name, built in model.named_parameters():
        narrow = parameters[name]
        if narrow.shape != built.shape:
            is_read_from = name.endswith("feed_forward.outer.weight")
            wide = torch.zeros_like(built) if is_read_from else built.detach().clone()
            wide[tuple(slice(size) for size in narrow.shape)] = narrow
            narrow = wide
        widened[name] = narrow
    return widened
