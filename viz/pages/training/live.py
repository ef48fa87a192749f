"""A training that visitors look on at: a `Practice` in a thread of its own; MAX_RUNS at a time (paused ones apart)."""

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
_PLACES = threading.Lock()
_placed = set()  # the runs under way that do not pause


@dataclass(frozen=True)
class Frame:
    """A run at one moment, in arrays of its own."""

    losses: np.ndarray  # (steps,) float32, in nats per letter
    right: float  # share of unseen strings written without a mistake at the last check, teacher-forced
    weights: np.ndarray  # float32 (L, H, T, S), cross-attention on the sample at the last check
    status: str  # "running", "paused", "solved", "stopped" or "ended" (out of steps)

    @property
    def step(self) -> int:
        return len(self.losses)


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
        self.settings, self._present, self._turn = settings, present, turn
        self._lock, self._status = threading.Lock(), "running"
        self._going, self._ended, self._wanted = threading.Event(), threading.Event(), threading.Event()
        self._looked = self._seen = time.monotonic()
        self.go_on()
        try:
            self._practice = practice.Practice(settings)
            self._thread = threading.Thread(target=self._work, daemon=True, name="practice")
            self._thread.start()
        except BaseException:
            _placed.discard(self)
            raise

    @property
    def active(self) -> bool:
        return not self._ended.is_set()

    def pause(self) -> None:
        """Wait, until told to go on; somebody else may run meanwhile."""
        self._going.clear()
        _placed.discard(self)

    def go_on(self) -> None:
        """Train on after a pause; a ValueError if too many others are under way: it stays paused."""
        with _PLACES:
            if self.active:
                if len(_placed - {self}) >= MAX_RUNS:
                    raise Problem("{n} runs are already training on this machine: try again in a minute", n=MAX_RUNS)
                _placed.add(self)
        self._going.set()

    def stop(self) -> None:
        """End after the present step; returns when the thread has ended."""
        self._ended.set()
        self._going.set()
        self._thread.join()

    def frame(self) -> Frame:
        """How it stands; asking keeps it alive, and waits for nothing: what the thread adds to is only copied."""
        self._looked, training = time.monotonic(), self._practice
        status = "paused" if self.active and not self._going.is_set() else self._status
        return Frame(np.array(training.losses, np.float32), training.right, training.weights.copy(), status)

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
            with _PLACES:
                self._ended.set()
                _placed.discard(self)

    def _nobody_looks(self) -> bool:
        now = time.monotonic()
        if self._present():
            self._seen = now
        return now - self._seen > GONE_AFTER or now - self._looked > FORGOTTEN_AFTER

    def _train(self) -> str:
        """Train until something ends it; says what did."""
        while self.active and not self._nobody_looks():
            if not self._going.wait(timeout=0.2) or not self.active:
                continue
            if not self._wanted.is_set():
                with self._lock, self._turn():
                    self._practice.advance()
                if self._practice.right >= practice.SOLVED:
                    return "solved"
                if self._practice.step >= practice.MAX_STEPS:
                    return "ended"
            time.sleep(BREATH)
        return "stopped"
