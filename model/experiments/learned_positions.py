"""A positional table that is learned, not computed (Gehring et al. 2017), at a size that trains in a moment."""

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

from model.decoding.protocol import between_steps

MAX_STEPS = 150
LEARNED = 0.05  # nats: a loss below this ends the training
SEED = 4  # with it every size that is shown learns in time
INITIAL_STD = 0.02  # usual for embeddings of positions (BERT, GPT-2)


@dataclass(frozen=True)
class LearnedPositions:
    """A table before and after training."""

    initial: np.ndarray  # (T, D) float64, random
    trained: np.ndarray  # (T, D) float64
    losses: np.ndarray  # cross entropy before each step, in nats; ln T where the head looks everywhere alike
    hits: float  # the share of positions from 1 on whose largest weight is on the place before, after training


def learn(n_positions: int, d_model: int, max_steps: int = MAX_STEPS, seed: int = SEED) -> LearnedPositions:
    """Train a table P of T positions, at least 2, so that a head without a mask finds the place before each position.

    Its weights are softmax((P W_q)(P W_k)^T / sqrt(d_model)), its loss the cross entropy of row t with key t - 1.
    """
    if n_positions < 2:
        raise ValueError(f"with {n_positions} positions there is no place before another: at least 2 are needed")
    generator = torch.Generator().manual_seed(seed)  # of its own: the global one is everybody's
    table = INITIAL_STD * torch.randn(n_positions, d_model, generator=generator)  # (T, D)
    bound = d_model**-0.5  # as in nn.Linear
    w_q, w_k = torch.empty(2, d_model, d_model).uniform_(-bound, bound, generator=generator)  # (D, D) each
    initial = table.double().numpy().copy()
    parameters = [weights.clone().requires_grad_() for weights in (table, w_q, w_k)]
    table, w_q, w_k = parameters
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    before = torch.arange(n_positions - 1)
    losses = []
    for _ in range(max_steps):
        between_steps()
        scores = (table @ w_q) @ (table @ w_k).T / d_model**0.5  # (T, T)
        loss = F.cross_entropy(scores[1:], before)
        losses.append(loss.item())
        if losses[-1] < LEARNED:
            break
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        scores = (table @ w_q) @ (table @ w_k).T
        hits = (scores[1:].argmax(-1) == before).double().mean().item()
    return LearnedPositions(initial, table.detach().double().numpy().copy(), np.array(losses), hits)
