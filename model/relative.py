"""Relative positions, which work inside every self-attention instead of being added to the embeddings.

`Rotary` turns queries and keys; `Alibi` and `Buckets` add a bias to the scores. Queries are the last T of S positions,
as in cached decoding: keys are cached as they were projected, and turned when they are read.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from model.config import StackConfig
from model.taps import Tap

N_BUCKETS, MAX_DISTANCE = 32, 128  # of T5


def rotary_frequencies(d_head: int, base: float = 10_000.0) -> Tensor:
    """How fast each pair of dimensions turns: base^(-2i / d_head), (d_head / 2,) float64, in radians per position.

    Su et al. 2021 (RoFormer), section 3.2.2.

    Example:
        >>> rotary_frequencies(4).tolist()
        [1.0, 0.01]
    """
    return base ** (-torch.arange(0, d_head, 2, dtype=torch.float64) / d_head)


def rotate(x: Tensor, cosine: Tensor, sine: Tensor, interleaved: bool) -> Tensor:
    """Turn every pair of dimensions of x (..., T, K) by the angle of its position, cosine and sine (T, K / 2).

    interleaved: pairs are neighbours, (0, 1), (2, 3), ..., as in the paper; else one dimension of each half,
    (0, K / 2), (1, K / 2 + 1), ..., as in Llama. They differ by an order of the rows of the
    projections of queries and keys.

    Example:
        >>> quarter = torch.zeros(1, 1), torch.ones(1, 1)
        >>> rotate(torch.tensor([[1.0, 0.0]]), *quarter, interleaved=True).tolist()
        [[0.0, 1.0]]
    """
    first, second = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, dim=-1)  # (..., T, K / 2)
    turned = first * cosine - second * sine, first * sine + second * cosine
    return torch.stack(turned, dim=-1).flatten(-2) if interleaved else torch.cat(turned, dim=-1)


def alibi_slopes(n_heads: int) -> Tensor:
    """How much a score falls with each position of distance, per head, (H,) float64 (Press et al. 2022, section 3).

    2^(-8/H), 2^(-16/H), ... for a power of two; of another number of heads those of the power below it, then every
    second one of the power above.

    Example:
        >>> alibi_slopes(4).tolist()
        [0.25, 0.0625, 0.015625, 0.00390625]
    """
    power = 2 ** math.floor(math.log2(n_heads))
    slopes = 2.0 ** (-8 / power * torch.arange(1, power + 1, dtype=torch.float64))
    between = 2.0 ** (-8 / (2 * power) * torch.arange(1, 2 * power + 1, 2, dtype=torch.float64))
    return torch.cat([slopes, between[: n_heads - power]])


def bucket_of(offset: Tensor, causal: bool, n_buckets: int = N_BUCKETS, max_distance: int = MAX_DISTANCE) -> Tensor:
    """The bucket of each offset, key position less query position, int64 (Raffel et al. 2020, section 2.1).

    Half of the buckets are single distances; the others grow geometrically up to max_distance, and all beyond share the
    last. Where attention is not causal, half of them are for keys after the query.

    Example:
        >>> bucket_of(torch.tensor([0, -1, -2, -40, -1000]), causal=True).tolist()
        [0, 1, 2, 23, 31]
    """
    buckets = torch.zeros_like(offset)
    if causal:
        distance = (-offset).clamp(min=0)
    else:
        n_buckets //= 2
        buckets = (offset > 0).long() * n_buckets
        distance = offset.abs()
    exact = n_buckets // 2
    growth = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    far = (exact + (growth * (n_buckets - exact)).long()).clamp(max=n_buckets - 1)
    return buckets + torch.where(distance < exact, distance, far)


def offsets(n_queries: int, n_keys: int, device: torch.device | None = None) -> Tensor:
    """Key position less query position, (T, S) int64; queries are the last positions.

    Example:
        >>> offsets(2, 3).tolist()
        [[-1, 0, 1], [-2, -1, 0]]
    """
    keys = torch.arange(n_keys, device=device)
    return keys[None] - keys[n_keys - n_queries :, None]


class Rotary(nn.Module):
    """Rotary position embeddings: q and k are turned, so that their product depends on their offset only."""

    cosine: Tensor  # (max_length, K / 2)
    sine: Tensor

    def __init__(self, config: StackConfig) -> None:
        super().__init__()
        self.interleaved = config.positional == "rotary"
        with torch.device("cpu"):
            angles = torch.arange(config.max_length)[:, None] * rotary_frequencies(config.d_head, config.rotary_base)
        default = torch.get_default_dtype()
        self.register_buffer("cosine", angles.cos().to(default), persistent=False)  # (max_length, K / 2)
        self.register_buffer("sine", angles.sin().to(default), persistent=False)
        self.tap_q = Tap("B H T K")
        self.tap_k = Tap("B G S K")

    def turn(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """q (B, H, T, K), the last T positions, and k (B, G, S, K), turned."""
        end = k.size(2)
        start = end - q.size(2)
        q = self.tap_q(rotate(q, self.cosine[start:end], self.sine[start:end], self.interleaved))
        k = self.tap_k(rotate(k, self.cosine[:end], self.sine[:end], self.interleaved))
        return q, k


class Alibi(nn.Module):
    """Attention with linear biases: scores fall with the distance, in each head at another slope.

    Press et al. 2022 have no keys after the query; where there are (an encoder), they count by their distance too.
    """

    slopes: Tensor  # (H,)

    def __init__(self, config: StackConfig) -> None:
        super().__init__()
        self.register_buffer("slopes", alibi_slopes(config.n_heads).to(torch.get_default_dtype()), persistent=False)
        self.tap_bias = Tap("1 H T S")

    def bias(self, n_queries: int, n_keys: int) -> Tensor:
        """(1, H, T, S): -slope * distance."""
        distance = offsets(n_queries, n_keys, self.slopes.device).abs()  # (T, S)
        return self.tap_bias(-self.slopes[None, :, None, None] * distance)


class Buckets(nn.Module):
    """T5's relative positions: a learned bias per head and bucket of distances, shared by the layers of a stack."""

    def __init__(self, table: nn.Embedding, causal: bool) -> None:
        super().__init__()
        self.causal = causal
        self.table = table  # (N_BUCKETS, H)
        self.tap_bias = Tap("1 H T S")

    def bias(self, n_queries: int, n_keys: int) -> Tensor:
        """(1, H, T, S), by the bucket of each offset."""
        buckets = bucket_of(offsets(n_queries, n_keys, self.table.weight.device), self.causal)  # (T, S)
        return self.tap_bias(self.table(buckets).permute(2, 0, 1)[None])


Relative = Rotary | Alibi | Buckets


def build_relative(config: StackConfig, causal: bool, n_layers: int) -> Sequence[Relative | None]:
    """The relative positions of each layer's self-attention; None where positions are added to the embeddings."""
    if config.positional.startswith("rotary"):
        return [Rotary(config) for _ in range(n_layers)]
    if config.positional == "alibi":
        return [Alibi(config) for _ in range(n_layers)]
    if config.positional == "buckets":
        table = nn.Embedding(N_BUCKETS, config.n_heads)
        return [Buckets(table, causal) for _ in range(n_layers)]
    return [None] * n_layers
