"""The bump of a loss, on curves of which one knows whether they have one."""

from __future__ import annotations

import numpy as np
import pytest

from model.films.bump import bump_of

STEPS = np.arange(1, 3001)
POWER = 3 + 5 * STEPS**-0.4  # falls ever more slowly
FALLS = {
    "a power law": POWER,
    "a warmup, then a power law": np.where(STEPS < 100, 8.0, 3 + 5 * (STEPS / 100.0) ** -0.6),
    "a line over doublings": 8 - 0.4 * np.log2(STEPS),
}


def noisy(curve: np.ndarray, seed: int) -> np.ndarray:
    return (curve + 0.1 * np.random.default_rng(seed).standard_normal(len(curve))).astype(np.float32)


@pytest.mark.parametrize("seed", range(5))
def test_a_loss_that_slows_down_for_good_has_no_bump(seed):
    for name, curve in FALLS.items():
        assert bump_of(noisy(curve, seed)) is None, name
        assert bump_of(curve.astype(np.float32)) is None, name


@pytest.mark.parametrize("step", [60, 300, 900])
def test_a_second_fall_is_a_bump_at_its_step(step):
    curve = POWER + 1.5 / (1 + (STEPS / step) ** 6.0)
    bump = bump_of(noisy(curve, step))
    assert bump is not None and bump.slow_step < bump.fast_step and bump.slow < bump.fast
    assert step / 1.7 < bump.fast_step < 1.7 * step
    at = np.array([bump.fast_step / 2**0.25, bump.fast_step * 2**0.25])  # half a doubling about it
    slope = -np.diff(np.interp(at, STEPS, curve)).item() / 0.5
    assert bump.fast == pytest.approx(slope, rel=0.25)


@pytest.mark.parametrize("count", [0, 1, 4, 12, 20])
def test_a_loss_of_a_few_steps_has_none_yet(count):
    assert bump_of(np.linspace(8, 7, count, dtype=np.float32)) is None
