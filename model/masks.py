"""The only place where a mask is made.

One convention: boolean, True = may attend, broadcastable to (B, H, T, S); rows are queries, columns are keys.
"""

import math
from functools import reduce

import torch
from torch import Tensor

from model.text.special import PAD_ID


def padding_mask(ids: Tensor) -> Tensor:
    """(B, 1, 1, S) bool: every key of ids (B, S) that is not padding.

    Example:
        >>> padding_mask(torch.tensor([[5, 6, 0]])).tolist()
        [[[[True, True, False]]]]
    """
    return (ids != PAD_ID)[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(n_queries: int, n_keys: int | None = None, device: torch.device | None = None) -> Tensor:
    """(1, 1, T, S) bool: each query's own position and those before it (Vaswani et al. 2017, section 3.2.3).

    With more keys than queries the queries are the last positions, as in cached decoding; fewer are a ValueError.

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
    """The logical AND of masks, broadcast.

    Example:
        >>> combine(causal_mask(2), padding_mask(torch.tensor([[7, 0]])))[0, 0].int().tolist()
        [[1, 0], [1, 0]]
    """
    return reduce(torch.logical_and, masks)


def decoder_mask(ids: Tensor) -> Tensor:
    """(B, 1, T, T) bool for decoder inputs (B, T): padding AND look-ahead."""
    return combine(padding_mask(ids), causal_mask(ids.size(1), device=ids.device))


def window_mask(n_queries: int, n_keys: int, window: int, device: torch.device | None = None) -> Tensor:
    """(1, 1, T, S) bool: keys less than `window` positions away (Beltagy et al. 2020); queries are the last positions.

    With `causal_mask` that of Mistral: `window` keys at most, a query's own among them.

    Example:
        >>> combine(causal_mask(3), window_mask(3, 3, 2))[0, 0].int().tolist()
        [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """
    keys = torch.arange(n_keys, device=device)
    distance = (keys[n_keys - n_queries :, None] - keys).abs()  # (T, S)
    return (distance < window)[None, None]


def document_mask(documents: Tensor) -> Tensor:
    """(B, 1, T, T) bool: a row with several texts, each query within its own and not ahead (sequence packing).

    documents: (B, T), the number of the text that each position belongs to.

    Example:
        >>> document_mask(torch.tensor([[0, 0, 1]]))[0, 0].int().tolist()
        [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    """
    same = documents[:, None, :, None] == documents[:, None, None, :]  # (B, 1, T, T)
    return combine(same, causal_mask(documents.size(1), device=documents.device))


def prefix_mask(n: int, prefix: int, device: torch.device | None = None) -> Tensor:
    """(1, 1, T, T) bool: all see the first `prefix` positions, the rest is causal (prefix LM, Raffel et al. 2020).

    Example:
        >>> prefix_mask(3, 2)[0, 0].int().tolist()
        [[1, 1, 0], [1, 1, 0], [1, 1, 1]]
    """
    return causal_mask(n, device=device) | (torch.arange(n, device=device) < prefix)


def without_each(n_keys: int) -> Tensor:
    """(S + 1, 1, 1, S) bool: the first batch row sees every key, row 1 + s all but key s.

    Example:
        >>> without_each(2)[:, 0, 0].int().tolist()
        [[1, 1], [0, 1], [1, 0]]
    """
    keys = torch.arange(n_keys)
    return (torch.arange(-1, n_keys)[:, None] != keys)[:, None, None]  # (S + 1, 1, 1, S)


def everything(n_queries: int, n_keys: int) -> Tensor:
    """(1, 1, T, S) bool, all True: what a model does whose mask was forgotten."""
    return torch.ones(1, 1, n_queries, n_keys, dtype=torch.bool)


def conventions(mask: Tensor) -> dict[str, Tensor]:
    """A mask in the conventions of common libraries, by name.

    "keep" is itself; "blocked" has True = blocked, as `nn.MultiheadAttention`; "integers" 1 = may attend, as the
    `attention_mask` of many libraries; "additive" is added to the scores: 0 = may attend, -inf = blocked.

    Example:
        >>> conventions(causal_mask(2))["additive"][0, 0].tolist()
        [[0.0, -inf], [0.0, 0.0]]
    """
    additive = torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    return {"keep": mask, "blocked": ~mask, "integers": mask.long(), "additive": additive}
