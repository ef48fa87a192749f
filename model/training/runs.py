"""The recorded runs: what they are trained with, and how what they left is read.

A recorded run is a folder: history.jsonl, whose first line says where it comes from, and a checkpoint folder
step-NNNNNN for each snapshot. They lie in checkpoints/runs/; `python -m model train NAME --record FOLDER` makes one.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model import checkpoint
from model.config import TransformerConfig
from model.training.config import RunConfig, TrainingConfig
from model.training.history import HISTORY
from model.training.presets import HELD_OUT

FOLDER = "runs"  # in the folder of checkpoints
SHARES = (1 / 30, 1 / 12, 1 / 6, 1 / 3, 2 / 3, 1)  # of the steps, at which snapshots are taken
FIRST_STEPS = 50  # whose losses are kept one by one, so that anybody can check them
SHOWN = ("loss", "learning_rate", "gradient_norm")
# What the first line of a history says, and the type of each.
HEADER = {"command": str, "seed": int, "sha256": str, "config": dict, "first_losses": list}


def snapshot_steps(n_steps: int) -> list[int]:
    """The steps of the snapshots of a run, early ones closer together.

    Example:
        >>> snapshot_steps(6000)
        [200, 500, 1000, 2000, 4000, 6000]
    """
    return sorted({max(1, round(share * n_steps)) for share in SHARES})


def _preset(norm: str, warmup: int) -> RunConfig:
    """A model small enough that six snapshots take less than 8 MB; Noam with warmup 1 has no warmup."""
    return RunConfig(
        model=TransformerConfig(
            vocab_size=2000, d_model=96, n_heads=4, n_encoder_layers=2, n_decoder_layers=2, d_ff=192, norm=norm
        ),
        training=TrainingConfig(
            data="multi30k",
            steps=6000,
            batch_tokens=1000,
            warmup=warmup,
            precision="float32",  # so that any machine can check the first steps
            average_every=200,
            validate_every=2000,
            validation_pairs=100,
            held_out=HELD_OUT,
        ),
    )


# After its warmup every Noam curve is the same, so the runs differ in nothing else than their beginnings and the norm.
PRESETS = {
    "warmup-200": _preset("post", 200),
    "warmup-1000": _preset("post", 1000),
    "warmup-4000": _preset("post", 4000),
    "no-warmup": _preset("post", 1),
    "pre-norm": _preset("pre", 1000),
    "pre-norm-no-warmup": _preset("pre", 1),
}


@dataclass(frozen=True)
class RecordedRun:
    """A recorded run, as read from its folder.

    Attributes:
        name: of the folder.
        header: the first line of its history: command, seed, sha256, config, first_losses.
        config: what it was trained with.
        entries: the other lines, by rising step, each with SHOWN.
        snapshots: step to checkpoint folder.
    """

    name: str
    header: dict[str, Any]
    config: RunConfig
    entries: list[dict[str, Any]]
    snapshots: dict[int, Path]


def available_runs(folder: Path) -> list[Path]:
    """The folders of recorded runs below `folder`, those of the presets first and in their order."""
    found = {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{HISTORY}"))}
    return [found.pop(name) for name in PRESETS if name in found] + list(found.values())


def read_run(folder: Path) -> RecordedRun:
    """Read a recorded run.

    Raises:
        ValueError: if something is missing or not what it should be; the message names the file.
    """
    path = folder / HISTORY
    lines = [read_object(path, number, line) for number, line in enumerate(checkpoint.read_text(path).splitlines(), 1)]
    header, entries = (lines[0], lines[1:]) if lines else ({}, [])
    for name, kind in HEADER.items():
        if not isinstance(header.get(name), kind):
            raise ValueError(f"{path}: the first line of a recorded run has {name!r}, a {kind.__name__}")
    config = RunConfig.from_dict(header["config"])
    steps = [entry.get("step") for entry in entries]
    if not steps or not all(isinstance(step, int) for step in steps) or steps != sorted(set(steps)):
        raise ValueError(f"{path}: the steps of a history are whole numbers that rise")
    for entry in entries:
        for name in SHOWN:
            if not isinstance(entry.get(name), (int, float)) or not math.isfinite(entry[name]):
                raise ValueError(f"{path}: step {entry['step']} has {name} {entry.get(name)!r}, which is not a number")
    folders = {int(one.name.removeprefix("step-")): one for one in sorted(folder.glob("step-" + "[0-9]" * 6))}
    if not folders:
        raise ValueError(f"{folder} has no snapshots (folders step-000200 and so on)")
    return RecordedRun(folder.name, header, config, entries, folders)


def write_history(folder: Path, header: dict[str, Any], lines: list[str]) -> None:
    """Write the history of a recorded run: the header as step 0, then the lines of the training."""
    text = "".join(line + "\n" for line in [json.dumps({"step": 0, **header}), *lines])
    checkpoint.write_text(folder / HISTORY, text)


def digest(folder: Path) -> str:
    """The SHA-256 of a snapshot's weights, as `sha256sum` prints it for the file."""
    return checkpoint.sha256_of(folder / checkpoint.WEIGHTS)


def read_object(path: Path, number: int, line: str) -> dict[str, Any]:
    """The JSON object in a line of a file; a ValueError names both where it is none."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise ValueError(f"{path}, line {number}, is not a JSON object")
    return values
