"""The exact state of a run in one file, so that it is saved whole or not at all: tensors, one of them JSON as bytes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from model import architectures, checkpoint
from model.training.config import RunConfig, TrainingConfig
from model.training.optimizers import REMEMBERED

FILE = "state.safetensors"
JSON = "json"  # the tensor with the rest: run, progress, processes, tokenizer
OLD_JSON = "state.json"  # where that once stood, the tokenizer in the checkpoint; still read
# What may change when a run is resumed. The rest decides what an update is made of: it stays what the run began with.
MAY_DIFFER = (
    "steps",
    "schedule",
    "learning_rate",
    "warmup",
    "decay",
    "final_data",
    "held_out",
    "validate_every",
    "validation_pairs",
    "average_last",
    "average_every",
)


@dataclass
class Progress:
    """Where a run stands, saved with its state.

    Attributes:
        step: optimiser steps done.
        epoch: the pass over the data, from 0.
        batch: batches of the pass that are done.
        seconds: time spent training, over all resumptions.
        tokens: source and target tokens seen.
        final: whether the present pass is over the data of the final decay.

    Raises:
        ValueError: if a value is not such a number; the message names it.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    tokens: int = 0
    final: bool = False

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            kinds = {"int": (int,), "float": (int, float), "bool": (bool,)}[field.type]
            if type(value) not in kinds or not 0 <= value < float("inf"):
                raise ValueError(f"{field.name} of progress cannot be {value!r}")


@dataclass(frozen=True)
class Saved:
    """What `save` wrote.

    Attributes:
        folder: where.
        values: run, progress and processes, as a JSON object.
        tokenizer: as JSON text.
        tensors: by name.
    """

    folder: Path
    values: dict[str, Any]
    tokenizer: str
    tensors: dict[str, Tensor]

    def progress(self, run: RunConfig, n_processes: int = 1) -> Progress:
        """Where the run stands, if it may go on with this configuration.

        Args:
            run: what is to go on; keys that the saved one lacks had their defaults.
            n_processes: how many processes are to train together.

        Raises:
            ValueError: if something is damaged, or the run began with something else.
        """
        try:
            progress = Progress(**self.values["progress"])
            model = architectures.from_dict(self.values["run"]["model"], default="transformer")
            training, begun_with = dict(self.values["run"]["training"]), self.values.get("processes", 1)
            batches = begun_with * training.pop("accumulate", 1)
            if type(batches) is not int:
                raise ValueError(f"{batches!r} is not a number of batches")
        except (ValueError, KeyError, TypeError) as error:
            raise _damaged(self.folder, error) from None
        if model != run.model:
            raise ValueError(
                f"{self.folder.parent} holds a run of a model of other sizes: resume it with the configuration it "
                "began with"
            )
        _check_same(self.folder.parent, training, batches, run.training, n_processes)
        return progress


def _damaged(folder: Path, error: Exception) -> ValueError:
    reason = f"the key {error} is missing" if isinstance(error, KeyError) else error
    return ValueError(f"the state in {folder} is damaged ({reason}): put back a copy of it, or begin again")


def save(
    folder: Path,
    run: RunConfig,
    progress: Progress,
    tokenizer: str,
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    snapshots: list[dict[str, Tensor]],
    n_processes: int = 1,
) -> None:
    """Write all that is needed to go on exactly; what was there before stays until that is done.

    Args:
        folder: made if it does not exist.
        run: what the run is resumed with, or with what `Saved.progress` allows.
        progress: where it stands.
        tokenizer: as JSON text.
        model: its parameters.
        optimizers: over its parameters, each its own.
        snapshots: the weights that the average is made of.
        n_processes: how many processes train together.

    Raises:
        OSError: if there is no room.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"model.{name}": value for name, value in model.named_parameters()}
    for name, parameter, optimizer in _remembering(model, optimizers):
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"{REMEMBERED[type(optimizer)][0]}.{key}.{name}"] = value
    for i, snapshot in enumerate(snapshots):
        tensors |= {f"snapshot.{i}.{name}": value for name, value in snapshot.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    if next(model.parameters()).device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    values = {"run": run.to_dict(), "progress": vars(progress), "processes": n_processes, "tokenizer": tokenizer}
    tensors[JSON] = torch.frombuffer(bytearray(json.dumps(values), "utf-8"), dtype=torch.uint8)
    checkpoint.write_tensors(folder / FILE, tensors)
    (folder / OLD_JSON).unlink(missing_ok=True)


def exists(folder: Path) -> bool:
    """Whether something was saved in a folder."""
    return (folder / FILE).is_file()


def read(folder: Path) -> Saved:
    """Read what `save` wrote, or what was written when it wrote two files.

    Raises:
        ValueError: if it is missing or damaged.
    """
    tensors = checkpoint.read_tensors(folder / FILE)
    if JSON not in tensors:
        tokenizer = checkpoint.read_text(folder.parent / checkpoint.TOKENIZER)
        return Saved(folder, checkpoint.read_json(folder / OLD_JSON), tokenizer, tensors)
    try:
        values = json.loads(tensors.pop(JSON).numpy().tobytes())
        return Saved(folder, values, values.pop("tokenizer"), tensors)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(folder, error) from None


def _check_same(out: Path, begun: dict[str, Any], batches: int, config: TrainingConfig, n_processes: int) -> None:
    """Refuse to go on with an update that is made of something else."""
    defaults = {field.name: field.default for field in dataclasses.fields(TrainingConfig)}
    same = [name for name in defaults if name not in (*MAY_DIFFER, "accumulate")]
    pairs = {name: (begun.get(name, defaults[name]), getattr(config, name)) for name in same}
    pairs = {name: tuple(tuple(v) if isinstance(v, list) else v for v in pair) for name, pair in pairs.items()}
    pairs["accumulate times the number of processes"] = (batches, config.accumulate * n_processes)
    for name, (before, now) in pairs.items():
        if before != now:
            raise ValueError(
                f"{out} holds a run that began with {name} {before!r}, which cannot become {now!r}: resume it with "
                f"what it began with, where only these may differ: {', '.join(MAY_DIFFER)}"
            )


def _remembering(
    model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]
) -> Iterator[tuple[str, nn.Parameter, torch.optim.Optimizer]]:
    """The parameters of which an optimiser remembers something, by name."""
    names = {parameter: name for name, parameter in model.named_parameters()}
    for optimizer in optimizers:
        for group in optimizer.param_groups if type(optimizer) in REMEMBERED else ():
            yield from ((names[parameter], parameter, optimizer) for parameter in group["params"])


def restore(
    saved: Saved, progress: Progress, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]
) -> list[dict[str, Tensor]]:
    """Set weights, the optimisers' state and the random state to what `save` wrote.

    Args:
        saved: as given by `read`.
        progress: where it stands.
        model: of the saved sizes.
        optimizers: over its parameters, of the kinds that were saved.

    Returns:
        The snapshots.

    Raises:
        ValueError: if tensors are damaged or incomplete, or of another step.
    """
    path, tensors = saved.folder / FILE, saved.tensors
    count = len({name.split(".")[1] for name in tensors if name.startswith("snapshot.")})
    states: dict[tuple[torch.optim.Optimizer, nn.Parameter], dict[str, str]] = {}
    shapes: dict[str, torch.Size | None] = {"random.cpu": None}
    for name, parameter, optimizer in _remembering(model, optimizers) if progress.step else ():
        prefix, keys = REMEMBERED[type(optimizer)]
        states[optimizer, parameter] = {key: f"{prefix}.{key}.{name}" for key in keys}
        shapes |= dict.fromkeys(states[optimizer, parameter].values(), parameter.shape)
        if isinstance(optimizer, torch.optim.Adam):  # counts its steps in a tensor, where the fused kernel runs
            states[optimizer, parameter]["step"] = f"adam.step.{name}"
            shapes[f"adam.step.{name}"] = torch.Size()
    for name, parameter in model.named_parameters():
        shapes[f"model.{name}"] = parameter.shape
        shapes |= {f"snapshot.{i}.{name}": parameter.shape for i in range(count)}
    _check_complete(path, tensors, progress, shapes)
    checkpoint.load_parameters(model, _under("model.", tensors))
    for (optimizer, parameter), keys in states.items():
        optimizer.state[parameter] = {key: tensors[name].to(parameter.device) for key, name in keys.items()}
    try:
        torch.set_rng_state(tensors["random.cpu"])
        if "random.cuda" in tensors and next(model.parameters()).device.type == "cuda":
            torch.cuda.set_rng_state(tensors["random.cuda"])
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{path} is damaged: the state of the random numbers is none ({error})") from None
    return [_under(f"snapshot.{i}.", tensors) for i in range(count)]


def _check_complete(
    path: Path, tensors: dict[str, Tensor], progress: Progress, shapes: dict[str, torch.Size | None]
) -> None:
    """Refuse tensors that are missing, misshapen or not finite, before anything is changed."""
    for name, shape in shapes.items():
        if name not in tensors:
            raise ValueError(f"{path} is damaged: the tensor {name} is missing")
        tensor = tensors[name]
        if shape is not None and (tensor.shape != shape or not tensor.is_floating_point()):
            raise ValueError(f"{path} is damaged: the tensor {name} is not of {tuple(shape)} floating-point numbers")
        if shape is not None and not torch.isfinite(tensor).all():
            raise ValueError(f"{path} is damaged: the tensor {name} holds numbers that are not finite")
        if name.startswith("adam.step.") and int(tensor) != progress.step:
            raise ValueError(f"{path} is of step {int(tensor)}, but its progress of step {progress.step}")


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
