"""The units of a feed-forward layer at one word: the input of the activation, and its output."""

from typing import NamedTuple

import numpy as np
import torch

from model.layers import EncoderLayer, GatedFeedForward
from model.running.translator import Writer


class Units(NamedTuple):
    """One layer at one token, float32 (F,) each."""

    product: np.ndarray  # what the activation takes: x W_1, or in a gated layer x W, biases added
    hidden: np.ndarray  # what is handed on: the activation, in a gated layer times x V


@torch.inference_mode()
def last_units(writer: Writer, text: str, layer: int) -> Units:
    """The units of a layer of a pre-norm language model at the last token of a text."""
    name = f"decoder.layers.{layer}"
    trace = writer.read(text).trace
    module = writer.model.decoder.layers[layer]
    assert isinstance(module, EncoderLayer)  # of a language model, which has no cross-attention
    x = module.residual_ff.norm(torch.from_numpy(trace[f"{name}.residual_self.stream"][-1]))
    feed_forward = module.feed_forward
    projection = feed_forward.gate if isinstance(feed_forward, GatedFeedForward) else feed_forward.inner
    return Units(projection(x).numpy(), trace[f"{name}.feed_forward.hidden"][-1])
