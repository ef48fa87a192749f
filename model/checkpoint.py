"""A checkpoint is a folder: config.json, model.safetensors, tokenizer.json, card.json. JSON and safetensors only.

Nothing in it can run code, and every tensor's name, shape and type is checked before its data is read. A fifth file,
manifest.json, has the SHA-256 of these four: a file that was damaged, mixed up or changed is not loaded. It says
nothing about who made them: whoever can change a file can change the manifest too.
"""

from __future__ import annotations

import hashlib
import json
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from model import architectures
from model.text.words import AnyTokenizer, read_tokenizer

CONFIG, WEIGHTS, TOKENIZER, CARD = "config.json", "model.safetensors", "tokenizer.json", "card.json"
MANIFEST = "manifest.json"
LISTED = (CARD, CONFIG, WEIGHTS, TOKENIZER)  # what a manifest has
MAX_TEXT = 50_000_000  # bytes of a text file; the largest tokenizers that are read have 5 million
MAX_SMALL = 1_000_000  # bytes of a configuration, a card or a manifest
MAX_HEADER = 5_000_000  # bytes that say what is in a file of tensors; a model of 200 layers has 300,000
MAX_DIGITS = 300  # of a whole number: longer ones are not floats
WEIGHT_TYPES = ("F16", "BF16", "F32", "F64")


@dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint folder.

    Attributes:
        folder: where it was read from.
        model: in evaluation mode, float32.
        tokenizer: the one it was trained with.
        card: where it comes from: data, licences, command, steps, scores.
    """

    folder: Path
    model: nn.Module
    tokenizer: AnyTokenizer
    card: dict[str, Any]


def save(
    folder: Path,
    model: nn.Module,
    tokenizer: AnyTokenizer,
    card: dict[str, Any],
    weight_type: torch.dtype = torch.float16,
) -> None:
    """Write a checkpoint folder.

    Args:
        folder: made if it does not exist.
        model: its parameters are written once each, shared ones too.
        tokenizer: the one the model was trained with.
        card: anything JSON about where it comes from.
        weight_type: of floating-point numbers, that the weights are rounded to; a tensor with a number that is too
            large for it keeps its own.

    Raises:
        ValueError: if a weight is not finite; nothing is written.
    """
    weights = {}
    for name, value in model.named_parameters():
        rounded = value.detach().to(weight_type)
        weights[name] = rounded if rounded.isfinite().all() else value
    _check_numbers(folder / WEIGHTS, {name: bool(value.isfinite().all()) for name, value in weights.items()})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)  # an interruption leaves none rather than a wrong one
    write_json(folder / CONFIG, architectures.to_dict(model.config))
    write_text(folder / TOKENIZER, tokenizer.to_json())
    write_json(folder / CARD, card)
    write_tensors(folder / WEIGHTS, weights)
    seal(folder)


def seal(folder: Path) -> dict[str, str]:
    """Write the manifest of a checkpoint folder, from its files as they are.

    Returns:
        The SHA-256 of each file by its name, in hexadecimal.

    Raises:
        ValueError: if one of the files is missing.
    """
    _check_links(folder)
    found = {name: sha256_of(folder / name) for name in LISTED}
    write_json(folder / MANIFEST, {"sha256": found})
    return found


def _check_links(folder: Path) -> None:
    """Refuse files that are links to somewhere else: a checkpoint that is handed on must not point at its reader's."""
    for name in (*LISTED, MANIFEST):
        if (folder / name).resolve().parent != folder.resolve():
            raise ValueError(f"{folder / name} is a link that leads out of its folder: put the file itself there")


def verify(folder: Path) -> None:
    """Compare a checkpoint folder with its manifest; a folder without one, as older ones are, cannot be compared.

    Raises:
        ValueError: if the manifest is malformed, or a file is another one; the message says what to do.
    """
    path = folder / MANIFEST
    if not path.exists():
        return
    listed = read_json(path, MAX_SMALL).get("sha256")
    if not isinstance(listed, dict) or sorted(listed) != sorted(LISTED):
        raise ValueError(f'{path} must have, under "sha256", one entry for each of {", ".join(LISTED)}, and no other')
    for name, expected in listed.items():
        found = sha256_of(folder / name)
        if found != expected:
            raise ValueError(
                f"{folder / name} is not the file that {MANIFEST} lists: its SHA-256 is {found[:12]}…, "
                f"not {str(expected)[:12]}…. Fetch the checkpoint again, or, if you changed it yourself, run "
                f"python -m model seal {folder}"
            )


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal, as `sha256sum` prints it."""
    with check_file(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep_scores(folder: Path, card: dict[str, Any], name: str, scores: dict[str, Any]) -> None:
    """Write scores on a checkpoint's card.

    Args:
        folder: the checkpoint's.
        card: what it holds; it is changed.
        name: of the test set.
        scores: as measured by `model.measures.evaluate`.
    """
    card.setdefault("scores", {})[name] = scores
    write_json(folder / CARD, card)
    if (folder / MANIFEST).exists():
        seal(folder)


def load(folder: Path) -> Checkpoint:
    """Read a checkpoint folder.

    Args:
        folder: as written by `save`.

    Returns:
        The checkpoint, with its model in evaluation mode and in float32.

    Raises:
        ValueError: if anything in it is missing, malformed or does not fit together; the message says what.
    """
    _check_links(folder)
    config = _named(folder / CONFIG, architectures.from_dict, read_json(folder / CONFIG, MAX_SMALL))
    card = read_json(folder / CARD, MAX_SMALL)
    tokenizer = _named(folder / TOKENIZER, read_tokenizer, read_text(folder / TOKENIZER))
    for side, size in zip((tokenizer.source, tokenizer.target), config.vocab_sizes):
        if len(side) != size:
            raise ValueError(f"{folder}: the tokenizer has {len(side)} tokens, the configuration {size}")
    _named(folder / CONFIG, type(config).check_loadable, config)
    with NoRandomNumbers():
        model = architectures.build(config)
    tensors = read_tensors(folder / WEIGHTS, {name: tuple(value.shape) for name, value in model.named_parameters()})
    verify(folder)
    load_parameters(model, tensors)
    model.requires_grad_(False)
    return Checkpoint(folder, model.eval(), tokenizer, card)


class NoRandomNumbers(TorchFunctionMode):
    """While the block runs, modules are made with parameters that nobody has set: for those that are set afterwards.

    Drawing them took half the time of loading, and from the one generator that all threads share. On the meta device
    there are no numbers to draw, and to find that out torch imports its compiler: over a second.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (Tensor.normal_, Tensor.uniform_):
            return args[0]
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def load_parameters(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Copy tensors into a model's parameters of the same names, in the model's own type."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensors[name])


def read_tensors(path: Path, expected: dict[str, tuple[int, ...]] | None = None) -> dict[str, Tensor]:
    """Read a safetensors file, checking its header before its data.

    Args:
        path: the file.
        expected: name to shape of exactly the tensors that must be in it; anything goes when left out.

    Returns:
        Name to tensor.

    Raises:
        ValueError: if the file is missing or damaged, or a tensor is missing, unexpected, misshapen or not finite.
    """
    _check_header(path)
    try:
        with safe_open(path, framework="pt") as file:
            if expected is not None:
                found = {name: file.get_slice(name) for name in file.keys()}
                _check_shapes(path, {name: tuple(part.get_shape()) for name, part in found.items()}, expected)
                _check_numbers(path, {name: part.get_dtype() in WEIGHT_TYPES for name, part in found.items()})
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except SafetensorError as error:
        raise ValueError(f"{path} is not a whole safetensors file: {error}") from None
    if expected is not None:
        _check_numbers(path, {name: bool(torch.isfinite(tensor).all()) for name, tensor in tensors.items()})
    return tensors


def _check_header(path: Path) -> None:
    """Refuse a safetensors file whose first eight bytes announce more than it has, or more than any model needs."""
    with check_file(path).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > min(MAX_HEADER, path.stat().st_size - 8):
        raise ValueError(f"{path} is not a whole safetensors file: its header would have {length:,} bytes")


def _check_numbers(path: Path, good: dict[str, bool]) -> None:
    """Refuse the first tensor that is not good."""
    for name, is_good in good.items():
        if not is_good:
            raise ValueError(f"{path}: the tensor {name} must hold finite floating-point numbers only")


def _check_shapes(path: Path, shapes: dict[str, tuple[int, ...]], expected: dict[str, tuple[int, ...]]) -> None:
    for name, shape in expected.items():
        if name not in shapes:
            raise ValueError(f"{path}: the tensor {name} is missing")
        if shapes[name] != shape:
            raise ValueError(f"{path}: the tensor {name} has shape {shapes[name]}, the configuration says {shape}")
    extra = sorted(set(shapes) - set(expected))
    if extra:
        raise ValueError(f"{path}: the tensor {extra[0]} does not belong to this model")


def write_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write a safetensors file so that an interruption, or a full disk (OSError), leaves the old one whole."""
    with replacing(path) as part:
        try:
            save_file({name: value.detach().contiguous().cpu() for name, value in tensors.items()}, part)
        except SafetensorError as error:
            raise OSError(f"{path} cannot be written: {error}") from None


def check_file(path: Path, limit: int | None = None) -> Path:
    """Refuse what is not a plain file (a folder, a device, a pipe), and what is too large.

    Args:
        path: the file.
        limit: how many bytes it may have at most, if that matters.

    Returns:
        The path.

    Raises:
        ValueError: if there is no such file, or it is too large.
    """
    if not path.exists():
        raise ValueError(f"the file {path} cannot be read: it does not exist")
    if not path.is_file():
        raise ValueError(f"the file {path} cannot be read: it is not a file")
    if limit is not None and path.stat().st_size > limit:
        raise ValueError(f"{path} has {path.stat().st_size:,} bytes; at most {limit:,} are read")
    return path


def read_text(path: Path, limit: int = MAX_TEXT) -> str:
    """Read a UTF-8 file of at most `limit` bytes; a ValueError names it when it is missing, too large or not text."""
    try:
        return check_file(path, limit).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the file {path} cannot be read: {error}") from None


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file so that an interruption leaves the old one whole."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Lets a file be written beside `path`; it takes its place when the block ends, with the mode of any new file."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)  # what being killed left
    try:
        part.touch()
        mode = stat.S_IMODE(part.stat().st_mode)
        yield part
        part.chmod(mode)  # safetensors puts a file of its own there, which only its owner may read
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_json(path: Path, limit: int = MAX_TEXT) -> dict[str, Any]:
    """Read a JSON object of at most `limit` bytes; a ValueError names the file when it is none."""
    text = read_text(path, limit)
    try:
        values = json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold a JSON object, got {type(values).__name__}")
    return values


def _whole(digits: str) -> int:
    """A whole number of JSON that is a float, too: so whoever computes with it gets a number or infinity."""
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits; at most {MAX_DIGITS} are read")
    return int(digits)


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write a JSON object, readable for people."""
    write_text(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def _named(path: Path, build, values):
    """Run `build(values)`, putting the file's name before what it complains of."""
    try:
        return build(values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
