"""Bands of attention as whole maps: what Longformer and LED hand out in place of maps of tokens by tokens.

A row of a band holds the weights on G tokens with global attention, and then those on the w + 1 keys around the query,
w / 2 to either side (Beltagy et al. 2020). The rows of the global tokens themselves are zeros there; their weights on
all tokens stand beside it, in an array of their own.
"""

from typing import Any

import torch
from torch import Tensor

_OF_GLOBAL = {"attentions": "global_attentions", "encoder_attentions": "encoder_global_attentions"}


def hands_out_bands(outputs: Any, name: str) -> bool:
    """Whether the maps under a name of the outputs of a model are bands: then it has a field for global attention."""
    return name in _OF_GLOBAL and hasattr(outputs, _OF_GLOBAL[name])


def whole_maps(outputs: Any, name: str, row: int, is_token: Tensor) -> tuple[Tensor, Tensor]:
    """The bands of one sequence as maps, float32 (L, H, T, T), and their masks, bool (L, T, T), True = may attend.

    Args:
        outputs: of the model, on which `hands_out_bands` is true.
        name: of the field with the bands, one tensor (B, H, T, G + w + 1) per layer.
        row: of the sequence in the batch.
        is_token: bool (T,), False for padding, which nothing attends to.
    """
    is_token = is_token.cpu()
    of_global = getattr(outputs, _OF_GLOBAL[name])
    maps = []
    masks = []
    for layer, band in enumerate(getattr(outputs, name)):
        rows = None if of_global is None else of_global[layer][row].detach().float().cpu()  # (H, T or more, G)
        weights, mask = _whole_map(band[row].detach().float().cpu(), rows, is_token)
        maps.append(weights)
        masks.append(mask)
    return torch.stack(maps), torch.stack(masks)


def _whole_map(band: Tensor, of_global: Tensor | None, is_token: Tensor) -> tuple[Tensor, Tensor]:
    """A band (H, T, G + w + 1), and the weights (H, T, G) of its global tokens on all, as (H, T, T) and (T, T)."""
    n_heads, n_tokens, width = band.shape
    n_columns = 0 if of_global is None else of_global.size(-1)  # as many as the sequence with the most of the batch has
    half = (width - n_columns - 1) // 2
    keys = torch.arange(n_tokens)[:, None] + torch.arange(2 * half + 1)  # (T, w + 1), moved to the right by w / 2
    padded = torch.zeros(n_heads, n_tokens, n_tokens + 2 * half)
    padded.scatter_(2, keys.expand(n_heads, -1, -1), band[..., n_columns:])
    weights = padded[..., half : half + n_tokens].clone()
    distance = (torch.arange(n_tokens)[:, None] - torch.arange(n_tokens)).abs()
    mask = distance <= half
    if of_global is not None:
        is_global = is_token & ~band.flatten(2).any(dim=-1).any(dim=0)  # (T,), the rows that are zeros
        places = is_global.nonzero().flatten()
        weights[..., places] += band[..., : len(places)]
        weights[:, places] = of_global[:, :n_tokens, : len(places)].transpose(1, 2)
        mask = mask | is_global | is_global[:, None]
    return weights, mask & is_token & is_token[:, None]
