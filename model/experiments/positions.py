"""A sentence under other positional encodings: scaled, shifted, switched off, its words shuffled."""

import random
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from model.positional import shifted
from model.taps import Change, intervene, record
from model.text.special import EOS_ID
from model.translator import Translator, tidy

SIDES = ("encoder", "decoder")
MAX_SCALE, MAX_SHIFT = 2.0, 100


def changed_positions(
    layout: str, scale: float = 1.0, shift: int = 0, sides: tuple[str, ...] = SIDES
) -> AbstractContextManager[None]:
    """Change the positional encodings of every pass while the block runs, in this thread only.

    Args:
        layout: the model's encoding, a name of `model.positional.TABLES`.
        scale: what the encoding is multiplied with; 0 switches it off.
        shift: how many positions later every token seems to stand.
    """
    if not 0 <= scale <= MAX_SCALE:
        raise ValueError(f"the scale must be from 0 to {MAX_SCALE:g}, got {scale:g}")
    if not 0 <= shift <= MAX_SHIFT:
        raise ValueError(f"the shift must be from 0 to {MAX_SHIFT} positions, got {shift}")

    def change(positions: Tensor) -> Tensor:
        moved = shifted(positions.double(), layout, shift) if shift else positions.double()
        return (scale * moved).to(positions.dtype)

    changes: dict[str, Change] = {f"{side}.input.positions": change for side in sides}
    # With nothing to change the passes stay the fast ones.
    return nullcontext() if (scale, shift) == (1, 0) else intervene(changes)


@dataclass(frozen=True)
class Shuffle:
    """A sentence with its words in another order."""

    text: str
    shuffled: str
    ids: list[int]  # of the text, the end token last
    shuffled_ids: list[int]
    order: list[int]  # S places: token i of the shuffled sentence is token order[i] of the sentence


def shuffle(translator: Translator, text: str, seed: int) -> Shuffle:
    """Put the words of a sentence in another order, where they allow one; the tokens of a word stay together."""
    words = tidy(text).split()
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
    with changed_positions(translator.config.positional, scale, sides=("encoder",)), record("encoder.output") as trace:
        for ids in (shuffled.ids, shuffled.shuffled_ids):
            translator.model.start(torch.tensor([ids]))
    memory, of_shuffled = trace.all("encoder.output")  # (1, S, D)
    return float((of_shuffled - memory[:, shuffled.order]).abs().max())
