"""Greedy decoding: the most probable token at every step."""

from __future__ import annotations

import torch
from torch import Tensor

from model.decoding.protocol import Decodable


@torch.inference_mode()
def greedy(model: Decodable, src: Tensor, *, bos_id: int, eos_id: int, pad_id: int, max_length: int) -> list[list[int]]:
    """Target ids of each source (B, S), without start and end token, at most max_length; pad_id and bos_id are never
    chosen.

    Of logits that are not numbers, any token may come.
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
