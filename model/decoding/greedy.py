"""Greedy decoding: the most probable token at every step."""

from __future__ import annotations

import torch
from torch import Tensor

from model.decoding.protocol import Decodable


@torch.inference_mode()
def greedy(model: Decodable, src: Tensor, *, bos_id: int, eos_id: int, pad_id: int, max_length: int) -> list[list[int]]:
    """Decode every source with the most probable token at every step; of logits that are not numbers, with any token.

    Args:
        model: to decode from.
        src: (B, S) source ids, padded.
        bos_id: the token that every target starts with.
        eos_id: the token that ends a target.
        pad_id: never chosen, nor is bos_id.
        max_length: at most so many tokens.

    Returns:
        For each source the target ids, without start and end token.
    """
    state = model.start(src)
    tokens = torch.full((src.size(0),), bos_id, device=src.device)
    finished = torch.zeros_like(tokens, dtype=torch.bool)
    steps = []
    for _ in range(max_length):
        logits = model.step(state, tokens)  # (B, V)
        logits[:, [pad_id, bos_id]] = -torch.inf
        tokens = logits.argmax(-1).masked_fill(finished, eos_id)
        finished |= tokens == eos_id
        steps.append(tokens)
        if finished.all():
            break
    return [_until(row, eos_id) for row in torch.stack(steps, dim=1).tolist()]


def _until(ids: list[int], eos_id: int) -> list[int]:
    return ids[: ids.index(eos_id)] if eos_id in ids else ids
