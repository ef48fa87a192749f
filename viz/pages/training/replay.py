"""A recorded run of Train here that plays: the same questions as of a `LiveRun`, answered from the recording."""

import math
import time

import numpy as np

from model.experiments.practice import Settings
from model.experiments.recorded_practice import RecordedPractice
from model.text.errors import Problem

PACE = 0.6  # seconds per snapshot


class Replay:
    """Plays a recording from its first snapshot to the last, as fast as PACE says."""

    def __init__(self, recorded: RecordedPractice) -> None:
        self.recorded = recorded
        self._began: float | None = time.monotonic()  # None: paused
        self._from = 0  # the snapshot at which it began

    @property
    def settings(self) -> Settings:
        """The settings of the recorded run."""
        return self.recorded.settings

    @property
    def last(self) -> int:
        """The number of the last snapshot."""
        return len(self.recorded.steps) - 1

    @property
    def snapshot(self) -> int:
        """The number of the snapshot that is shown now."""
        if self._began is None:
            return self._from
        return min(self.last, self._from + math.floor((time.monotonic() - self._began) / PACE))

    @property
    def active(self) -> bool:
        """Whether it plays."""
        return self._began is not None and self.snapshot < self.last

    @property
    def step(self) -> int:
        """The step that is replayed now."""
        return self.recorded.steps[self.snapshot]

    @property
    def right(self) -> float:
        """The share of unseen strings that were written without a mistake at the last check."""
        return self.recorded.right[self.snapshot]

    def pause(self) -> None:
        """Stop the replay where it is."""
        self.go_to(self.step)

    def go_on(self) -> None:
        """Play on; from the beginning where it has ended."""
        self._from = 0 if self.snapshot == self.last else self.snapshot
        self._began = time.monotonic()

    def go_to(self, step: int) -> None:
        """Show the snapshot after a step, and pause."""
        self._from = self.recorded.steps.index(step)
        self._began = None

    def reverse(self, text: str) -> tuple[str, np.ndarray, int]:
        """What was written for a string, its cross-attention (L, H, T, S), and after how many steps.

        Raises:
            ValueError: the string was not recorded.
        """
        if text not in self.recorded.outputs:
            raise Problem("“{text}” is not in the recording: start a training run to try other strings", text=text)
        now = self.snapshot
        return self.recorded.outputs[text][now], self.recorded.weights[text][now], self.recorded.steps[now]
