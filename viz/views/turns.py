"""Who computes now: as many at a time as there are cores, in the order in which they came, and nobody for long.

Long work offers its place between two steps: when it has had it for a while and somebody waits, it goes to the end of
the queue (round-robin). Places are taken by functions that only compute: who has one waits for no lock and no file.
"""

import functools
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from model.decoding.protocol import BETWEEN_STEPS
from model.text.errors import Problem

SLICE = 0.3  # seconds that a place is kept while others wait: most translations are done by then
LOOK = 0.1  # seconds between two looks of somebody who waits, whether the result is still wanted


class _Mine(threading.local):
    since: float | None = None  # when this thread got its place
    waited: float = 0.0  # seconds that its call has waited for all its places so far


@dataclass(eq=False)
class _Ticket:
    """A thread in the queue."""

    waited: float  # seconds that its call had waited before
    since: float = field(default_factory=time.monotonic)


class Turns:
    """Places in which threads compute; each is offered to those who wait after a slice, in seconds."""

    def __init__(self, places: int, slice: float = SLICE) -> None:
        # Called between two steps, and by threads that wait; raises where nobody wants the result.
        self.still_wanted: Callable[[], None] = lambda: None
        self._free = places
        self._slice = slice
        self._mine = _Mine()
        self._queue: deque[_Ticket] = deque()  # of the threads that wait, the first one first
        self._changed = threading.Condition()

    @property
    def waiting(self) -> int:
        """How many calls wait for their turn."""
        return len(self._queue)

    @property
    def longest_wait(self) -> float:
        """Seconds that a call which waits now has waited since it began, of several the most; 0 where none waits."""
        with self._changed:
            now = time.monotonic()
            return max((ticket.waited + now - ticket.since for ticket in self._queue), default=0.0)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Compute inside the block once a place is free; a turn inside a turn of the thread is the same one."""
        if self._mine.since is not None:
            yield
            return
        self._mine.waited = 0.0
        self._take()
        hook = BETWEEN_STEPS.set(self.offer)
        try:
            yield
        finally:
            BETWEEN_STEPS.reset(hook)
            if self._mine.since is not None:  # it has none if the work ended while it waited to go on
                self._give()

    def offer(self) -> None:
        """Between two steps: end work that is not wanted any more, and let others have a turn."""
        self.still_wanted()
        since = self._mine.since
        if since is not None and self._queue and time.monotonic() - since >= self._slice:
            self._give()
            self._take()

    def _take(self) -> None:
        ticket = _Ticket(self._mine.waited)
        with self._changed:
            self._queue.append(ticket)
            try:
                while self._queue[0] is not ticket or not self._free:
                    self._changed.wait(LOOK)
                    self.still_wanted()
                self._free -= 1
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
        self._mine.since = time.monotonic()
        self._mine.waited += self._mine.since - ticket.since

    def _give(self) -> None:
        self._mine.since = None
        with self._changed:
            self._free += 1
            self._changed.notify_all()


_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
TURNS = Turns(_CORES)  # of all visitors of this process


def in_turn(function: Callable) -> Callable:
    """A function that only computes, in its turn; an error that nobody foresaw becomes a Problem."""

    @functools.wraps(function)
    def waits(*args: Any, **kwargs: Any) -> Any:
        with TURNS.turn():
            try:
                return function(*args, **kwargs)
            except ValueError:
                raise
            except Exception as error:
                logging.getLogger(__name__).exception("a computation failed")
                name = type(error).__name__
                raise Problem("the computation failed ({name}); the log of the server says more", name=name) from error

    return waits


def each_in_turn(steps: Iterator) -> Iterator:
    """Yield what an iterator yields, each step computed in a turn of its own."""
    nothing = object()
    while (step := in_turn(next)(steps, nothing)) is not nothing:
        yield step


_Loaded = TypeVar("_Loaded")
_LONG = ("translate", "force", "translate_lines", "effects", "lens", "occlusion")  # what takes a while, of translators
_LONG += ("read", "read_batch", "distribution", "write", "generate", "importance", "rotation")
_LONG += ("score_parts", "score_shares", "layer_inputs", "cut_path", "patching")  # and of those that read
_LONG += ("circuit", "faithfulness", "head_graph", "head_words", "head_words_by_key")


def queued(loaded: _Loaded) -> _Loaded:
    """A translator, writer or reader of transformers' models, changed in place, which computes in its turn."""
    loaded.__class__ = _queued_class(type(loaded))
    return loaded


@functools.cache
def _queued_class(kind: type) -> type:
    """A subclass whose long methods wait for their turn.

    Methods that were set on an instance would hold it, and it them: without a garbage collection neither left memory.
    """

    def method(name: str) -> Callable:
        @functools.wraps(getattr(kind, name))
        def waits(self: Any, *args: Any, **kwargs: Any) -> Any:
            return in_turn(getattr(kind, name))(self, *args, **kwargs)

        return waits

    return type(kind.__name__, (kind,), {name: method(name) for name in _LONG if hasattr(kind, name)})
