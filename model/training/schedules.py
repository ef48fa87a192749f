"""Learning rate schedules by name: functions of the step, counted from 1."""

import math
from collections.abc import Callable

Schedule = Callable[[int], float]


def noam(d_model: int, warmup: int, factor: float = 1.0) -> Schedule:
    """factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al. 2017, section 5.3)."""
    if warmup < 1:
        raise ValueError(f"the Noam schedule needs a warmup of at least 1 step, got {warmup}")
    return _checked(lambda step: factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5))


def _checked(rate: Schedule) -> Schedule:
    """The schedule, a ValueError before its first step."""

    def at(step: int) -> float:
        if step < 1:
            raise ValueError(f"the steps of a schedule are counted from 1, got {step}")
        return rate(step)

    return at


def _remaining(step: int, first: int, last: int) -> float:
    """1 up to the first step, then falling in a line to 0 after the last."""
    return min(1.0, max(0.0, (last + 1 - step) / max(last + 1 - max(first, 1), 1)))


# What the peak is multiplied by after a linear warmup, at a step.
_AFTER_WARMUP: dict[str, Callable[[int, int, int, int], float]] = {
    "constant": lambda step, warmup, steps, decay: 1.0,
    # Noam with the peak as its parameter.
    "inverse_sqrt": lambda step, warmup, steps, decay: min(1.0, math.sqrt(max(warmup, 1) / step)),
    "linear": lambda step, warmup, steps, decay: _remaining(step, warmup, steps),
    # Half a cosine (Loshchilov and Hutter 2017).
    "cosine": lambda step, warmup, steps, decay: (1 - math.cos(math.pi * _remaining(step, warmup, steps))) / 2,
    # A plateau, which resuming with more steps prolongs, and a line over the last `decay` steps (Hu et al. 2024).
    "warmup_stable_decay": lambda step, warmup, steps, decay: _remaining(step, steps - decay, steps),
    # A twentieth less after every `decay` steps (0: never), as in the tutorial on WikiText-2.
    "step_decay": lambda step, warmup, steps, decay: 0.95 ** (max(0, step - 1 - warmup) // decay if decay else 0),
}
NAMES = ("noam", *_AFTER_WARMUP)


def by_name(name: str, *, d_model: int, peak: float, warmup: int, steps: int, decay: int) -> Schedule:
    """The schedule of a training configuration, which explains the values; a ValueError if the name is unknown."""
    if name not in NAMES:
        raise ValueError(f"schedule must be one of {', '.join(NAMES)}, got {name!r}")
    if name == "noam":
        return noam(d_model, warmup, peak)
    after = _AFTER_WARMUP[name]
    return _checked(lambda step: peak * min(1.0, step / max(warmup, 1)) * after(step, warmup, steps, decay))
