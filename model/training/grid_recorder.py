"""Trains the cells of the grid one after the other and keeps, of each, what `grid` reads."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from model.config import TransformerConfig
from model.interventions.edits import layer_counts
from model.taps import record
from model.text.special import BOS_ID, EOS_ID
from model.training import grid, tasks
from model.training.config import RunConfig
from model.training.data.corpora import load_corpus
from model.training.evaluation import perplexity, translate_all
from model.training.grid import GridCell, GridRun
from model.training.history import Meter
from model.training.loop import Diverged, Trainer
from model.training.processes import alone
from model.translation import KINDS, module_of


class CellTrainer(Trainer):
    """A Trainer that writes nothing: it keeps what it sees in `run_so_far`, of the present weights, not of their mean.

    Args:
        cell: what to train.
        task: the data, of the cell's seed.
        pairs: held-out pairs to validate on.
        data_dir: as for Trainer.
        out: an empty folder.
    """

    def __init__(
        self, cell: GridCell, task: tasks.Task, pairs: list[tuple[str, str]], data_dir: Path, out: Path
    ) -> None:
        self._task, self._pairs, self._cell = task, pairs, cell
        self._curves: dict[str, list[float]] = {name: [] for name in grid.CURVES}
        self._validation: dict[int, float] = {}
        self._texts: dict[int, list[str]] = {}
        self._maps: dict[str, list[np.ndarray]] = {kind: [] for kind in KINDS}
        super().__init__(cell.run(), data_dir, out)

    def _prepare(self, run: RunConfig, data_dir: Path, tokenizer: Any) -> tasks.Task:
        return replace(self._task, config=run.model.with_vocabularies(*self._task.config.vocab_sizes))

    def save(self) -> None:
        """Keep nothing: a run of two minutes is done again."""

    def _report(self, bar: tqdm, meter: Meter) -> Meter:
        """Note the step just done, and whatever else is due after it."""
        step, entry = self.progress.step, meter.entry()
        for name, values in self._curves.items():
            values.append(entry[name])
        last = self.run.training.steps
        self.model.eval()
        if step % self.run.training.validate_every == 0 or step == last:
            self._validation[step] = round(math.log(perplexity(self.model, self.tokenizer, self._pairs)), 4)
        if step in grid.SNAPSHOTS or step == last:
            self._texts[step] = translate_all(self.model, self.tokenizer, [source for source, _ in grid.EXAMPLES])
            for kind, maps in attention_maps(self.model, *example_ids(self.tokenizer)).items():
                self._maps[kind].append(maps)
        self.model.train()
        return Meter()

    def result(self) -> GridRun:
        """Train, and give what was seen; a run whose gradient is not finite ends there."""
        diverged = None
        try:
            self.train()
        except Diverged:
            diverged = self.progress.step + 1
        config: TransformerConfig = self.run.model
        ids = example_ids(self.tokenizer)
        lengths = {"encoder_self": (0, 0), "decoder_self": (1, 1), "cross": (1, 0)}
        none = {
            kind: np.zeros((0, config.n_encoder_layers, config.n_heads, *(len(ids[side]) for side in sides)), np.uint8)
            for kind, sides in lengths.items()
        }
        return GridRun(
            cell=self._cell,
            **{name: np.array(values, dtype=np.float32) for name, values in self._curves.items()},
            validation=self._validation,
            texts=self._texts,
            diverged=diverged,
            seconds=round(self.progress.seconds, 1),
            maps_of={kind: np.stack(maps) if maps else none[kind] for kind, maps in self._maps.items()},
        )


def example_ids(tokenizer: Any) -> tuple[list[int], list[int]]:
    """What encoder and decoder read of the first example."""
    source, reference = grid.EXAMPLES[0]
    return [*tokenizer.source.encode(source), EOS_ID], [BOS_ID, *tokenizer.target.encode(reference)]


@torch.no_grad()
def attention_maps(model: nn.Module, source: list[int], target: list[int]) -> dict[str, np.ndarray]:
    """The attention weights over one pair: kind to (layers, heads, queries, keys), bytes of which 255 is 1."""
    with record("*.weights") as trace:
        model(torch.tensor([source]), torch.tensor([target]))
    maps = {}
    for kind, n_layers in layer_counts(model.config).items():
        weights = torch.cat([trace[f"{module_of(kind, layer)}.weights"] for layer in range(n_layers)])
        maps[kind] = (weights * grid.MAP_UNIT).round().to(torch.uint8).numpy()
    return maps


def token_entropy(targets: Iterable[list[int]], vocab_size: int, smoothing: float) -> float:
    """The least loss of a model that gives every token a fixed probability, whatever it reads.

    Args:
        targets: ids of the sentences; each counts with its end token.
        vocab_size: over how many tokens smoothing is spread.
        smoothing: of the labels.

    Returns:
        The entropy of the (smoothed) frequencies, in nats.

    Example:
        >>> round(token_entropy([[4, 5, 6]], 7, 0.0) / math.log(4), 4)
        1.0
    """
    counts = Counter(index for ids in targets for index in (*ids, EOS_ID))
    shares = np.zeros(vocab_size)
    shares[list(counts)] = list(counts.values())
    shares = (1 - smoothing) * shares / shares.sum() + smoothing / vocab_size
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def record_grid(data_dir: Path, out: Path, command: str = "", resume: bool = False, only: str = "") -> None:
    """Train the cells that `out` does not have yet; after each, what there is can be read and gone on from.

    Args:
        data_dir: the folder with the corpora.
        out: the grid's folder.
        command: how this was called, for grid.json.
        resume: go on with the grid in `out`.
        only: names of cells must begin with this.

    Raises:
        ValueError: if data are missing, `out` holds a grid and is not to be resumed or holds another one, or there is
            no cell of that name.
    """
    wanted = [cell for cell in grid.cells() if cell.name.startswith(only)]
    if not wanted:
        raise ValueError(f"no cell begins with {only!r}; the first is {grid.cells()[0].name}")
    if not resume and (out / grid.VALUES).exists():
        raise ValueError(f"{out} holds a grid: pass --resume to go on with it, or choose another --out")
    run = wanted[0].run()
    task = tasks.prepare(run, data_dir, None, alone())
    values, arrays = _header(run, task, data_dir, command), {}
    if resume and (out / grid.VALUES).exists():
        begun, arrays = grid.read_files(out)
        different = [key for key in values if key not in ("about", "runs") and begun.get(key) != values[key]]
        if different:
            raise ValueError(f"{out} holds another grid: its {different[0]} differs. Choose another --out")
        values = begun
    done = set(grid.read_grid(out).runs) if values["runs"] else set()
    pairs = load_corpus(data_dir, run.training.data, "valid", (run.training.source, run.training.target))
    pairs = pairs[: run.training.validation_pairs]
    held = {run.training.seed: task}
    for cell in (cell for cell in wanted if cell not in done):
        if cell.seed not in held:
            held = {cell.seed: tasks.prepare(cell.run(), data_dir, task.tokenizer, alone())}
        with TemporaryDirectory() as empty:
            entry, more = grid.as_entry(CellTrainer(cell, held[cell.seed], pairs, data_dir, Path(empty)).result())
        values["runs"].append(entry)
        arrays |= more
        grid.write_files(out, values, arrays)
        tqdm.write(f"{cell.name}: {list(entry['validation'].items())[-1:]} after {entry['seconds']} s")


def _header(run: RunConfig, task: tasks.Task, data_dir: Path, command: str) -> dict[str, Any]:
    """What grid.json says besides the runs."""
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
