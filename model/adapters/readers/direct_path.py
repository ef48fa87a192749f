"""The direct path from every part of a decoder to its logits, held still so that it is linear, and followed back.

Each sublayer adds to a stream, which a final norm and the output matrix turn into logits. With what a sublayer reads
cut off (so that nothing acts through a later one) and the scale of every norm on the way held at its value, the logits
are a sum of what each part adds (Elhage et al. 2021); the gradient says with which factor. No architecture is spelt
out: what lies between a part and the stream (norms, multipliers, sublayers side by side) is the model's own code.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from model.adapters.readers.layout import Layout, is_norm
from model.taps import hooked

_FOLLOWED: ContextVar["DirectPath | None"] = ContextVar("direct_path", default=None)
_PROBE = 100.0  # large beside what a norm adds to a variance
_MISS = 1e-3  # of a norm's output: further off, it is not a scale, a factor per dimension and an offset


@dataclass
class DirectPath:
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
        """Make leaves of what passes the taps; as a hook of `model.taps.hooked`."""
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

    def hold_norm(self, norm: nn.Module, x: Tensor, y: Tensor) -> Tensor:
        """What a norm makes of x, with its scale held at this value: linear in x."""
        bias, factors, is_centred = _probe(norm, x)
        centred = x - x.mean(-1, keepdim=True) if is_centred else x
        scaled = centred * factors
        with torch.no_grad():
            scale = ((y - bias) * scaled).sum(-1, keepdim=True) / (scaled**2).sum(-1, keepdim=True)
            miss = float((scale * scaled + bias - y).abs().max())
        if not miss <= _MISS * max(1.0, float(y.detach().abs().max())):
            raise ValueError(f"{type(norm).__name__} is not a norm with a scale to hold: effects would not be exact")
        if bias.any():
            self.norm_biases.append(_leaf(bias.expand_as(x)))
            return scale * scaled + self.norm_biases[-1]
        return scale * scaled


def connect(layout: Layout, final_norm: nn.Module) -> None:
    """Give the parts of a decoder hooks that do nothing unless a direct path is followed in their thread."""
    for number, block in enumerate(layout.blocks):
        attentions = {attention.module for attention in layout.attentions if attention.block is block}
        for child in _parts(block):
            if is_norm(child):
                child.register_forward_hook(_hold_norm)
            elif next(child.parameters(), None) is not None:
                child.register_forward_pre_hook(_cut_off, with_kwargs=True)
                if not attentions & set(child.modules()):
                    child.register_forward_hook(_sublayer_hook(f"decoder.layers.{number}.feed_forward"))
    final_norm.register_forward_hook(_hold_norm)
    layout.model.get_output_embeddings().register_forward_hook(_keep_logits)


@contextmanager
def follow() -> Iterator[DirectPath]:
    """Follow the direct path of the pass in this block, which must be one in float32 or better to be exact."""
    path = DirectPath()
    token = _FOLLOWED.set(path)
    try:
        with torch.enable_grad(), hooked(path.pass_tap):
            yield path
    finally:
        _FOLLOWED.reset(token)


def _parts(block: nn.Module) -> list[nn.Module]:
    """The norms, attentions and other sublayers of a layer; T5 has them one module further down."""
    children = list(block.children())
    if any(map(is_norm, children)):
        return children
    return [part for child in children for part in _parts(child)]


def _hold_norm(norm: nn.Module, arguments: tuple, output: Tensor) -> Tensor | None:
    path = _FOLLOWED.get()
    return path.hold_norm(norm, arguments[0], output) if path else None


def _cut_off(module: nn.Module, arguments: tuple, keywords: dict[str, Any]) -> tuple[tuple, dict[str, Any]] | None:
    """Let nothing act through a sublayer: what it reads is a constant."""
    if _FOLLOWED.get() is None:
        return None
    keywords = {name: value.detach() if isinstance(value, Tensor) else value for name, value in keywords.items()}
    return tuple(value.detach() if isinstance(value, Tensor) else value for value in arguments), keywords


def _sublayer_hook(address: str) -> Any:
    def hook(module: nn.Module, arguments: tuple, output: Any) -> Any:
        path = _FOLLOWED.get()
        if path is None:
            return None
        first, tail = (output[0], output[1:]) if isinstance(output, tuple) else (output, None)
        leaf = _leaf(first)
        path.sublayers.setdefault(address, []).append(leaf)
        return leaf if tail is None else (leaf, *tail)

    return hook


def _keep_logits(module: nn.Module, arguments: tuple, output: Tensor) -> None:
    path = _FOLLOWED.get()
    if path:
        path.logits = output


def _leaf(value: Tensor) -> Tensor:
    return value.detach().requires_grad_()


@torch.no_grad()
def _probe(norm: nn.Module, x: Tensor) -> tuple[Tensor, Tensor, bool]:
    """The offset (D,) and the factors (D,) of a norm y = scale factors x + offset, and whether it centres x first."""
    zeros = x.new_zeros((1,) * (x.dim() - 1) + x.shape[-1:])
    bias = norm.forward(zeros)
    flat = norm.forward(zeros + _PROBE) - bias  # nothing is left of it where it is centred
    if bool(flat.abs().max() > _MISS):
        return bias, flat, False
    probe = zeros.clone()
    probe[..., ::2] = _PROBE
    probe[..., 1::2] = -_PROBE
    if probe.size(-1) % 2:
        probe[..., -1] = 0
        probe[..., -3:] = torch.tensor([_PROBE, _PROBE, -2 * _PROBE])
    return bias, (norm.forward(probe) - bias) * probe.std(-1, correction=0, keepdim=True) / probe, True
