"""A film of a small decoder that learns to predict real text: WikiText-2, and heads scored on repeated random tokens.

Olsson et al. 2022, "In-context Learning and Induction Heads": whether previous-token and induction heads form at one
moment, and whether the loss falls then. Weights are not kept: about 60 frames of scores, and of maps of ten texts.
"""

import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from model.config import LanguageModelConfig
from model.films.film import BYTE, Film, FilmText, command_of
from model.films.rules import cells_of_text, head_scores
from model.films.run import frame_steps, silence_feed_forward, train_step
from model.films.settings import MAX_SEED
from model.language_model import LanguageModel
from model.results.translation import module_of
from model.taps import record
from model.text.subwords import Tokenizer
from model.training import schedules
from model.training.data.corpora import load_text

TASK = "wikitext-2"
D_MODEL, HEADS, VOCABULARY = 128, 4, 2000
WINDOW, BATCH = 96, 16  # tokens of a window, windows per step
N_TEXTS, TOKENS = 10, 16  # that are filmed
REPEATED, ROWS = 24, 16  # random tokens, twice, in so many rows: where heads are scored
VALIDATED = 24  # windows of the validation text


@dataclass(frozen=True)
class TextSettings:
    """How the decoder is built and trained; a ValueError names a value that is not allowed."""

    task: str = TASK
    layers: int = 2
    feed_forward: bool = False
    warmup: int = 200
    peak: float = 0.002
    steps: int = 3000
    seed: int = 1

    def __post_init__(self) -> None:
        for name, allowed in _RANGES.items():
            value = getattr(self, name)
            if type(value) is not int or value not in allowed:
                raise ValueError(f"{name} must be from {allowed[0]} to {allowed[-1]}, got {value!r}")
        if type(self.feed_forward) is not bool:
            raise ValueError(f"feed_forward must be one of True, False, got {self.feed_forward!r}")
        if type(self.peak) not in (int, float) or not 0 < self.peak <= 1:
            raise ValueError(f"peak must be above 0 and at most 1, got {self.peak!r}")

    def to_dict(self) -> dict[str, object]:
        """The fields as JSON."""
        return asdict(self)


_RANGES = {
    "layers": range(1, 7),
    "warmup": range(1, 5001),
    "steps": range(10, 100_001),
    "seed": range(MAX_SEED + 1),
}


class TextRun:
    """The decoder, its data and its film; `advance` trains one step."""

    def __init__(self, settings: TextSettings, data_dir: Path) -> None:
        self.settings = settings
        lines = [line for line in load_text(data_dir, "wikitext2", "train") if line.strip()]
        valid = [line for line in load_text(data_dir, "wikitext2", "valid") if line.strip()]
        self.tokenizer = Tokenizer.train(lines[::4], VOCABULARY)
        vocabulary = len(self.tokenizer)
        self._train = torch.tensor([index for line in lines for index in self.tokenizer.encode(line)])
        ids = torch.tensor([index for line in valid[:400] for index in self.tokenizer.encode(line)])
        self._valid = ids[: VALIDATED * (WINDOW + 1)].view(VALIDATED, WINDOW + 1)
        texts = [self.tokenizer.encode(line)[:TOKENS] for line in valid if len(line) > 200][:N_TEXTS]
        self._texts = torch.tensor(texts)
        dice = random.Random(settings.seed)
        rows = [dice.sample(range(300, vocabulary), REPEATED) for _ in range(ROWS)]
        repeated = [row + row for row in rows]
        self._repeated = torch.tensor(repeated)
        self._cells = {
            rule: np.stack([cells_of_text(rule, ids) for ids in repeated]) for rule in ("previous", "induction")
        }
        torch.manual_seed(settings.seed)
        self.model = LanguageModel(
            LanguageModelConfig(
                vocab_size=vocabulary,
                d_model=D_MODEL,
                d_ff=4 * D_MODEL if settings.feed_forward else 1,
                n_heads=HEADS,
                n_layers=settings.layers,
                dropout=0.0,
                norm="pre",
                final_norm=True,
                positional="rotary",
                max_length=WINDOW,
                tie_embeddings=True,
                init="normal",
            )
        )
        if not settings.feed_forward:
            silence_feed_forward(self.model)
        self.optimizer = torch.optim.Adam(
            [parameter for parameter in self.model.parameters() if parameter.requires_grad], betas=(0.9, 0.98)
        )
        self._rate = schedules.by_name(
            "cosine", d_model=D_MODEL, peak=settings.peak, warmup=settings.warmup, steps=settings.steps, decay=0
        )
        self._places = torch.Generator().manual_seed(settings.seed)
        self._steps = set(frame_steps(settings.steps))
        self.losses: list[float] = []
        self._taken: list[int] = []
        self._right: list[float] = []
        self._scores: dict[str, list[np.ndarray]] = {rule: [] for rule in self._cells}
        self._maps: list[np.ndarray] = []  # of each frame uint8 (texts, L, H, T, T)
        self._predicted: list[list[list[str]]] = []
        self._film()

    @property
    def step(self) -> int:
        """The number of training steps done."""
        return len(self.losses)

    def advance(self) -> bool:
        """Train one step on random windows; returns whether a frame was filmed after it."""
        starts = torch.randint(len(self._train) - WINDOW - 1, (BATCH,), generator=self._places)
        windows = self._train[starts[:, None] + torch.arange(WINDOW + 1)]
        loss = self.model.loss(windows[:, :-1], windows[:, 1:])
        self.losses.append(train_step(self.model, self.optimizer, loss, self._rate(self.step + 1)))
        is_frame = self.step in self._steps
        if is_frame:
            self._film()
        return is_frame

    def film(self, **card: object) -> Film:
        """What has been filmed so far."""
        texts = []
        for number, ids in enumerate(self._texts.tolist()):
            maps = np.stack([frame[number] for frame in self._maps])
            predicted = [frame[number] for frame in self._predicted]
            texts.append(FilmText([], self.tokenizer.tokens(ids), {"decoder_self": maps}, predicted))
        return Film(
            self.settings.to_dict(),
            np.array(self.losses, np.float32),
            np.array(self._taken, np.int64),
            np.array(self._right, np.float32),
            {rule: np.stack(values) for rule, values in self._scores.items()},
            texts,
            False,
            card,
        )

    def _weights(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Logits (B, T, V), and of each layer the weights (B, H, T, T)."""
        with record("*.weights") as trace:
            logits = self.model(ids)
        return logits, [trace[f"{module_of('decoder_self', layer)}.weights"] for layer in range(self.settings.layers)]

    @torch.inference_mode()
    def _film(self) -> None:
        _, weights = self._weights(self._repeated)
        for rule, cells in self._cells.items():
            self._scores[rule].append(head_scores(weights, cells))
        logits, weights = self._weights(self._texts)
        self._predicted.append([self.tokenizer.tokens(row) for row in logits.argmax(-1).tolist()])
        maps = torch.stack(weights, dim=1).numpy()  # (texts, L, H, T, T)
        self._maps.append(np.rint(BYTE * maps).astype(np.uint8))
        predicted = self.model(self._valid[:, :-1]).argmax(-1)
        self._right.append((predicted == self._valid[:, 1:]).float().mean().item())
        self._taken.append(self.step)


def film_text(settings: TextSettings, data_dir: Path, keep: Callable[[Film], None]) -> Film:
    """Train to the end, and call `keep` with the film so far at each frame, so that nothing is lost."""
    began = time.monotonic()
    command = command_of(settings.to_dict(), TextSettings().to_dict(), "--data-dir DIR")
    run = TextRun(settings, data_dir)
    film = run.film(command=command)
    while run.step < settings.steps:
        if run.advance():
            film = run.film(command=command, seconds=round(time.monotonic() - began))
            keep(film)
    return film
