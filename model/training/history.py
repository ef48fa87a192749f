"""What a run writes down about itself: history.jsonl, a JSON object per line."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from model import checkpoint

HISTORY = "history.jsonl"


def make_folder(folder: Path) -> None:
    """Make a folder; a ValueError if it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(f"the folder {folder} cannot be written to: {error}") from None


def append(folder: Path, entry: dict[str, Any]) -> None:
    with (folder / HISTORY).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def forget_after(folder: Path, step: int) -> None:
    """Drop damaged lines and what was logged after a step: a run that was killed does those steps again."""
    path = folder / HISTORY
    if path.is_file():
        lines = [line for line in checkpoint.read_text(path).splitlines() if 0 <= _step_of(line) <= step]
        checkpoint.write_text(path, "".join(line + "\n" for line in lines))


def _step_of(line: str) -> int:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return -1


class Meter:
    """Means over the steps since the last line of the history."""

    def __init__(self) -> None:
        self._steps: list[tuple[float, float, int, float]] = []

    def add(self, loss: float, norm: float, tokens: int, seconds: float) -> None:
        self._steps.append((loss, norm, tokens, seconds))

    def entry(self) -> dict[str, float]:
        losses, norms, tokens, seconds = map(sum, zip(*self._steps))
        count = len(self._steps)
        means = {"loss": round(losses / count, 4), "gradient_norm": round(norms / count, 4)}
        return means | {"tokens_per_second": round(tokens / seconds, 1)}
