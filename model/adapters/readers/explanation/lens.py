"""The layer lens: the words that a model of transformers would predict if it stopped after each layer."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from model.adapters.readers.explanation.removal import MOST
from model.adapters.readers.layout import ReaderConfig
from model.decoding.protocol import between_steps
from model.running.attribution import Lens
from model.taps import hooked


@torch.inference_mode()
def layer_lens(
    outputs_of: Callable[[], Any],
    streams: Mapping[str, Tensor],
    config: ReaderConfig,
    k: int,
    words_of: Callable[[list[int]], list[str]],
) -> Lens:
    """Put the stream after every layer through what the model does after its last one (nostalgebraist 2020).

    Args:
        outputs_of: runs the model over one text, without a cache.
        streams: by the addresses of their taps, in order, the input of the first layer and the output of each, (T, D).
        k: how many of the most probable words are kept.
    """
    if not 1 <= k <= config.vocab_size:
        raise ValueError(f"k must be from 1 to {config.vocab_size}, got {k}")
    stacked = torch.stack(list(streams.values()))  # (N, T, D)
    last = list(streams)[-1]
    tops = []
    for part in stacked.split(max(1, MOST // (stacked.size(1) * config.vocab_size))):
        between_steps()

        def replace(address: str, value: Tensor, stream: Tensor = part) -> Tensor:
            return stream.to(value) if address == last else value

        with hooked(replace):
            tops.append(outputs_of()["logits"].float().softmax(-1).topk(k))
    probabilities, ids = (torch.cat(values).cpu().numpy() for values in zip(*tops))  # (N, T, k)
    words = [[words_of(step) for step in layer] for layer in ids.tolist()]
    return Lens(list(map(_name, streams)), words, ids, probabilities)


def _name(address: str) -> str:
    """A stream as `Lens` names it: after the last sublayer of a layer."""
    return "input" if address.endswith("input.stream") else address.replace("residual_ff.stream", "feed_forward")
