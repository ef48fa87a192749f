"""A run of `Practice` that was recorded, to be played again where nobody has trained one yet.

`python -m model.experiments.recorded_practice` trains with the first settings until strings are reversed, and writes
FILE: every loss, and after every EVERY steps what the model makes of STRINGS. Maps travel as bytes (an error of at most
1 / 510).
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from model.experiments import practice
from model.experiments.practice import Practice, Settings
from model.storage.checkpoint import checkpoints_folder
from model.text.errors import Problem

FOLDER, FILE = "recordings", "practice.npz"  # below the folder of checkpoints
COMMAND = "python -m model.experiments.recorded_practice"
STRINGS = (practice.SAMPLE, "attention", "abcdefghij", "noon")
EVERY = 25  # steps between two snapshots
_BYTE = 255


@dataclass(frozen=True)
class RecordedPractice:
    """A run: its losses, and its N snapshots."""

    settings: Settings
    losses: np.ndarray  # float32 (steps,), nats per letter
    steps: tuple[int, ...]  # after which snapshots were taken
    right: tuple[float, ...]  # by snapshot: share of unseen strings without a mistake at the last check
    outputs: Mapping[str, list[str]]  # by string what the model wrote at each snapshot
    weights: Mapping[str, list[np.ndarray]]  # by string the cross-attention meanwhile, float32 (L, H, T, S)


def trained(settings: Settings) -> RecordedPractice:
    """Train until the strings are reversed, or MAX_STEPS are done."""
    run = Practice(settings)
    steps, right = [], []
    outputs: dict[str, list[str]] = {text: [] for text in STRINGS}
    weights: dict[str, list[np.ndarray]] = {text: [] for text in STRINGS}
    while run.right < practice.SOLVED and run.step < practice.MAX_STEPS:
        run.advance()
        if run.step % EVERY == 0:
            steps.append(run.step)
            right.append(run.right)
            for text in STRINGS:
                reversal, maps = run.reverse(text)
                outputs[text].append(reversal)
                weights[text].append(maps)
    losses = np.array(run.losses, dtype=np.float32)
    return RecordedPractice(settings, losses, tuple(steps), tuple(right), outputs, weights)


def save(run: RecordedPractice, path: Path) -> None:
    """Write a run; maps of fewer steps are filled with zeros."""
    arrays = {"losses": run.losses}
    for number, maps in enumerate(run.weights.values()):
        layers, heads, _, keys = maps[0].shape
        filled = np.zeros((len(maps), layers, heads, practice.LONGEST + 2, keys), dtype=np.uint8)
        for snapshot, weights in zip(filled, maps):
            snapshot[:, :, : weights.shape[2]] = np.rint(_BYTE * weights)
        arrays[f"weights-{number}"] = filled
    lengths = [[weights.shape[2] for weights in maps] for maps in run.weights.values()]
    about = {
        "settings": asdict(run.settings),
        "steps": run.steps,
        "right": run.right,
        "written": run.outputs,
        "lengths": lengths,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, allow_pickle=False, about=json.dumps(about), **arrays)


@cache
def read(path: Path) -> RecordedPractice:
    """Read what `save` wrote; a ValueError where it is missing or cannot be read."""
    if not path.is_file():
        raise Problem("the recording {path} is missing", path=path)
    try:
        with np.load(path) as arrays:
            about = json.loads(str(arrays["about"]))
            losses = arrays["losses"]
            weights = {}
            for number, text in enumerate(about["written"]):
                maps = arrays[f"weights-{number}"].astype(np.float32) / _BYTE
                weights[text] = [
                    map_of_sentence[:, :, :length] for map_of_sentence, length in zip(maps, about["lengths"][number])
                ]
    except (ValueError, KeyError, BadZipFile, OSError) as error:
        raise Problem("the recording {path} cannot be read: {error}", path=path, error=str(error)) from None
    settings = Settings(**about["settings"])
    return RecordedPractice(settings, losses, tuple(about["steps"]), tuple(about["right"]), about["written"], weights)


def shipped() -> RecordedPractice:
    """The recording beside the checkpoints; errors as in `read`."""
    return read(checkpoints_folder() / FOLDER / FILE)


if __name__ == "__main__":
    save(trained(Settings()), checkpoints_folder() / FOLDER / FILE)
