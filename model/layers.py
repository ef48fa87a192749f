"""Feed-forward, residual connection, and the encoder and decoder layers made of them."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import Dropout, MultiHeadAttention
from model.config import StackConfig
from model.relative import Relative
from model.taps import Tap

KeysValues = tuple[Tensor, Tensor]
Remember = Callable[[KeysValues], KeysValues]
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "swish": F.silu}


class FeedForward(nn.Module):
    """FFN(x) = activation(x W_1 + b_1) W_2 + b_2 (Vaswani et al. 2017, section 3.3)."""

    def __init__(self, config: StackConfig) -> None:
        super().__init__()
        self.inner = nn.Linear(config.d_model, config.d_ff, bias=config.feed_forward_bias)
        self.outer = nn.Linear(config.d_ff, config.d_model, bias=config.feed_forward_bias)
        self.activation = ACTIVATIONS[config.activation]
        self.dropout = Dropout(config.dropout)
        self.tap_hidden = Tap("B T F")
        self.tap_output = Tap("B T D")

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D), each position by itself."""
        hidden = self.tap_hidden(self.activation(self.inner(x)))  # (B, T, F)
        return self.tap_output(self.outer(self.dropout(hidden)))  # (B, T, D)


class GatedFeedForward(FeedForward):
    """FFN(x) = (activation(x W + b) * (x V + c)) W_2 + b_2; with swish SwiGLU (Shazeer 2020, equation 6)."""

    def __init__(self, config: StackConfig) -> None:
        super().__init__(config)
        self.gate = nn.Linear(config.d_model, config.d_ff, bias=config.feed_forward_bias)
        self.tap_gate = Tap("B T F")

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, D) to (B, T, D), each position by itself."""
        gate = self.tap_gate(self.activation(self.gate(x)))  # (B, T, F)
        hidden = self.tap_hidden(gate * self.inner(x))  # (B, T, F)
        return self.tap_output(self.outer(self.dropout(hidden)))  # (B, T, D)


def build_norm(config: StackConfig) -> nn.Module:
    """LayerNorm, or RMSNorm(x) = x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich 2019)."""
    norm = nn.RMSNorm if config.norm_type == "rms" else nn.LayerNorm
    return norm(config.d_model, eps=config.norm_eps)


class Residual(nn.Module):
    """x + sublayer(x), normalised before (Xiong et al. 2020) or after (the paper)."""

    def __init__(self, config: StackConfig) -> None:
        super().__init__()
        self.norm = build_norm(config)
        self.dropout = Dropout(config.dropout)
        self.is_pre = config.norm == "pre"
        self.tap_stream = Tap("B T D")

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """The residual stream x (B, T, D) after the sublayer."""
        if self.is_pre:
            return self.tap_stream(x + self.dropout(sublayer(self.norm(x))))
        return self.tap_stream(self.norm(x + self.dropout(sublayer(x))))


def _attention(config: StackConfig, relative: Relative | None = None, is_self: bool = True) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.d_model,
        config.n_heads,
        config.dropout,
        config.attention_bias,
        n_kv_heads=config.n_groups,
        relative=relative,
        qk_norm_eps=config.norm_eps if config.qk_norm else None,
        window=config.attention_window if is_self else 0,
        sink=config.attention_sink,
        score_cap=config.score_cap,
    )


def _feed_forward(config: StackConfig) -> FeedForward:
    return GatedFeedForward(config) if config.gated else FeedForward(config)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each in a residual connection."""

    def __init__(self, config: StackConfig, relative: Relative | None = None) -> None:
        """`relative`: relative positions of the self-attention, see `MultiHeadAttention`."""
        super().__init__()
        self.self_attention = _attention(config, relative)
        self.feed_forward = _feed_forward(config)
        self.residual_self = Residual(config)
        self.residual_ff = Residual(config)

    def forward(self, x: Tensor, mask: Tensor, remember: Remember | None = None) -> Tensor:
        """x (B, T, D) to the same; mask bool, broadcastable to (B, H, T, S).

        remember makes of the keys and values of x what to attend to, in cached decoding those of all steps; without it
        S is T.
        """

        def self_attention(x: Tensor) -> Tensor:
            keys_values = self.self_attention.keys_values(x)
            k, v = remember(keys_values) if remember else keys_values
            return self.self_attention.attend(x, k, v, mask)

        x = self.residual_self(x, self_attention)
        return self.residual_ff(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention, then feed-forward, each in a residual connection."""

    def __init__(self, config: StackConfig, relative: Relative | None = None) -> None:
        """`relative`: relative positions of the self-attention, see `MultiHeadAttention`."""
        super().__init__()
        self.self_attention = _attention(config, relative)
        self.cross_attention = _attention(config, is_self=False)
        self.feed_forward = _feed_forward(config)
        self.residual_self = Residual(config)
        self.residual_cross = Residual(config)
        self.residual_ff = Residual(config)

    def forward(
        self,
        x: Tensor,
        mask: Tensor,
        cross: KeysValues,
        cross_mask: Tensor,
        remember: Remember,
    ) -> Tensor:
        """x (B, T, D) to the same; masks bool, broadcastable to (B, H, T, S).

        cross has keys and values of the memory; remember makes of those of x what to attend to: in cached decoding
        those of all steps.
        """

        def self_attention(x: Tensor) -> Tensor:
            k, v = remember(self.self_attention.keys_values(x))
            return self.self_attention.attend(x, k, v, mask)

        def cross_attention(x: Tensor) -> Tensor:
            return self.cross_attention.attend(x, *cross, cross_mask)

        x = self.residual_self(x, self_attention)
        x = self.residual_cross(x, cross_attention)
        return self.residual_ff(x, self.feed_forward)
