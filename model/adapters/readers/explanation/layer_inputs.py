"""What each layer of a model of transformers was given in one pass, so that a pass may begin again at any of them.

With these a head is split without running the layers before its own: see `score_parts.score_parts_of_layer`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from torch import Tensor

from model.adapters.readers.attachment.followed import Call
from model.adapters.readers.explanation.part_rows import PartRows, Parts
from model.adapters.readers.layout import Attention, Layout

ROOM = 128_000_000  # bytes that the inputs of all layers for one text may take


class LayerInput(NamedTuple):
    """The arguments of a layer, and the parts of the streams when it was called, by stack and name (T, D)."""

    call: Call
    streams: dict[str, Parts]


class LayerInputs:
    """The inputs of layers, as long as there is room for them; nothing of the model itself.

    Where norms stand before the sublayers, a part is the same tensor from the layer that wrote it to the last one.

    Attributes:
        n_bytes: of the memory behind all tensors that are kept, which several may share.
    """

    def __init__(self, room: int = ROOM) -> None:
        self.n_bytes = 0
        self._room = room
        self._inputs: dict[tuple[str, int], LayerInput] = {}
        self._storages: set[int] = set()  # the addresses of the memory that is kept
        self._is_full = False

    def get(self, stack: str, layer: int) -> LayerInput | None:
        """The input of a layer, if there was room for it."""
        return self._inputs.get((stack, layer))

    def keep(self, stack: str, layer: int, layer_input: LayerInput) -> None:
        """Keep the input of a layer, unless there is no room for it or for one before it."""
        storages = (tensor.untyped_storage() for tensor in _tensors_in(layer_input))
        new = {storage.data_ptr(): storage.nbytes() for storage in storages if storage.data_ptr() not in self._storages}
        n_bytes = sum(new.values())
        self._is_full = self._is_full or self.n_bytes + n_bytes > self._room
        if self._is_full:
            return
        self.n_bytes += n_bytes
        self._storages |= set(new)
        self._inputs[stack, layer] = layer_input


class FollowInputs(PartRows):
    """Follows one pass, and keeps the inputs of each layer."""

    def __init__(self, layout: Layout, inputs: LayerInputs) -> None:
        super().__init__(layout, None)
        self._inputs = inputs

    def keep_call(self, stack: str, layer: int, call: Call) -> None:
        """Keep what a layer is called with, and the parts of the streams."""
        streams = {name: dict(parts) for name, parts in self._streams.items()}
        self._inputs.keep(stack, layer, LayerInput(call, streams))

    def _is_asked_for(self, attention: Attention) -> bool:
        return False

    def _carries(self, stack: str, layer: int) -> bool:
        is_last = layer == len(self._layout.stacks[stack]) - 1
        feeds_cross = is_last and stack == "encoder" and "decoder" in self._stacks
        return self._layout.is_post_norm or feeds_cross


def _tensors_in(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for entry in value.values():
            yield from _tensors_in(entry)
    elif isinstance(value, tuple | list):
        for entry in value:
            yield from _tensors_in(entry)
