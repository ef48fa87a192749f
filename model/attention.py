"""Multi-head and additive attention: the equations, with a tap on every quantity."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.masks import combine, window_mask
from model.relative import Alibi, Buckets, Relative, Rotary
from model.taps import Tap, observed


def masked_softmax(scores: Tensor) -> Tensor:
    """Softmax over the keys of scores (..., T, S); a row of -inf only gives zeros (softmax alone: NaN).

    Example:
        >>> import torch
        >>> masked_softmax(torch.tensor([[0.0, 0.0], [-math.inf, -math.inf]])).tolist()
        [[0.5, 0.5], [0.0, 0.0]]
    """
    blocked = scores.amax(dim=-1, keepdim=True) == -math.inf  # (..., T, 1)
    if not blocked.any():
        return scores.softmax(dim=-1)
    # Filled before and after: a softmax of -inf alone would be NaN, and its gradient too.
    return scores.masked_fill(blocked, 0.0).softmax(dim=-1).masked_fill(blocked, 0.0)


def softmax_with_sink(scores: Tensor, sink: Tensor) -> tuple[Tensor, Tensor]:
    """Softmax over the keys of scores (B, H, T, S) and one more score per head, sink (H,).

    Returns the weights (B, H, T, S), rows of which sum to less than 1, and those of the sink (B, H, T), which took
    the rest (gpt-oss; Xiao et al. 2024 on why heads want one).

    Example:
        >>> weights, of_sink = softmax_with_sink(torch.zeros(1, 1, 1, 3), torch.zeros(1))
        >>> weights.tolist(), of_sink.tolist()
        ([[[[0.25, 0.25, 0.25]]]], [[[0.25]]])
    """
    column = sink[None, :, None, None].expand(scores.size(0), -1, scores.size(2), 1)  # (B, H, T, 1)
    weights = torch.cat([scores, column], dim=-1).softmax(dim=-1)  # (B, H, T, S + 1)
    return weights[..., :-1], weights[..., -1]


_STEPS = 2**16  # probabilities are whole numbers of these: 0.1 becomes 0.100006


class Dropout(nn.Dropout):
    """Zeroes each number with probability p in training and scales the rest (Srivastava et al. 2014).

    Random bits come 64 at a time, 16 for each of four numbers: one by one, on a CPU, they took a sixth of a training
    step. What is kept is scaled by the probability that was really drawn with, so the mean is exact.
    """

    def forward(self, input: Tensor) -> Tensor:
        """The numbers, of any shape, in training with some of them zeroed."""
        if not self.training or self.p == 0:
            return input
        dropped = round(self.p * _STEPS)
        if input.device.type != "cpu" or not 0 < dropped < _STEPS:  # elsewhere the library has a fused kernel
            return super().forward(input)
        words = torch.empty(-(-input.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
        bits = words.view(torch.int16)[: input.numel()].view(input.shape)  # even over -2^15 ... 2^15 - 1
        keep = (bits >= dropped - _STEPS // 2).to(input.dtype)  # 1 or 0
        return input * keep.mul_(_STEPS / (_STEPS - dropped))


class MultiHeadAttention(nn.Module):
    """MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O (Vaswani et al. 2017, section 3.2.2).

    Dropout comes after the tap, so that recorded rows sum to 1. The paper's projections have no bias.

    What came since, each absent unless given:
        n_kv_heads: G heads of keys and values, each read by H / G query heads that stand side by side (grouped-query
            attention, Ainslie et al. 2023; with one multi-query attention, Shazeer 2019).
        relative: positions of a self-attention, of `model.relative`: turn(q, k) or bias(T, S).
        qk_norm_eps: RMSNorm of every head's q and k, before they are turned (Henry et al. 2020, as in Qwen 3).
        window: how many keys a query of a self-attention sees on either side, its own among them (Beltagy et al. 2020);
            0: all. The mask is narrowed to it.
        sink: a learned score per head that is in the softmax and gives nothing (gpt-oss).
        score_cap: scores are cap * tanh(scores / cap), before bias and mask (Gemma 2).
    """

    fuses = True  # a kind with equations of its own says False: fused attention and the stepper have only these

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        dropout: float,
        bias: bool,
        *,
        n_kv_heads: int | None = None,
        relative: Relative | None = None,
        qk_norm_eps: float | None = None,
        window: int = 0,
        sink: bool = False,
        score_cap: float = 0.0,
    ) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.n_groups = n_kv_heads or n_heads
        self.d_head = d_model // n_heads
        self.window = window
        self.score_cap = score_cap
        self.q_projection = nn.Linear(d_model, d_model, bias=bias)
        self.k_projection = nn.Linear(d_model, self.n_groups * self.d_head, bias=bias)
        self.v_projection = nn.Linear(d_model, self.n_groups * self.d_head, bias=bias)
        self.output_projection = nn.Linear(d_model, d_model, bias=bias)
        self.q_norm = nn.Identity() if qk_norm_eps is None else nn.RMSNorm(self.d_head, eps=qk_norm_eps)
        self.k_norm = nn.Identity() if qk_norm_eps is None else nn.RMSNorm(self.d_head, eps=qk_norm_eps)
        self.relative = relative
        self.sink = nn.Parameter(torch.zeros(n_heads)) if sink else None
        self.dropout = Dropout(dropout)
        self.tap_q = Tap("B H T K")
        self.tap_k, self.tap_v = Tap("B G S K"), Tap("B G S K")
        self.tap_mask = Tap("B 1 T S")
        self.tap_raw_scores, self.tap_scores, self.tap_weights = (Tap("B H T S") for _ in range(3))
        if sink:
            self.tap_sink = Tap("B H T")
        self.tap_context = Tap("B H T K")
        self.tap_output = Tap("B T D")

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """Positions x (B, T, D) attend to memory (B, S, D); mask bool, broadcastable to (B, H, T, S)."""
        return self.attend(x, *self.keys_values(memory), mask)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """k and v, each (B, G, S, K), of memory (B, S, D), once for all queries."""
        k = self.tap_k(self.k_norm(self._split(self.k_projection(memory))))  # (B, G, S, K)
        v = self.tap_v(self._split(self.v_projection(memory)))  # (B, G, S, K)
        return k, v

    def attend(self, x: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """What x (B, T, D) reads given keys and values (B, G, S, K)."""
        q = self.tap_q(self.q_norm(self._split(self.q_projection(x))))  # (B, H, T, K)
        if isinstance(self.relative, Rotary):
            q, k = self.relative.turn(q, k)
        k, v = self._share(k), self._share(v)  # (B, H, S, K)
        if self.window:
            mask = combine(mask, window_mask(q.size(2), k.size(2), self.window, q.device))
        attention = self._fused if self.fuses and not observed() else self.equations
        context = attention(q, k, v, mask)  # (B, H, T, K)
        context = context.transpose(1, 2).flatten(2)  # (B, T, D)
        return self.tap_output(self.output_projection(context))  # (B, T, D)

    def equations(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        """softmax(Q K^T / sqrt(d_k)) V, equation 1 of the paper: the context (B, H, T, K); no mask hides nothing."""
        mask = q.new_ones((), dtype=torch.bool) if mask is None else mask
        mask = mask[(None,) * (4 - mask.dim())]  # (1 or B, 1, 1 or T, 1 or S)
        mask = self.tap_mask(mask.expand(q.size(0), -1, q.size(2), k.size(2)))  # (B, 1, T, S)
        raw_scores = self.tap_raw_scores(q @ k.transpose(-2, -1))  # (B, H, T, S)
        scores = raw_scores / math.sqrt(self.d_head)
        if self.score_cap:
            scores = self.score_cap * torch.tanh(scores / self.score_cap)
        if isinstance(self.relative, (Alibi, Buckets)):
            scores = scores + self.relative.bias(q.size(2), k.size(2))
        scores = self.tap_scores(scores.masked_fill(~mask, -math.inf))
        if self.sink is None:
            weights = masked_softmax(scores)
        else:
            weights, of_sink = softmax_with_sink(scores, self.sink)
            self.tap_sink(of_sink)  # (B, H, T), which nothing reads
        weights = self.tap_weights(weights)
        weights = self.dropout(weights)
        return self.tap_context(weights @ v)  # (B, H, T, K)

    def _fused(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """The result of `equations` in one call of PyTorch, without the weights, for when nothing is recorded."""
        if self.score_cap or self.sink is not None or isinstance(self.relative, (Alibi, Buckets)):
            return self.equations(q, k, v, mask)  # which the library's call has no arguments for
        dropout = self.dropout.p if self.training else 0.0
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout)

    def _split(self, x: Tensor) -> Tensor:
        """(B, T, H * K) -> (B, H, T, K), of keys and values G heads; without the transpose heads attend to heads."""
        return x.view(*x.shape[:-1], -1, self.d_head).transpose(1, 2)

    def _share(self, x: Tensor) -> Tensor:
        """Keys or values (B, G, S, K), each for the query heads of its group: (B, H, S, K), which may be given."""
        return x if x.size(1) == self.n_heads else x.repeat_interleave(self.n_heads // x.size(1), dim=1)


class AdditiveAttention(nn.Module):
    """score = v^T tanh(W s + U h + b): a small network compares state and memory (Bahdanau et al. 2015, A.1.2)."""

    def __init__(self, d_query: int, d_memory: int) -> None:
        super().__init__()
        self.query_projection = nn.Linear(d_query, d_query, bias=False)
        self.key_projection = nn.Linear(d_memory, d_query)
        self.score = nn.Linear(d_query, 1, bias=False)
        self.tap_q = Tap("B T D")
        self.tap_k = Tap("B S D")
        self.tap_mask, self.tap_raw_scores, self.tap_scores, self.tap_weights = (Tap("B H T S") for _ in range(4))
        self.tap_context = Tap("B T M")

    def keys(self, memory: Tensor) -> Tensor:
        """The keys (B, S, D) of memory (B, S, M), once for all queries."""
        return self.tap_k(self.key_projection(memory))

    def forward(self, query: Tensor, keys: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        """The context (B, T, M) of query (B, T, D), keys (B, S, D), memory (B, S, M), mask (B, 1, 1, S); H is 1."""
        q = self.tap_q(self.query_projection(query))  # (B, T, D)
        mask = self.tap_mask(mask.expand(-1, -1, q.size(1), -1))  # (B, 1, T, S)
        energy = torch.tanh(q[:, :, None] + keys[:, None])  # (B, T, S, D)
        raw_scores = self.tap_raw_scores(self.score(energy).squeeze(-1)[:, None])  # (B, 1, T, S)
        scores = self.tap_scores(raw_scores.masked_fill(~mask, -math.inf))
        weights = self.tap_weights(masked_softmax(scores))
        return self.tap_context(weights[:, 0] @ memory)  # (B, T, M)
