"""Cuts of paths in a model of transformers: queries or keys of one head from a stream without some parts.

Two passes before the one that is changed: the first keeps what every part writes into the stream; in the second all of
them write the same again, without the parts that are cut, and what lies between (norms, multipliers, projections) is
the model's own code.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor

from model.adapters.readers.attachment.followed import Follower, Sublayer, followed
from model.adapters.readers.explanation.part_rows import Enough, embedding_part, head_names, sublayer_name
from model.adapters.readers.explanation.score_parts import check_score_parts
from model.adapters.readers.layout import Attention, Layout, ReaderConfig
from model.interventions.cuts import Cut, check_parts, leaves_out
from model.results.translation import module_of
from model.taps import hooked

Run = Callable[[Mapping[str, Tensor]], Any]  # the model over rows of inputs, without a cache


@contextmanager
def cut_paths(
    layout: Layout, config: ReaderConfig, run: Run, inputs: Mapping[str, Tensor], cuts: Sequence[Cut]
) -> Iterator[None]:
    """Cut paths in the pass over these inputs, which must run in the block, in this thread only.

    Raises:
        ValueError: if a part does not stand in the stream of its head, or the parts of the model are not known.
    """
    if cuts:
        check_score_parts(layout, config)
    targets: dict[tuple, list[Cut]] = {}
    for cut in sorted(cuts, key=lambda cut: (cut.stack == "decoder", cut.layer)):
        targets.setdefault(cut.target, []).append(cut)
    with ExitStack() as hooks:
        for group in targets.values():  # those of earlier layers hold while later ones are computed
            vectors = _vectors_without(layout, run, inputs, group)
            n_heads = config.heads_by_layer[group[0].kind][group[0].layer]
            hooks.enter_context(hooked(_replacing(group[0], n_heads, vectors)))
        yield


@torch.inference_mode()
def _vectors_without(layout: Layout, run: Run, inputs: Mapping[str, Tensor], cuts: Sequence[Cut]) -> Tensor:
    """The queries (B, H, T, K) or keys (B, G, S, K) of an attention from a stream without parts."""
    whole = _Pass(layout, cuts, {})
    _follow(whole, run, inputs)
    check_parts(cuts, whole.names)
    without = _Pass(layout, cuts, whole.writings)
    _follow(without, run, inputs)
    assert without.vectors is not None  # the pass went through the attention
    return without.vectors


def _follow(follower: Follower, run: Run, inputs: Mapping[str, Tensor]) -> None:
    try:
        with followed(follower):
            run(inputs)
    except Enough:
        pass


class _Pass(Follower):
    """A pass up to the queries or keys of one attention, in which parts write what they wrote before.

    Attributes:
        writings: by stack and writer what it writes, without the parts that are cut.
        names: of all parts of the stream that is read, in order.
        vectors: the queries or keys.
    """

    def __init__(self, layout: Layout, cuts: Sequence[Cut], writings: Mapping[tuple[str, Hashable], Tensor]) -> None:
        """`writings` of an earlier pass; none for the first."""
        self.writings: dict[tuple[str, Hashable], Tensor] = {}
        self.names: list[str] = []
        self.vectors: Tensor | None = None
        self._layout = layout
        self._parts = {cut.part for cut in cuts}
        self._read_stack = cuts[0].stack
        self._address = _address(cuts[0])
        self._writings = writings
        self._stack = next(iter(layout.stacks))  # the encoder, where there is one, runs first

    def leave_layer(self, stack: str, layer: int, stream: Tensor) -> None:
        """Know which embeddings come next."""
        if stack == "encoder" and layer == len(self._layout.stacks[stack]) - 1 and "decoder" in self._layout.stacks:
            self._stack = "decoder"

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """End the pass at the queries or keys that are asked for."""
        if address == self._address:
            self.vectors = value
            raise Enough
        return value

    def embed(self, name: str, output: Tensor) -> Tensor | None:
        """Give what an embedding gives, or nothing."""
        if not output.is_floating_point():
            return None
        return self._write(self._stack, name, output, {embedding_part(name): output})

    def leave_projection(self, attention: Attention, context: Tensor, output: Tensor) -> Tensor | None:
        """Give what the heads of an attention write, without those that are cut."""
        projection, heads = attention.projection, attention.layer.n_heads
        assert projection is not None
        stack, module = module_of(attention.layer.kind, attention.layer.layer).split(".", 1)
        parts = {}
        for name, columns in zip(head_names(attention), torch.arange(context.size(-1)).chunk(heads)):
            if not self._writings and stack == self._read_stack and leaves_out(self._parts, name):
                nothing = torch.zeros_like(context)
                alone = nothing.clone()
                alone[..., columns] = context[..., columns]
                parts[name] = projection.forward(alone) - projection.forward(nothing)
            else:
                parts[name] = None
        return self._write(stack, module, output, parts)

    def leave_sublayer(self, sublayer: Sublayer, output: Tensor) -> Tensor | None:
        """Give what a sublayer without attention writes, or nothing."""
        if output.size(-1) != self._layout.width:
            return None  # the first of the two matrices of a feed-forward
        name = sublayer_name(sublayer)
        return self._write(sublayer.stack, sublayer, output, {name: output})

    def _write(self, stack: str, writer: Hashable, output: Tensor, parts: Mapping[str, Tensor | None]) -> Tensor | None:
        """Keep what a writer gives less the parts that are cut, or give what was kept."""
        if self._writings:
            return self._writings.get((stack, writer))
        if stack == self._read_stack:
            self.names += [name for name in parts if name not in self.names]
        kept = output
        for name, part in parts.items():
            if part is not None and stack == self._read_stack and leaves_out(self._parts, name):
                kept = kept - part
        self.writings[stack, writer] = kept
        return None


def _address(cut: Cut) -> str:
    return f"{module_of(cut.kind, cut.layer)}.{'q' if cut.side == 'queries' else 'k'}"


def _replacing(cut: Cut, n_heads: int, vectors: Tensor) -> Callable[[str, Tensor], Tensor]:
    """A hook that gives one head other queries or keys; keys come out for each of the H heads by itself."""
    address = _address(cut)

    def hook(passed: str, value: Tensor) -> Tensor:
        if passed != address:
            return value
        value = value.repeat_interleave(n_heads // value.size(1), dim=1)
        value[:, cut.head] = vectors[:, cut.head * vectors.size(1) // n_heads]
        return value

    return hook
