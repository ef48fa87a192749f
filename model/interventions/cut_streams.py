"""Cuts of paths carried out in our own Transformers: beside the stream of a pass runs one without the parts.

What was written into the stream stays as it is, less the parts that are cut; the residual connections and norms between
them are computed again, with deviations of their own. From that stream the queries or keys of one head are made. Every
step works on one position at a time, so that cached decoding and whole passes agree.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import cast

from torch import Tensor, nn

from model.analysis.score_parts import POSITIONS, TOKENS, head_name
from model.attention import MultiHeadAttention
from model.interventions.cuts import Cut, check_parts, leaves_out
from model.layers import Residual
from model.results.translation import module_of
from model.taps import hooked
from model.transformer import Stack

_RESIDUALS = {"self_attention": "residual_self", "cross_attention": "residual_cross", "feed_forward": "residual_ff"}


@contextmanager
def cut_paths(model: nn.Module, cuts: Iterable[Cut], stack: str) -> Iterator[None]:
    """Cut the paths that begin in a stack, which must run in the block, in this thread only.

    The model is a Transformer, which `Edits.check` makes sure of. The keys of a cross-attention are made where the
    encoder runs. A ValueError during the pass if a part does not stand in the stream.
    """
    targets: dict[tuple, list[Cut]] = {}
    for cut in cuts:
        if cut.stack == stack:
            targets.setdefault(cut.target, []).append(cut)
    with ExitStack() as hooks:
        for group in targets.values():
            hooks.enter_context(hooked(CutStream(model, group).pass_tap))
        yield


class CutStream:
    """The stream of one stack without some parts, for the queries or keys of one head."""

    def __init__(self, model: nn.Module, cuts: Sequence[Cut]) -> None:
        cut = cuts[0]  # all have one target
        self._model = model
        self._cuts = cuts
        self._parts = {cut.part for cut in cuts}
        self._stack = cut.stack
        self._head = cut.head
        self._attention = module_of(cut.kind, cut.layer)
        self._address = f"{self._attention}.{'q' if cut.side == 'queries' else 'k'}"
        self._layer = None if cut.kind == "cross" and cut.side == "keys" else cut.layer
        self._names: list[str] = []  # of what has been written into the stream
        self._stream: Tensor | None = None  # (B, T, D) without the parts
        self._left_out: Tensor | float = 0.0  # of what is written next
        self._written: Tensor | None = None  # (B, T, D), what a sublayer writes, without the parts

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """Take the value of a tap and return it changed: a hook for `model.taps.hooked`."""
        if address == self._address:
            return self._changed(value)
        if not address.startswith(f"{self._stack}."):
            return value
        place = address.removeprefix(f"{self._stack}.")
        if place.startswith("input."):
            self._read_input(place.removeprefix("input."), value)
        elif place.startswith("layers."):
            _, layer, module, *names = place.split(".")
            if self._layer is None or int(layer) <= self._layer:
                self._read_layer(int(layer), module, ".".join(names), value)
        return value

    def _read_input(self, name: str, value: Tensor) -> None:
        if name == "stream":
            self._stream = value - self._left_out
            self._left_out = 0.0
        elif name == TOKENS:
            self._names = []
            self._left_out = value if self._leaves_out(TOKENS) else 0.0
        elif name == POSITIONS and value.any() and self._leaves_out(POSITIONS):
            self._left_out = self._left_out + value

    def _read_layer(self, layer: int, module: str, name: str, value: Tensor) -> None:
        if name == "context":
            weight = cast(MultiHeadAttention, self._module(layer, module)).output_projection.weight
            for head, columns in enumerate(weight.chunk(value.size(1), dim=1)):  # each (D, K)
                if self._leaves_out(head_name(module, layer, head)):
                    self._left_out = self._left_out + value[:, head] @ columns.T
        elif name == "output":
            if module == "feed_forward" and self._leaves_out(f"feed-forward {layer}"):
                self._left_out = value
            self._written = value - self._left_out
            self._left_out = 0.0
        elif name == "stream":
            residual = cast(Residual, self._module(layer, module))
            assert self._stream is not None and self._written is not None  # the sublayer has run
            self._stream = self._stream + self._written
            if not residual.is_pre:
                self._stream = residual.norm(self._stream)

    def _leaves_out(self, name: str) -> bool:
        """Whether a part that is written next is left out; takes note of it."""
        self._names.append(name)
        return leaves_out(self._parts, name)

    def _changed(self, value: Tensor) -> Tensor:
        """Queries (B, H, T, K) or keys (B, G, S, K), those of the head made again; keys for each of the H heads."""
        check_parts(self._cuts, self._names)
        attention = cast(MultiHeadAttention, self._model.get_submodule(self._attention))
        assert self._stream is not None
        x = self._normalised(self._stream)
        head = self._head
        if self._address.endswith(".q"):
            vectors = attention.q_norm(_of_heads(attention, attention.q_projection(x)))  # (B, H, T, K)
            value = value.clone()
        else:
            vectors = attention.k_norm(_of_heads(attention, attention.k_projection(x)))  # (B, G, S, K)
            head = head * attention.n_groups // attention.n_heads
            value = value.repeat_interleave(attention.n_heads // value.size(1), dim=1)
        value[:, self._head] = vectors[:, head]
        return value

    def _normalised(self, stream: Tensor) -> Tensor:
        """What the attention reads of the stream: of the encoder's, in cross-attention, its output."""
        if self._layer is None:
            return cast(Stack, self._model.get_submodule(self._stack)).norm(stream)
        layer, module = self._attention.split(".")[2:]
        residual = cast(Residual, self._module(int(layer), _RESIDUALS[module]))
        return residual.norm(stream) if residual.is_pre else stream

    def _module(self, layer: int, name: str) -> nn.Module:
        return self._model.get_submodule(f"{self._stack}.layers.{layer}.{name}")


def _of_heads(attention: MultiHeadAttention, x: Tensor) -> Tensor:
    """(B, T, heads * K) to (B, heads, T, K)."""
    return x.unflatten(-1, (-1, attention.d_head)).transpose(1, 2)
