"""Grids of small runs: their cells, and how recorded runs are read.

The grid of the page Warm-up tells a peak rate from its warmup. The paper's schedule ties the two: its peak is
d_model^-0.5 * warmup^-0.5, so that a run without warmup is at once a run with a peak 30 times as high. Here every peak
meets every warmup (Xiong et al. 2020). The grid of the page Pitfalls has one of these cells again, trained with each
mistake of `training.sweeps.mistakes`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from model.config import GruConfig, TransformerConfig
from model.results.translation import KINDS
from model.storage import checkpoint
from model.text.special import EOS_ID, SPECIAL_TOKENS
from model.training.config import RunConfig, TrainingConfig
from model.training.sweeps import mistakes

EVERY = 20  # steps whose mean loss is a point of a curve
FOLDER, MISTAKES_FOLDER = "grid", "pitfalls"  # in the folder of checkpoints
VALUES, ARRAYS = "grid.json", "grid.npz"
NORMS = ("post", "pre")
PEAKS = (0.001, 0.005, 0.02, 0.1)
WARMUPS = (1, 20, 100, 400)  # steps; 1: none
MISTAKE_SEEDS = (1, 2)
SNAPSHOTS = (30, 100, 200, 400, 700, 1000)  # steps after which texts and maps are kept
CURVES = ("loss", "gradient_norm")
MAP_UNIT = 255  # a weight of 1, in the maps' bytes


@dataclass(frozen=True)
class GridCell:
    """The settings of one run of a grid."""

    norm: str  # "pre", or "post" as in the paper, where no norm follows the last layer
    peak: float  # the highest learning rate
    warmup: int  # the step that has it; 1: no warmup
    schedule: str = "inverse_sqrt"  # what follows: the paper's, or "constant"
    seed: int = 1  # of the first weights and of the order of the data
    mistake: str = ""  # of `mistakes.TRAINED`, or the name of runs to compare with; "" in the grid of rates

    @property
    def name(self) -> str:
        """The name in files, "post-0.02-100-inverse_sqrt-1"."""
        if self.mistake:
            return f"{self.mistake}-{self.seed}"
        return f"{self.norm}-{self.peak:g}-{self.warmup}-{self.schedule}-{self.seed}"

    @property
    def reference(self) -> "GridCell":
        """The cell without its mistake."""
        return replace(self, mistake=mistakes.GRU_WITHOUT if self.is_recurrent else mistakes.NO_MISTAKE)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention whose maps are recorded: none of runs with mistakes, where some have no such maps."""
        return () if self.mistake else KINDS

    @property
    def is_recurrent(self) -> bool:
        """Whether the cell trains a GRU, not a Transformer."""
        return self.mistake in (*mistakes.IN_GRU, mistakes.GRU_WITHOUT)

    def run(self) -> RunConfig:
        """The configuration of the run, without its mistake: beside the cell's values the paper's, but small."""
        run = self._transformer()
        if not self.is_recurrent:
            return run
        model = GruConfig(
            source_vocab_size=1,  # both are set to the number of words
            target_vocab_size=1,
            d_embedding=128,
            d_hidden=128,
            dropout=0.1,
            max_length=128,
        )
        return RunConfig(model=model, training=replace(run.training, min_count=10))

    def _transformer(self) -> RunConfig:
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
                steps=1000,
                batch_tokens=1000,
                schedule=self.schedule,
                learning_rate=self.peak,
                warmup=self.warmup,
                clip_norm=1e9,  # none, as in the paper
                precision="float32",
                average_last=1,
                average_every=1000,
                validate_every=100,
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


def cells() -> list[GridCell]:
    """The cells in the order in which they are trained: the grid, the same without decay, and second seeds."""
    grid = [GridCell(norm, peak, warmup) for peak in reversed(PEAKS) for warmup in WARMUPS for norm in NORMS]
    # Without warmup the paper's decay begins at once, too: does it fail for want of warmup, or is it slow ever after?
    undecayed = [GridCell(norm, peak, 1, "constant") for peak in PEAKS for norm in NORMS]
    # Where a run neither clearly learns nor clearly fails, or where the story turns.
    unclear = [(0.02, warmup) for warmup in WARMUPS] + [(0.005, 1), (0.005, 20)]
    return grid + undecayed + [GridCell("post", *turned, seed=2) for turned in unclear]


def mistake_cells() -> list[GridCell]:
    """The runs of the page Pitfalls, in order: each mistake, and none, from one seed, then from another."""
    names = (mistakes.NO_MISTAKE, *mistakes.TRAINED, mistakes.GRU_WITHOUT)
    return [GridCell("pre", 0.005, 100, seed=seed, mistake=name) for seed in MISTAKE_SEEDS for name in names]


@dataclass(frozen=True)
class GridRun:
    """The recording of one run."""

    cell: GridCell
    loss: np.ndarray  # (steps,) float32, training loss per token in nats, label smoothing included
    gradient_norm: np.ndarray  # (steps,) float32, before clipping
    # Step to nats on held-out captions, without smoothing, per token as the cell without its mistake counts tokens.
    validation: dict[int, float]
    texts: dict[int, list[str]]  # step to the greedy translation of each example
    diverged: int | None  # the step whose gradient was not finite, where the run ended
    seconds: float
    maps_of: Mapping[str, np.ndarray] = field(repr=False)  # by kind, of all snapshots, as stored
    # Of a run to compare with, the last validation loss with a mistake that its weights were not trained with.
    afterwards: Mapping[str, float] = field(default_factory=dict)

    @property
    def learning_rate(self) -> np.ndarray:
        """The learning rate of every step, (steps,) float32."""
        rate = self.cell.run().training.rates(d_model=1)
        return np.array([rate(step) for step in range(1, len(self.loss) + 1)], dtype=np.float32)

    @property
    def final(self) -> float:
        """The last validation loss."""
        return list(self.validation.values())[-1]

    def maps(self, step: int, kind: str) -> np.ndarray:
        """float32 (layers, heads, queries, keys) of the first example and its reference at a step of `texts`."""
        return self.maps_of[kind][list(self.texts).index(step)].astype(np.float32) / MAP_UNIT


@dataclass(frozen=True)
class Grid:
    """All recorded runs of a grid."""

    about: dict[str, Any]  # data with licence, the configuration, and the command
    examples: list[tuple[str, str]]
    source_tokens: list[str]  # of the first example, the end token last
    target_tokens: list[str]  # of its reference, the start token first
    entropy: float  # nats per token for a model that has only learned how often each token comes
    entropy_smoothed: float  # the training loss of such a model
    runs: dict[GridCell, GridRun]

    @property
    def predicted_tokens(self) -> list[str]:
        """What follows each of `target_tokens`, the end token last, as the models are trained to write it."""
        return [*self.target_tokens[1:], SPECIAL_TOKENS[EOS_ID]]


@dataclass(frozen=True)
class Harm:
    """The harm of a mistake to small models: the last validation loss in nats per token, by seed.

    inf where a training diverged, and empty where there is no such run.
    """

    without: dict[int, float]
    afterwards: dict[int, float]  # made in the weights that were trained without it
    trained: dict[int, float]  # with it

    def cost(self, losses: Mapping[int, float]) -> float | None:
        """The mean difference to the loss without the mistake, of the seeds that have both."""
        differences = [loss - self.without[seed] for seed, loss in losses.items() if seed in self.without]
        return float(np.mean(differences)) if differences else None


def harm_of(grid: Grid, mistake: str) -> Harm:
    """The harm of a mistake of `mistakes.TRAINED`, as far as it is recorded."""
    runs = [run for cell, run in grid.runs.items() if cell.mistake == mistake]
    references = [run for cell, run in grid.runs.items() if cell == replace(cell, mistake=mistake).reference]
    return Harm(
        without={run.cell.seed: run.final for run in references},
        afterwards={run.cell.seed: run.afterwards[mistake] for run in references if mistake in run.afterwards},
        trained={run.cell.seed: math.inf if run.diverged else run.final for run in runs},
    )


def lines_of(runs: Mapping[str, GridRun]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Curves of runs, up to the last step that all have: the learning rate of every step, and means of the loss.

    By name float (2, n), steps and values.
    """
    n = min(len(run.loss) for run in runs.values()) // EVERY * EVERY
    rates = {name: np.stack([np.arange(1, n + 1), run.learning_rate[:n]]) for name, run in runs.items()}
    steps = np.arange(EVERY, n + 1, EVERY)
    losses = {name: np.stack([steps, run.loss[:n].reshape(-1, EVERY).mean(1)]) for name, run in runs.items()}
    return rates, losses


def read_grid(folder: Path) -> Grid:
    """A grid, finished or not; a ValueError if the folder holds none."""
    values, arrays = read_files(folder)
    try:
        runs = [_run(entry, arrays) for entry in values.pop("runs")]
        examples = [(source, reference) for source, reference in values.pop("examples")]
        return Grid(examples=examples, runs={run.cell: run for run in runs}, **values)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{folder} holds no grid of runs: {type(error).__name__} {error}") from None


def _run(entry: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> GridRun:
    cell = GridCell(**entry["cell"])
    texts = {int(step): list(texts) for step, texts in entry["texts"].items()}
    maps_of = {kind: arrays[f"{cell.name}.{kind}"] for kind in cell.kinds}
    if any(maps.ndim != 5 or len(maps) != len(texts) or maps.dtype != np.uint8 for maps in maps_of.values()):
        raise ValueError(f"the maps of {cell.name} are not bytes of (snapshots, layers, heads, queries, keys)")
    validation = {int(step): float(loss) for step, loss in entry["validation"].items()}
    loss, gradient_norm = (arrays[f"{cell.name}.{name}"] for name in CURVES)
    afterwards = {name: float(loss) for name, loss in entry.get("afterwards", {}).items()}
    return GridRun(
        cell=cell,
        loss=loss,
        gradient_norm=gradient_norm,
        validation=validation,
        texts=texts,
        diverged=entry["diverged"],
        seconds=entry["seconds"],
        maps_of=maps_of,
        afterwards=afterwards,
    )


def read_files(folder: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Both files of a grid, unchecked; a ValueError if one cannot be read."""
    values = checkpoint.read_json(folder / VALUES)
    path = checkpoint.check_file(folder / ARRAYS, checkpoint.MAX_TEXT)
    try:
        with np.load(path, allow_pickle=False) as file:
            return values, dict(file)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise ValueError(f"{path} is not a file of numpy arrays: {error}") from None


def write_files(folder: Path, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write both files, the arrays first, so that an interruption leaves a grid that can be read."""
    folder.mkdir(parents=True, exist_ok=True)
    with checkpoint.replacing(folder / ARRAYS) as part, part.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    checkpoint.write_json(folder / VALUES, values)
