"""`refresh`: everything that was measured of a checkpoint's weights, measured again by the commands that did it."""

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from model.commands import table
from model.measures import atlas, checks, context
from model.storage.checkpoint import CARD, checkpoints_folder, read_json

FILES = (atlas.FILE, checks.FILE, context.FILE)  # each names the command that made it, beside the weights
PICTURES = Path("docs", "pictures.py")  # of the README, in a checkout
UNCOMPARED = {"command", "seal", "weights", "tokens_per_second", "seconds"}  # they differ after every run


@dataclass(frozen=True)
class Measure:
    """A command that measures a checkpoint, and where its result is kept."""

    name: str  # for people
    command: str  # python -m model ..., relative to a folder with data/
    file: Path
    keys: tuple[str, ...] = ()  # of the part of the file that it wrote; empty: the whole file

    def result(self) -> dict[str, Any]:
        """What the file says now."""
        values = read_json(self.file)
        for key in self.keys:
            values = values[key]
        return values


def measures(folder: Path) -> list[Measure]:
    """What was measured of a checkpoint: the scores on its card, then its files; a ValueError if one is malformed."""
    listed = []
    for name, score in read_json(folder / CARD).get("scores", {}).items():
        listed.append(Measure(f"score {name}", score["command"], folder / CARD, ("scores", name)))
    for file in FILES:
        if (folder / file).is_file():
            listed.append(Measure(file, read_json(folder / file)["command"], folder / file))
    return listed


def refresh(names: list[str], pictures: bool, main: Callable[[list[str]], int], say: Callable[[str], None]) -> None:
    """Measure checkpoints again, say what changed, and write the table of all.

    Args:
        names: of the checkpoints.
        pictures: take those of the README, too.
        main: carries out the words after `python -m model`, and returns the exit code.
        say: is given every line of the report.

    Raises:
        ValueError: a command failed. The commands are those that the files name, so they read data/ in the folder
            where this runs.
    """
    every = [(name, measure) for name in names for measure in measures(checkpoints_folder() / name)]
    missing = sorted({word for _, measure in every for word in _data(measure.command) if not Path(word).exists()})
    if missing:
        raise ValueError(f"{missing[0]} is not here: run this in the folder that holds data/ (docs/training.md)")
    for name, measure in every:
        before = measure.result()
        with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            failed = main(shlex.split(measure.command)[3:])
        if failed:
            raise ValueError(f"this command failed: {measure.command}")
        lines = list(differences(before, measure.result()))
        say(f"{name}, {measure.name}: " + ("as before" if not lines else f"{len(lines)} changed"))
        for line in lines:
            say(f"  {line}")
    say(str(table.write(checkpoints_folder())))
    if pictures:
        if not PICTURES.is_file():
            raise ValueError(f"{PICTURES.as_posix()} is not here: the pictures are taken in a checkout")
        finished = subprocess.run([sys.executable, "-m", ".".join(PICTURES.with_suffix("").parts)], check=False)
        if finished.returncode:
            raise ValueError("the pictures could not be taken: the lines before this one say why")


def _data(command: str) -> list[str]:
    return [word for word in shlex.split(command) if word.startswith("data/")]


def differences(before: Any, after: Any, address: str = "") -> Iterator[str]:
    """Yield a line for every number that changed in what a command wrote.

    Of a table of numbers over layers and heads the line says which has the largest value, since that is what lessons
    and pages choose by: "kinds.cross.entropy: largest at 2.1 (0.93), was at 0.3 (0.91)".
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            if key not in UNCOMPARED:
                yield from differences(before.get(key), after.get(key), f"{address}.{key}" if address else str(key))
    elif before != after:
        old, new = _numbers(before), _numbers(after)
        if old is None or new is None:
            if not isinstance(before, list) or not isinstance(after, list):
                yield f"{address}: {_text(after)}, was {_text(before)}"
            elif all(isinstance(entry, dict) for entry in [*before, *after]) and len(before) == len(after):
                for index, entries in enumerate(zip(before, after)):
                    yield from differences(*entries, f"{address}.{index}")
            else:
                yield f"{address}: other entries"
        elif old.ndim == new.ndim == 0:
            yield f"{address}: {_text(after)}, was {_text(before)}"
        else:
            yield f"{address}: largest at {_largest(new)}, was at {_largest(old)}"


def _numbers(value: Any) -> np.ndarray | None:
    """A number or a table of numbers as an array; None for anything else."""
    if isinstance(value, (str, dict, type(None))):
        return None
    try:
        return np.asarray(value, dtype=float)
    except (ValueError, TypeError):
        return None


def _largest(values: np.ndarray) -> str:
    if not values.size:
        return "none"
    place = np.unravel_index(np.nanargmax(values), values.shape)
    return f"{'.'.join(map(str, place))} ({values[place]:.4g})"


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)
