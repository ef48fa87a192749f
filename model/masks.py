"""The only place where a mask is made.

One convention: boolean, True = may attend, broadcastable to (B, H, T, S); rows are queries, columns are keys.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Let every query attend to every key that is a real token.

    Args:
        ids: (B, S) token ids of the keys.
        pad_id: the id of the padding token.

    Returns:
        (B, 1, 1, S) bool, True where the key is not padding.

    Example:
        >>> padding_mask(torch.tensor([[5, 6, 0]]), pad_id=0).tolist()
        [[[[True, True, False]]]]
    """
    return (ids != pad_id)[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(n_queries: int, n_keys: int | None = None, device: torch.device | None = None) -> Tensor:
    """Let a query attend to itself and to what came before it ("look-ahead mask").

    Args:
        n_queries: T, the number of queries.
        n_keys: S, the number of keys, T unless said; with S > T the queries are the last T positions,
            as in cached decoding.
        device: where to make it.

    Returns:
        (1, 1, T, S) bool, True on and below the diagonal (Vaswani et al. 2017, section 3.2.3).

    Raises:
        ValueError: if there are fewer keys than queries.

    Example:
        >>> causal_mask(3)[0, 0].int().tolist()
        [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    n_keys = n_queries if n_keys is None else n_keys
    if n_keys < n_queries:
        raise ValueError(f"a causal mask needs as many keys as queries or more, got {n_keys} keys, {n_queries} queries")
    ones = torch.ones(n_queries, n_keys, dtype=torch.bool, device=device)
    return ones.tril(diagonal=n_keys - n_queries)[None, None]  # (1, 1, T, S)


def combine(*masks: Tensor) -> Tensor:
    """Allow only what every one of the masks allows (logical AND, with broadcasting).

    Args:
        masks: bool tensors broadcastable to (B, H, T, S).

    Returns:
        Their AND, broadcast to a common shape.

    Example:
        >>> combine(causal_mask(2), padding_mask(torch.tensor([[7, 0]]), 0))[0, 0].int().tolist()
        [[1, 0], [1, 0]]
    """
    result = masks[0]
    for mask in masks[1:]:
        result = result & mask
    return result


def decoder_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Padding AND look-ahead, what the decoder's self-attention uses.

    Args:
        ids: (B, T) token ids of the decoder input.
        pad_id: the id of the padding token.

    Returns:
        (B, 1, T, T) bool.
    """
    return combine(padding_mask(ids, pad_id), causal_mask(ids.size(1), device=ids.device))


def without_each(n_keys: int) -> Tensor:
    """Let all queries of the first batch row attend to every key, and those of each further row to all but one.

    Args:
        n_keys: S.

    Returns:
        (S + 1, 1, 1, S) bool; row 1 + s blocks key s.

    Example:
        >>> without_each(2)[:, 0, 0].int().tolist()
        [[1, 1], [0, 1], [1, 0]]
    """
    keys = torch.arange(n_keys)
    return (torch.arange(-1, n_keys)[:, None] != keys)[:, None, None]  # (S + 1, 1, 1, S)


def everything(n_queries: int, n_keys: int) -> Tensor:
    """Let every query attend to every key: what a model does whose mask was forgotten.

    Args:
        n_queries: T.
        n_keys: S.

    Returns:
        (1, 1, T, S) bool, all True.
    """
    return torch.ones(1, 1, n_queries, n_keys, dtype=torch.bool)


def conventions(mask: Tensor) -> dict[str, Tensor]:
    """The same mask as people meet it; nothing here reads the others, they are made to be shown and compared.

    Args:
        mask: bool, True = may attend.

    Returns:
        Of the same shape "keep", itself; "blocked", bool, True = blocked, as `nn.MultiheadAttention` and
        `nn.Transformer` read it; "integers", int64, 1 = may attend, the `attention_mask` of many libraries; "additive",
        float32, to be added to the scores: 0 = may attend, -inf = blocked.

    Example:
        >>> conventions(causal_mask(2))["additive"][0, 0].tolist()
        [[0.0, -inf], [0.0, 0.0]]
    """
    additive = torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    return {"keep": mask, "blocked": ~mask, "integers": mask.long(), "additive": additive}
