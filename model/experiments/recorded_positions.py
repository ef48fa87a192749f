"""The table of positions that the page Positions shows first, trained once, so that nobody waits for it.

`python -m model.experiments.recorded_positions` trains it (`learn` of `model.experiments.positions`) and writes FILE.
Its random start is not in the file: the seed gives it.
"""

import json
from functools import cache
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from model.experiments.positions import SEED, LearnedPositions, initial_positions, learn
from model.storage.checkpoint import checkpoints_folder
from model.text.errors import Problem

FOLDER, FILE = "recordings", "positions.npz"  # below the folder of checkpoints
COMMAND = "python -m model.experiments.recorded_positions"
N_POSITIONS, D_MODEL = 50, 64  # the sizes with which the page opens


def save(learned: LearnedPositions, path: Path) -> None:
    """Write a trained table and its losses, float32, and how they were made."""
    about = {"command": COMMAND, "seed": SEED, "hits": learned.hits}
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays = {"trained": learned.trained.astype(np.float32), "losses": learned.losses.astype(np.float32)}
    np.savez_compressed(path, allow_pickle=False, about=json.dumps(about), **arrays)


@cache
def read(path: Path) -> LearnedPositions:
    """Read a table that was written with `save`; a ValueError in one sentence if it is not there or damaged."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            about = json.loads(str(arrays["about"]))
            trained = arrays["trained"].astype(np.float64)
            losses = arrays["losses"].astype(np.float64)
            n_positions, d_model = trained.shape
            initial = initial_positions(n_positions, d_model, about["seed"]).double().numpy()
            return LearnedPositions(initial, trained, losses, float(about["hits"]))
    except FileNotFoundError:
        raise Problem("the recording {path} is missing", path=path) from None
    except (OSError, ValueError, TypeError, KeyError, BadZipFile) as error:
        raise Problem("the recording {path} cannot be read: {error}", path=path, error=str(error)) from None


def shipped(n_positions: int, d_model: int) -> LearnedPositions | None:
    """The recorded table of these sizes; None where there is none that can be read."""
    if (n_positions, d_model) != (N_POSITIONS, D_MODEL):
        return None
    try:
        return read(checkpoints_folder() / FOLDER / FILE)
    except ValueError:
        return None


if __name__ == "__main__":
    save(learn(N_POSITIONS, D_MODEL), checkpoints_folder() / FOLDER / FILE)
