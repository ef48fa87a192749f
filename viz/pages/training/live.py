"""A training that visitors look on at: a `Practice` in a thread of its own; MAX_RUNS at a time (paused ones apart)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np

from model.errors import Problem
from model.experiments import practice

MAX_RUNS = 2  # at a time, of all visitors
# Seconds without a look until a run ends by itself; more than a minute, as hidden tabs of browsers look.
FORGOTTEN_AFTER = 90.0
GONE_AFTER = 5.0  # seconds until it ends when whom it is for is gone: a connection may break and come back
BREATH = 0.002  # seconds after every step in which other threads have their turn
_SLOTS = threading.BoundedSemaphore(MAX_RUNS)


@dataclass(frozen=True)
class Frame:
    """A run at one moment, in arrays of its own.

    Attributes:
        step: steps done.
        losses, rates: (step,) float32, losses in nats per letter.
        right: the share of unseen strings written without a mistake at the last check, teacher-forced.
        weights: float32 (L, H, T, S), cross-attention on the sample at the last check.
        status: "running", "paused", "solved", "stopped" or "ended" (out of steps).
    """

    step: int
    losses: np.ndarray
    rates: np.ndarray
    right: float
    weights: np.ndarray
    status: str


class LiveRun:
    """A practice in a thread of its own, which ends by itself; a ValueError if too many are under way.

    Args:
        settings: what is trained.
        present: says whether the visitor is still there; asked by the thread before every step.
        turn: every step is made inside such a context, in which it waits for its turn.
    """

    def __init__(
        self,
        settings: practice.Settings,
        present: Callable[[], bool] = lambda: True,
        turn: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.settings = settings
        self._lock, self._place, self._has_place = threading.Lock(), threading.Lock(), False
        self._going, self._ended, self._wanted = threading.Event(), threading.Event(), threading.Event()
        self._take_place()
        self._going.set()
        self._looked = time.monotonic()
        self._present, self._turn, self._gone_since = present, turn, None
        self._status = "running"
        try:
            self._practice = practice.Practice(settings)
            self._thread = threading.Thread(target=self._work, daemon=True, name="practice")
            self._thread.start()
        except BaseException:
            self._leave_place()
            raise

    @property
    def active(self) -> bool:
        return not self._ended.is_set()

    def pause(self) -> None:
        """Wait, until told to go on; somebody else may run meanwhile."""
        self._going.clear()
        self._leave_place()

    def go_on(self) -> None:
        """Train on after a pause; a ValueError if too many others are under way: it stays paused."""
        self._take_place()
        self._going.set()

    def stop(self) -> None:
        """End after the present step; returns when the thread has ended."""
        self._ended.set()
        self._going.set()
        self._thread.join()

    def frame(self) -> Frame:
        """How it stands; asking keeps it alive, and waits for nothing: what the thread adds to is only copied."""
        self._looked = time.monotonic()
        training = self._practice
        paused = self.active and not self._going.is_set()
        rates = training.rates[:]  # the last that a step writes
        return Frame(
            len(rates),
            np.array(training.losses[: len(rates)], dtype=np.float32),
            np.array(rates, dtype=np.float32),
            training.right,
            training.weights.copy(),
            "paused" if paused else self._status,
        )

    def reverse(self, text: str) -> tuple[str, np.ndarray, int]:
        """As `Practice.reverse`, between two steps; also says how many steps are done."""
        # Locks are not fair: without being told, the training would take this one again and again on a busy machine.
        self._wanted.set()
        try:
            with self._lock:
                return *self._practice.reverse(text), self._practice.step
        finally:
            self._wanted.clear()

    def _work(self) -> None:
        try:
            self._status = self._train()
        finally:
            self._ended.set()
            self._leave_place()

    def _take_place(self) -> None:
        with self._place:
            if not (self._has_place or self._ended.is_set()):
                if not _SLOTS.acquire(blocking=False):
                    raise Problem("{n} runs are already training on this machine: try again in a minute", n=MAX_RUNS)
                self._has_place = True

    def _leave_place(self) -> None:
        with self._place:
            if self._has_place:
                _SLOTS.release()
                self._has_place = False

    def _nobody_looks(self) -> bool:
        now = time.monotonic()
        self._gone_since = None if self._present() else self._gone_since or now
        gone = self._gone_since is not None and now - self._gone_since > GONE_AFTER
        return gone or now - self._looked > FORGOTTEN_AFTER

    def _train(self) -> str:
        """Train until something ends it; says what did."""
        while not self._ended.is_set():
            if self._nobody_looks():
                break
            if not self._going.wait(timeout=0.2) or self._ended.is_set():
                continue
            if self._wanted.is_set():
                time.sleep(BREATH)
                continue
            with self._lock, self._turn():
                self._practice.advance()
            if self._practice.right >= practice.SOLVED:
                return "solved"
            if self._practice.step >= practice.MAX_STEPS:
                return "ended"
            time.sleep(BREATH)
        return "stopped"
