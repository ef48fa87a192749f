"""A pass of a model of transformers in which every part of the stream is a row of the batch, with all norms held.

What lies between a part and the queries and keys of an attention is then linear, and the model's own code says what it
makes of each part. The first row is the whole model: sublayers run on it alone, and what they write is dealt out to the
rows of its parts. The second row holds what comes from biases; the third holds nothing but the constants that the
model's own code adds to every row, which are taken off.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from model.adapters.readers.attachment.followed import Call, Follower, Sublayer, hold_norm, sublayers
from model.adapters.readers.layout import Attention, Layout
from model.analysis.score_parts import BIAS, POSITIONS, TOKEN_TYPES, TOKENS, head_name
from model.results.translation import MODULES

INPUT = "input"  # the one part of a stream that does not come from embeddings of tokens and positions alone
_WHOLE, _OFFSETS, _NOTHING, _FIRST = range(4)
_EMBEDDINGS = (TOKENS, POSITIONS, TOKEN_TYPES)
_SLACK = 1e-4  # of the largest number of a stream
Parts = dict[str, Tensor]  # by name (T, D), "bias" the last


class Enough(Exception):
    """Ends a pass that has given what was asked of it."""


class PartRows(Follower):
    """Follows one pass, and keeps of the attentions that are asked for the parts of their queries and keys.

    Attributes:
        queries, keys, values: by the address of an attention and by name of the part, (H, T, K), (G, S, K), (G, S, K).
    """

    def __init__(
        self,
        layout: Layout,
        target: Attention | None,
        group_of: Callable[[str], str] | None = None,
        streams: Mapping[str, Parts] | None = None,
    ) -> None:
        """Follow a pass from its beginning, or from a layer in the middle.

        Args:
            target: the attention that is asked for; None for all.
            group_of: names the group of parts to add up.
            streams: by stack the parts before the layer with which the pass begins.
        """
        self.queries: dict[str, Parts] = {}
        self.keys: dict[str, Parts] = {}
        self.values: dict[str, Parts] = {}
        self._layout = layout
        self._target = target
        self._group_of = group_of or (lambda name: name)
        self._sublayers = sublayers(layout)
        self._stacks = _stacks_to_follow(layout, target)
        # By stack, what has been written so far.
        self._streams: dict[str, Parts] = {stack: dict(parts) for stack, parts in (streams or {}).items()}
        self._rows: list[str] = []  # the names of the rows of the layer that runs, from _FIRST on
        self._written: set[str] = set()  # those that have been written to
        self._embedded: set[str] = set()
        self._is_followed = False
        self._length = 0  # of the text, in tokens

    def repeat(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The inputs of one text with a row for each kind of embedding."""
        rows = _FIRST + len(_EMBEDDINGS)
        return {name: value.expand(rows, *value.shape[1:]) for name, value in inputs.items()}

    def embed(self, name: str, output: Tensor) -> Tensor | None:
        """Keep an embedding in its row and in that of the whole model."""
        if not output.is_floating_point() or output.dim() not in (2, 3):
            return None
        part = embedding_part(name)
        values = output if output.dim() == 2 else output[0]  # (T, D)
        rows = values.new_zeros(_FIRST + len(_EMBEDDINGS), *values.shape)
        rows[_WHOLE] = rows[_FIRST + _EMBEDDINGS.index(part)] = values
        self._embedded.add(part)
        return rows

    def enter_layer(self, stack: str, layer: int, stream: Tensor) -> Tensor:
        """Give every part that the layer reads or writes a row."""
        whole = stream[:1]
        self._is_followed = stack in self._stacks
        if not self._is_followed:
            self._embedded.clear()
            return whole
        if stack not in self._streams:
            self._begin(stack, stream)
        parts = self._streams[stack] if self._carries(stack, layer) else {BIAS: torch.zeros_like(whole[0])}
        written = [name for name in parts if name != BIAS]
        self._rows = list(dict.fromkeys([*written, *self._names_in(stack, layer)]))
        self._written = set(written)
        self._length = whole.size(1)
        return self._lay_out(whole, parts, self._rows)

    def leave_layer(self, stack: str, layer: int, stream: Tensor) -> Tensor | None:
        """Take the parts from their rows."""
        if not self._is_followed:
            return None
        before = self._streams[stack]
        if self._carries(stack, layer):
            before.clear()
        bias = before.pop(BIAS, 0.0) + stream[_OFFSETS]
        for row, name in enumerate(self._rows, _FIRST):
            if name in self._written:
                before[name] = before.get(name, 0.0) + stream[row] - stream[_NOTHING]
        before[BIAS] = bias
        is_last = layer == len(self._layout.stacks[stack]) - 1
        if is_last and stack == "encoder" and "decoder" in self._stacks:
            return self._lay_out(stream[:1], before, [name for name in before if name != BIAS])
        if is_last and self._target is None and len(self._stacks) == len(self._streams):
            raise Enough
        return stream[:1].clone()  # a view would keep all rows where the input of the next layer is kept

    def normalise(self, norm: nn.Module, x: Tensor, y: Tensor, in_sublayer: bool) -> Tensor | None:
        """Hold the scale of a norm at that of the whole model, for all rows."""
        if x.dim() == 2:  # OPT has rows and positions on one axis
            if in_sublayer or not self._is_followed:
                return None
            x, y = (value.unflatten(0, (self._count, -1)) for value in (x, y))
            rows = self.normalise(norm, x, y, in_sublayer)
            return None if rows is None else rows.flatten(0, 1)
        if x.size(0) == 1:
            return None
        held, offset = hold_norm(norm, x[:1], y[:1])
        rows = held(x)
        rows[_WHOLE] = y[_WHOLE]
        rows[_OFFSETS] += offset[0]
        return rows

    def enter_sublayer(self, call: Call) -> Call:
        """Have a sublayer read the whole model's stream alone."""
        arguments, keywords = call
        if self._is_followed and arguments and arguments[0].dim() == 2 and arguments[0].size(0) != self._length:
            return (arguments[0][: self._length], *arguments[1:]), keywords
        return _first_rows(call)

    def enter_attention(self, attention: Attention, call: Call) -> Call:
        """Have an attention read the whole model's stream alone, unless its parts are asked for."""
        arguments, keywords = _first_rows(call)
        if not self._is_asked_for(attention):
            return arguments, keywords
        streams = _streams_of(call)
        rows = max(value.size(0) for value in streams.values())
        padded = {name: _padded(value, rows) for name, value in streams.items()}
        if "" in padded:
            arguments = (padded.pop(""), *arguments[1:])
        return arguments, keywords | padded

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """Keep queries, keys and values of the attentions that are asked for."""
        module, _, name = address.rpartition(".")
        if name not in ("q", "k", "v") or value.size(0) == 1:
            return value
        if name == "q":
            self.queries[module] = self._taken(value, self._rows, self._written)
            return value
        memory = [name for name in self._streams.get("encoder", {}) if name != BIAS]
        is_cross = module.endswith("cross_attention")
        parts = self._taken(value, *((memory, memory) if is_cross else (self._rows, self._written)))
        if name == "k":
            self.keys[module] = parts
            return value
        self.values[module] = parts
        if self._target is not None:
            raise Enough
        return value

    def leave_projection(self, attention: Attention, context: Tensor, output: Tensor) -> Tensor | None:
        """Deal out what an attention writes to the rows of its heads; the bias is nobody's."""
        if not self._is_followed:
            return None
        assert attention.projection is not None
        heads = attention.layer.n_heads
        whole = context[:1]  # (1, T, H * K)
        alone = whole.new_zeros(heads + 1, *whole.shape[1:])  # the last row stays empty
        for head, columns in enumerate(torch.arange(whole.size(-1), device=whole.device).chunk(heads)):
            alone[head, :, columns] = whole[0, :, columns]
        pieces = attention.projection.forward(alone)
        rows = self._dealt(output, head_names(attention), pieces[:-1] - pieces[-1:])
        rows[_OFFSETS] = pieces[-1]
        return rows

    def leave_sublayer(self, sublayer: Sublayer, output: Tensor) -> Tensor | None:
        """Deal out what a sublayer writes to its row."""
        if not self._is_followed or output.size(-1) != self._layout.width:
            return None  # of another width is what the first of the two matrices of a feed-forward gives
        if output.dim() == 2:
            return self._dealt(output[None], [sublayer_name(sublayer)], output[None]).flatten(0, 1)
        return self._dealt(output, [sublayer_name(sublayer)], output[:1])

    @property
    def _count(self) -> int:
        """How many rows the layer that runs has."""
        return _FIRST + len(self._rows)

    def _begin(self, stack: str, stream: Tensor) -> None:
        """Take the parts of the stream before the first layer; one part if those of the embeddings miss it."""
        parts = self._embeddings_in(stream) or {INPUT: stream[_WHOLE], BIAS: torch.zeros_like(stream[_WHOLE])}
        self._embedded.clear()
        bias = parts.pop(BIAS)
        grouped: Parts = {}
        for name, value in parts.items():
            group = self._group_of(name)
            grouped[group] = grouped[group] + value if group in grouped else value
        self._streams[stack] = grouped | {BIAS: bias}

    def _embeddings_in(self, stream: Tensor) -> Parts | None:
        """What each embedding gives of the stream before the first layer; None if they do not add up to it."""
        if len(stream) != _FIRST + len(_EMBEDDINGS) or TOKENS not in self._embedded:
            return None
        whole, constant = stream[_WHOLE], stream[_NOTHING]
        slack = _SLACK * float(whole.abs().max())
        if float((constant - constant[:1]).abs().max()) > slack:  # a bias is the same at all positions
            return None
        names = [name for name in _EMBEDDINGS if name in self._embedded]
        parts = {name: stream[_FIRST + _EMBEDDINGS.index(name)] - constant for name in names}
        parts[BIAS] = stream[_OFFSETS]
        return parts if float((sum(parts.values()) - whole).abs().max()) <= slack else None

    def _carries(self, stack: str, layer: int) -> bool:
        """Whether all parts pass through a layer: elsewhere they only stand in the stream as they are."""
        target = self._target
        if target is None or self._layout.is_post_norm:
            return True
        if layer == len(self._layout.stacks[stack]) - 1 and stack == "encoder" and target.layer.kind == "cross":
            return True
        return (stack, layer) == (MODULES[target.layer.kind][0], target.layer.layer)

    def _names_in(self, stack: str, layer: int) -> Iterable[str]:
        """The names of all that a layer writes."""
        names = [
            name
            for attention in self._layout.attentions
            if (MODULES[attention.layer.kind][0], attention.layer.layer) == (stack, layer)
            for name in head_names(attention)
        ]
        names += [sublayer_name(sublayer) for sublayer in self._sublayers if sublayer[:2] == (stack, layer)]
        return map(self._group_of, names)

    def _lay_out(self, whole: Tensor, parts: Parts, names: list[str]) -> Tensor:
        nothing = torch.zeros_like(whole[0])
        return torch.stack([whole[0], parts[BIAS], nothing, *(parts.get(name, nothing) for name in names)])

    def _dealt(self, output: Tensor, names: list[str], pieces: Tensor) -> Tensor:
        """Rows with the whole output in the first, and its pieces (N, T, D) in those of their names."""
        rows = output.new_zeros(self._count, *output.shape[1:])
        rows[_WHOLE] = output[0]
        for name, piece in zip(names, pieces):
            rows[_FIRST + self._rows.index(self._group_of(name))] += piece
        self._written.update(map(self._group_of, names))
        return rows

    def _taken(self, rows: Tensor, names: list[str], written: Iterable[str]) -> Parts:
        """The parts of queries or keys (rows, H, T, K), by name, "bias" the last."""
        parts = {name: rows[row] - rows[_NOTHING] for row, name in enumerate(names, _FIRST) if name in written}
        return parts | {BIAS: rows[_OFFSETS]}

    def _is_asked_for(self, attention: Attention) -> bool:
        return self._is_followed and self._target in (None, attention)


def _stacks_to_follow(layout: Layout, target: Attention | None) -> set[str]:
    """The stacks whose parts are needed."""
    if target is None:
        return set(layout.stacks)
    stack = MODULES[target.layer.kind][0]
    return {stack, "encoder"} & set(layout.stacks) if target.layer.kind == "cross" else {stack}


def embedding_part(path: str) -> str:
    """The name of the part that an embedding at a path of modules gives."""
    if re.search("position|wpe", path):
        return POSITIONS
    return TOKEN_TYPES if re.search("token_type|segment", path) else TOKENS


def head_names(attention: Attention) -> list[str]:
    """The names of the parts that the heads of an attention write."""
    module = MODULES[attention.layer.kind][1]
    return [head_name(module, attention.layer.layer, head) for head in range(attention.layer.n_heads)]


def sublayer_name(sublayer: Sublayer) -> str:
    """The name of the part that a sublayer without attention writes."""
    return f"{sublayer.name} {sublayer.layer}"


def _streams_of(call: Call) -> dict[str, Tensor]:
    """What an attention reads: by its keyword, "" for the first argument."""
    arguments, keywords = call
    names = ("hidden_states", "key_value_states", "encoder_hidden_states")
    streams = {name: keywords[name] for name in names if isinstance(keywords.get(name), Tensor)}
    return streams | ({"": arguments[0]} if arguments else {})


def _padded(rows: Tensor, count: int) -> Tensor:
    return torch.cat([rows, rows.new_zeros(count - rows.size(0), *rows.shape[1:])])


def _first_rows(call: Call) -> Call:
    arguments, keywords = call
    return tuple(map(_first_row, arguments)), {name: _first_row(value) for name, value in keywords.items()}


def _first_row(value: Any) -> Any:
    """The first row of a batch; what has no batch axis as it is."""
    if isinstance(value, tuple):
        return tuple(map(_first_row, value))
    if not isinstance(value, Tensor):
        return value
    has_rows = value.dim() > 2 or (value.dim() == 2 and not value.is_floating_point())
    return value[:1] if has_rows else value
