"""Learning rate schedules by name: functions of the step, counted from 1."""

from __future__ import annotations

import math
from collections.abc import Callable

Schedule = Callable[[int], float]
GAMMA = 0.95  # of step_decay


def noam(d_model: int, warmup: int, factor: float = 1.0) -> Schedule:
    """lr = factor * d_model^-0.5 * min(step^-0.5, step * warmup^-1.5) (Vaswani et al. 2017, section 5.3).

    Args:
        d_model: width of the model.
        warmup: the step of the peak, which is factor * d_model^-0.5 * warmup^-0.5.
        factor: scales the whole curve.

    Returns:
        Step (from 1) to learning rate.

    Raises:
        ValueError: if warmup is below 1.

    Example:
        >>> round(noam(512, 200)(200), 8)
        0.003125
    """
    if warmup < 1:
        raise ValueError(f"the Noam schedule needs a warmup of at least 1 step, got {warmup}")
    return lambda step: factor * d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def constant(peak: float, warmup: int) -> Schedule:
    """Linear warmup to the peak, then constant.

    Example:
        >>> constant(1.0, 4)(2), constant(1.0, 4)(9)
        (0.5, 1.0)
    """
    return lambda step: peak * _warm(step, warmup)


def inverse_sqrt(peak: float, warmup: int) -> Schedule:
    """Linear warmup to the peak, then peak * sqrt(warmup / step): Noam with the peak as its parameter.

    Example:
        >>> inverse_sqrt(1.0, 4)(16)
        0.5
    """
    return lambda step: peak * min(_warm(step, warmup), math.sqrt(max(warmup, 1) / step))


def linear(peak: float, warmup: int, steps: int) -> Schedule:
    """Linear warmup to the peak, then linear decay to 0 after the last step.

    Example:
        >>> linear(1.0, 2, 9)(9)
        0.125
    """
    return lambda step: peak * _warm(step, warmup) * _remaining(step, warmup, steps)


def cosine(peak: float, warmup: int, steps: int) -> Schedule:
    """Linear warmup to the peak, then half a cosine to 0 after the last step (Loshchilov and Hutter 2017).

    Example:
        >>> round(cosine(1.0, 0, 4)(3), 3)
        0.5
    """
    return lambda step: peak * _warm(step, warmup) * (1 - math.cos(math.pi * _remaining(step, warmup, steps))) / 2


def warmup_stable_decay(peak: float, warmup: int, steps: int, decay: int) -> Schedule:
    """Linear warmup, a plateau at the peak, and a linear decay over the last `decay` steps (Hu et al. 2024).

    The plateau can be prolonged by resuming with more steps, since nothing before the decay depends on their number.

    Example:
        >>> schedule = warmup_stable_decay(1.0, 2, 10, 4)
        >>> schedule(1), schedule(6), schedule(7), schedule(10)
        (0.5, 1.0, 0.8, 0.2)
    """
    return lambda step: peak * _warm(step, warmup) * _remaining(step, steps - decay, steps)


def step_decay(peak: float, warmup: int, decay: int, gamma: float = GAMMA) -> Schedule:
    """Linear warmup to the peak, then times gamma after every `decay` steps (an epoch, in the tutorial on WikiText-2).

    Without decay (0 steps) it stays at the peak; the tutorial has no warmup.

    Example:
        >>> schedule = step_decay(1.0, 0, 10)
        >>> schedule(10), schedule(11), round(schedule(21), 4)
        (1.0, 0.95, 0.9025)
    """
    return lambda step: peak * _warm(step, warmup) * gamma ** (max(0, step - 1 - warmup) // decay if decay else 0)


NAMES = ("noam", "constant", "inverse_sqrt", "linear", "cosine", "warmup_stable_decay", "step_decay")


def by_name(name: str, *, d_model: int, peak: float, warmup: int, steps: int, decay: int) -> Schedule:
    """Build the schedule of a training configuration.

    Args:
        name: one of NAMES.
        d_model: width of the model, for "noam".
        peak: highest learning rate; for "noam" the factor of the curve.
        warmup: steps of the warmup.
        steps: the last step.
        decay: steps of the final decay, for "warmup_stable_decay"; steps between two drops, for "step_decay".

    Returns:
        Step (from 1) to learning rate.

    Raises:
        ValueError: if the name is unknown.
    """
    schedules = {
        "noam": lambda: noam(d_model, warmup, peak),
        "constant": lambda: constant(peak, warmup),
        "inverse_sqrt": lambda: inverse_sqrt(peak, warmup),
        "linear": lambda: linear(peak, warmup, steps),
        "cosine": lambda: cosine(peak, warmup, steps),
        "warmup_stable_decay": lambda: warmup_stable_decay(peak, warmup, steps, decay),
        "step_decay": lambda: step_decay(peak, warmup, decay),
    }
    if name not in schedules:
        allowed = ", ".join(NAMES)
        raise ValueError(f"schedule must be one of {allowed}, got {name!r}")
    return schedules[name]()


def _warm(step: int, warmup: int) -> float:
    return min(1.0, step / max(warmup, 1))


def _remaining(step: int, first: int, last: int) -> float:
    """1 until `first`, then falling linearly to 0 just after `last`."""
    return min(1.0, max(0.0, (last + 1 - step) / max(last + 1 - max(first, 1), 1)))
