"""Drawing the next token instead of searching: temperature, top-k (Fan et al. 2018), top-p (Holtzman et al. 2020)."""

import math
from typing import Any, TypedDict, Unpack

import torch
from torch import Tensor

from model.decoding.protocol import Decodable, between_steps, check_logits


class Chance(TypedDict, total=False):
    """The keyword arguments of `restrict`."""

    temperature: float
    top_k: int
    top_p: float


def restrict(logits: Tensor, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Tensor:
    """The distribution to draw from, given logits (..., V): probabilities (..., V), summing to 1.

    Args:
        temperature: divides the logits; 0 leaves the most probable.
        top_k: how many of the most probable tokens stay; 0: all.
        top_p: only the fewest most probable tokens stay that reach this sum (after temperature and top_k); 1: all.

    Raises:
        ValueError: for a temperature outside 0 to 100, a negative top_k, a top_p outside (0, 1], or logits that are
            not numbers.

    Example:
        >>> restrict(torch.tensor([1.0, 2.0, 3.0]).log(), top_p=0.6).tolist()
        [0.0, 0.4, 0.6]
    """
    if not 0 <= temperature <= 100:
        raise ValueError(f"the temperature must be from 0 to 100, got {temperature}")
    if top_k < 0:
        raise ValueError(f"top_k must be 0 (all) or more, got {top_k}")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    if temperature == 0:
        top_k = 1
    ordered, places = check_logits(logits).float().sort(dim=-1, descending=True, stable=True)
    # From the largest down, so that nothing overflows; float32 has 1e-38 and above.
    ordered = (ordered - ordered[..., :1]) / max(temperature, 1e-30)
    if top_k:
        ordered[..., top_k:] = -math.inf
    probabilities = ordered.softmax(-1)
    # A token stays while what comes before it has not reached the sum.
    before = probabilities.cumsum(-1) - probabilities
    probabilities = probabilities.masked_fill(before > top_p - 1e-6, 0.0) if top_p < 1 else probabilities
    probabilities = probabilities / probabilities.sum(-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, places, probabilities)


@torch.inference_mode()
def sample(
    model: Decodable,
    state: Any,
    tokens: Tensor,
    *,
    length: int,
    never: tuple[int, ...] = (),
    seed: int = 0,
    **chance: Unpack[Chance],
) -> list[list[int]]:
    """Draw `length` tokens, none of `never`, after each row of `tokens` (B,), which are read first: B lists of ids.

    The keywords of `chance` are those of `restrict`; the same seed draws the same tokens.
    """
    generator = torch.Generator().manual_seed(seed)
    steps = []
    for _ in range(length):
        between_steps()
        logits = model.step(state, tokens).clone()  # (B, V)
        logits[:, list(never)] = -math.inf
        probabilities = restrict(logits, **chance)
        tokens = torch.multinomial(probabilities.cpu(), 1, generator=generator)[:, 0].to(logits.device)
        steps.append(tokens)
    return torch.stack(steps, dim=1).tolist()
