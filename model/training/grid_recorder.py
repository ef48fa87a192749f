"""Trains the cells of the grid one after the other and keeps, of each, what `grid` reads."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from model.interventions.edits import layer_counts
from model.taps import record
from model.text.special import BOS_ID, EOS_ID
from model.text.words import PairTokenizer
from model.training import grid, tasks
from model.training.config import RunConfig
from model.training.data.corpora import Pair, load_corpus
from model.training.evaluation import cross_entropy, translate_all
from model.training.grid import GridCell
from model.training.loop import Diverged, Step, Trainer
from model.training.processes import alone
from model.translation import KINDS, module_of


class CellTrainer(Trainer):
    """Trains a cell on a task of its seed and keeps what it sees, of the present weights; writes nothing to `out`."""

    def __init__(self, cell: GridCell, task: tasks.Task, pairs: list[Pair], data_dir: Path, out: Path) -> None:
        self._task, self._pairs, self._cell = task, pairs, cell
        self._curves: dict[str, list[float]] = {name: [] for name in grid.CURVES}
        self._validation: dict[int, float] = {}
        self._texts: dict[int, list[str]] = {}
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
            self._validation[step] = round(total / count, 4)
        if step in grid.SNAPSHOTS or step == config.steps:
            self._texts[step] = translate_all(self.model, self.tokenizer, [source for source, _ in grid.EXAMPLES])
            self._maps.append(attention_maps(self.model, *example_ids(self.tokenizer)))
        self.model.train()
        return True

    def result(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Train, and return what goes into grid.json and into grid.npz; a run that diverges ends there."""
        values = {"cell": asdict(self._cell), "validation": self._validation, "texts": self._texts, "diverged": None}
        try:
            self.train()
        except Diverged:
            values["diverged"] = self.progress.step + 1
        values["seconds"] = round(self.progress.seconds, 1)
        shapes = self._maps or [attention_maps(self.model, *example_ids(self.tokenizer))]  # even where there are none
        arrays = {name: np.array(curve, dtype=np.float32) for name, curve in self._curves.items()}
        arrays |= {kind: np.stack([maps[kind] for maps in shapes])[: len(self._maps)] for kind in KINDS}
        return values, {f"{self._cell.name}.{name}": array for name, array in arrays.items()}


def example_ids(tokenizer: PairTokenizer) -> tuple[list[int], list[int]]:
    source, reference = grid.EXAMPLES[0]
    return [*tokenizer.source.encode(source), EOS_ID], [BOS_ID, *tokenizer.target.encode(reference)]


@torch.no_grad()
def attention_maps(model: nn.Module, source: list[int], target: list[int]) -> dict[str, np.ndarray]:
    """Kind to the weights over one pair (layers, heads, queries, keys) in bytes, of which 255 is 1."""
    with record("*.weights") as trace:
        model(torch.tensor([source]), torch.tensor([target]))
    maps = {}
    for kind, n_layers in layer_counts(model.config).items():
        weights = torch.cat([trace[f"{module_of(kind, layer)}.weights"] for layer in range(n_layers)])
        maps[kind] = (weights * grid.MAP_UNIT).round().to(torch.uint8).numpy()
    return maps


def token_entropy(targets: Iterable[list[int]], vocab_size: int, smoothing: float) -> float:
    """The least loss in nats of a model that gives every token, end tokens included, a fixed probability."""
    counts = Counter(index for ids in targets for index in (*ids, EOS_ID))
    shares = np.zeros(vocab_size)
    shares[list(counts)] = list(counts.values())
    shares = (1 - smoothing) * shares / shares.sum() + smoothing / vocab_size
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def record_grid(data_dir: Path, out: Path, command: str = "", resume: bool = False, only: str = "") -> None:
    """Train the cells, of names that begin with `only`, that `out` does not have yet; after each, what there is can be
    read and gone on from.

    Raises:
        ValueError: if data are missing, `out` holds another grid or one not to be resumed, or no cell is of that name.
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
    source, target = example_ids(tokenizer)
    size = task.config.vocab_size
    return {
        "about": {"command": command, "data": task.about["data"], "run": run.to_dict()},
        "examples": [list(pair) for pair in grid.EXAMPLES],
        "source_tokens": tokenizer.source.tokens(source),
        "target_tokens": tokenizer.target.tokens(target),
        "entropy": round(token_entropy(targets, size, 0.0), 4),
        "entropy_smoothed": round(token_entropy(targets, size, config.label_smoothing), 4),
        "runs": [],
    }
