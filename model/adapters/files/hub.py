"""Models of others as files in a folder: one on this machine, or fetched from the Hugging Face hub."""

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from model.adapters.files.inspection import WEIGHTS, Size, local_size
from model.config import MAX_LAYERS
from model.storage import checkpoint
from model.text.errors import Problem

CONFIG = "config.json"
ROOT = Path(__file__).parents[2]
EVERY = 0.2  # seconds between two calls of `progress`
STOPPING = 10.0  # seconds in which a download takes back what it has put on the disk
SLACK = 1_000_000  # numbers that a model may have beside those of its files: tables that are computed, shared ones
# While transformers makes a network, it changes how all threads make theirs: of two at once one misses tied tensors.
_LOADING = threading.Lock()
_LAYER = re.compile(r"(?:encoder\.|decoder\.)?(?:layers?|h|block)\.\d+\.")  # in the names of tensors

Progress = Callable[[int, int], object]  # called with the bytes that have arrived, and of how many


class MissingOutput(ValueError):
    """Weights that lack tensors of the layers after the bare stack, in whose place there would be random numbers."""


def fetch(name: str, revision: str | None = None, progress: Progress | None = None) -> Path:
    """The folder of that name on this machine, or with a model of the hub, fetched into the cache of its own library.

    Args:
        name: of a folder, or of a model on the Hugging Face hub (of the server HF_ENDPOINT), with "@" and a revision
            behind it or without.
        revision: a branch or a commit on the hub.
        progress: called a few times per second while something is fetched. Whatever it raises stops the download, and
            is raised here.

    Raises:
        ValueError: in one sentence why there is nothing. What was fetched of it has been deleted again.
    """
    if not str(name).strip():
        raise Problem(
            "name a model on the hub, or name a folder on this machine that holds {config} and {weights}",
            config=CONFIG,
            weights=WEIGHTS,
        )
    if Path(name).is_dir():
        return Path(name)
    if revision is None:
        name, _, revision = str(name).partition("@")
    command = [sys.executable, "-m", "model.adapters.files.download", str(name), *([revision] if revision else [])]
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": paths},
    )
    try:
        answer = _listen(process, progress or (lambda done, total: None))
    finally:
        _stop(process)
    if "folder" not in answer:
        if "problem" in answer:
            raise Problem.of(answer["problem"], answer["values"])
        raise Problem("the download of {name!r} ended without an answer: try again", name=name)
    return Path(answer["folder"])


def _listen(process: subprocess.Popen, progress: Progress) -> dict[str, Any]:
    """The last line of a download, whose other lines are passed on; also when nothing comes, so that one can stop."""
    lines: queue.Queue[str | None] = queue.Queue()
    output = process.stdout
    assert output is not None  # a pipe

    def read() -> None:
        for line in output:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    last: dict[str, Any] = {}
    done, total = 0, 0
    while True:
        try:
            line = lines.get(timeout=EVERY)
        except queue.Empty:
            progress(done, total)
            continue
        if line is None:
            return last
        last = json.loads(line)
        if "done" in last:
            done, total = last["done"], last["total"]
            progress(done, total)


def _stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(STOPPING)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def load_network(folder: Path, name: str, values: dict[str, Any], dtype: Any = torch.float32, **kwargs: Any) -> Any:
    """Read a network with its own library: safetensors only, never anybody's code.

    Args:
        folder: with the weights.
        name: of a class of transformers, given by us and not by a file.
        values: the fields of its configuration.
        dtype: of the parameters; "auto": as they are stored.
        kwargs: more arguments of the class.
    """
    import transformers
    from transformers.utils import logging

    _check_values(folder / CONFIG, values)
    size = local_size(folder)
    size.check(str(folder))
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    network = getattr(transformers, name)
    try:
        with _LOADING:
            model, keys = network.from_pretrained(
                folder,
                config=_configuration(network, values, size),
                attn_implementation="eager",  # the only kind that hands out its maps
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                dtype=dtype,
                output_loading_info=True,
                **kwargs,
            )
    except Exception as error:  # whatever the libraries raise for damaged files
        raise ValueError(f"{folder / WEIGHTS} cannot be read: {reason(error)}") from None
    missing = [name for name in sorted(keys["missing_keys"]) if "pooler." not in name]  # which no attention comes after
    if missing:
        message = f"{folder / WEIGHTS}: the tensor {missing[0]} is missing"
        stack = f"{network.base_model_prefix}."
        raise ValueError(message) if any(name.startswith(stack) for name in missing) else MissingOutput(message)
    layers = {place for tensor in model.state_dict() for place in _LAYER.findall(tensor)}
    for tensor in sorted(keys["unexpected_keys"]):
        if any(place not in layers for place in _LAYER.findall(tensor)):
            raise ValueError(f"{folder / WEIGHTS}: the tensor {tensor} belongs to no layer of {CONFIG}")
    if not all(_is_finite(value) for value in (*model.parameters(), *model.buffers())):
        raise ValueError(f"{folder / WEIGHTS}: the tensors must hold finite numbers only")
    return model.eval()


@torch.inference_mode()
def _is_finite(values: torch.Tensor) -> bool:
    if not values.is_floating_point() or not values.numel():
        return True
    return bool(torch.stack(values.aminmax()).isfinite().all())  # both are NaN where one value is


def _check_values(path: Path, values: dict[str, Any]) -> None:
    if "quantization_config" in values:
        raise Problem("{path}: quantized models cannot be looked at", path=path)
    for key, value in values.items():
        if "layer" in key and type(value) is int and value > MAX_LAYERS:
            raise ValueError(f"{path}: {key} is {value:,}; at most {MAX_LAYERS} layers can be loaded")
        if "head" in key and type(value) is int and value < 0:  # which fails only when the model runs
            raise ValueError(f"{path}: {key} is {value}; it cannot be negative")


def _configuration(network: Any, values: dict[str, Any], size: Size) -> Any:
    """The configuration of these values; a ValueError if it asks for far more numbers than the files hold."""
    config = network.config_class.from_dict(dict(values))
    with torch.device("meta"), checkpoint.NoRandomNumbers():
        empty = network(config)
    count = sum(part.numel() for part in (*empty.parameters(), *empty.buffers()))
    if count > 2 * size.stored + SLACK:
        raise ValueError(f"the sizes ask for {count:,} numbers, and {WEIGHTS} has {size.stored:,} bytes")
    return config


def reason(error: Exception) -> str:
    """What a library complains of, as one line."""
    if "ignore_mismatched_sizes" in str(error):
        return f"a tensor of {WEIGHTS} has another shape than {CONFIG} says"
    if isinstance(error, KeyError):  # whose text is the key only
        return f"{CONFIG} names {error}, which the library does not know"
    first, *rest = str(error).splitlines() or [type(error).__name__]
    return f"{first} {rest[0].strip()}" if first.endswith(":") and rest else first
