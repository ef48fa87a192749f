"""What a model of transformers loses without a head or without a token: many passes as the rows of one batch."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from model import masks
from model.adapters.readers.layout import ReaderConfig
from model.decoding.protocol import between_steps
from model.results.translation import MODULES
from model.taps import hooked

MOST = 64_000_000  # logits at a time: 256 MB
MOST_TOKENS = 8192  # of all rows of a batch
Outputs = Callable[[Mapping[str, Tensor]], Any]  # runs the model over rows of inputs, without a cache


@dataclass(frozen=True)
class Words:
    """The words whose log-probability is measured."""

    places: Tensor  # (words,) int64, rows of a text's logits
    ids: Tensor  # (words,) int64, in the vocabulary

    def at(self, steps: Sequence[int] | None) -> Self:
        """Some of them, by their numbers, which may count from the end; None for all."""
        if steps is None:
            return self
        if wrong := [step for step in steps if not -len(self.ids) <= step < len(self.ids)]:
            raise ValueError(f"words are numbered from 0 to {len(self.ids) - 1}, got {wrong[0]}")
        return replace(self, places=self.places[list(steps)], ids=self.ids[list(steps)])

    def at_the_front(self) -> Self:
        """These words, in logits that were computed for them alone."""
        return replace(self, places=torch.arange(len(self.ids)))

    def log_probabilities(self, logits: Tensor) -> np.ndarray:
        """float32 (rows, words), in nats, of logits (rows, T, V)."""
        rows = []
        for row in logits:
            at_places = row[self.places.to(row.device)].float()  # (words, V)
            of_words = at_places.gather(1, self.ids.to(row.device)[:, None])[:, 0]
            rows.append((of_words - at_places.logsumexp(-1)).cpu().numpy())
        return np.stack(rows)


@torch.inference_mode()
def without_each_head(
    outputs_of: Outputs,
    inputs: Mapping[str, Tensor],
    config: ReaderConfig,
    words: Words,
    grows: bool,
    progress: Callable[[float], object] = lambda share: None,
) -> dict[str, np.ndarray]:
    """By kind float32 (layers, heads, words): by how many nats each word becomes less probable without each head.

    The heads of a layer are rows of a batch that grows from layer to layer: they share the layers before theirs.

    Args:
        grows: False where layers share a module and the stream between them is not seen: all rows are there at once.
        progress: called with the share of the heads that are done, from 0 to 1.
    """
    losses = {kind: [] for kind in config.kinds}
    most = max(1, MOST // ((int(words.places.max()) + 1) * config.vocab_size))
    most = max(1, min(most, MOST_TOKENS // _length(inputs)))
    n_heads = sum(attention.n_heads for attention in config.attention)
    n_done = 0
    for stack in dict.fromkeys(MODULES[kind][0] for kind in config.kinds):
        for layers in _groups(config, stack, most):
            between_steps()
            batch = _GrowingBatch(config, stack, layers)
            model_inputs = inputs if grows else _repeated(inputs, batch.begin_with_all())
            with hooked(batch.pass_tap):
                scores = words.log_probabilities(outputs_of(model_inputs)["logits"])  # (rows, words)
            for kind, rows in batch.rows_of:
                losses[kind].append(scores[0] - scores[rows])  # (heads, words)
                n_done += len(scores[rows])
            progress(n_done / n_heads)
    return {kind: np.stack(layers) for kind, layers in losses.items()}


def _groups(config: ReaderConfig, stack: str, most: int) -> Iterator[list[int]]:
    """The layers of a stack in groups of a limited number of heads, or of one layer."""
    group = []
    heads = 0
    counts: dict[int, int] = {}
    for attention in config.attention:
        if MODULES[attention.kind][0] == stack:
            counts[attention.layer] = counts.get(attention.layer, 0) + attention.n_heads
    for layer in sorted(counts):
        if group and heads + counts[layer] >= most:
            yield group
            group = []
            heads = 0
        group.append(layer)
        heads += counts[layer]
    if group:
        yield group


class _GrowingBatch:
    """A pass in which rows come to the batch before some layers: copies of the first, one per head of the layer.

    The first row is the whole model. What a row's head returns in its layer is 0, which equals its weights being so.
    """

    def __init__(self, config: ReaderConfig, stack: str, layers: Sequence[int]) -> None:
        self.config = config
        self.stack = stack
        self.layers = layers
        self.rows = 1
        self.rows_of: list[tuple[str, slice]] = []  # kind and rows of the heads, in the order of the layers
        self._rows_at: dict[str, slice] = {}  # the same by the address of their contexts

    def pass_tap(self, address: str, value: Tensor) -> Tensor:
        """Take the value of a tap and return it changed: a hook for `model.taps.hooked`."""
        if address.endswith(".stream"):
            return self._grow(address, value)
        if address in self._rows_at:
            value = value.clone()  # (rows, H, T, K)
            rows = self._rows_at[address]
            value[rows].diagonal(dim1=0, dim2=1).zero_()
        return value

    def _grow(self, address: str, stream: Tensor) -> Tensor:
        stack, _, place = address.partition(".")
        if stack != self.stack:  # a decoder after an encoder whose heads are off has as many rows
            return stream.expand(max(self.rows, stream.size(0)), -1, -1) if stack == "decoder" else stream
        following = 0 if place == "input.stream" else int(place.split(".")[1]) + 1
        n_added = self._add_rows(following) if following in self.layers else 0
        return torch.cat([stream, stream[:1].expand(n_added, -1, -1)]) if n_added else stream

    def begin_with_all(self) -> int:
        """Give all heads their rows before the pass; returns how many rows there are."""
        for layer in self.layers:
            self._add_rows(layer)
        return self.rows

    def _add_rows(self, layer: int) -> int:
        """Give every head of a layer its row; returns how many there are."""
        before = self.rows
        for attention in self.config.attention:
            if attention.layer == layer and MODULES[attention.kind][0] == self.stack:
                rows = slice(self.rows, self.rows + attention.n_heads)
                self._rows_at[f"{attention.address}.context"] = rows
                self.rows_of.append((attention.kind, rows))
                self.rows += attention.n_heads
        return self.rows - before


@torch.inference_mode()
def without_each_token(
    outputs_of: Outputs, inputs: Mapping[str, Tensor], config: ReaderConfig, words: Words, tokens: int
) -> np.ndarray:
    """float32 (words, tokens): by how many nats each word becomes less probable without each token that is read.

    A token is left out by blocking its column in every layer: of an encoder-decoder, in the encoder and for the
    decoder; else for all other positions, so that a position's own word still follows from itself.

    Args:
        inputs: the tensors of one text, a batch of one.
    """
    is_pair = "cross" in config.kinds
    rows, scores = masks.without_each(tokens), []  # (S + 1, 1, 1, S)
    for keep in rows.split(max(1, MOST // (_length(inputs) * config.vocab_size))):
        between_steps()
        diagonal = torch.eye(tokens, dtype=torch.bool)[None, None]  # (1, 1, T, S)
        allowed = keep if is_pair else keep | diagonal

        def block(address: str, mask: Tensor, allowed: Tensor = allowed) -> Tensor:
            is_read = address.endswith(".mask") and not (is_pair and address.endswith(".self_attention.mask"))
            is_read |= is_pair and address.startswith("encoder.") and address.endswith(".mask")
            return mask & allowed.to(mask.device) if is_read else mask

        with hooked(block):
            scores.append(words.log_probabilities(outputs_of(_repeated(inputs, len(keep)))["logits"]))
    complete, *without = np.concatenate(scores)
    return np.stack([complete - score for score in without], axis=1)


def _length(inputs: Mapping[str, Tensor]) -> int:
    """The tokens of the longer side."""
    return max(value.size(1) for value in inputs.values())


def _repeated(inputs: Mapping[str, Tensor], rows: int) -> dict[str, Tensor]:
    return {name: value.expand(rows, *value.shape[1:]) for name, value in inputs.items()}
