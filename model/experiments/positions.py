"""Other positional encodings: scaled, shifted, off, learned (Gehring et al. 2017); and words in another order."""

import random
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model.decoding.protocol import between_steps
from model.positional import shifted
from model.relative import N_BUCKETS, alibi_slopes, bucket_of, rotary_frequencies, rotate
from model.running.translator import Translator, Writer
from model.taps import Change, intervene, record
from model.text.cleaning import source_text
from model.text.errors import Problem
from model.text.special import EOS_ID

SIDES = ("encoder", "decoder")
MAX_SCALE, MAX_SHIFT = 2.0, 100
MAX_STEPS = 150
LEARNED = 0.05  # nats: a loss below this ends the training
SEED = 4  # with it every size that is shown learns in time
INITIAL_STD = 0.02  # usual for embeddings of positions (BERT, GPT-2)


def changed_positions(
    layout: str, scale: float = 1.0, shift: int = 0, sides: tuple[str, ...] = SIDES
) -> AbstractContextManager[None]:
    """Change the positional encodings of every pass while the block runs, in this thread only.

    `layout` is the model's, a name of `model.positional.TABLES`; every token seems to stand `shift` positions later.
    """
    if not 0 <= scale <= MAX_SCALE:
        raise ValueError(f"the scale must be from 0 to {MAX_SCALE:g}, got {scale:g}")
    if not 0 <= shift <= MAX_SHIFT:
        raise ValueError(f"the shift must be from 0 to {MAX_SHIFT} positions, got {shift}")

    def change(positions: Tensor) -> Tensor:
        encodings = shifted(positions.double(), layout, shift) if shift else positions.double()
        return (scale * encodings).to(positions.dtype)

    changes: dict[str, Change] = {f"{side}.input.positions": change for side in sides}
    # With nothing to change the passes stay the fast ones.
    return nullcontext() if (scale, shift) == (1, 0) else intervene(changes)


N_HEADS = 8  # of ALiBi's slopes that are shown


def relative_table(name: str, n: int, size: int) -> np.ndarray:
    """The numbers of positions that work inside attention, float64, by position or by distance 0 to n - 1.

    "rotary": cosine and sine of the angle by which each pair of `size` dimensions is turned, (n, size); "alibi": what
    each of N_HEADS heads takes off the score, (n, N_HEADS); "buckets": 1 in the bucket of each distance to an earlier
    key, (n, N_BUCKETS).
    """
    distances = torch.arange(n)
    if name == "rotary":
        angles = distances[:, None] * rotary_frequencies(size)  # (n, size / 2)
        return torch.stack([angles.cos(), angles.sin()], dim=-1).flatten(1).numpy()
    if name == "alibi":
        return (-distances[:, None] * alibi_slopes(N_HEADS)).numpy()
    return F.one_hot(bucket_of(-distances, causal=True), N_BUCKETS).double().numpy()


@torch.inference_mode()
def turned_products(writer: Writer, text: str, n_offsets: int) -> tuple[np.ndarray, np.ndarray]:
    """The effect of rotary positions on every head when a text is read.

    The mean of q k / sqrt(d_head) over all pairs of a query and a key of the text, before they are turned float64
    (L, H), and turned as if the key stood 0 to n_offsets - 1 positions before the query (L, H, n_offsets). A ValueError
    for a model without rotary positions; else errors as `Writer.read`.
    """
    config = writer.model.config
    if not config.positional.startswith("rotary"):
        raise Problem("the positions of this model are not rotary but {name}", name=config.positional)
    trace = writer.read(text).trace
    angles = -torch.arange(n_offsets)[:, None] * rotary_frequencies(config.d_head, config.rotary_base)
    interleaved = config.positional == "rotary"
    before, after = [], []
    for layer in range(config.n_layers):
        name = f"decoder.layers.{layer}.self_attention"
        q, k = (torch.from_numpy(trace[f"{name}.{side}"]).double().mean(1) for side in "qk")  # (H, K), (G, K)
        k = k.repeat_interleave(config.n_heads // config.n_groups, dim=0) / config.d_head**0.5  # (H, K)
        turned = rotate(k[:, None].expand(-1, n_offsets, -1), angles.cos(), angles.sin(), interleaved)
        before.append((q * k).sum(-1))
        after.append((q[:, None] * turned).sum(-1))
    return torch.stack(before).numpy(), torch.stack(after).numpy()


@dataclass(frozen=True)
class Shuffle:
    """A sentence and the same words in another order."""

    text: str
    shuffled: str
    ids: list[int]  # of the text, the end token last
    shuffled_ids: list[int]
    order: list[int]  # S places: token i of the shuffled sentence is token order[i] of the sentence


def shuffle(translator: Translator, text: str, seed: int) -> Shuffle:
    """Put the words of a sentence in another order, where they allow one."""
    words = source_text(text, translator.tokenizer).split()
    numbers = list(range(len(words)))
    rng = random.Random(seed)
    # Equal words may swap places; the sentence itself is not a shuffle of it.
    while len(set(words)) > 1 and [words[n] for n in numbers] == words:
        rng.shuffle(numbers)
    tokens = [translator.tokenizer.source.encode(word) for word in words]
    starts = np.cumsum([0, *map(len, tokens)]).tolist()
    order = [place for n in numbers for place in range(starts[n], starts[n + 1])]
    ids = [index for word in tokens for index in word]
    return Shuffle(
        text=" ".join(words),
        shuffled=" ".join(words[n] for n in numbers),
        ids=[*ids, EOS_ID],
        shuffled_ids=[*(ids[i] for i in order), EOS_ID],
        order=[*order, len(ids)],
    )


@torch.inference_mode()
def order_difference(translator: Translator, shuffled: Shuffle, scale: float) -> float:
    """max |encoder(shuffled sentence) - the rows of encoder(sentence), shuffled|: about 0 where order is not seen."""
    model = translator.transformer
    with changed_positions(model.config.positional, scale, sides=("encoder",)), record("encoder.output") as trace:
        for ids in (shuffled.ids, shuffled.shuffled_ids):
            model.start(torch.tensor([ids]))
    memory, of_shuffled = trace.all("encoder.output")  # (1, S, D)
    return float((of_shuffled - memory[:, shuffled.order]).abs().max())


@dataclass(frozen=True)
class LearnedPositions:
    """A table of position embeddings before and after its training."""

    initial: np.ndarray  # (T, D) float64, random
    trained: np.ndarray  # (T, D) float64
    losses: np.ndarray  # cross entropy before each step, in nats; ln T where the head looks everywhere alike
    hits: float  # the share of positions from 1 on whose largest weight is on the place before, after training


def initial_positions(n_positions: int, d_model: int, seed: int = SEED) -> Tensor:
    """The random table (T, D) float32 with which `learn` begins."""
    return _initial_table(n_positions, d_model, torch.Generator().manual_seed(seed))


def _initial_table(n_positions: int, d_model: int, generator: torch.Generator) -> Tensor:
    return INITIAL_STD * torch.randn(n_positions, d_model, generator=generator)


def learn(n_positions: int, d_model: int, max_steps: int = MAX_STEPS, seed: int = SEED) -> LearnedPositions:
    """Train a table P of T positions, at least 2, so that a head without a mask finds the place before each position.

    Its weights are softmax((P W_q)(P W_k)^T / sqrt(d_model)), its loss the cross entropy of row t with key t - 1.
    """
    if n_positions < 2:
        raise ValueError(f"with {n_positions} positions there is no place before another: at least 2 are needed")
    generator = torch.Generator().manual_seed(seed)  # of its own: the global one is everybody's
    table = _initial_table(n_positions, d_model, generator)  # (T, D)
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
