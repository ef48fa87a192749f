"""A film of a training: its losses, and frame by frame what heads did."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from model.masks import causal_mask
from model.results.recording import Recording

BYTE = 255  # what a weight of 1 is in a byte: an error of at most 1 / 510
LEAST = 0.1  # that a score has to rise for its rise to count
EARLIER = "earlier"  # the curve of what earlier heads wrote at the keys
SMOOTH = 9  # steps over which a loss is averaged before it is compared


@dataclass(frozen=True)
class Filmed:
    """One frame of a run.

    Attributes:
        scores: by rule float32 (L, H).
        maps: by kind of attention float32 (L, H, T, S), of the open string.
        predicted: what was predicted after each token of the decoder.
        earlier: float32 (L, H), the share of what earlier heads wrote at the keys in what decides each map; None where
            no head stands before another.
    """

    step: int
    right: float
    scores: Mapping[str, np.ndarray]
    maps: Mapping[str, np.ndarray]
    predicted: Sequence[str]
    earlier: np.ndarray | None = None


@dataclass(frozen=True)
class FilmText:
    """A text that was filmed: its tokens, and by kind its maps in bytes, uint8 (N, L, H, T, S)."""

    source_tokens: list[str]
    target_tokens: list[str]
    maps: Mapping[str, np.ndarray] = field(repr=False)
    predicted: list[list[str]] = field(default_factory=list)  # by frame, after each target token; or nothing


@dataclass(frozen=True)
class Mark:
    """The frame in which the score of a head passes half of its end, or the loss (rule "loss") half of its fall."""

    rule: str
    layer: int
    head: int
    frame: int
    end: float  # its value at the end


@dataclass(frozen=True)
class Film:
    """A run: N frames, the first before any step.

    Attributes:
        settings: of the run, as JSON.
        losses: float32 (steps,), in nats per symbol that was asked for.
        steps: after how many steps each frame was taken, int64 (N,).
        right: float32 (N,), the share of unseen samples that are right; NaN where nobody counts.
        scores: by rule, and EARLIER, float32 (N, L, H).
        is_solved: whether the task was solved in the end.
    """

    settings: Mapping[str, Any]
    losses: np.ndarray = field(repr=False)
    steps: np.ndarray = field(repr=False)
    right: np.ndarray = field(repr=False)
    scores: Mapping[str, np.ndarray] = field(repr=False)
    texts: list[FilmText] = field(repr=False)
    is_solved: bool = False
    card: Mapping[str, Any] = field(default_factory=dict)  # command, seconds: what a recording says of itself

    @property
    def n_frames(self) -> int:
        """The number of frames."""
        return len(self.steps)

    def loss_at(self, frame: int) -> float:
        """The loss about a frame, the mean of the SMOOTH steps before it; before any step that of the first one."""
        if not len(self.losses):
            return float("nan")
        step = int(self.steps[frame])
        return float(self.losses[max(0, step - SMOOTH) : max(1, step)].mean())

    def best_head(self, rule: str) -> tuple[int, int]:
        """Layer and head of the largest score of a rule in the last frame."""
        last = self.scores[rule][-1]
        layer, head = np.unravel_index(int(last.argmax()), last.shape)
        return int(layer), int(head)

    def mark(self, rule: str) -> Mark | None:
        """The frame from which on the best head of a rule has half of its last score; None where it hardly rises."""
        layer, head = self.best_head(rule)
        curve = self.scores[rule][:, layer, head]
        first, last = float(curve[0]), float(curve[-1])
        if not last - first >= LEAST:
            return None
        return Mark(rule, layer, head, first_of_the_rest(curve, last / 2), last)

    def marks(self) -> list[Mark]:
        """The marks of all rules and of the loss, in the order of their frames."""
        marks = [mark for rule in self.scores if (mark := self.mark(rule))]
        losses = np.array([self.loss_at(frame) for frame in range(self.n_frames)])
        first, last = float(losses[0]), float(losses[-1])
        if first - last >= LEAST:
            marks.append(Mark("loss", 0, 0, first_of_the_rest(-losses, -(first + last) / 2), last))
        return sorted(marks, key=lambda mark: mark.frame)

    def recording(self, frame: int, text: int = 0) -> Recording:
        """What heads did in a frame with one of the texts, as the stage shows it."""
        of_text = self.texts[text]
        weights = {kind: maps[frame].astype(np.float32) / BYTE for kind, maps in of_text.maps.items()}
        weights = {kind: maps / np.maximum(maps.sum(-1, keepdims=True), 1e-9) for kind, maps in weights.items()}
        length = len(of_text.target_tokens)
        masks = {"decoder_self": causal_mask(length)[0, 0].numpy()} if "decoder_self" in weights else {}
        predicted = list(of_text.predicted[frame]) if of_text.predicted else []
        model = {"name": str(self.settings.get("task", "")), "step": int(self.steps[frame])}
        return Recording(
            of_text.source_tokens, of_text.target_tokens, weights, masks, predicted_tokens=predicted, model=model
        )

    @classmethod
    def of(
        cls,
        settings: Any,
        losses: Sequence[float],
        frames: Sequence[Filmed],
        tokens: tuple[list[str], list[str]],
        is_solved: bool,
    ) -> Self:
        """The film of a run from its frames, and the source and target tokens of the open string."""
        first = frames[0]
        scores = {rule: np.stack([frame.scores[rule] for frame in frames]) for rule in first.scores}
        if first.earlier is not None:
            scores[EARLIER] = np.stack([frame.earlier for frame in frames if frame.earlier is not None])
        maps = {
            kind: np.stack([np.rint(BYTE * frame.maps[kind]).astype(np.uint8) for frame in frames])
            for kind in first.maps
        }
        text = FilmText(*tokens, maps, [list(frame.predicted) for frame in frames])
        steps = np.array([frame.step for frame in frames], np.int64)
        right = np.array([frame.right for frame in frames], np.float32)
        return cls(settings.to_dict(), np.array(losses, np.float32), steps, right, scores, [text], is_solved)


def first_of_the_rest(curve: np.ndarray, level: float) -> int:
    """The first place from which on a curve stays at a level or above it, where its last value is."""
    below = np.flatnonzero(curve < level)
    return int(below[-1]) + 1 if len(below) else 0


def command_of(settings: Mapping[str, Any], defaults: Mapping[str, Any], *options: str) -> str:
    """The command that makes a film again; settings that are as the default ones are left out."""
    changes = [f"{name}={value}" for name, value in settings.items() if value != defaults[name]]
    words = ["python", "-m", "model", "film", str(settings["task"]), "--out", "FILE.film", *" ".join(options).split()]
    return shlex.join([*words, *(["--set", *changes] if changes else [])])
