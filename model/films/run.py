"""A tiny model that learns a task one step at a time, and what is filmed of it."""

import random
import threading
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model import masks
from model.config import LanguageModelConfig, TransformerConfig
from model.decoding import greedy
from model.films.batches import Alphabet, Batch
from model.films.film import Film, Filmed
from model.films.rules import cells_of, head_scores, kind_of
from model.films.settings import D_FF, D_MODEL, Settings
from model.films.tasks import task_of
from model.language_model import LanguageModel
from model.layers import FeedForward
from model.results.recording import KINDS
from model.results.translation import Translation, module_of
from model.running.attribution import score_shares
from model.taps import record
from model.text.special import PAD_ID
from model.transformer import Transformer

BATCH = 64  # samples per step
UNSEEN = 200  # samples that are never trained on
PROBED = 48  # of them, in which heads are scored
CHECK_EVERY = 25  # steps between two looks at unseen samples
FRAMES = 60  # that a film has at most, but for the last one
_STARTING = threading.Lock()  # the weights are drawn from torch's one global generator


def frame_steps(steps: int) -> list[int]:
    """After which steps a film has a frame: 0, then about FRAMES at equal ratios."""
    return [0, *np.unique(np.geomspace(1, steps, FRAMES).round().astype(int)).tolist()]


def build_model(settings: Settings, vocabulary: int, longest: int) -> Transformer | LanguageModel:
    """The model of some settings, with random weights; without feed-forward it writes zeros that are not trained."""
    has_feed_forward = settings.feed_forward
    sizes: dict[str, Any] = {
        "vocab_size": vocabulary,
        "d_model": D_MODEL,
        "d_ff": D_FF if has_feed_forward else 1,
        "n_heads": settings.heads,
        "dropout": 0.0,
        "norm": settings.norm,
        "final_norm": True,
        "positional": settings.positions,
        "max_length": longest,
    }
    with _STARTING, torch.random.fork_rng():
        torch.manual_seed(settings.seed)
        if settings.architecture == "decoder":
            model = LanguageModel(LanguageModelConfig(**sizes, n_layers=settings.layers, init="normal"))
        else:
            layers: dict[str, Any] = {"n_encoder_layers": settings.layers, "n_decoder_layers": settings.layers}
            model = Transformer(TransformerConfig(**sizes, **layers))
    if not has_feed_forward:
        silence_feed_forward(model)
    return model


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, loss: Tensor, rate: float) -> float:
    """Change the weights by one step at a learning rate; returns the loss before it."""
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.param_groups[0]["lr"] = rate
    optimizer.step()
    return loss.item()


def silence_feed_forward(model: nn.Module) -> None:
    """Make every feed-forward layer write zeros and never train: what is left is attention alone."""
    for module in model.modules():
        if isinstance(module, FeedForward):
            for parameter in module.parameters():
                parameter.detach().zero_()
                parameter.requires_grad_(False)


class Run:
    """The model, its optimiser, its progress and its film; `advance` trains one step."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.task = task_of(settings.task)
        self.has_encoder = settings.architecture != "decoder"
        self.alphabet = Alphabet(self.task.symbols)
        dice = random.Random(-1 - settings.seed)
        unseen = [self.task.draw(dice) for _ in range(UNSEEN)]
        self._known = {sample.text for sample in unseen}
        self._unseen = self.alphabet.batch(unseen, self.has_encoder)
        self._probe = self.alphabet.batch(unseen[:PROBED], self.has_encoder)
        self._cells = {rule: (kind_of(rule, self.has_encoder), cells_of(rule, self._probe)) for rule in self.task.rules}
        self.open = self.task.read(settings.text or self.task.sample)
        self._open = self.alphabet.batch([self.open], self.has_encoder)
        longest = max(batch.read.size(1) for batch in (self._unseen, self._open)) + 8
        self.model = build_model(settings, len(self.alphabet), longest)
        trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.Adam(trained, lr=0.0, betas=(0.9, 0.98), eps=1e-9)
        self._rate = settings.rate()
        self._dice = random.Random(settings.seed)
        self._steps = set(frame_steps(settings.steps))
        self.losses: list[float] = []
        self.right = 0.0
        self._frames: list[Filmed] = []
        self._film()

    @property
    def step(self) -> int:
        """The number of training steps done."""
        return len(self.losses)

    @property
    def is_solved(self) -> bool:
        """Whether enough of the unseen samples are right."""
        return self.right >= self.task.solved

    @property
    def has_ended(self) -> bool:
        """Whether it has solved the task, or all its steps are done."""
        return self.is_solved or self.step >= self.settings.steps

    def advance(self) -> None:
        """Train one step on a batch of random samples, and film where it is time to."""
        samples = [self.task.draw(self._dice) for _ in range(BATCH)]
        batch = self.alphabet.batch([sample for sample in samples if sample.text not in self._known], self.has_encoder)
        logits = self._logits(batch, self.settings.look_ahead_mask)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=PAD_ID)
        self.losses.append(train_step(self.model, self.optimizer, loss, self._rate(self.step + 1)))
        if self.step % CHECK_EVERY == 0:
            self.right = self._share_right()
        if self.step in self._steps or self.has_ended:
            self._film()

    def film(self) -> Film:
        """What has been filmed so far."""
        return Film.of(self.settings, self.losses, list(self._frames), self.open_tokens, self.is_solved)

    @torch.inference_mode()
    def write(self, text: str) -> str:
        """What the present weights write for a prompt, or how they go on with a text; a ValueError as in `Task.read`.

        A special token that is written is a mistake that a reader should see: a question mark.
        """
        sample = self.task.read(text)
        if not sample.prompt:
            batch = self.alphabet.batch([sample], False)
            ids = self._logits(batch, True)[0].argmax(-1)[batch.targets[0] != PAD_ID].tolist()
        else:
            prompt = self.alphabet.encode(sample.prompt)
            batch = self.alphabet.batch([sample], self.has_encoder)
            source = batch.source if batch.source is not None else torch.tensor([prompt])
            ids = greedy(self.model, source, len(sample.answer) + 1)[0]
        names = self.alphabet.tokens
        return "".join(names[index] if len(names[index]) == 1 else "?" for index in ids)

    def _logits(self, batch: Batch, is_causal: bool) -> Tensor:
        """Logits (B, T, V); without the look-ahead mask a decoder sees all that it reads."""
        mask = masks.decoder_mask(batch.read) if is_causal else masks.padding_mask(batch.read)
        if batch.source is None:
            return cast(LanguageModel, self.model)(batch.read, mask)
        model = cast(Transformer, self.model)
        return model.decode(batch.read, mask, model.start(batch.source))

    @torch.inference_mode()
    def _share_right(self) -> float:
        """The share of unseen samples that are right, or of their symbols.

        With the look-ahead mask, and so as when the model writes by itself: an answer that is right where each symbol
        follows right ones is what greedy search writes.
        """
        targets = self._unseen.targets
        asked = targets != PAD_ID
        wrong = (self._logits(self._unseen, True).argmax(-1) != targets) & asked
        if self.task.by_symbol:
            return 1 - (wrong.sum() / asked.sum()).item()
        return 1 - wrong.any(dim=1).float().mean().item()

    @torch.inference_mode()
    def _film(self) -> None:
        """Add a frame: share right, scores of heads in the probe, and the maps of the open string."""
        self.right = self._share_right()
        with record("*.weights") as trace:
            self._logits(self._probe, True)
        layers = range(self.settings.layers)
        scores = {
            rule: head_scores([trace[f"{module_of(kind, layer)}.weights"] for layer in layers], cells)
            for rule, (kind, cells) in self._cells.items()
        }
        with record("*") as whole:
            logits = self._logits(self._open, True)[0]
        maps = {
            kind: np.stack([whole[f"{module_of(kind, layer)}.weights"][0].numpy() for layer in layers])
            for kind in KINDS
            if f"{module_of(kind, 0)}.weights" in whole
        }
        predicted = [self.alphabet.tokens[index] for index in logits.argmax(-1).tolist()]
        earlier = self._written_earlier(whole) if not self.has_encoder and self.settings.layers > 1 else None
        self._frames.append(Filmed(self.step, self.right, scores, maps, predicted, earlier))

    def _written_earlier(self, trace: Mapping[str, Tensor]) -> np.ndarray:
        """How much of where each head looks is decided by what earlier heads wrote at the keys, float32 (L, H)."""
        ids = self._open.read[0].tolist()
        names = [self.alphabet.tokens[index] for index in ids]
        result = Translation(
            source="",
            text="",
            source_tokens=[],
            target_tokens=names,
            predicted_tokens=names,
            predicted_ids=ids,
            log_probabilities=np.zeros(len(ids), np.float32),
            finished=True,
            trace={address: value[0].numpy() for address, value in trace.items()},
            search=None,
            config=self.model.config,
        )
        shares = score_shares(self.model, result)
        of_keys = shares.of_keys("decoder_self")
        if "earlier heads" not in shares.names:
            return np.zeros(of_keys.shape[:2], np.float32)
        return of_keys[..., shares.names.index("earlier heads")].astype(np.float32)

    @property
    def open_tokens(self) -> tuple[list[str], list[str]]:
        """The tokens of the open string that an encoder and a decoder read."""
        names = self.alphabet.tokens
        source = [] if self._open.source is None else [names[index] for index in self._open.source[0].tolist()]
        return source, [names[index] for index in self._open.read[0].tolist()]


def train(settings: Settings, look: Callable[[Run], None] = lambda run: None) -> Run:
    """Train until the task is solved or the steps are done; `look` is called after each step."""
    run = Run(settings)
    while not run.has_ended:
        run.advance()
        look(run)
    return run
