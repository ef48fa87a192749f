"""A tiny model that learns to write strings backwards, one step at a time, in a limited number of steps."""

import threading
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from model.config import NORM_POSITIONS, TransformerConfig
from model.decoding import greedy
from model.taps import record
from model.text.errors import Problem, check_characters
from model.text.special import BOS_ID, EOS_ID, PAD_ID, SPECIAL_TOKENS, pad_ids
from model.training import schedules
from model.transformer import Transformer

LETTERS = "abcdefghijklmnopqrstuvwxyz"
LONGEST = 10  # letters of a string
D_MODEL, D_FF = 64, 128
HEADS = (1, 2, 4, 8)
BATCH = 64  # strings per step
MAX_STEPS = 1500
MAX_WARMUP = 1000
CHECK_EVERY = 50  # steps between two looks at unseen strings
UNSEEN = 200  # strings that are never trained on
SOLVED = 0.99  # of the unseen strings written without a mistake
SAMPLE = "headlight"  # that is reversed at first
_STARTING = threading.Lock()  # the weights are drawn from torch's one global generator


@dataclass(frozen=True)
class Settings:
    """How the tiny model is built and trained; a ValueError names a value that is not allowed."""

    schedule: str = "noam"
    norm: str = "pre"
    n_heads: int = 4
    warmup: int = 200
    peak: float = 0.004  # the highest learning rate, for every schedule
    seed: int = 1

    def __post_init__(self) -> None:
        self.function()
        for name, allowed in (("norm", NORM_POSITIONS), ("n_heads", HEADS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, got {getattr(self, name)!r}")
        if not 0 < self.peak <= 1:
            raise ValueError(f"peak must be above 0 and at most 1, got {self.peak!r}")
        if not 1 <= self.warmup <= MAX_WARMUP:
            raise ValueError(f"warmup must be from 1 to {MAX_WARMUP}, got {self.warmup!r}")

    def function(self) -> schedules.Schedule:
        """Step to learning rate, with `peak` as the highest."""
        peak = self.peak * (D_MODEL * self.warmup) ** 0.5 if self.schedule == "noam" else self.peak
        return schedules.by_name(
            self.schedule, d_model=D_MODEL, peak=peak, warmup=self.warmup, steps=MAX_STEPS, decay=MAX_STEPS // 10
        )


class Practice:
    """The model, its optimiser and its progress: `advance` trains, `reverse` tries it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        config = TransformerConfig(
            vocab_size=len(SPECIAL_TOKENS) + len(LETTERS),
            d_model=D_MODEL,
            d_ff=D_FF,
            n_heads=settings.n_heads,
            n_encoder_layers=1,
            n_decoder_layers=1,
            dropout=0.0,
            norm=settings.norm,
            max_length=LONGEST + 2,
        )
        with _STARTING, torch.random.fork_rng():
            torch.manual_seed(settings.seed)
            self.model = Transformer(config)
        self.schedule = settings.function()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
        self._generator = torch.Generator().manual_seed(settings.seed)
        self.unseen = strings(UNSEEN, torch.Generator().manual_seed(-1 - settings.seed))
        self.losses: list[float] = []
        self.check()

    @property
    def step(self) -> int:
        """The number of training steps done."""
        return len(self.losses)

    def advance(self) -> None:
        """Train one step on a batch of random strings."""
        src, tgt = batch([text for text in strings(BATCH, self._generator) if text not in self.unseen])
        logits = self.model(src, tgt[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD_ID)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.param_groups[0]["lr"] = self.schedule(self.step + 1)
        self.optimizer.step()
        self.losses.append(loss.item())
        if self.step % CHECK_EVERY == 0:
            self.check()

    def check(self) -> None:
        """Set `right` to the share of the unseen strings that are written without a mistake, teacher-forced."""
        src, tgt = batch(self.unseen)
        with torch.inference_mode():
            wrong = (self.model(src, tgt[:, :-1]).argmax(-1) != tgt[:, 1:]) & (tgt[:, 1:] != PAD_ID)
        self.right = 1 - wrong.any(dim=1).float().mean().item()

    @torch.inference_mode()
    def reverse(self, text: str) -> tuple[str, np.ndarray]:
        """The string that the present weights write for a string, and their cross-attention (L, H, T, S) meanwhile.

        A ValueError as in `check`.
        """
        check(text)
        ids = greedy(self.model, pad_ids([[*encode(text), EOS_ID]]), LONGEST + 1)[0]
        # A special token in the middle is a mistake that a reader should see.
        output = "".join(LETTERS[i - len(SPECIAL_TOKENS)] if i >= len(SPECIAL_TOKENS) else "?" for i in ids)
        with record("*.cross_attention.weights") as trace:
            self.model(torch.tensor([[*encode(text), EOS_ID]]), torch.tensor([[BOS_ID, *ids][: LONGEST + 2]]))
        return output, np.stack([weights[0].numpy() for weights in trace.values()])


def strings(n: int, generator: torch.Generator) -> list[str]:
    """Random strings of 1 to LONGEST letters."""
    lengths = torch.randint(1, LONGEST + 1, (n,), generator=generator).tolist()
    letters = torch.randint(len(LETTERS), (n, LONGEST), generator=generator).tolist()
    return ["".join(LETTERS[i] for i in row[:length]) for row, length in zip(letters, lengths, strict=True)]


def encode(text: str) -> list[int]:
    """The ids of a string of LETTERS.

    Example:
        >>> encode("abz")
        [4, 5, 29]
    """
    return [len(SPECIAL_TOKENS) + LETTERS.index(letter) for letter in text]


def batch(texts: list[str]) -> tuple[Tensor, Tensor]:
    """Strings and their reversals, (B, S) and (B, T), padded."""
    ids = [encode(text) for text in texts]
    return pad_ids([[*row, EOS_ID] for row in ids]), pad_ids([[BOS_ID, *row[::-1], EOS_ID] for row in ids])


def check(text: str) -> None:
    """Raise a ValueError unless a text is 1 to LONGEST of LETTERS."""
    if not text:
        raise Problem("there is nothing to reverse: type 1 to {most} letters from a to z", most=LONGEST)
    if strange := text.strip(LETTERS):
        raise Problem("the model knows the lowercase letters a to z only, got {value!r}", value=strange[0])
    check_characters(text, LONGEST)
