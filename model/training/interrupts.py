"""Ctrl-C at a place where a run can go on from."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def undivided() -> Iterator[list[int]]:
    """Let Ctrl-C, and being told to end, wait until the block is done.

    Half a training step, its random numbers drawn and its weights not yet changed, is nothing to go on from exactly.

    Yields:
        The numbers of the signals that wait, a list that grows.
    """
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = {number: signal.getsignal(number) for number in numbers if callable(signal.getsignal(number))}
    if threading.current_thread() is not threading.main_thread():
        handlers = {}  # signals reach the main thread only
    waiting: list[int] = []
    for number in handlers:
        signal.signal(number, lambda received, _: waiting.append(received))
    try:
        yield waiting
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    for number in waiting[:1]:
        signal.raise_signal(number)
