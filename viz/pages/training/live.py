"""A training that visitors look on at: a `Run` in a thread of its own; MAX_RUNS at a time (paused ones apart)."""

import math
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakSet

from model.films.film import Film
from model.films.run import Run
from model.films.settings import Settings
from model.text.errors import Problem
from viz.views.turns import TURNS, Turns

MAX_RUNS = 2  # at a time, of all visitors
# Seconds without a look until a run ends by itself; more than a minute, as hidden tabs of browsers look.
FORGOTTEN_AFTER = 90.0
GONE_AFTER = 5.0  # seconds until it ends when whom it is for is gone: a connection may break and come back
NICE = 10  # of its thread: pages and what visitors ask for go first
_CHANGING = threading.Lock()  # the status of runs
_RUNS = WeakSet()


@dataclass(frozen=True)
class Frame:
    """A run as it was at a step."""

    film: Film
    step: int  # how many are done
    right: float  # share of unseen samples, or of their symbols, that were right at the last check
    status: str  # "running", "paused", "solved", "stopped" or "ended" (out of steps)


class LiveRun:
    """A run in a thread that ends by itself when `present` says that the visitor is gone; errors as in `go_on`."""

    def __init__(self, settings: Settings, present: Callable[[], bool] = lambda: True) -> None:
        self.settings = settings
        self._present = present
        self._status = "paused"
        self._looked = self._seen = time.monotonic()
        self._turns = Turns(1, math.inf)  # of steps and of typed strings: nobody waits for more than one
        self._run = Run(settings)
        self._thread = threading.Thread(target=self._work, daemon=True, name="film")
        self.go_on()
        self._thread.start()

    @property
    def active(self) -> bool:
        """Whether the thread still trains."""
        return self._status in ("running", "paused")

    def pause(self) -> None:
        """Stop after the step that runs, to be able to go on."""
        self._become("paused")

    def go_on(self) -> None:
        """Train on after a pause; a ValueError if too many others are under way: it stays paused."""
        with _CHANGING:
            if self.active:
                if sum(run._status == "running" for run in _RUNS - {self}) >= MAX_RUNS:
                    raise Problem("{n} runs are already training on this machine: try again in a minute", n=MAX_RUNS)
                _RUNS.add(self)
                self._status = "running"

    def stop(self) -> None:
        """End the run for good."""
        self._become("stopped")
        self._thread.join()

    def frame(self) -> Frame:
        """How it stands; asking keeps it alive, and waits for nothing: what the thread adds to is only copied."""
        self._looked = time.monotonic()
        return Frame(self._run.film(), self._run.step, self._run.right, self._status)

    def write(self, text: str) -> str:
        """What `Run.write` returns between two steps."""
        with self._turns.turn():
            return self._run.write(text)

    def _become(self, status: str) -> None:
        with _CHANGING:
            if self.active:
                self._status = status

    def _work(self) -> None:
        if sys.platform == "linux":  # where a thread has a priority of its own, which threads of its sums inherit
            here = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, here, max(NICE, os.getpriority(os.PRIO_PROCESS, here)))
        try:
            while self.active:
                if end := self._end():
                    self._become(end)
                elif self._status == "running":
                    with self._turns.turn(), TURNS.turn():
                        self._run.advance()
                    time.sleep(0.002)  # other threads have their turn
                else:
                    time.sleep(0.05)
        finally:
            self._become("stopped")

    def _end(self) -> str | None:
        now = time.monotonic()
        if self._present():
            self._seen = now
        if now - self._seen > GONE_AFTER or now - self._looked > FORGOTTEN_AFTER:
            return "stopped"
        if self._run.is_solved:
            return "solved"
        return "ended" if self._run.has_ended else None
