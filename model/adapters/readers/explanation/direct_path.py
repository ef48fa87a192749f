"""The direct path from every part of a decoder to its logits, held still so that it is linear, and followed back.

Each sublayer adds to a stream, which a final norm and the output matrix turn into logits. With what a sublayer reads
cut off (so that nothing acts through a later one) and the scale of every norm on the way held at its value, the logits
are a sum of what each part adds (Elhage et al. 2021); the gradient says with which factor. No architecture is spelt
out: what lies between a part and the stream (norms, multipliers, sublayers side by side) is the model's own code.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from model.adapters.readers.attachment.followed import Call, Follower, Sublayer, followed, hold_norm
from model.adapters.readers.layout import Attention


@dataclass
class DirectPath(Follower):
    """What one pass computed, with the parts of its sum as leaves of the graph."""

    heads: dict[str, Tensor] = field(default_factory=dict)  # by address of an attention the contexts (1, H, T, K)
    weights: dict[str, Tensor] = field(default_factory=dict)  # by the same (1, H, T, S)
    values: dict[str, Tensor] = field(default_factory=dict)  # by the same (1, G, S, K)
    outputs: dict[str, Tensor] = field(default_factory=dict)  # by the same (1, T, D), after the output projection
    sublayers: dict[str, list[Tensor]] = field(default_factory=dict)  # by address what others add, (1, T, D) each
    norm_biases: list[Tensor] = field(default_factory=list)  # (1, T, D) each
    stream: Tensor | None = None  # (1, T, D), before the first layer
    logits: Tensor | None = None  # (1, T, V), what the output matrix gives

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """Make leaves of what passes the taps."""
        if address.startswith("encoder."):
            return value.detach()
        module, _, name = address.rpartition(".")
        if name == "weights":
            self.weights[module] = value.detach()
        elif name == "v":
            self.values[module] = value.detach()
        elif name == "context":
            self.heads[module] = value = _leaf(value)
        elif name == "output":
            self.outputs[module] = value
        elif address == "decoder.input.stream":
            self.stream = value = _leaf(value)
        return value

    def normalise(self, norm: nn.Module, x: Tensor, y: Tensor, in_sublayer: bool) -> Tensor | None:
        """Hold the scale of a norm on the stream, which makes it linear in x."""
        if in_sublayer or not x.requires_grad:  # nothing acts through it
            return None
        held, bias = hold_norm(norm, x, y)
        if bias.any():
            self.norm_biases.append(_leaf(bias.expand_as(x)))
            return held(x) + self.norm_biases[-1]
        return held(x)

    def enter_sublayer(self, call: Call) -> Call:
        """Let nothing act through a sublayer: what it reads is a constant."""
        return _detached(call)

    def enter_attention(self, attention: Attention, call: Call) -> Call:
        """Let nothing act through an attention: what it reads is a constant."""
        return _detached(call)

    def leave_sublayer(self, sublayer: Sublayer, output: Tensor) -> Tensor | None:
        """Make a leaf of what a sublayer of the decoder adds."""
        if sublayer.stack == "encoder":
            return None
        leaf = _leaf(output)
        self.sublayers.setdefault(f"decoder.layers.{sublayer.layer}.feed_forward", []).append(leaf)
        return leaf

    def leave_output(self, logits: Tensor) -> None:
        """Keep the logits."""
        self.logits = logits


@contextmanager
def follow() -> Iterator[DirectPath]:
    """Follow the direct path of the pass in this block, which must be one in float32 or better to be exact."""
    path = DirectPath()
    with torch.enable_grad(), followed(path):
        yield path


def _detached(call: Call) -> Call:
    arguments, keywords = call
    return tuple(map(_constant, arguments)), {name: _constant(value) for name, value in keywords.items()}


def _constant(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value


def _leaf(value: Tensor) -> Tensor:
    return value.detach().requires_grad_()
