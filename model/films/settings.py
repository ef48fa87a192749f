"""The settings of a run that is filmed."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

from model.config import NORM_POSITIONS
from model.films.tasks import DECODER, task_of
from model.training import schedules

D_MODEL, D_FF = 64, 128
ARCHITECTURES = ("encoder-decoder", DECODER)
LAYERS = (1, 2, 3)
HEADS = (1, 2, 4, 8)
POSITIONS = ("sinusoidal", "rotary", "alibi", "learned", "none")
MAX_WARMUP = 2000
STEPS = range(50, 5001)  # how many a run may have at most
MAX_SEED = 1_000_000


@dataclass(frozen=True)
class Settings:
    """How a tiny model is built and trained; a ValueError names a value that is not allowed.

    Attributes:
        text: the string whose maps are filmed; "": that of the task.
        feed_forward: off, layers have attention alone.
        look_ahead_mask: off, a decoder sees in training what it is to write.
        peak: the highest learning rate, for every schedule.
        steps: after which the run ends where it has not solved the task.
    """

    task: str = "backwards"
    text: str = ""
    architecture: str = "encoder-decoder"
    layers: int = 1
    heads: int = 4
    positions: str = "sinusoidal"
    norm: str = "pre"
    feed_forward: bool = True
    look_ahead_mask: bool = True
    schedule: str = "inverse_sqrt"
    warmup: int = 100
    peak: float = 0.004
    steps: int = 2000
    seed: int = 1

    def __post_init__(self) -> None:
        task = task_of(self.task)
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value not in allowed or type(value) is not type(allowed[0]):
                raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}, got {value!r}")
        for name, allowed in _RANGES.items():
            value = getattr(self, name)
            if type(value) is not int or value not in allowed:
                raise ValueError(f"{name} must be from {allowed[0]} to {allowed[-1]}, got {value!r}")
        if type(self.peak) not in (int, float) or not 0 < self.peak <= 1:
            raise ValueError(f"peak must be above 0 and at most 1, got {self.peak!r}")
        if self.architecture != DECODER and not task.has_prompt:
            raise ValueError(f"the task {self.task!r} has no prompt that an encoder could read: choose a decoder")
        if not isinstance(self.text, str):
            raise ValueError(f"text must be a string, got {self.text!r}")
        task.read(self.text or task.sample)

    @classmethod
    def of(cls, task: str, **changes: Any) -> Self:
        """The default run of a task, with changes."""
        fields: dict[str, Any] = {"task": task, **task_of(task).defaults, **changes}
        names = [field.name for field in dataclasses.fields(cls)]
        if unknown := sorted(fields.keys() - set(names)):
            raise ValueError(f"a run has no setting {unknown[0]!r}; there are {', '.join(names)}")
        return cls(**fields)

    def rate(self) -> schedules.Schedule:
        """Step to learning rate, with `peak` as the highest."""
        peak = self.peak * (D_MODEL * self.warmup) ** 0.5 if self.schedule == "noam" else self.peak
        return schedules.by_name(
            self.schedule, d_model=D_MODEL, peak=peak, warmup=self.warmup, steps=self.steps, decay=self.steps // 10
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON."""
        return dataclasses.asdict(self)


_CHOICES: dict[str, tuple[Any, ...]] = {
    "architecture": ARCHITECTURES,
    "layers": LAYERS,
    "heads": HEADS,
    "positions": POSITIONS,
    "norm": NORM_POSITIONS,
    "feed_forward": (True, False),
    "look_ahead_mask": (True, False),
    "schedule": schedules.NAMES,
}
_RANGES = {"warmup": range(1, MAX_WARMUP + 1), "steps": STEPS, "seed": range(MAX_SEED + 1)}
