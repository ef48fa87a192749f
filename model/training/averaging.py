"""The mean of the weights of checkpoints, for runs that share a beginning (Wortsman et al. 2022, model soups)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import torch

from model import checkpoint
from model.training.history import HISTORY


def average(folders: Sequence[Path], out: Path, command: str) -> None:
    """Write a checkpoint with the mean weights of others; card and history are those of the last.

    Raises:
        ValueError: if there are fewer than two, one cannot be loaded, they do not fit together, or `out` is not empty.
    """
    if len(folders) < 2:
        raise ValueError(f"a mean is of two checkpoints or more, got {len(folders)}")
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is not empty: name a new folder")
    *others, last = loaded = [checkpoint.load(folder) for folder in folders]
    for one in others:
        if one.model.config != last.model.config:
            raise ValueError(f"{one.folder} and {last.folder} have different configurations")
        if one.tokenizer.to_json() != last.tokenizer.to_json():
            raise ValueError(f"{one.folder} and {last.folder} have different tokenizers")
    checkpoint.load_parameters(last.model, mean([dict(one.model.named_parameters()) for one in loaded]))
    parts = [
        {key: one.card[key] for key in ("command", "steps", "training_tokens", "training_hours") if key in one.card}
        | {"weights": checkpoint.sha256_of(one.folder / checkpoint.WEIGHTS)}
        for one in loaded
    ]
    kept = {key: value for key, value in last.card.items() if key != "scores"}  # they were of other weights
    checkpoint.save(out, last.model, last.tokenizer, kept | {"average_command": command, "mean_of": parts})
    if (last.folder / HISTORY).is_file():
        shutil.copyfile(last.folder / HISTORY, out / HISTORY)


def mean(weights: Sequence[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    return {name: torch.stack([one[name].detach() for one in weights]).mean(0) for name in weights[0]}
