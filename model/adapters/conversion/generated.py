"""The steps of `generate` of transformers as the maps of one pass, whatever cache the model kept.

A step hands out a map (rows, H, queries, keys) per layer, whose rows are hypotheses and whose last query is the token
just read. Which tokens its keys are depends on the cache of that layer (transformers.cache_utils):

    none, dynamic      all n tokens so far
    static             all n tokens, and behind them places that are still empty, whose weights are 0
    sliding            the last ones: one fewer than the window, and the token itself
    static, sliding    as static until the window is full, then the last ones

So n tokens are the first n of more keys, and the last of fewer. Anything else is refused.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from model.adapters.conversion.weights import EAGER, check_shapes

PLAIN = "call generate without an assistant, prompt lookup, chunks of the prompt or a cache of earlier text"


def rows_of(
    outputs: Mapping[str, Any], sequence: int, n_prompt: int, eos_ids: Collection[int], pad_id: int | None
) -> list[int]:
    """The row of the batch in which a sequence of generate stood at each step, one for every token it wrote."""
    if outputs.get("beam_indices") is not None:
        rows = [row for row in outputs["beam_indices"][sequence].tolist() if row >= 0]
    else:
        output_ids = outputs["sequences"][sequence, n_prompt:].tolist()
        none_is_filled = (outputs["sequences"][:, -1] == pad_id).all()  # others are filled up to its length
        rows = [sequence] * _count_outputs(output_ids, eos_ids, None if none_is_filled else pad_id)
    if not rows:
        raise ValueError("nothing was generated, so there is nothing to see")
    return rows


def _count_outputs(output_ids: list[int], eos_ids: Collection[int], pad_id: int | None) -> int:
    """How many tokens were written up to an end token, or before the padding where another end is not known."""
    for place, index in enumerate(output_ids):
        if index in eos_ids:
            return place + 1
    count = len(output_ids)
    while count > 1 and output_ids[count - 1] == pad_id:
        count -= 1
    return count


def self_maps(steps: Sequence[Any], rows: Sequence[int], is_token: Tensor, name: str) -> Tensor:
    """Maps (L, H, n, n) of the tokens of one sequence, without padding.

    Args:
        steps: of each step its layers (rows, H, queries, keys); the first has a query for each token of the prompt.
        rows: of each step the row of the sequence.
        is_token: bool (T,), False for padding.
        name: where the maps come from, for what is said of them.
    """
    n_layers = _check_steps(steps, rows, name)
    length = len(is_token)
    n_prompt = length - len(rows) + 1
    check_shapes([layer.shape[1:3] for layer in steps[0]], name)  # heads and queries; keys are those of its cache
    if (n_rows := steps[0][0].size(2)) != n_prompt:
        raise ValueError(f"{name} has {n_rows} rows for {n_prompt} tokens")
    stacks = []
    for layer in range(n_layers):
        prompt = _read(steps[0][layer], rows[0], name)[:, is_token[:n_prompt]]
        parts = [_cut_keys(prompt, n_prompt, name)]
        for n_tokens, (row, step) in enumerate(zip(rows[1:], steps[1:]), n_prompt + 1):
            # Without a cache every step asks again what was asked before; the new query is the last.
            query = _read(step[layer], row, name)[:, -1:]
            query = _cut_keys(F.pad(query, (max(n_tokens - query.size(-1), 0), 0)), n_tokens, name)
            if not query[..., -1].any():
                raise ValueError(f"row {n_tokens - 1} of {name} does not end at its own token: {PLAIN}")
            parts.append(query)
        stacks.append(torch.cat([F.pad(part, (0, length - part.size(-1))) for part in parts], dim=1))
    return torch.stack(stacks)[..., is_token]


def cross_maps(steps: Sequence[Any], rows: Sequence[int], n_keys: int, name: str) -> Tensor:
    """Maps (L, H, T, S) from one sequence to the `n_keys` tokens of its source; arguments as in `self_maps`."""
    stacks = []
    for layer in range(_check_steps(steps, rows, name)):
        parts = [_cut_keys(_read(step[layer], row, name), n_keys, name) for row, step in zip(rows, steps)]
        stacks.append(torch.cat([parts[0], *(part[:, -1:] for part in parts[1:])], dim=1))
    check_shapes([maps.shape for maps in stacks], name)
    return torch.stack(stacks)


def check_cache(outputs: Mapping[str, Any]) -> None:
    """Raise a ValueError if generate kept rounded keys, which give other weights than a pass without a cache."""
    cache = outputs.get("past_key_values")
    cache = getattr(cache, "self_attention_cache", cache)
    if any(hasattr(layer, "_quantized_keys") for layer in getattr(cache, "layers", ())):
        raise ValueError("the cache was quantized, so its weights are not those of the text alone: use another cache")


def check_layers(layers: Any, name: str) -> None:
    """Raise a ValueError unless these are maps (rows, H, queries, keys), one for each layer."""
    if not layers or not all(isinstance(layer, Tensor) and layer.ndim == 4 for layer in layers):
        raise ValueError(
            f"there is no map in {name}: {EAGER} and ask for output_attentions=True (other implementations compute no "
            "maps)"
        )


def _check_steps(steps: Sequence[Any], rows: Sequence[int], name: str) -> int:
    """The number of layers in each step."""
    if len(steps) < len(rows):
        raise ValueError(f"{name} has {len(steps)} steps, the sequence {len(rows)}")
    for step in steps:
        check_layers(step, name)
    if len(counts := set(map(len, steps))) > 1:
        raise ValueError(f"the steps of {name} have {', '.join(map(str, sorted(counts)))} layers")
    return counts.pop()


def _read(layer: Tensor, row: int, name: str) -> Tensor:
    """One row of a layer (rows, H, queries, keys), float32 (H, queries, keys)."""
    if row >= len(layer):
        raise ValueError(f"{name} has maps of {len(layer)} sequences, none of sequence {row}")
    return layer[row].detach().float().cpu()


def _cut_keys(maps: Tensor, n_tokens: int, name: str) -> Tensor:
    """Maps (H, queries, keys) without the places of a cache that are still empty: (H, queries, n_tokens)."""
    n_keys = maps.size(-1)
    if n_keys < n_tokens or maps[..., n_tokens:].any():
        raise ValueError(f"{name} has weights on {n_keys} keys where {n_tokens} tokens had been read: {PLAIN}")
    return maps[..., :n_tokens]
