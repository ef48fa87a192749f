"""What a model of transformers loses without a head or without a token: many passes as the rows of one batch."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from model import masks
from model.adapters.readers.layout import AttentionLayer, ReaderConfig
from model.decoding.protocol import between_steps
from model.interventions.growing_batch import GrowingBatch, RowChange, groups
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
    changes = [_head_off(attention, head) for attention in config.attention for head in range(attention.n_heads)]
    most = max(1, MOST // ((int(words.places.max()) + 1) * config.vocab_size))
    most = max(1, min(most, MOST_TOKENS // _length(inputs)))
    losses = np.zeros((len(changes), len(words.ids)), np.float32)
    n_done = 0
    for numbers in groups(changes, most):
        between_steps()
        batch = GrowingBatch([changes[number] for number in numbers])
        model_inputs = inputs if grows else _repeated(inputs, batch.begin_with_all())
        with hooked(batch.pass_tap):
            scores = words.log_probabilities(outputs_of(model_inputs)["logits"])  # (rows, words)
        losses[numbers] = scores[0] - scores[1:]
        n_done += len(numbers)
        progress(n_done / len(changes))
    of_layers = np.split(losses, np.cumsum([attention.n_heads for attention in config.attention])[:-1])
    by_kind: dict[str, list[np.ndarray]] = {kind: [] for kind in config.kinds}
    for attention, of_layer in zip(config.attention, of_layers, strict=True):
        by_kind[attention.kind].append(of_layer)
    return {kind: np.stack(layers) for kind, layers in by_kind.items()}


def _head_off(attention: AttentionLayer, head: int) -> RowChange:
    """What a head returns becomes 0, which equals its weights being so."""

    def replace(context: Tensor) -> Tensor:  # (H, T, K)
        context[head] = 0
        return context

    return RowChange(MODULES[attention.kind][0], attention.layer, {f"{attention.address}.context": replace})


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
