"""Computations that say how far they are: each runs in the thread that asks first, and its result is remembered."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from model.text.errors import Problem

Progress = Callable[[float], None]  # is called with the share that is done; raises Stopped where nobody wants the rest


class Stopped(Problem):
    """Nobody wants the result any more."""


@dataclass
class _Job:
    lock: threading.Lock = field(default_factory=threading.Lock)
    share: float = 0.0
    is_done: bool = False
    is_stopped: bool = False
    result: Any = None

    def progress(self, share: float) -> None:
        """Note how far it is; raises where nobody wants the result any more."""
        self.share = share
        if self.is_stopped:
            raise Stopped("it was stopped")


class Jobs:
    """Results by key, those that were asked for last; safe to share between threads.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._jobs: OrderedDict[Hashable, _Job] = OrderedDict()

    def get(self, key: Hashable, compute: Callable[[Progress], Any]) -> Any:
        """The result of a key, computed where it is not kept; errors of `compute` are raised and not kept."""
        job = self._job(key)
        with job.lock:  # others that ask for the same wait for it
            if not job.is_done:
                job.is_stopped, job.share = False, 0.0
                job.result = compute(job.progress)
                job.is_done = True
            return job.result

    def share(self, key: Hashable) -> float:
        """How much of a computation is done, from 0 to 1; 0 of one that nobody asked for."""
        with self._lock:
            job = self._jobs.get(key)
        return 0.0 if job is None else 1.0 if job.is_done else job.share

    def stop(self, key: Hashable) -> None:
        """End the computation of a key, if one runs: its next `progress` raises Stopped."""
        with self._lock:
            job = self._jobs.get(key)
        if job is not None:
            job.is_stopped = True

    def _job(self, key: Hashable) -> _Job:
        with self._lock:
            job = self._jobs.setdefault(key, _Job())
            self._jobs.move_to_end(key)
            while len(self._jobs) > self._most:
                self._jobs.popitem(last=False)
            return job
