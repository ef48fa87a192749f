"""The mean of the weights of checkpoints, for runs that share a beginning (Wortsman et al. 2022, model soups)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import torch

from model import checkpoint
from model.training.history import HISTORY


def average(folders: Sequence[Path], out: Path, command: str) -> None:
    """Write a checkpoint whose weights are the mean of those of others.

    Args:
        folders: checkpoints of equal configuration and tokenizer, the one whose card and history are kept last.
        out: the new checkpoint's folder.
        command: how this was called, for the card, which also lists what went into the mean.

    Raises:
        ValueError: if there are fewer than two, one cannot be loaded, they do not fit together, or `out` is not empty.
    """
    if len(folders) < 2:
        raise ValueError(f"a mean is of two checkpoints or more, got {len(folders)}")
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is not empty: name a new folder")
    loaded = [checkpoint.load(folder) for folder in folders]
    last = loaded[-1]
    for one in loaded[:-1]:
        if one.model.config != last.model.config:
            raise ValueError(f"{one.folder} and {last.folder} have different configurations")
        if one.tokenizer.to_json() != last.tokenizer.to_json():
            raise ValueError(f"{one.folder} and {last.folder} have different tokenizers")
    sources = [dict(one.model.named_parameters()) for one in loaded]
    with torch.no_grad():
        for name, parameter in last.model.named_parameters():
            parameter.copy_(torch.stack([source[name] for source in sources]).mean(0))
    parts = [
        {key: one.card[key] for key in ("command", "steps", "training_tokens", "training_hours") if key in one.card}
        | {"weights": checkpoint.sha256_of(folder / checkpoint.WEIGHTS)}
        for folder, one in zip(folders, loaded, strict=True)
    ]
    kept = {key: value for key, value in last.card.items() if key != "scores"}  # they were of other weights
    checkpoint.save(out, last.model, last.tokenizer, kept | {"average_command": command, "mean_of": parts})
    if (folders[-1] / HISTORY).is_file():
        shutil.copyfile(folders[-1] / HISTORY, out / HISTORY)
