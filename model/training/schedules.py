"""Learning rate schedules by name: functions of the step, counted from 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from inspect import signature

Schedule = Callable[[int], float]
GAMMA = 0.95  # of step_decay


def noam(d_model: int, warmup: int, factor: float = 1.0) -> Schedule:
    """lr = factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al. 2017, section 5.3); peak at
    `warmup`.

    Example:
        >>> round(noam(512, 200)(200), 8)
        0.003125
    """
    if warmup < 1:
        raise ValueError(f"the Noam schedule needs a warmup of at least 1 step, got {warmup}")
    return lambda step: factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def constant(peak: float, warmup: int) -> Schedule:
    """Linear warmup to the peak, then constant."""
    return lambda step: peak * _warm(step, warmup)


def inverse_sqrt(peak: float, warmup: int) -> Schedule:
    """Linear warmup to the peak, then peak * sqrt(warmup / step): Noam with the peak as its parameter."""
    return lambda step: peak * min(_warm(step, warmup), math.sqrt(max(warmup, 1) / step))


def linear(peak: float, warmup: int, steps: int) -> Schedule:
    """Linear warmup to the peak, then linear decay to 0 after the last step."""
    return lambda step: peak * _warm(step, warmup) * _remaining(step, warmup, steps)


def cosine(peak: float, warmup: int, steps: int) -> Schedule:
    """Linear warmup to the peak, then half a cosine to 0 after the last step (Loshchilov and Hutter 2017)."""
    return lambda step: peak * _warm(step, warmup) * (1 - math.cos(math.pi * _remaining(step, warmup, steps))) / 2


def warmup_stable_decay(peak: float, warmup: int, steps: int, decay: int) -> Schedule:
    """Linear warmup, a plateau at the peak, and a linear decay over the last `decay` steps (Hu et al. 2024).

    Nothing before the decay depends on the number of steps: resuming with more prolongs the plateau.
    """
    return lambda step: peak * _warm(step, warmup) * _remaining(step, steps - decay, steps)


def step_decay(peak: float, warmup: int, decay: int, gamma: float = GAMMA) -> Schedule:
    """Linear warmup, then times gamma after every `decay` steps (0: never), as in the tutorial on WikiText-2.

    Example:
        >>> schedule = step_decay(1.0, 0, 10)
        >>> schedule(10), schedule(11), round(schedule(21), 4)
        (1.0, 0.95, 0.9025)
    """
    return lambda step: peak * _warm(step, warmup) * gamma ** (max(0, step - 1 - warmup) // decay if decay else 0)


_SCHEDULES = (noam, constant, inverse_sqrt, linear, cosine, warmup_stable_decay, step_decay)
_BY_NAME = {schedule.__name__: schedule for schedule in _SCHEDULES}
NAMES = tuple(_BY_NAME)


def by_name(name: str, *, d_model: int, peak: float, warmup: int, steps: int, decay: int) -> Schedule:
    """The schedule of a training configuration, which explains the values; a ValueError if the name is unknown."""
    if name not in NAMES:
        raise ValueError(f"schedule must be one of {', '.join(NAMES)}, got {name!r}")
    values = {"d_model": d_model, "peak": peak, "factor": peak, "warmup": warmup, "steps": steps, "decay": decay}
    taken = signature(_BY_NAME[name]).parameters.keys() & values.keys()
    return _BY_NAME[name](**{one: values[one] for one in taken})


def _warm(step: int, warmup: int) -> float:
    return min(1.0, step / max(warmup, 1))


def _remaining(step: int, first: int, last: int) -> float:
    return min(1.0, max(0.0, (last + 1 - step) / max(last + 1 - max(first, 1), 1)))
