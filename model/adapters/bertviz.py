"""A translation in the words of BertViz (Vig 2019), for who wants to see it there, too."""

from contextlib import suppress
from typing import Any

import torch

from model.results.translation import Translation

_MAPS = {"encoder_self": "encoder_attention", "decoder_self": "decoder_attention", "cross": "cross_attention"}


def head_view_arguments(result: Translation) -> dict[str, Any]:
    """What `bertviz.head_view` and `bertviz.model_view` take: of each map a float32 tensor (1, H, T, S) per layer.

    Raises:
        ValueError: if the model has no attention, or stacks of different depth, of which BertViz leaves layers out.
    """
    arguments: dict[str, Any] = {}
    for kind, name in _MAPS.items():
        with suppress(ValueError):  # the model has none
            arguments[name] = [torch.from_numpy(layer.copy())[None] for layer in result.attention(kind)]
    if not arguments:
        raise ValueError("this model has no attention, so there is nothing that BertViz could draw")
    if len({len(layers) for layers in arguments.values()}) > 1:
        counts = ", ".join(f"{name} {len(layers)}" for name, layers in arguments.items())
        raise ValueError(f"BertViz draws models whose encoder and decoder have equally many layers; here: {counts}")
    return arguments | {"encoder_tokens": list(result.source_tokens), "decoder_tokens": list(result.target_tokens)}
