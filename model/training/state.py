"""The files of a run: its exact state, in one file that is saved whole or not at all, and its history."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import torch
from torch import Tensor, nn

from model.config import Amount, JsonConfig, Seconds, read_model
from model.storage import checkpoint
from model.training.config import RunConfig, TrainingConfig
from model.training.optimizers import REMEMBERED

HISTORY = "history.jsonl"  # a JSON object per line
FILE = "state.safetensors"
JSON = "json"  # its tensor with the rest, as bytes
# What may change when a run is resumed; the rest decides what an update is made of.
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
class Progress(JsonConfig):
    """Where a run stands."""

    step: Amount = 0  # optimiser steps done
    epoch: Amount = 0  # the pass over the data, from 0
    batch: Amount = 0  # batches of the pass that are done
    seconds: Seconds = 0.0  # spent training, over all resumptions
    tokens: Amount = 0  # source and target tokens seen
    final: bool = False  # whether the pass is over the data of the final decay


@dataclass(frozen=True)
class Saved:
    """The state of a run, as read from its file."""

    folder: Path
    values: dict[str, Any]
    tokenizer: str
    tensors: dict[str, Tensor]


def _damaged(folder: Path, error: Exception) -> ValueError:
    reason = f"the key {error} is missing" if isinstance(error, KeyError) else error
    return ValueError(f"the state in {folder} is damaged ({reason}): put back a copy of it, or begin again")


def save(
    folder: Path,
    values: dict[str, Any],
    model: nn.Module,
    optimizers: Sequence[torch.optim.Optimizer],
    snapshots: list[dict[str, Tensor]],
) -> None:
    """Write all that is needed to continue exactly; an older file stays until the new one is complete.

    Args:
        values: run, progress, processes, and the tokenizer as JSON text.
        snapshots: parameters by name, of which the average is calculated.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, Tensor] = {f"model.{name}": value for name, value in model.named_parameters()}
    for optimizer, parameter, key, name in _optimizer_state(model, optimizers):
        if key in optimizer.state.get(parameter, {}):
            tensors[name] = optimizer.state[parameter][key]
    for i, snapshot in enumerate(snapshots):
        tensors |= {f"snapshot.{i}.{name}": value for name, value in snapshot.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    if next(model.parameters()).device.type == "cuda":
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    tensors[JSON] = torch.frombuffer(bytearray(json.dumps(values), "utf-8"), dtype=torch.uint8)
    checkpoint.write_tensors(folder / FILE, tensors)


def read(folder: Path) -> Saved:
    """Read the state that `save` wrote; a ValueError if it is missing or damaged."""
    tensors = checkpoint.read_tensors(folder / FILE)
    try:
        values = json.loads(tensors.pop(JSON).numpy().tobytes())
        return Saved(folder, values, values.pop("tokenizer"), tensors)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(folder, error) from None


def _optimizer_state(
    model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]
) -> Iterator[tuple[torch.optim.Optimizer, nn.Parameter, str, str]]:
    """The tensors that optimisers have of parameters: optimiser, parameter, key, and the tensor's name in the file."""
    names = {parameter: name for name, parameter in model.named_parameters()}
    for optimizer in optimizers:
        prefix, keys = REMEMBERED.get(type(optimizer), ("", ()))
        for parameter in (parameter for group in optimizer.param_groups for parameter in group["params"]):
            yield from ((optimizer, parameter, key, f"{prefix}.{key}.{names[parameter]}") for key in keys)


def restore(
    saved: Saved, run: RunConfig, n_processes: int, model: nn.Module, optimizers: Sequence[torch.optim.Optimizer]
) -> tuple[Progress, list[dict[str, Tensor]]]:
    """Set weights, the optimisers' state and the random state; return the progress and the snapshots.

    A ValueError if the state is damaged or incomplete, or if the run began with values that may not change.
    """
    progress = _progress(saved, run, n_processes)
    path = saved.folder / FILE
    tensors = saved.tensors
    count = len({name.split(".")[1] for name in tensors if name.startswith("snapshot.")})
    optimizer_state = list(_optimizer_state(model, optimizers)) if progress.step else []
    # Adam counts its steps in a tensor, where the fused kernel runs.
    shapes = {name: torch.Size() if key == "step" else value.shape for _, value, key, name in optimizer_state}
    for name, value in model.named_parameters():
        shapes |= dict.fromkeys([f"model.{name}", *(f"snapshot.{i}.{name}" for i in range(count))], value.shape)
    for name, shape in (shapes | {"random.cpu": None}).items():
        _check(path, name, tensors.get(name), shape, progress.step)
    checkpoint.load_parameters(model, _under("model.", tensors))
    for optimizer, parameter, key, name in optimizer_state:
        optimizer.state[parameter][key] = tensors[name].to(parameter.device)
    try:
        torch.set_rng_state(tensors["random.cpu"])
        if "random.cuda" in tensors and next(model.parameters()).device.type == "cuda":
            torch.cuda.set_rng_state(tensors["random.cuda"])
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"{path} is damaged: the state of the random numbers is none ({error})") from None
    return progress, [_under(f"snapshot.{i}.", tensors) for i in range(count)]


def _progress(saved: Saved, run: RunConfig, n_processes: int) -> Progress:
    # Of keys that are not there, the defaults.
    begun: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(TrainingConfig)}
    try:
        progress = Progress.from_dict(saved.values["progress"])
        model = read_model(saved.values["run"]["model"], default="transformer")
        begun |= dict(saved.values["run"]["training"])
        batches = saved.values.get("processes", 1) * begun["accumulate"]
        if type(batches) is not int:
            raise ValueError(f"{batches!r} is not a number of batches")
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged(saved.folder, error) from None
    out = saved.folder.parent
    if model != run.model:
        raise ValueError(f"{out} holds a run of a model of other sizes: resume it with the configuration it began with")
    same = {name: now for name, now in vars(run.training).items() if name not in (*MAY_DIFFER, "accumulate")}
    at_once = "accumulate times the number of processes"
    same[at_once] = run.training.accumulate * n_processes
    begun[at_once] = batches
    for name, now in same.items():
        before = tuple(begun[name]) if isinstance(begun[name], list) else begun[name]
        if before != now:
            raise ValueError(
                f"{out} holds a run that began with {name} {before!r}, which cannot become {now!r}: "
                f"resume it with what it began with, where only these may differ: {', '.join(MAY_DIFFER)}"
            )
    return progress


def _check(path: Path, name: str, tensor: Tensor | None, shape: torch.Size | None, step: int) -> None:
    if tensor is None:
        raise ValueError(f"{path} is damaged: the tensor {name} is missing")
    wrong = ""
    if shape is not None and (tensor.shape != shape or not tensor.is_floating_point()):
        wrong = f"is not of {tuple(shape)} floating-point numbers"
    elif shape is not None and not torch.isfinite(tensor).all():
        wrong = "holds numbers that are not finite"
    if wrong:
        raise ValueError(f"{path} is damaged: the tensor {name} {wrong}")
    if name.startswith("adam.step.") and int(tensor) != step:
        raise ValueError(f"{path} is of step {int(tensor)}, but its progress of step {step}")


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def make_folder(folder: Path) -> None:
    """Make a folder; a ValueError if it cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(f"the folder {folder} cannot be written to: {error}") from None


def append(folder: Path, entry: dict[str, Any]) -> None:
    """Add a line to the history of a run."""
    with (folder / HISTORY).open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def forget_after(folder: Path, step: int) -> None:
    """Drop damaged lines of the history, and those after a step: a run that was killed does those steps again."""
    path = folder / HISTORY
    if path.is_file():
        lines = [line for line in checkpoint.read_text(path).splitlines() if 0 <= _step_of(line) <= step]
        checkpoint.write_text(path, "".join(line + "\n" for line in lines))


def _step_of(line: str) -> int:
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return -1
