"""Schedules: the paper's curve, and every named one at the points that define it."""

from __future__ import annotations

import math

import pytest

from model.training import schedules

SIZES = {"d_model": 64, "peak": 0.8, "warmup": 10, "steps": 50, "decay": 20}


def at(name: str, step: int, **changes: float) -> float:
    return schedules.by_name(name, **(SIZES | changes))(step)


@pytest.mark.parametrize("step", [1, 5, 199, 200, 201, 5000])
def test_noam_is_equation_3_of_the_paper(step):
    expected = 512**-0.5 * min(step**-0.5, step * 200**-1.5)
    assert schedules.noam(512, 200)(step) == pytest.approx(expected, rel=1e-12)
    assert at("noam", step, d_model=512, warmup=200, peak=3.0) == pytest.approx(3 * expected, rel=1e-12)


def test_noam_peaks_at_the_end_of_the_warmup():
    rates = [schedules.noam(512, 200)(step) for step in range(1, 1000)]
    assert rates.index(max(rates)) + 1 == 200
    assert max(rates) == pytest.approx(1 / math.sqrt(512 * 200), rel=1e-12)


def test_noam_without_warmup_is_refused():
    with pytest.raises(ValueError, match="a warmup of at least 1 step, got 0"):
        schedules.noam(512, 0)


@pytest.mark.parametrize("name", schedules.NAMES[1:])
def test_the_warmup_is_a_straight_line_to_the_peak(name):
    quiet = {"warmup": 10, "steps": 50, "decay": 20}
    assert at(name, 1, **quiet) == pytest.approx(0.08)
    assert at(name, 5, **quiet) == pytest.approx(0.4)
    assert at(name, 10, **quiet) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("name", "middle", "end"),
    [  # steps 30 (half way from the warmup to 50) and 50; 0 would come at step 51
        ("constant", 0.8, 0.8),
        ("inverse_sqrt", 0.8 * math.sqrt(10 / 30), 0.8 * math.sqrt(10 / 50)),
        ("linear", 0.8 * 21 / 41, 0.8 * 1 / 41),
        ("cosine", 0.8 * (1 + math.cos(math.pi * 20 / 41)) / 2, 0.8 * (1 + math.cos(math.pi * 40 / 41)) / 2),
        ("warmup_stable_decay", 0.8, 0.8 * 1 / 21),
        ("step_decay", 0.8, 0.8 * 0.95),  # the epoch of 20 steps that began after the warmup ends with step 30
    ],
)
def test_after_the_warmup(name, middle, end):
    assert at(name, 30) == pytest.approx(middle, rel=1e-12)
    assert at(name, 50) == pytest.approx(end, rel=1e-12)


def test_the_plateau_ends_where_the_decay_begins():
    rates = [at("warmup_stable_decay", step) for step in range(1, 51)]
    assert rates[9:30] == [0.8] * 21  # steps 10 to 30
    falls = [before - after for before, after in zip(rates[29:], rates[30:], strict=False)]
    assert falls == pytest.approx([0.8 / 21] * 20)


@pytest.mark.parametrize("name", schedules.NAMES[1:])
def test_no_warmup_starts_at_the_peak_or_just_below(name):
    assert 0.9 * 0.8 < at(name, 1, warmup=0, decay=1) <= 0.8


@pytest.mark.parametrize("name", schedules.NAMES)
def test_a_rate_is_never_negative_and_never_above_the_peak(name):
    rates = [at(name, step, warmup=7, decay=90) for step in range(1, 60)]  # longer decay than steps, and past the end
    assert min(rates) >= 0
    assert max(rates) <= (0.8 if name != "noam" else 0.8 / math.sqrt(64 * 7)) * (1 + 1e-12)


def test_step_decay_falls_by_a_twentieth_after_every_epoch():
    rates = [at("step_decay", step, warmup=0, peak=5.0, decay=4) for step in range(1, 13)]
    assert rates == pytest.approx([5.0] * 4 + [4.75] * 4 + [4.5125] * 4)
    assert at("step_decay", 10**6, warmup=0, peak=5.0, decay=0) == 5.0


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="schedule must be one of noam, constant, .*, got 'step'"):
        at("step", 1)


@pytest.mark.parametrize("name", schedules.NAMES)
@pytest.mark.parametrize("step", [0, -3])
def test_steps_are_counted_from_1(name, step):
    with pytest.raises(ValueError, match=f"counted from 1, got {step}"):
        at(name, step)
