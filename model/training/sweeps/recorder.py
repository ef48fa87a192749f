"""Trains the cells of a grid and writes, of each, the curves, texts and maps that `grid` reads."""

import copy
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from model.language_model import LanguageModel
from model.results.translation import KINDS
from model.running.translator import Translator
from model.storage.checkpoint import Checkpoint
from model.text.special import BOS_ID, EOS_ID
from model.text.words import PairTokenizer
from model.training import tasks
from model.training.config import RunConfig, TrainingConfig
from model.training.data.corpora import Pair, leave_out, load_corpus
from model.training.evaluation import EncoderDecoder, cross_entropy, translate_all
from model.training.loop import Diverged, Step, UnsavedTrainer
from model.training.processes import alone
from model.training.sweeps import grid, mistakes
from model.training.sweeps.grid import GridCell


class CellTrainer(UnsavedTrainer):
    """Trains one cell and collects curves, validation losses, texts and maps.

    The loss of the validation pairs is divided by `n_tokens`.
    """

    def __init__(
        self, cell: GridCell, task: tasks.Task, pairs: list[Pair], n_tokens: int, data_dir: Path, out: Path
    ) -> None:
        self._pairs = pairs
        self._n_tokens = n_tokens
        self._cell = cell
        self._entry: dict[str, Any] = {"cell": asdict(cell), "validation": {}, "texts": {}, "diverged": None}
        self._curves: dict[str, list[float]] = {name: [] for name in grid.CURVES}
        self._maps: list[dict[str, np.ndarray]] = []
        super().__init__(cell.run(), task, data_dir, out)
        if cell.mistake in mistakes.IN_MODEL:
            mistakes.IN_MODEL[cell.mistake](self.model)

    @property
    def _translating(self) -> EncoderDecoder:
        assert not isinstance(self.model, LanguageModel)  # every cell trains a translator
        return self.model

    def _report(self, bar: tqdm, steps: list[Step]) -> bool:
        step = self.progress.step
        config = self.run.training
        for name, value in zip(grid.CURVES, steps[0]):
            self._curves[name].append(round(value, 4))
        self.model.eval()
        if step % config.validate_every == 0 or step == config.steps:
            self._entry["validation"][step] = self._validate(self._translating)
        if step in grid.SNAPSHOTS or step == config.steps:
            sources = [source for source, _ in grid.EXAMPLES]
            self._entry["texts"][step] = translate_all(self._translating, self.tokenizer, sources)
            self._maps.append(self._attention() if self._cell.kinds else {})
        self.model.train()
        return True

    def _validate(self, model: EncoderDecoder) -> float:
        total, _ = cross_entropy(model, self.tokenizer, self._pairs)
        return round(total / self._n_tokens, 4)

    def _afterwards(self) -> dict[str, float]:
        """The loss of the present weights with each mistake, made in a model that was trained without one."""
        names = mistakes.IN_GRU if self._cell.is_recurrent else mistakes.IN_TRANSFORMER
        self.model.eval()
        return {name: self._validate(mistakes.with_mistake(name, self._translating)) for name in names}

    def _attention(self) -> dict[str, np.ndarray]:
        """By kind the maps of the first example, uint8 (layers, heads, queries, keys), where grid.MAP_UNIT means 1."""
        model = copy.deepcopy(self.model).cpu()  # a Translator lays out its weights differently
        result = Translator(Checkpoint(self.out, model, self.tokenizer, {})).force(*grid.EXAMPLES[0])
        return {kind: (result.attention(kind) * grid.MAP_UNIT).round().astype(np.uint8) for kind in KINDS}

    def result(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Train, and return the entry for grid.json and the arrays for grid.npz; a run that diverges ends there."""
        try:
            self.train()
        except Diverged:
            self._entry["diverged"] = self.progress.step + 1
        if self._cell.mistake and self._cell == self._cell.reference:
            self._entry["afterwards"] = self._afterwards()
        self._entry["seconds"] = round(self.progress.seconds, 1)
        arrays = {name: np.array(curve, dtype=np.float32) for name, curve in self._curves.items()}
        if self._cell.kinds:
            shapes = self._maps or [self._attention()]  # even where there are none
            arrays |= {kind: np.stack([maps[kind] for maps in shapes])[: len(self._maps)] for kind in KINDS}
        return self._entry, {f"{self._cell.name}.{name}": array for name, array in arrays.items()}


def token_entropy(targets: Iterable[list[int]], vocab_size: int, smoothing: float) -> float:
    """The least loss in nats of a model that gives every token, end tokens included, a fixed probability."""
    counts = torch.tensor([index for ids in targets for index in (*ids, EOS_ID)]).bincount(minlength=vocab_size)
    shares = (1 - smoothing) * counts.double() / counts.sum() + smoothing / vocab_size
    return round(torch.special.entr(shares).sum().item(), 4)


class Tasks:
    """Tasks of cells, prepared once for all with the same seed, data and tokenizer; those of one seed are cached."""

    def __init__(self, data_dir: Path, first: GridCell) -> None:
        self._data_dir = data_dir
        self._seed = first.seed
        self._cache: dict[str, tasks.Task] = {}
        self._tokenizers: dict[str, Any] = {}  # which do not depend on the seed

    def of(self, cell: GridCell) -> tasks.Task:
        """The task that a cell trains on."""
        if cell.seed != self._seed:
            self._seed = cell.seed
            self._cache = {}
        reference = cell.reference.mistake
        run = cell.run()
        key = "tokenizer" if cell.mistake == "tokenizer" else reference
        if key not in self._cache:
            tokenizer = self._tokenizers.get(key)
            if tokenizer is None and key == "tokenizer":
                tokenizer = mistakes.source_tokenizer(self._pairs(run.training), run.model.vocab_sizes[1])
            self._cache[key] = tasks.prepare(run, self._data_dir, tokenizer, alone())
            self._tokenizers[key] = self._cache[key].tokenizer
        task = self._cache[key]
        if cell.mistake == "start":
            return replace(task, objective=lambda model: mistakes.LossWithoutStart(model, run.training))
        return task

    def _pairs(self, config: TrainingConfig) -> list[Pair]:
        pairs = load_corpus(self._data_dir, config.data, "train", (config.source, config.target))
        return leave_out(pairs, config.held_out)


def record_grid(
    data_dir: Path, out: Path, command: str = "", resume: bool = False, only: str = "", with_mistakes: bool = False
) -> None:
    """Train the cells whose names begin with `only` and which `out` does not have yet, and write after each.

    The grid can be read, and continued with `resume`, after every cell. A ValueError if no cell has such a name, or if
    `out` holds another grid.
    """
    cells = grid.mistake_cells() if with_mistakes else grid.cells()
    selection = [cell for cell in cells if cell.name.startswith(only)]
    if not selection:
        raise ValueError(f"no cell begins with {only!r}; the first is {cells[0].name}")
    begun = (out / grid.VALUES).exists()
    if begun and not resume:
        raise ValueError(f"{out} holds a grid: pass --resume to go on with it, or choose another --out")
    tasks_of_cells = Tasks(data_dir, cells[0])
    run = cells[0].run()
    task = tasks_of_cells.of(cells[0])
    values = _header(run, task, data_dir, command)
    arrays = {}
    recorded = set()
    if begun:
        header, (values, arrays) = values, grid.read_files(out)
        different = [key for key in header if key not in ("about", "runs") and values.get(key) != header[key]]
        if different:
            raise ValueError(f"{out} holds another grid: its {different[0]} differs. Choose another --out")
        recorded = set(grid.read_grid(out).runs)
        if any(bool(cell.mistake) != with_mistakes for cell in recorded):
            raise ValueError(f"{out} holds the other grid, with or without --mistakes. Choose another --out")
    pairs = load_corpus(data_dir, run.training.data, "valid", (run.training.source, run.training.target))
    pairs = pairs[: run.training.validation_pairs]
    for cell in (cell for cell in selection if cell not in recorded):
        n_tokens = count_tokens(tasks_of_cells.of(cell.reference).tokenizer, pairs)
        with TemporaryDirectory() as empty:
            trainer = CellTrainer(cell, tasks_of_cells.of(cell), pairs, n_tokens, data_dir, Path(empty))
            entry, of_cell = trainer.result()
        values["runs"].append(entry)
        arrays |= of_cell
        grid.write_files(out, values, arrays)
        tqdm.write(f"{cell.name}: {list(entry['validation'].items())[-1:]} after {entry['seconds']} s")


def count_tokens(tokenizer: PairTokenizer, pairs: Iterable[Pair]) -> int:
    """The number of target tokens, end tokens included."""
    return sum(len(tokenizer.target.encode(target)) + 1 for _, target in pairs)


def _header(run: RunConfig, task: tasks.Task, data_dir: Path, command: str) -> dict[str, Any]:
    config = run.training
    tokenizer = task.tokenizer
    pairs = load_corpus(data_dir, config.data, "train", (config.source, config.target))
    targets = [tokenizer.target.encode(target) for _, target in pairs]
    source, target = grid.EXAMPLES[0]
    _, size = task.config.vocab_sizes
    return {
        "about": {"command": command, "data": task.about["data"], "run": run.to_dict()},
        "examples": [list(pair) for pair in grid.EXAMPLES],
        "source_tokens": tokenizer.source.tokens([*tokenizer.source.encode(source), EOS_ID]),
        "target_tokens": tokenizer.target.tokens([BOS_ID, *tokenizer.target.encode(target)]),
        "entropy": token_entropy(targets, size, 0.0),
        "entropy_smoothed": token_entropy(targets, size, config.label_smoothing),
        "runs": [],
    }
