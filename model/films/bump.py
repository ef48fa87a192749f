"""Whether a loss has a bump: whether it falls faster again after it had slowed down (Olsson et al. 2022)."""

from dataclasses import dataclass

import numpy as np

RATIO, FEWEST = 1.5, 5  # of a window's end to its start, and steps of a window at least
ERRORS = 4.0  # standard errors by which two slopes have to differ
TIMES = 1.25  # how much faster it has to fall again


@dataclass(frozen=True)
class Bump:
    """Where a loss falls slowest before it falls faster again: steps, and nats per doubling of the steps there."""

    slow_step: int
    slow: float
    fast_step: int
    fast: float


def are_near(step: int, other: int) -> bool:
    """Whether two steps are at most as far apart as start and end of a window of `bump_of`."""
    return max(step, other) <= RATIO * min(step, other)


def bump_of(losses: np.ndarray) -> Bump | None:
    """The bump of losses (steps,) with the largest gain in slope; None where the loss never falls faster again.

    The loss is averaged in windows whose steps grow by RATIO, as curves over steps at equal ratios show it. Slopes
    between neighbouring windows are compared with their standard errors, so that the noise of batches, which is read
    off the differences from step to step, does not count.
    """
    edges = [0]
    while (end := max(edges[-1] + FEWEST, round(RATIO * edges[-1]))) <= len(losses):
        edges.append(end)
    if len(edges) < 5:
        return None
    losses = losses.astype(np.float64)
    means = np.array([losses[start:end].mean() for start, end in zip(edges, edges[1:])])
    deviation = 1.4826 * np.median(np.abs(np.diff(losses))) / 2**0.5  # of one loss about the smooth curve
    errors = deviation / np.sqrt(np.diff(edges))
    steps = np.array([np.arange(start + 1, end + 1).mean() for start, end in zip(edges, edges[1:])])
    doublings = np.diff(np.log2(steps))
    slopes = -np.diff(means) / doublings
    noise = np.hypot(errors[1:], errors[:-1]) / doublings
    differs = np.abs(slopes[:, None] - slopes) > ERRORS * np.hypot(noise[:, None], noise)
    best: tuple[float, int, int] | None = None
    for slow in range(1, len(slopes)):
        if not (differs[slow, :slow] & (slopes[:slow] > slopes[slow])).any():
            continue
        for fast in range(slow + 1, len(slopes)):
            is_faster = differs[slow, fast] and slopes[fast] > TIMES * max(slopes[slow], 0)
            if is_faster and (best is None or slopes[fast] - slopes[slow] > best[0]):
                best = slopes[fast] - slopes[slow], slow, fast
    if best is None:
        return None
    _, slow, fast = best
    at = [edges[place + 1] for place in (slow, fast)]  # where the two windows of a slope meet
    return Bump(at[0], float(slopes[slow]), at[1], float(slopes[fast]))
