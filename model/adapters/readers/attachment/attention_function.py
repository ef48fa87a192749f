"""The attention function that an attached model of transformers calls: our equations, with a tap on every quantity.

transformers hands every attention of a model over to a function that is registered under a name. Ours computes the
equations of `model.attention` while something observes, and leaves the rest of the time to the model's former function,
so that an attached model costs nothing.
"""

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import masked_softmax, softmax_with_sink
from model.taps import Tap, observed

PREFIX = "headlight_"  # of the names under which the function is registered, the former one's after it
# In the order in which they fire; shape letters as in `model`, G heads of keys and values. q and k are what is
# multiplied, turned by their positions where these are rotary: by "cos" and "sin", R dimensions or R pairs of them.
# These, "bias" (of positions, and of masks that are numbers) and "sink" fire only where a model has them.
TAPS = {
    "cos": "B T R",
    "sin": "B T R",
    "q": "B H T K",
    "k": "B G S K",
    "v": "B G S K",
    "mask": "B 1 T S",
    "raw_scores": "B H T S",
    "bias": "B H T S",
    "scores": "B H T S",
    "sink": "B H T",
    "weights": "B H T S",
    "context": "B H T K",
    "output": "B T D",
}


class AttentionTaps:
    """The taps of one attention, named as those of `model.attention.MultiHeadAttention`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.by_name = {name: Tap(shape) for name, shape in TAPS.items()}
        for name, tap in self.by_name.items():
            tap.address = f"{address}.{name}"

    def __call__(self, name: str, value: Tensor) -> Tensor:
        """Record a value under a name, and return what takes its place."""
        return self.by_name[name](value)


class OneLayer:
    """An attention module that is one layer."""

    def __init__(self, taps: AttentionTaps) -> None:
        self.next = self.last = lambda: taps


class SharedLayers:
    """Modules that are several layers in turn, as ALBERT's: the n-th call in a pass is the n-th layer's.

    The count belongs to the call (a ContextVar), never to the module: one model serves many threads.
    """

    def __init__(self, layers: list[AttentionTaps]) -> None:
        self.layers = layers
        self._counter: ContextVar[Iterator[int]] = ContextVar("layer_counter")
        self._last: ContextVar[int] = ContextVar("last_layer", default=0)

    def begin(self, *_: Any) -> None:
        """A hook for the beginning of a pass."""
        if observed():
            self._counter.set(itertools.count())

    def next(self) -> AttentionTaps:
        """The taps of the next call of this layer; a decoder may call its attention several times in a pass."""
        self._last.set(next(self._counter.get()))
        return self.last()

    def last(self) -> AttentionTaps:
        """The taps of the call that ran last."""
        return self.layers[self._last.get()]


LAYER_OF: WeakKeyDictionary[nn.Module, OneLayer | SharedLayers] = WeakKeyDictionary()  # of each attention module


def register(former: str) -> str:
    """Register the function that falls back to a former attention implementation; returns its name."""
    from transformers import AttentionInterface, AttentionMaskInterface

    name = former if former.startswith(PREFIX) else PREFIX + former
    former = name.removeprefix(PREFIX)
    AttentionInterface.register(name, partial(attend, former))
    AttentionMaskInterface.register(name, partial(_make_mask, former))
    return name


def attend(
    former: str,
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    **options: Any,
) -> tuple[Tensor, Tensor | None]:
    """What transformers calls: query (B, H, T, K), key and value (B, G, S, K) to the context (B, T, H, K) and weights.

    G key-value heads serve H / G query heads each. Options are those of `_equations` and others of former functions.
    """
    if not observed():
        return _former_function(former, module)(module, query, key, value, attention_mask, **options)
    layer = LAYER_OF.get(module)
    taps = layer.next() if layer else lambda name, passed: passed
    names = ("scaling", "dropout", "softcap", "s_aux", "position_bias")
    arguments = {name: options[name] for name in names if options.get(name) is not None}
    return _equations(taps, query, key, value, attention_mask, training=module.training, **arguments)


def _equations(
    tap: Callable[[str, Tensor], Tensor],
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    *,
    scaling: float | None = None,
    dropout: float = 0.0,
    training: bool = False,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    position_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """softmax(Q K^T scaling) V, with what newer models add to it.

    Args:
        scaling: 1 / sqrt(K) unless given.
        softcap: scores become softcap tanh(scores / softcap) (Gemma 2).
        s_aux: (H,) scores of a learned sink per head, whose weight is read by nobody (gpt-oss).
        position_bias: (1 or B, H, T, S), added to the scores (T5).
    """
    q = tap("q", query)  # (B, H, T, K)
    k, v = tap("k", key), tap("v", value)  # (B, G, S, K); a change may give each head keys of its own
    k, v = (_share(heads, q.size(1)) for heads in (k, v))  # (B, H, S, K)
    allowed, bias = _split_mask(attention_mask, q, k)
    mask = tap("mask", allowed)  # (B, 1, T, S)
    raw_scores = tap("raw_scores", q @ k.transpose(-2, -1))  # (B, H, T, S)
    scores = raw_scores * (q.size(-1) ** -0.5 if scaling is None else scaling)
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    # The cross-attention of T5 is given zeros.
    biases = [value.expand_as(scores) for value in (position_bias, bias) if value is not None and value.any()]
    if biases:
        scores = scores + tap("bias", sum(biases[1:], start=biases[0]))
    scores = tap("scores", scores.masked_fill(~mask, -math.inf))
    scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
    if s_aux is None:
        weights = masked_softmax(scores)
    else:
        weights, of_sink = softmax_with_sink(scores, s_aux.to(scores.dtype))
        tap("sink", of_sink)  # (B, H, T), which nothing reads
    weights = tap("weights", weights)  # (B, H, T, S)
    context = tap("context", F.dropout(weights, dropout, training).to(v.dtype) @ v)  # (B, H, T, K)
    return context.transpose(1, 2).contiguous(), weights  # (B, T, H, K)


def _share(x: Tensor, n_heads: int) -> Tensor:
    """Keys or values (B, G, S, K), each for the query heads of its group: (B, H, S, K)."""
    return x if x.size(1) == n_heads else x.repeat_interleave(n_heads // x.size(1), dim=1)


def _split_mask(mask: Tensor | None, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor | None]:
    """A mask as models hand it over: what may attend, bool (B, 1, T, S), and what is added to the scores, if anything.

    Models that make their masks themselves add numbers to the scores: the lowest of the type where nothing may attend.
    """
    shape = (q.size(0), 1, q.size(2), k.size(2))
    if mask is None:
        return torch.ones((), dtype=torch.bool, device=q.device).expand(shape), None
    mask = mask[..., : k.size(2)]
    if mask.dtype == torch.bool:
        return mask.expand(shape), None
    allowed = mask > torch.finfo(mask.dtype).min / 2
    bias = mask.masked_fill(~allowed, 0.0)
    return allowed.any(dim=1, keepdim=True).expand(shape), bias if bias.any() else None


def _make_mask(former: str, *sizes: Any, **options: Any) -> Tensor | None:
    """The mask of a pass: bool (B, 1, T, S), True = may attend, while something observes, else as it was before."""
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    if not observed():
        return ALL_MASK_ATTENTION_FUNCTIONS[former](*sizes, **options)
    options |= {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
    padding = options.get("attention_mask")  # (1, S) of a text, also where removal.py adds rows to the batch
    if padding is not None and len(padding) == 1:
        options["attention_mask"] = padding.expand(options["batch_size"], -1)
    return ALL_MASK_ATTENTION_FUNCTIONS["sdpa"](*sizes, **options)


def _former_function(former: str, module: nn.Module) -> Callable[..., tuple[Tensor, Tensor | None]]:
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    if former == "eager":  # each file of transformers has its own
        return sys.modules[type(module).__module__].eager_attention_forward
    return ALL_ATTENTION_FUNCTIONS[former]
