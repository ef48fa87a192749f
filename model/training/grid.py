"""The grid of small runs that tell a peak rate from its warmup: which cells there are, and how what they left is read.

The paper's schedule ties the two: with d_model and warmup given, its peak is d_model^-0.5 * warmup^-0.5, so that a run
without warmup is at once a run with a peak 30 times as high. Here every peak meets every warmup (Xiong et al. 2020).
`python -m model grid` makes a folder of two files: grid.json, and grid.npz with the curves and the attention maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from model import checkpoint
from model.config import TransformerConfig
from model.training import schedules
from model.training.config import RunConfig, TrainingConfig
from model.translation import KINDS

EVERY = 20  # steps whose mean loss is a point of a curve
FOLDER = "grid"  # in the folder of checkpoints
VALUES, ARRAYS = "grid.json", "grid.npz"
NORMS = ("post", "pre")
PEAKS = (0.001, 0.005, 0.02, 0.1)
WARMUPS = (1, 20, 100, 400)  # steps; 1: none
STEPS = 1000
SNAPSHOTS = (30, 100, 200, 400, 700, 1000)  # steps after which texts and maps are kept
VALIDATE_EVERY = 100
CURVES = ("loss", "gradient_norm")
MAP_UNIT = 255  # a weight of 1, in the maps' bytes


@dataclass(frozen=True)
class GridCell:
    """One run of the grid.

    Attributes:
        norm: "pre", or "post" as in the paper, where no norm follows the last layer.
        peak: the highest learning rate.
        warmup: the step that has it; 1 means no warmup.
        schedule: what follows: "inverse_sqrt", the paper's, or "constant".
        seed: of the first weights and of the order of the data.
    """

    norm: str
    peak: float
    warmup: int
    schedule: str = "inverse_sqrt"
    seed: int = 1

    @property
    def name(self) -> str:
        """What the cell's arrays are named by."""
        return f"{self.norm}-{self.peak:g}-{self.warmup}-{self.schedule}-{self.seed}"

    def run(self) -> RunConfig:
        """The cell's model and training: the paper's in all that the cell does not say, but small."""
        return RunConfig(
            model=TransformerConfig(
                vocab_size=2000,
                d_model=128,
                n_heads=4,
                n_encoder_layers=2,
                n_decoder_layers=2,
                d_ff=256,
                max_length=128,
                norm=self.norm,
                final_norm=self.norm == "pre",
            ),
            training=TrainingConfig(
                data="multi30k",
                steps=STEPS,
                batch_tokens=1000,
                schedule=self.schedule,
                learning_rate=self.peak,
                warmup=self.warmup,
                clip_norm=1e9,  # none, as in the paper
                precision="float32",
                average_last=1,
                average_every=STEPS,
                validate_every=VALIDATE_EVERY,
                validation_pairs=200,
                seed=self.seed,
                held_out=tuple(text for pair in EXAMPLES for text in pair),
            ),
        )


# Never trained on. The maps are those of the first, read with its reference.
EXAMPLES = (
    ("A man in a blue shirt is playing the guitar.", "Ein Mann in einem blauen Hemd spielt Gitarre."),
    ("Two dogs are running through the snow.", "Zwei Hunde laufen durch den Schnee."),
    ("A woman is sitting on a bench and reading a book.", "Eine Frau sitzt auf einer Bank und liest ein Buch."),
)


# Norm, peak and warmup where a run neither clearly learns nor clearly fails, or where the story turns.
SECOND_SEEDS = tuple(("post", 0.02, warmup) for warmup in WARMUPS) + (("post", 0.005, 1), ("post", 0.005, 20))


def cells() -> list[GridCell]:
    """The cells in the order in which they are trained: the grid, the same without decay, and second seeds."""
    grid = [GridCell(norm, peak, warmup) for peak in reversed(PEAKS) for warmup in WARMUPS for norm in NORMS]
    # Without warmup the paper's decay begins at once, too: does it fail for want of warmup, or is it slow ever after?
    undecayed = [GridCell(norm, peak, 1, "constant") for peak in PEAKS for norm in NORMS]
    return grid + undecayed + [GridCell(*seeded, seed=2) for seeded in SECOND_SEEDS]


@dataclass(frozen=True)
class GridRun:
    """What a run of the grid left.

    Attributes:
        cell: which one it is.
        loss: (steps,) float32, the training loss per token in nats, label smoothing included.
        gradient_norm: (steps,) float32, before clipping.
        validation: step to loss per token on held-out captions, without smoothing, in nats.
        texts: step to what it wrote for each example, greedily.
        diverged: the step whose gradient was not finite, where the run ended; None where there is none.
        seconds: that the training took.
        maps_of: kind to the maps of all snapshots, as stored; `maps` gives weights.
    """

    cell: GridCell
    loss: np.ndarray
    gradient_norm: np.ndarray
    validation: dict[int, float]
    texts: dict[int, list[str]]
    diverged: int | None
    seconds: float
    maps_of: Mapping[str, np.ndarray] = field(repr=False)

    @property
    def learning_rate(self) -> np.ndarray:
        """(steps,) float32, the rate of each step."""
        training = self.cell.run().training
        rate = schedules.by_name(
            training.schedule, d_model=1, peak=self.cell.peak, warmup=self.cell.warmup, steps=training.steps, decay=0
        )
        return np.array([rate(step) for step in range(1, len(self.loss) + 1)], dtype=np.float32)

    @property
    def final(self) -> float:
        """The validation loss at the end, nats per token."""
        return list(self.validation.values())[-1]

    def maps(self, step: int, kind: str) -> np.ndarray:
        """The attention weights of the first example at a snapshot, its reference as the target.

        Args:
            step: a key of `texts`.
            kind: "encoder_self", "decoder_self" or "cross".

        Returns:
            float32 (layers, heads, queries, keys), to the nearest 1/255.
        """
        return self.maps_of[kind][list(self.texts).index(step)].astype(np.float32) / MAP_UNIT


@dataclass(frozen=True)
class Grid:
    """A grid as read from its folder.

    Attributes:
        about: data with licence, the model's parameters, and the command.
        examples: source and reference of each example.
        source_tokens: of the first example, the end token last.
        target_tokens: of its reference, the start token first.
        entropy: of how often each target token comes, in nats: the validation loss of a model that has learned nothing
            but that.
        entropy_smoothed: the training loss of such a model.
        runs: what there is, by cell.
    """

    about: dict[str, Any]
    examples: list[tuple[str, str]]
    source_tokens: list[str]
    target_tokens: list[str]
    entropy: float
    entropy_smoothed: float
    runs: dict[GridCell, GridRun]


def lines_of(runs: Mapping[str, GridRun]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The curves of runs, up to the last step that all of them have, in whole points.

    Args:
        runs: by what they are called, at least one.

    Returns:
        By name float (2, n), steps and values: the learning rate of every step, and means of the loss.
    """
    n = min(len(run.loss) for run in runs.values()) // EVERY * EVERY
    rates = {name: np.stack([np.arange(1, n + 1), run.learning_rate[:n]]) for name, run in runs.items()}
    steps = np.arange(EVERY, n + 1, EVERY)
    losses = {name: np.stack([steps, run.loss[:n].reshape(-1, EVERY).mean(1)]) for name, run in runs.items()}
    return rates, losses


def read_grid(folder: Path) -> Grid:
    """Read a grid, finished or not.

    Args:
        folder: with grid.json and grid.npz.

    Raises:
        ValueError: if a file is missing or is not what `python -m model grid` writes; the message names the folder.
    """
    values, arrays = read_files(folder)
    try:
        runs = [_run(entry, arrays) for entry in values["runs"]]
        header = {key: values[key] for key in values if key not in ("runs", "examples")}
        examples = [(source, reference) for source, reference in values["examples"]]
        return Grid(examples=examples, runs={run.cell: run for run in runs}, **header)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{folder} holds no grid of runs: {type(error).__name__} {error}") from None


def _run(entry: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> GridRun:
    cell = GridCell(**entry["cell"])
    texts = {int(step): list(texts) for step, texts in entry["texts"].items()}
    maps_of = {kind: arrays[f"{cell.name}.{kind}"] for kind in KINDS}
    if any(maps.ndim != 5 or len(maps) != len(texts) or maps.dtype != np.uint8 for maps in maps_of.values()):
        raise ValueError(f"the maps of {cell.name} are not bytes of (snapshots, layers, heads, queries, keys)")
    return GridRun(
        cell=cell,
        validation={int(step): float(loss) for step, loss in entry["validation"].items()},
        texts=texts,
        diverged=entry["diverged"],
        seconds=entry["seconds"],
        maps_of=maps_of,
        **{name: arrays[f"{cell.name}.{name}"] for name in CURVES},
    )


def read_files(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What the two files of a grid hold, unchecked.

    Raises:
        ValueError: if one cannot be read.
    """
    values = checkpoint.read_json(folder / VALUES)
    path = checkpoint.check_file(folder / ARRAYS, checkpoint.MAX_TEXT)
    try:
        with np.load(path, allow_pickle=False) as file:
            return values, dict(file)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path} is not a file of numpy arrays: {error}") from None


def write_files(folder: Path, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write the two files so that an interruption leaves a grid that can be read: the arrays first."""
    folder.mkdir(parents=True, exist_ok=True)
    with checkpoint.replacing(folder / ARRAYS) as part, part.open("wb") as file:
        np.savez_compressed(file, **arrays)
    checkpoint.write_json(folder / VALUES, values)


def as_entry(run: GridRun) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What of a run goes into grid.json, and what into grid.npz."""
    values = {
        "cell": asdict(run.cell),
        "validation": run.validation,
        "texts": run.texts,
        "diverged": run.diverged,
        "seconds": run.seconds,
    }
    arrays = {name: getattr(run, name) for name in CURVES} | dict(run.maps_of)
    return values, {f"{run.cell.name}.{name}": value for name, value in arrays.items()}
