"""Gives a loaded model of transformers our attention function and the taps of our own models."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary, ref

from torch import Tensor, nn

from model.adapters.readers import followed
from model.adapters.readers.attention_function import LAYER_OF, AttentionTaps, OneLayer, SharedLayers, register
from model.adapters.readers.layout import Layout, ReaderConfig
from model.taps import Tap, observed
from model.text.errors import Problem

_LOCK = threading.Lock()
# What is attached names the parts of its model: held here it would keep the model in memory, so the model holds it. A
# copy of a model has that, too, but is not among these.
_ATTACHED: "WeakKeyDictionary[nn.Module, ref[Attached]]" = WeakKeyDictionary()
_HELD = "_headlight_attached"


@dataclass(frozen=True)
class Attached:
    """A model with taps: what is where in it, and its taps by address."""

    layout: Layout
    config: ReaderConfig
    taps: dict[str, Tap]


def instrument(model: Any) -> Attached:
    """Put taps into a model of transformers, once; a ValueError if it has no attention that can be seen.

    Nothing about a call is kept on the model: its hooks ask, as taps do, what observes in their own thread.
    """
    with _LOCK:
        reference = _ATTACHED.get(model)
        attached = reference() if reference else None
        if attached is None:
            attached = _instrument(model)
            setattr(model, _HELD, attached)
            _ATTACHED[model] = ref(attached)
        return attached


def _instrument(model: Any) -> Attached:
    layout = Layout(model)
    name = type(model).__name__
    if not model._can_set_attn_implementation():
        model.config._attn_implementation = "eager"  # others compute no maps
        reason = f"{name} computes its attention in its own way: its maps can be read, but nothing in it can be changed"
        return Attached(layout, layout.describe(reason), {})
    if not layout.attentions:
        raise Problem("{name} has no attention layers, so there is nothing to see", name=name)
    model.set_attn_implementation(register(model.config._attn_implementation))
    layers = [AttentionTaps(attention.layer.address) for attention in layout.attentions]
    shared = None
    if layout.shared is not None:
        shared = SharedLayers(layers)
        layout.shared.register_forward_pre_hook(shared.begin)
    connected = set()
    for attention, instrumented in zip(layout.attentions, layers, strict=True):
        if attention.module not in connected:
            _connect(attention.module, attention.projection, shared or OneLayer(instrumented))
            connected.add(attention.module)
    taps = {tap.address: tap for layer in layers for tap in layer.by_name.values()}
    if layout.shared is None:
        for stack, blocks in layout.stacks.items():
            taps |= _tap_streams(stack, blocks)
    if layout.shared is None:
        followed.connect(layout)
    return Attached(layout, layout.describe(), taps)


def _connect(module: nn.Module, projection: nn.Module | None, layer: OneLayer | SharedLayers) -> None:
    LAYER_OF[module] = layer
    module.register_forward_pre_hook(_tapped_rotation(layer), with_kwargs=True)
    if projection is not None:
        projection.register_forward_hook(_tapped(lambda value: layer.last()("output", value)))


def _tap_streams(stack: str, blocks: list[nn.Module]) -> dict[str, Tap]:
    """Taps on the residual stream: before the first layer, and after each."""
    taps = [Tap("B T D") for _ in range(len(blocks) + 1)]
    addresses = [f"{stack}.input.stream", *(f"{stack}.layers.{i}.residual_ff.stream" for i in range(len(blocks)))]
    for tap, address in zip(taps, addresses, strict=True):
        tap.address = address
    blocks[0].register_forward_pre_hook(_tapped_input(taps[0]), with_kwargs=True)
    for block, tap in zip(blocks, taps[1:], strict=True):
        block.register_forward_hook(_tapped(tap))
    return dict(zip(addresses, taps, strict=True))


def _tapped(tap: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """A forward hook that sends a module's output, or the first part of it, through a tap."""

    def hook(module: nn.Module, arguments: Any, output: Any) -> Any:
        if not observed():
            return None
        return (tap(output[0]), *output[1:]) if isinstance(output, tuple) else tap(output)

    return hook


def _tapped_rotation(layer: OneLayer | SharedLayers) -> Callable[..., Any]:
    """A forward pre-hook that sends the tables by which rotary positions turn queries and keys through taps."""

    def hook(module: nn.Module, arguments: tuple, keywords: dict[str, Any]) -> Any:
        tables = keywords.get("position_embeddings")
        if not observed() or not isinstance(tables, tuple):
            return None
        cosine, sine = tables
        taps = layer.last()
        return arguments, keywords | {"position_embeddings": (taps("cos", cosine), taps("sin", sine))}

    return hook


def _tapped_input(tap: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """A forward pre-hook that sends the hidden states that a layer is given through a tap."""

    def hook(module: nn.Module, arguments: tuple, keywords: dict[str, Any]) -> Any:
        if not observed():
            return None
        if arguments:
            return (tap(arguments[0]), *arguments[1:]), keywords
        return arguments, keywords | {"hidden_states": tap(keywords["hidden_states"])}

    return hook
