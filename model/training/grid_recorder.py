"""Trains the cells of the grid and keeps, of each, what `grid` reads."""

import copy
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from model.checkpoint import Checkpoint
from model.text.special import BOS_ID, EOS_ID
from model.training import grid, tasks
from model.training.config import RunConfig
from model.training.data.corpora import Pair, load_corpus
from model.training.evaluation import cross_entropy, translate_all
from model.training.grid import GridCell
from model.training.loop import Diverged, Step, Trainer
from model.training.processes import alone
from model.translation import KINDS
from model.translator import Translator


class CellTrainer(Trainer):
    """Keeps what it sees of the present weights, on a task of the cell's seed; writes nothing to `out`."""

    def __init__(self, cell: GridCell, task: tasks.Task, pairs: list[Pair], data_dir: Path, out: Path) -> None:
        self._task, self._pairs, self._cell = task, pairs, cell
        self._entry: dict[str, Any] = {"cell": asdict(cell), "validation": {}, "texts": {}, "diverged": None}
        self._curves: dict[str, list[float]] = {name: [] for name in grid.CURVES}
        self._maps: list[dict[str, np.ndarray]] = []
        super().__init__(cell.run(), data_dir, out)

    def _prepare(self, run: RunConfig, data_dir: Path, tokenizer: Any) -> tasks.Task:
        return replace(self._task, config=run.model.with_vocabularies(*self._task.config.vocab_sizes))

    def save(self) -> None:
        """A run of two minutes is done again."""

    def _report(self, bar: tqdm, steps: list[Step]) -> bool:
        step, config = self.progress.step, self.run.training
        for name, value in zip(grid.CURVES, steps[0]):
            self._curves[name].append(round(value, 4))
        self.model.eval()
        if step % config.validate_every == 0 or step == config.steps:
            total, count = cross_entropy(self.model, self.tokenizer, self._pairs)
            self._entry["validation"][step] = round(total / count, 4)
        if step in grid.SNAPSHOTS or step == config.steps:
            sources = [source for source, _ in grid.EXAMPLES]
            self._entry["texts"][step] = translate_all(self.model, self.tokenizer, sources)
            self._maps.append(self._attention())
        self.model.train()
        return True

    def _attention(self) -> dict[str, np.ndarray]:
        """By kind the maps (layers, heads, queries, keys) of the first example in bytes, of which 255 is 1."""
        model = copy.deepcopy(self.model).cpu()  # a Translator lays out its weights differently
        result = Translator(Checkpoint(self.out, model, self.tokenizer, {})).force(*grid.EXAMPLES[0])
        return {kind: (result.attention(kind) * grid.MAP_UNIT).round().astype(np.uint8) for kind in KINDS}

    def result(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Train, and return what goes into grid.json and into grid.npz; a run that diverges ends there."""
        try:
            self.train()
        except Diverged:
            self._entry["diverged"] = self.progress.step + 1
        self._entry["seconds"] = round(self.progress.seconds, 1)
        shapes = self._maps or [self._attention()]  # even where there are none
        arrays = {name: np.array(curve, dtype=np.float32) for name, curve in self._curves.items()}
        arrays |= {kind: np.stack([maps[kind] for maps in shapes])[: len(self._maps)] for kind in KINDS}
        return self._entry, {f"{self._cell.name}.{name}": array for name, array in arrays.items()}


def token_entropy(targets: Iterable[list[int]], vocab_size: int, smoothing: float) -> float:
    """The least loss in nats of a model that gives every token, end tokens included, a fixed probability."""
    counts = torch.tensor([index for ids in targets for index in (*ids, EOS_ID)]).bincount(minlength=vocab_size)
    shares = (1 - smoothing) * counts.double() / counts.sum() + smoothing / vocab_size
    return round(torch.special.entr(shares).sum().item(), 4)


def record_grid(data_dir: Path, out: Path, command: str = "", resume: bool = False, only: str = "") -> None:
    """Train the cells whose names begin with `only`, and which `out` does not have yet; after each, what there is can
    be read and gone on from. A ValueError if that cannot be.
    """
    wanted = [cell for cell in grid.cells() if cell.name.startswith(only)]
    if not wanted:
        raise ValueError(f"no cell begins with {only!r}; the first is {grid.cells()[0].name}")
    begun = (out / grid.VALUES).exists()
    if begun and not resume:
        raise ValueError(f"{out} holds a grid: pass --resume to go on with it, or choose another --out")
    run = wanted[0].run()
    task = tasks.prepare(run, data_dir, None, alone())
    values, arrays, done = _header(run, task, data_dir, command), {}, set()
    if begun:
        header, (values, arrays) = values, grid.read_files(out)
        different = [key for key in header if key not in ("about", "runs") and values.get(key) != header[key]]
        if different:
            raise ValueError(f"{out} holds another grid: its {different[0]} differs. Choose another --out")
        done = set(grid.read_grid(out).runs)
    pairs = load_corpus(data_dir, run.training.data, "valid", (run.training.source, run.training.target))
    pairs = pairs[: run.training.validation_pairs]
    held = {run.training.seed: task}
    for cell in (cell for cell in wanted if cell not in done):
        if cell.seed not in held:
            held = {cell.seed: tasks.prepare(cell.run(), data_dir, task.tokenizer, alone())}
        with TemporaryDirectory() as empty:
            entry, more = CellTrainer(cell, held[cell.seed], pairs, data_dir, Path(empty)).result()
        values["runs"].append(entry)
        arrays |= more
        grid.write_files(out, values, arrays)
        tqdm.write(f"{cell.name}: {list(entry['validation'].items())[-1:]} after {entry['seconds']} s")


def _header(run: RunConfig, task: tasks.Task, data_dir: Path, command: str) -> dict[str, Any]:
    config, tokenizer = run.training, task.tokenizer
    pairs = load_corpus(data_dir, config.data, "train", (config.source, config.target))
    targets = [tokenizer.target.encode(target) for _, target in pairs]
    source, target = grid.EXAMPLES[0]
    size = task.config.vocab_size
    return {
        "about": {"command": command, "data": task.about["data"], "run": run.to_dict()},
        "examples": [list(pair) for pair in grid.EXAMPLES],
        "source_tokens": tokenizer.source.tokens([*tokenizer.source.encode(source), EOS_ID]),
        "target_tokens": tokenizer.target.tokens([BOS_ID, *tokenizer.target.encode(target)]),
        "entropy": token_entropy(targets, size, 0.0),
        "entropy_smoothed": token_entropy(targets, size, config.label_smoothing),
        "runs": [],
    }
