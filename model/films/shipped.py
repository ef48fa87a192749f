"""The films that ship beside the checkpoints, each with a card: the command that makes it again, and how long it took.

`python -m model film TASK [OPTIONS]` makes one; `python -m model.films.shipped [NAME ...]` makes
all of them, or some.
"""

import dataclasses
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from model.films import file
from model.films.film import Film, command_of
from model.films.run import train
from model.films.settings import Settings
from model.storage.checkpoint import checkpoints_folder

FOLDER = "films"  # below the folder of checkpoints
# By name the runs: the default of each task, and runs that differ from "seen-before" in one thing.
RUNS: Mapping[str, Settings] = {
    "seen-before": Settings.of("seen before"),
    "seen-before-one-layer": Settings.of("seen before", layers=1),
    "seen-before-no-positions": Settings.of("seen before", positions="none"),
    "seen-before-no-warmup": Settings.of("seen before", warmup=1),
    "seen-before-long-warmup": Settings.of("seen before", warmup=1000),
    "seen-before-post": Settings.of("seen before", norm="post"),
    "backwards": Settings.of("backwards"),
    "copy": Settings.of("copy"),
    "sort": Settings.of("sort"),
    "brackets": Settings.of("brackets"),
    "add": Settings.of("add"),
}


def read_setting(text: str) -> tuple[str, Any]:
    """Name and value of NAME=VALUE; whole numbers, numbers, True and False are read as such, but not in a text."""
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"a setting is NAME=VALUE, got {text!r}")
    if name == "text":
        return name, value
    words = {"True": True, "False": False}
    for read in (words.__getitem__, int, float):
        with suppress(ValueError, KeyError):
            return name, read(value)
    return name, value


def read_settings(texts: Sequence[str], kind: type) -> dict[str, Any]:
    """What NAME=VALUE say of a run of a kind, all but its task; a ValueError where one is unknown or comes twice."""
    names = [field.name for field in dataclasses.fields(kind) if field.name != "task"]
    changes: dict[str, Any] = {}
    for name, value in map(read_setting, texts):
        if name not in names:
            raise ValueError(f"--set has no setting {name!r}; there are {', '.join(names)}")
        if name in changes:
            raise ValueError(f"the setting {name!r} is given twice")
        changes[name] = value
    return changes


def make(settings: Settings) -> Film:
    """Train, and return the film with its card."""
    began = time.monotonic()
    film = train(settings).film()
    card = {
        "command": command_of(settings.to_dict(), Settings.of(settings.task).to_dict()),
        "seconds": round(time.monotonic() - began, 1),
    }
    return Film(**{**vars(film), "card": card})


@cache
def _load(path: Path) -> Film:
    return file.load(path)


def load(name: str) -> Film:
    """A film that ships, by its name in RUNS or the name of its file; errors as in `file.load`."""
    return _load(checkpoints_folder() / FOLDER / f"{name}{file.ENDING}")


def names() -> list[str]:
    """The films that are there, those of RUNS first."""
    folder = checkpoints_folder() / FOLDER
    there = {path.stem for path in folder.glob(f"*{file.ENDING}")}
    return [name for name in RUNS if name in there] + sorted(there - set(RUNS))


if __name__ == "__main__":
    for name in sys.argv[1:] or RUNS:
        settings = RUNS[name]
        path = checkpoints_folder() / FOLDER / f"{name}{file.ENDING}"
        file.save(make(settings), path)
        print(path, path.stat().st_size, "bytes")
