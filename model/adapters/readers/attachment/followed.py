"""Where a pass of a model of transformers can be followed: hooks that do nothing unless something follows in a thread.

No architecture is spelt out: what lies between the parts of a layer (norms, multipliers, sublayers side by side) is the
model's own code, which runs on what a follower puts in.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from model.adapters.readers.attachment.hooks import Place
from model.adapters.readers.layout import Attention, Layout, is_norm
from model.taps import hooked

_FOLLOWER: ContextVar["Follower | None"] = ContextVar("follower", default=None)
_PROBE = 100.0  # large beside what a norm adds to a variance
_MISS = 1e-3  # of a norm's output: further off, it is not a scale, a factor per dimension and an offset
Call = tuple[tuple, dict[str, Any]]  # the positional arguments of a module, and those by name


class Sublayer(NamedTuple):
    """A part of a layer that is neither norm nor attention: a feed-forward, or one of the matrices of one."""

    stack: str
    layer: int
    name: str  # "feed-forward", or what the model calls it where a layer has something else in place of attention
    module: nn.Module


class Follower:
    """What is told of a pass; each method may return what takes the place of what it is given, or None."""

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """What passes a tap; as a hook of `model.taps.hooked`."""
        return value

    def embed(self, name: str, output: Tensor) -> Tensor | None:
        """What an embedding outside of the layers gives, by the path of its module."""

    def enter_layer(self, stack: str, layer: int, stream: Tensor) -> Tensor | None:
        """The stream before a layer."""

    def keep_call(self, stack: str, layer: int, call: Call) -> None:
        """The arguments of a layer, after `enter_layer` was told of its stream."""

    def leave_layer(self, stack: str, layer: int, stream: Tensor) -> Tensor | None:
        """The stream after a layer."""

    def normalise(self, norm: nn.Module, x: Tensor, y: Tensor, in_sublayer: bool) -> Tensor | None:
        """What a norm makes of x."""

    def enter_sublayer(self, call: Call) -> Call | None:
        """The arguments of a sublayer without attention."""

    def enter_attention(self, attention: Attention, call: Call) -> Call | None:
        """The arguments of an attention."""

    def leave_projection(self, attention: Attention, context: Tensor, output: Tensor) -> Tensor | None:
        """What the output projection of an attention makes of the contexts of all heads side by side."""

    def leave_sublayer(self, sublayer: Sublayer, output: Tensor) -> Tensor | None:
        """What a sublayer without attention gives."""

    def leave_output(self, logits: Tensor) -> None:
        """What the output matrix gives."""


@contextmanager
def followed(follower: Follower) -> Iterator[None]:
    """Tell a follower of the pass in this block, in this thread only."""
    token = _FOLLOWER.set(follower)
    try:
        with hooked(follower.pass_tap):
            yield
    finally:
        _FOLLOWER.reset(token)


def places(layout: Layout) -> Iterator[Place]:
    """The hooks of the parts of a model, which do nothing unless a follower is told of a pass in their thread."""
    in_layers: set[nn.Module] = set()
    for stack, blocks in layout.stacks.items():
        for number, block in enumerate(blocks):
            yield from _places_of_layer(layout, stack, number, block)
            in_layers |= set(block.modules())
    for path, module in layout.model.named_modules():
        if module in in_layers:
            continue
        if is_norm(module):
            yield Place(module, _normalise(in_sublayer=False))
        elif _is_embedding(path, module):
            yield Place(module, _replace(lambda follower, output, path=path: follower.embed(path, output)))
    for sublayer in sublayers(layout):
        enter = _enter(lambda follower, call: follower.enter_sublayer(call))
        leave = _replace(lambda follower, output, sublayer=sublayer: follower.leave_sublayer(sublayer, output))
        yield Place(sublayer.module, enter, before=True)
        yield Place(sublayer.module, leave)
    output = layout.model.get_output_embeddings()
    if output is not None:
        yield Place(output, _replace(lambda follower, output: follower.leave_output(output)))


def hold_norm(norm: nn.Module, x: Tensor, y: Tensor) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    """A norm with its scale held at what it is where it makes y of x: a linear function, and the offset (D,)."""
    bias, factors, is_centred = _probe(norm, x)

    def scaled(values: Tensor) -> Tensor:
        return (values - values.mean(-1, keepdim=True) if is_centred else values) * factors

    with torch.no_grad():
        held = scaled(x)
        scale = ((y - bias) * held).sum(-1, keepdim=True) / (held**2).sum(-1, keepdim=True).clamp(min=1e-30)
        miss = float((scale * held + bias - y).abs().max())
    if not miss <= _MISS * max(1.0, float(y.detach().abs().max())):
        raise ValueError(f"{type(norm).__name__} is not a norm with a scale to hold: a split would not be exact")
    return lambda values: scale * scaled(values), bias


def _follower() -> Follower | None:
    return None if torch.compiler.is_compiling() else _FOLLOWER.get()


def sublayers(layout: Layout) -> list[Sublayer]:
    """All parts of all layers that are neither norm nor attention, in order."""
    parts = []
    for stack, blocks in layout.stacks.items():
        for number, block in enumerate(blocks):
            attentions = _attentions_in(layout, block)
            projections = {attention.projection for attention in attentions.values()}
            others = [
                (name, child)
                for name, child in _parts(block, set(attentions))
                if not is_norm(child) and child not in projections and next(child.parameters(), None) is not None
                if not set(attentions) & set(child.modules())
            ]
            for place, (name, child) in enumerate(others):
                is_mixer = not attentions and place < len(others) - 1
                name = name.replace("_", " ") if is_mixer else "feed-forward"
                parts.append(Sublayer(stack, number, name, child))
    return parts


def _attentions_in(layout: Layout, block: nn.Module) -> dict[nn.Module, Attention]:
    return {attention.module: attention for attention in layout.attentions if attention.block is block}


def _places_of_layer(layout: Layout, stack: str, number: int, block: nn.Module) -> Iterator[Place]:
    attentions = _attentions_in(layout, block)
    norms = {child for _, child in _parts(block, set(attentions)) if is_norm(child)}
    yield Place(block, _enter_layer(stack, number), before=True)
    for module, attention in attentions.items():
        enter = _enter(lambda follower, call, attention=attention: follower.enter_attention(attention, call))
        yield Place(module, enter, before=True)
        if attention.projection is not None:
            yield Place(attention.projection, _leave_projection(attention))
    yield from (Place(norm, _normalise(in_sublayer=False)) for norm in norms)
    inner = {norm for module in attentions for norm in module.modules() if is_norm(norm)} - norms
    yield from (Place(norm, _normalise(in_sublayer=True)) for norm in inner)
    yield Place(block, _replace(lambda follower, output: follower.leave_layer(stack, number, output)))


def _parts(block: nn.Module, attentions: set[nn.Module]) -> list[tuple[str, nn.Module]]:
    """The norms, attentions and other sublayers of a layer, by name; T5 and BERT have them further down."""
    children = list(block.named_children())
    if any(is_norm(child) for _, child in children):
        return children
    parts = []
    for name, child in children:
        is_one = child in attentions or not any(map(is_norm, child.modules()))
        parts += [(name, child)] if is_one else _parts(child, attentions)
    return parts


def _is_embedding(path: str, module: nn.Module) -> bool:
    name = path.rpartition(".")[2]
    is_position = "position" in name and not list(module.children()) and "rotary" not in type(module).__name__.lower()
    return isinstance(module, nn.Embedding) or is_position


def _enter_layer(stack: str, number: int) -> Callable[..., Any]:
    def hook(module: nn.Module, arguments: tuple, keywords: dict[str, Any]) -> Any:
        follower = _follower()
        if follower is None:
            return None
        stream = arguments[0] if arguments else keywords["hidden_states"]
        replaced = follower.enter_layer(stack, number, stream)
        follower.keep_call(stack, number, (arguments, keywords))
        if replaced is None:
            return None
        if arguments:
            return (replaced, *arguments[1:]), keywords
        return arguments, keywords | {"hidden_states": replaced}

    return hook


def _enter(tell: Callable[[Follower, Call], Call | None]) -> Callable[..., Any]:
    def hook(module: nn.Module, arguments: tuple, keywords: dict[str, Any]) -> Any:
        follower = _follower()
        return None if follower is None else tell(follower, (arguments, keywords))

    return hook


def _replace(tell: Callable[[Follower, Tensor], Tensor | None]) -> Callable[..., Any]:
    """A forward hook that tells of a module's output, or the first part of it."""

    def hook(module: nn.Module, arguments: tuple, output: Any) -> Any:
        follower = _follower()
        first, tail = (output[0], output[1:]) if isinstance(output, tuple) else (output, None)
        if follower is None or not isinstance(first, Tensor):
            return None
        replaced = tell(follower, first)
        if replaced is None:
            return None
        return replaced if tail is None else (replaced, *tail)

    return hook


def _leave_projection(attention: Attention) -> Callable[..., Any]:
    def hook(module: nn.Module, arguments: tuple, output: Tensor) -> Tensor | None:
        follower = _follower()
        return None if follower is None else follower.leave_projection(attention, arguments[0], output)

    return hook


def _normalise(in_sublayer: bool) -> Callable[..., Any]:
    def hook(norm: nn.Module, arguments: tuple, output: Tensor) -> Tensor | None:
        follower = _follower()
        return None if follower is None else follower.normalise(norm, arguments[0], output, in_sublayer)

    return hook


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
