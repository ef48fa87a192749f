"""The board of single changes: one small language model as in 2017, with each step since alone, and with all of them.

All read the same text in the same order, with the same words, for as many steps, and have about as many parameters: a
difference of two perplexities is what the step is worth here.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tqdm import tqdm

from model.storage import checkpoint
from model.training import tasks
from model.training.config import RunConfig
from model.training.loop import Step, UnsavedTrainer
from model.training.presets import ALL_SINCE_2017, PRESETS, SINCE_2017
from model.training.processes import alone

FOLDER, FILE = "since-2017", "board.json"  # in the folder of checkpoints; in the board's
BEFORE, ALL = "2017", "all"
CHANGES: dict[str, dict[str, Any]] = {BEFORE: {}, **SINCE_2017, ALL: ALL_SINCE_2017}  # fields of the model by name
SEEDS = (1, 2)
STEPS = 500
VALIDATE_EVERY = 100


@dataclass(frozen=True)
class BoardRun:
    """One run of the board."""

    change: str  # of CHANGES
    seed: int  # of the first weights and of the order of the windows
    parameters: int
    tokens: int  # read in training
    seconds: float  # of training, on the machine that recorded it
    loss: list[float]  # of every step, nats per word
    perplexity: dict[int, float]  # step to that of the validation text

    @property
    def final(self) -> float:
        """The last validation perplexity."""
        return self.perplexity[max(self.perplexity)]


@dataclass(frozen=True)
class Board:
    """The runs of a board, and the data that they were trained and validated on."""

    about: dict[str, Any]  # data with licence, the configuration before any change, and the command
    runs: list[BoardRun]

    def finals(self, change: str) -> list[float]:
        """The last validation perplexity of every run with a change, by seed."""
        return [run.final for run in sorted(self.runs, key=lambda run: run.seed) if run.change == change]

    @property
    def changes(self) -> list[str]:
        """The changes of CHANGES of which there is a run, in that order."""
        return [change for change in CHANGES if self.finals(change)]

    @property
    def seeds(self) -> list[int]:
        """The seeds of the runs, in order."""
        return sorted({run.seed for run in self.runs})

    def table(self) -> np.ndarray:
        """The last validation perplexity of every run, float64 (changes, seeds); -inf where a run is missing."""
        finals = {(run.change, run.seed): run.final for run in self.runs}
        return np.array([[finals.get((change, seed), -np.inf) for seed in self.seeds] for change in self.changes])

    def gain(self, change: str) -> float | None:
        """By how much a change lowers the perplexity of BEFORE, mean of the seeds that have both; None without any."""
        finals = {(run.change, run.seed): run.final for run in self.runs}
        seeds = [seed for seed in self.seeds if {(BEFORE, seed), (change, seed)} <= finals.keys()]
        if not seeds:
            return None
        return float(np.mean([finals[BEFORE, seed] - finals[change, seed] for seed in seeds]))

    def noise(self) -> float | None:
        """The largest difference of two runs that differ in their seeds only; None without two such runs."""
        spreads = [max(finals) - min(finals) for finals in map(self.finals, self.changes) if len(finals) > 1]
        return max(spreads, default=None)


def run_of(change: str, seed: int) -> RunConfig:
    """What the board trains: the preset wikitext2-lm, short, with a change."""
    run = PRESETS["wikitext2-lm"]
    training = replace(
        run.training,
        steps=STEPS,
        warmup=50,
        decay=STEPS // 2,
        average_last=1,
        average_every=VALIDATE_EVERY,
        validate_every=VALIDATE_EVERY,
        seed=seed,
    )
    return RunConfig(model=replace(run.model, **CHANGES[change]), training=training)


def read_board(folder: Path) -> Board:
    """A board, finished or not; a ValueError if the folder holds none."""
    values = checkpoint.read_json(folder / FILE)
    try:
        runs = []
        for entry in values["runs"]:
            perplexity = {int(step): float(value) for step, value in entry["perplexity"].items()}
            runs.append(BoardRun(**entry | {"perplexity": perplexity}))
        if any(run.change not in CHANGES or not run.perplexity for run in runs):
            raise ValueError("a run has no known change or no perplexity")
        return Board(values["about"], runs)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{folder} holds no board of runs: {type(error).__name__} {error}") from None


class BoardTrainer(UnsavedTrainer):
    """Trains one run and keeps its losses and perplexities in memory."""

    def __init__(self, run: RunConfig, task: tasks.Task, out: Path) -> None:
        self.loss: list[float] = []
        self.perplexity: dict[int, float] = {}
        super().__init__(run, task, out, out)

    def _report(self, bar: tqdm, steps: list[Step]) -> bool:
        step = self.progress.step
        config = self.run.training
        self.loss.append(round(steps[0][0], 4))
        if step % config.validate_every == 0 or step == config.steps:
            (self.perplexity[step],) = self.validation.run(self.averaged()).values()
            bar.set_postfix_str(f"perplexity {self.perplexity[step]:.1f}", refresh=False)
        return True


def record_board(data_dir: Path, out: Path, command: str = "", resume: bool = False) -> None:
    """Train the runs that `out` does not have yet, all changes from one seed, then from the next.

    After each run the board can be read, and gone on from with `resume`. A ValueError if that cannot be.
    """
    begun = (out / FILE).exists()
    if begun and not resume:
        raise ValueError(f"{out} holds a board: pass --resume to go on with it, or choose another --out")
    first = run_of(BEFORE, SEEDS[0])
    runs = read_board(out).runs if begun else []
    finished = {(run.change, run.seed) for run in runs}
    about: dict[str, Any] = {"command": command, "run": first.to_dict()}
    for seed in SEEDS:
        missing = [change for change in CHANGES if (change, seed) not in finished]
        if not missing:
            continue
        task = tasks.prepare(run_of(BEFORE, seed), data_dir, None, alone())  # its stream has the seed
        about["data"] = task.about["data"]
        for change in missing:
            run = run_of(change, seed)
            with TemporaryDirectory() as empty:
                trainer = BoardTrainer(run, task, Path(empty))
                trainer.train()
            entry = BoardRun(
                change=change,
                seed=seed,
                parameters=sum(parameter.numel() for parameter in trainer.model.parameters()),
                tokens=trainer.progress.tokens,
                seconds=round(trainer.progress.seconds, 1),
                loss=trainer.loss,
                perplexity=trainer.perplexity,
            )
            runs.append(entry)
            out.mkdir(parents=True, exist_ok=True)
            checkpoint.write_json(out / FILE, {"about": about, "runs": [asdict(run) for run in runs]})
            tqdm.write(f"{change}, seed {seed}: perplexity {entry.final:.1f} after {entry.seconds:.0f} s")
