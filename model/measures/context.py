"""How a language model reads more text than it read at once in training, and the size of its cache.

Positions beyond the trained length were never seen: a table of them goes on by its formula, rotary angles and biases go
on by theirs. Press et al. 2022 measure the same ("Train Short, Test Long").
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from model.language_model import LanguageModel
from model.measures import reports
from model.running.translator import Writer
from model.storage.checkpoint import WEIGHTS, load_parameters, sha256_of

FILE = "context.json"  # beside a checkpoint's weights
TIMES = (1, 2, 4)  # the trained length
BINS = 16  # of positions, in which losses are averaged, per trained length
_BATCH = 2048  # tokens at a time
_EVERY = 15.0  # seconds between two reports of how far it is


def trained_length(writer: Writer) -> int:
    """How many tokens the model read at once in training."""
    return writer.card.get("training", {}).get("window", writer.config.max_length)


def with_positions(model: LanguageModel, length: int) -> LanguageModel:
    """The model with positions for `length` tokens; a ValueError where positions are learned one by one."""
    if model.config.positional == "learned" and length > model.config.max_length:
        raise ValueError(f"learned positions end at {model.config.max_length}: there is none for {length} tokens")
    longer = LanguageModel(replace(model.config, max_length=length))
    load_parameters(longer, dict(model.named_parameters()))
    return longer.to(next(model.parameters()).dtype).requires_grad_(False).eval()


@torch.inference_mode()
def loss_by_position(
    model: LanguageModel, ids: Tensor, first: int, length: int, say: Callable[[str], None] = lambda text: None
) -> np.ndarray:
    """The mean loss in nats at every position of windows of `length` tokens, float64 (length,).

    ids (N,) are cut into windows that do not overlap, a rest is dropped; `first` is read before them. `say` is called
    with the progress from time to time. A ValueError if there is no whole window.
    """
    n_windows = len(ids) // length
    if not n_windows:
        raise ValueError(f"the text has {len(ids)} tokens, and a window {length}")
    longer = with_positions(model, length)
    inputs = torch.cat([torch.tensor([first]), ids[:-1]])[: n_windows * length].view(n_windows, length)
    targets = ids[: n_windows * length].view(n_windows, length)
    total = np.zeros(length)
    rows = max(1, _BATCH // length)
    reported = time.monotonic()
    for start in range(0, n_windows, rows):
        total += longer.losses(inputs[start : start + rows], targets[start : start + rows]).sum(0).double().numpy()
        if time.monotonic() - reported > _EVERY:
            reported = time.monotonic()
            say(f"{length} tokens at once: {min(start + rows, n_windows)} of {n_windows} windows")
    return total / n_windows


def measure(writer: Writer, lines: Sequence[str], say: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """The loss by position at the trained length, twice and four times that; `say` is called with the progress.

    Returns:
        "weights" (SHA-256 of the file), "trained" (tokens), "tokens" of the text, and "lengths": for each its
        "length", "windows" (how many were read), "perplexity" of all positions, and "loss", the mean of each of
        equally many bins of positions.
    """
    ids = torch.tensor(writer.tokenizer.line_ids(list(lines)))
    trained = trained_length(writer)
    lengths = []
    for times in TIMES:
        length = times * trained
        losses = loss_by_position(writer.model, ids, writer.tokenizer.eos_id, length, say)
        n_bins = min(times * BINS, length)
        bins = [round(float(part.mean()), 4) for part in np.array_split(losses, n_bins)]
        perplexity = round(float(np.exp(losses.mean())), 2)
        lengths.append({"length": length, "windows": len(ids) // length, "perplexity": perplexity, "loss": bins})
        say(f"{length} tokens at once: perplexity {perplexity}")
    return {
        "weights": sha256_of(writer.folder / WEIGHTS),
        "trained": trained,
        "tokens": len(ids),
        "lengths": lengths,
    }


def read(folder: Path) -> dict[str, Any] | None:
    """The result of `measure` in a checkpoint's folder, or None; errors as `reports.read`."""
    return reports.read(folder / FILE, "context --save")


def cache_bytes(n_layers: int, n_groups: int, d_head: int, n_tokens: int, bytes_per_number: int = 4) -> int:
    """The bytes of keys and values of a text: 2 * layers * key/value heads * d_head * tokens numbers.

    Example:
        >>> cache_bytes(n_layers=3, n_groups=2, d_head=64, n_tokens=100)
        307200
    """
    return 2 * n_layers * n_groups * d_head * n_tokens * bytes_per_number


@torch.inference_mode()
def seconds_per_token(model: LanguageModel, ids: Tensor, uses_cache: bool) -> list[float]:
    """How long each step takes that reads the next of ids (T,), T at most the positions, with the cache or without."""
    state = model.start(ids[None, :0], uses_cache=uses_cache)
    seconds = []
    for index in ids:
        begun = time.perf_counter()
        model.step(state, index[None])
        seconds.append(time.perf_counter() - begun)
    return seconds
