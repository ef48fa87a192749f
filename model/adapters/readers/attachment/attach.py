"""Gives a loaded model of transformers our attention function and the taps of our own models."""

import threading
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any
from weakref import WeakKeyDictionary, ref

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from model.adapters.readers.attachment import followed
from model.adapters.readers.attachment.attention_function import LAYER_OF, AttentionTaps, OneLayer, SharedLayers
from model.adapters.readers.attachment.handed_out import probe
from model.adapters.readers.attachment.hooks import Place, are_in, put_in, take_out
from model.adapters.readers.attachment.implementation import Implementation
from model.adapters.readers.attachment.passes import SharedBlock, for_reading
from model.adapters.readers.layout import Layout
from model.taps import Tap, observed
from model.text.errors import Problem

_LOCK = threading.RLock()
# What is attached names the parts of its model: held here it would keep the model in memory, so the model holds it. A
# copy of a model has none.
_ATTACHED: "WeakKeyDictionary[nn.Module, ref[Attached]]" = WeakKeyDictionary()
_HELD = "_headlight_attached"


class Attached:
    """A model with taps: what is where in it, its taps by address, and what is to be put back."""

    def __init__(self, model: Any) -> None:
        reason = _why_read_only(model)
        if reason is None:
            self.layout = Layout(model)
            if not self.layout.attentions:
                raise Problem("{name} has no attention layers, so there is nothing to see", name=type(model).__name__)
            self._implementation = Implementation(model, [attention.module for attention in self.layout.attentions])
        else:
            self._implementation = Implementation(model)
            self._implementation.choose()
            try:
                self.layout = Layout(model, probe(model))
            except BaseException:
                self._implementation.put_back()
                raise
        self.config = self.layout.describe(reason)
        self.taps: dict[str, Tap] = {}
        self.running = SharedBlock(lambda: for_reading(model))
        self._modules = list(model.modules())
        self._layers: list[tuple[nn.Module, OneLayer | SharedLayers]] = []  # attention modules and their layers
        self._places = [] if reason else list(self._plan())
        self._places += [Place(part, self._before_a_pass, before=True) for part in _models_in(model)]
        self._handles: list[RemovableHandle] = []

    def __reduce__(self) -> tuple[Any, ...]:
        return type(None), ()  # a copy of a model is not attached

    @property
    def is_current(self) -> bool:
        """Whether the model still has the modules that it was attached with: adapters may have come since."""
        pairs = zip_longest(self._modules, self.layout.model.modules())
        return all(ours is theirs for ours, theirs in pairs)

    def connect(self) -> None:
        """Have the model call our function and hooks, where its owner, or somebody who detached, changed that."""
        self._implementation.choose()
        if not are_in(self._handles):
            take_out(self.layout.model)
            LAYER_OF.update(self._layers)
            self._handles = put_in(self._places)

    def disconnect(self) -> None:
        """Put back what `connect` changed."""
        take_out(self.layout.model)
        self._implementation.put_back()

    def _before_a_pass(self, *_: Any) -> None:
        """A hook: its owner may have chosen another attention function since."""
        if observed():
            self._implementation.choose()

    def _plan(self) -> Iterator[Place]:
        """The hooks of a model whose attention calls our function; fills `taps` and `_layers`."""
        layout = self.layout
        layers = [AttentionTaps(attention.layer.address) for attention in layout.attentions]
        self.taps |= {tap.address: tap for layer in layers for tap in layer.by_name.values()}
        shared = None if layout.shared is None else SharedLayers(layers)
        if layout.shared is not None and shared is not None:
            yield Place(layout.shared, shared.begin, before=True)
        connected = set()
        for attention, instrumented in zip(layout.attentions, layers, strict=True):
            if attention.module not in connected:
                layer = shared or OneLayer(instrumented)
                self._layers.append((attention.module, layer))
                yield from _places_of(attention.module, attention.projection, layer)
                connected.add(attention.module)
        if shared is None:
            for stack, blocks in layout.stacks.items():
                taps = _stream_taps(stack, len(blocks))
                self.taps |= {tap.address: tap for tap in taps}
                yield Place(blocks[0], _tapped_input(taps[0]), before=True)
                yield from (Place(block, _tapped(tap)) for block, tap in zip(blocks, taps[1:], strict=True))
            yield from followed.places(layout)


def instrument(model: Any) -> Attached:
    """Put taps into a model of transformers, or back into it; a ValueError if it has no attention that can be seen.

    Nothing about a call is kept on the model: its hooks ask, as taps do, what observes in their own thread.
    """
    with _LOCK:
        attached = _attached(model)
        if attached is None or not attached.is_current:
            former, attached = attached, _attach(model)
            if former is not None:
                former.disconnect()
            setattr(model, _HELD, attached)
            _ATTACHED[model] = ref(attached)
        attached.connect()
        return attached


def _attach(model: Any) -> Attached:
    try:
        return Attached(model)
    except (AttributeError, StopIteration, LookupError, TypeError) as error:
        name = type(model).__name__
        raise Problem("{name} is made of parts that readers do not know yet", name=name) from error


def release(model: Any) -> None:
    """Put back all that attaching changed on a model."""
    with _LOCK:
        attached = _attached(model)
        if attached is not None:
            attached.disconnect()
            del _ATTACHED[model]
            delattr(model, _HELD)


def _attached(model: Any) -> Attached | None:
    reference = _ATTACHED.get(model)
    return reference() if reference else None


def _why_read_only(model: Any) -> str | None:
    """Why nothing in a model can be changed; None of one that calls the attention function that it is given."""
    if model._can_set_attn_implementation():
        return None
    name = type(model).__name__
    return f"{name} computes its attention in its own way: its maps can be read, but nothing in it can be changed"


def _models_in(model: nn.Module) -> list[nn.Module]:
    from transformers import PreTrainedModel

    return [module for module in model.modules() if isinstance(module, PreTrainedModel)]


def _places_of(module: nn.Module, projection: nn.Module | None, layer: OneLayer | SharedLayers) -> Iterator[Place]:
    yield Place(module, _tapped_rotation(layer), before=True)
    if projection is not None:
        yield Place(projection, _tapped(lambda value: layer.last()("output", value)))


def _stream_taps(stack: str, n_blocks: int) -> list[Tap]:
    """Taps on the residual stream: before the first layer, and after each."""
    addresses = [f"{stack}.input.stream", *(f"{stack}.layers.{i}.residual_ff.stream" for i in range(n_blocks))]
    taps = [Tap("B T D") for _ in addresses]
    for tap, address in zip(taps, addresses, strict=True):
        tap.address = address
    return taps


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
