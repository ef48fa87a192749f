"""What a run writes down about itself: history.jsonl, a JSON object a line."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from model import checkpoint

HISTORY = "history.jsonl"


def make_folder(folder: Path) -> None:
    """Make a folder if there is none, and write a file into it that is gone at once.

    Raises:
        ValueError: if one of these cannot be done.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(f"the folder {folder} cannot be written to: {error}") from None


def append(folder: Path, entry: dict[str, Any]) -> None:
    """Add a line to the history in a run's folder."""
    with (folder / HISTORY).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def forget_after(folder: Path, step: int) -> None:
    """Drop what was logged after a step, and lines that are not whole: a run that was killed does those steps again."""
    path = folder / HISTORY
    if path.is_file():
        lines = [line for line in checkpoint.read_text(path).splitlines() if 0 <= _step_of(line) <= step]
        checkpoint.write_text(path, "".join(line + "\n" for line in lines))


def _step_of(line: str) -> int:
    """The step that a line is about; -1 where it says none."""
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return -1


class Meter:
    """Means over the steps since the last line of the history."""

    def __init__(self) -> None:
        self._losses: list[float] = []
        self._norms: list[float] = []
        self._tokens = 0
        self._seconds = 0.0

    def add(self, loss: float, norm: float, tokens: int, seconds: float) -> None:
        """Count a step: its loss per token, gradient norm, tokens seen, and how long it took."""
        self._losses.append(loss)
        self._norms.append(norm)
        self._tokens += tokens
        self._seconds += seconds

    @property
    def loss(self) -> float:
        """The mean loss of the steps."""
        return sum(self._losses) / len(self._losses)

    @property
    def tokens_per_second(self) -> float:
        """Tokens seen a second of training."""
        return self._tokens / self._seconds

    def entry(self) -> dict[str, float]:
        """The means, for a line of the history."""
        return {
            "loss": round(self.loss, 4),
            "gradient_norm": round(sum(self._norms) / len(self._norms), 4),
            "tokens_per_second": round(self.tokens_per_second, 1),
        }
