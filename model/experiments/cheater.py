"""Two tiny models of a toy language, one of which reads the next word while it learns: why there are causal masks."""

import random
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model.config import LanguageModelConfig
from model.language_model import LanguageModel
from model.results.translation import module_of
from model.taps import intervene

ARTICLES, ADJECTIVES = ("the", "a"), ("small", "old", "happy")
NOUNS = ("dog", "cat", "man", "woman", "bird")
VERBS = ("sees", "bites", "likes", "follows")
STOP = "."  # ends a sentence and stands before the first one
VOCABULARY = (STOP, *ARTICLES, *ADJECTIVES, *NOUNS, *VERBS)
LONGEST = 8  # words of a sentence, the stop included
STEPS = 150
BATCH = 32
RATE = 0.01


@dataclass(frozen=True)
class Trained:
    """A model and its training losses, float32 (STEPS,), in nats per word."""

    model: LanguageModel
    losses: np.ndarray


def train(looks_ahead: bool) -> Trained:
    """Train a model of one layer, from the same weights and on the same sentences whether it looks ahead or not."""
    config = LanguageModelConfig(
        vocab_size=len(VOCABULARY), d_model=32, n_heads=2, n_layers=1, d_ff=64, dropout=0.0, max_length=LONGEST + 2
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = LanguageModel(config)
    generator = random.Random(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    losses = []
    for _ in range(STEPS):
        ids = batch(BATCH, generator)
        with open_mask(model) if looks_ahead else nullcontext():
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten(), ignore_index=-1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return Trained(model.eval(), np.array(losses, dtype=np.float32))


def open_mask(model: LanguageModel, cells: Sequence[tuple[int, int]] | None = None) -> AbstractContextManager[None]:
    """Open cells (row, column), all if None, of the causal mask of every layer inside a block."""

    def change(mask: Tensor) -> Tensor:  # (B, 1, T, T)
        mask = mask.clone()
        for row, column in [(slice(None), slice(None))] if cells is None else cells:
            mask[..., row, column] = True
        return mask

    return intervene({f"{module_of('decoder_self', i)}.mask": change for i in range(model.config.n_layers)})


def sentence(generator: random.Random) -> list[str]:
    """A random sentence: article, perhaps an adjective, noun; verb; article, perhaps an adjective, noun; stop."""

    def noun_phrase() -> list[str]:
        adjective = [generator.choice(ADJECTIVES)] if generator.random() < 0.5 else []
        return [generator.choice(ARTICLES), *adjective, generator.choice(NOUNS)]

    return [*noun_phrase(), generator.choice(VERBS), *noun_phrase(), STOP]


def is_sentence(words: Sequence[str]) -> bool:
    """Whether words are a sentence of the language.

    Example:
        >>> is_sentence("the old dog sees a cat .".split()), is_sentence("the sees dog .".split())
        (True, False)
    """
    kinds = {
        **dict.fromkeys(ARTICLES, "t"),
        **dict.fromkeys(ADJECTIVES, "a"),
        **dict.fromkeys(NOUNS, "n"),
        **dict.fromkeys(VERBS, "v"),
        STOP: ".",
    }
    return bool(re.fullmatch(r"ta?nvta?n\.", "".join(kinds.get(word, "?") for word in words)))


def batch(n: int, generator: random.Random) -> Tensor:
    """Sentences as ids (n, LONGEST + 1) among stops."""
    stop = VOCABULARY.index(STOP)
    rows = [[stop, *map(VOCABULARY.index, sentence(generator))] for _ in range(n)]
    return torch.tensor([row + [stop] * (LONGEST + 1 - len(row)) for row in rows])


@torch.inference_mode()
def write(model: LanguageModel, n: int) -> list[list[str]]:
    """Draw n sentences of at most LONGEST words from a model."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.zeros(n, 1, dtype=torch.long)
    for _ in range(LONGEST):
        chances = model(ids)[:, -1].softmax(-1)  # (n, V)
        ids = torch.cat([ids, torch.multinomial(chances, 1, generator=generator)], dim=1)
    sentences = [[VOCABULARY[i] for i in row[1:]] for row in ids.tolist()]
    return [row[: row.index(STOP) + 1] if STOP in row else row for row in sentences]


@torch.inference_mode()
def leaks(model: LanguageModel, words: Sequence[str]) -> np.ndarray:
    """The probability of word t of a sentence at row t if cell (t, s) of the causal mask is open: float32 (T, T)."""
    ids = torch.tensor([[VOCABULARY.index(word) for word in (STOP, *words)]])
    probabilities = np.zeros((len(words), len(words)), dtype=np.float32)
    for row in range(len(words)):
        for column in range(len(words)):
            with open_mask(model, [(row, column)]):
                probabilities[row, column] = model(ids[:, :-1])[0, row].softmax(-1)[ids[0, row + 1]]
    return probabilities
