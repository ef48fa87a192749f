"""Trainings that visitors look on at: how many there are, when they end, and that looking keeps nobody waiting."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from model.films import run as film_run
from model.films import tasks
from model.films.run import Run
from model.films.settings import Settings
from viz.pages.training import live
from viz.pages.training.live import LiveRun

OWN_CACHES = True


FEW = 6


@pytest.fixture
def quick(monkeypatch):
    """Runs that end after a few steps."""
    monkeypatch.setattr(Run, "has_ended", property(lambda run: run.is_solved or run.step >= FEW))
    monkeypatch.setattr(film_run, "CHECK_EVERY", 2)


def wait(run: LiveRun) -> live.Frame:
    run._thread.join(120)
    assert not run.active
    return run.frame()


@pytest.mark.slow
def test_it_ends_by_itself_and_frees_its_place(quick):
    runs = [wait(LiveRun(Settings())) for _ in range(live.MAX_RUNS + 1)]
    assert {(frame.step, frame.status) for frame in runs} == {(6, "ended")}
    assert all(len(frame.film.losses) == 6 for frame in runs)


def test_it_ends_when_it_has_solved_the_task(quick, monkeypatch):
    monkeypatch.setitem(tasks.TASKS, "backwards", replace(tasks.TASKS["backwards"], solved=0.0))
    assert wait(LiveRun(Settings())).status == "solved"


def test_it_computes_what_the_practice_without_a_thread_does(quick):
    alone = Run(Settings())
    for _ in range(FEW):
        alone.advance()
    run = LiveRun(Settings())
    film, expected = wait(run).film, alone.film()
    np.testing.assert_allclose(film.losses, expected.losses, rtol=1e-5)
    np.testing.assert_allclose(film.scores["source"], expected.scores["source"], atol=1e-5)
    assert run.write("abc") == alone.write("abc")


def test_pause_go_on_and_stop():
    run = LiveRun(Settings())
    try:
        run.pause()
        assert run.frame().status == "paused" and run.active
        with run._turns.turn():  # at most the step that was under way is done after this
            pass
        run.write("abc")
        run.go_on()
        assert run.frame().status == "running"
    finally:
        run.stop()
    assert run.frame().status == "stopped" and not run.active
    run.stop()


@pytest.mark.slow
def test_looking_waits_for_no_step_and_a_string_only_for_the_present_one():
    run = LiveRun(Settings())
    try:
        with run._turns.turn():  # a step that takes long
            assert run.frame().status == "running"
        for _ in range(20):
            before = run.frame().step
            run.write("abc")
            assert run.frame().step >= before
    finally:
        run.stop()


def test_a_string_that_cannot_be_read_does_not_keep_the_training_waiting(quick):
    run = LiveRun(Settings())
    with pytest.raises(ValueError, match="nothing to read"):
        run.write("")
    assert wait(run).step == 6


def test_a_paused_run_can_be_stopped():
    run = LiveRun(Settings())
    run.pause()
    run.stop()
    assert not run.active


@pytest.mark.skipif(sys.platform != "linux", reason="only there a thread has a priority of its own")
def test_what_visitors_ask_for_goes_before_a_run(quick):
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    priorities = []

    def look() -> bool:  # asked in the thread of the run
        priorities.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
        return True

    wait(LiveRun(Settings(), look))
    assert set(priorities) == {max(before, live.NICE)}
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before


def test_no_more_than_so_many_train_at_a_time_and_paused_ones_keep_nobody_waiting():
    first, *_ = runs = [LiveRun(Settings()) for _ in range(live.MAX_RUNS)]
    try:
        with pytest.raises(ValueError, match="runs are already training on this machine"):
            LiveRun(Settings())
        first.pause()
        first.pause()
        runs.append(LiveRun(Settings()))
        with pytest.raises(ValueError, match="runs are already training on this machine"):
            first.go_on()
        assert first.frame().status == "paused"
        runs[-1].stop()
        first.go_on()
        first.go_on()
        assert first.frame().status == "running"
    finally:
        for run in runs:
            run.stop()
    first.go_on()  # what has ended takes no place again
    for run in [LiveRun(Settings()) for _ in range(live.MAX_RUNS)]:
        run.stop()


def test_a_run_that_nobody_looks_at_ends(monkeypatch):
    monkeypatch.setattr(live, "FORGOTTEN_AFTER", -1.0)
    frame = wait(LiveRun(Settings()))
    assert frame.status == "stopped" and frame.step == 0


def test_a_run_whose_visitor_has_left_ends(monkeypatch):
    monkeypatch.setattr(live, "GONE_AFTER", 0.1)
    calls = []
    run = LiveRun(Settings(), lambda: calls.append(1) or len(calls) < 3)
    run.pause()  # a paused run ends, too
    assert wait(run).status == "stopped"
    assert len(calls) >= 3


def test_a_run_that_cannot_start_frees_its_place(monkeypatch):
    def broken(settings):
        raise MemoryError

    with monkeypatch.context() as context:
        context.setattr(live, "Run", broken)
        for _ in range(live.MAX_RUNS + 1):
            with pytest.raises(MemoryError):
                LiveRun(Settings())
    LiveRun(Settings()).stop()


def test_its_thread_does_not_keep_the_program_alive(quick):
    run = LiveRun(Settings())
    assert run._thread.daemon and run._thread in threading.enumerate() or not run.active
    wait(run)
