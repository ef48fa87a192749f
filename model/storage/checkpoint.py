"""A checkpoint is a folder: config.json, model.safetensors, tokenizer.json, card.json. Nothing in it can run code.

Every tensor's name, shape and type is checked before its data is read. manifest.json has the SHA-256 of these four: a
file that was damaged, mixed up or changed is not loaded.
"""

import hashlib
import json
import os
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

from model.config import Config, GruConfig, LanguageModelConfig, TransformerConfig, read_model
from model.gru import GruModel
from model.language_model import LanguageModel
from model.storage import installation
from model.text.words import AnyTokenizer, read_tokenizer
from model.transformer import Transformer

CONFIG = "config.json"
WEIGHTS = "model.safetensors"
TOKENIZER = "tokenizer.json"
CARD = "card.json"
MANIFEST = "manifest.json"
LISTED = (CARD, CONFIG, WEIGHTS, TOKENIZER)  # what a manifest has
MAX_TEXT = 50_000_000  # bytes of a text file; the largest tokenizers that are read have 5 million
MAX_SMALL = 1_000_000  # bytes of a configuration, a card or a manifest
MAX_HEADER = 5_000_000  # bytes that say what is in a file of tensors; a model of 200 layers has 300,000
MAX_DIGITS = 300  # of a whole number: longer ones are not floats
WEIGHT_TYPES = ("F16", "BF16", "F32", "F64")

_MODELS = {TransformerConfig: Transformer, GruConfig: GruModel, LanguageModelConfig: LanguageModel}
TRANSFORMER, GRU_ATTENTION, GRU = SYSTEMS = ("transformer", "gru-attention", "gru")
Direction = tuple[str, str]
AnyModel = Transformer | GruModel | LanguageModel


@dataclass(frozen=True)
class Checkpoint:
    """A loaded folder: the model in evaluation mode and float32; the card says where it comes from."""

    folder: Path
    model: AnyModel
    tokenizer: AnyTokenizer
    card: dict[str, Any]


def build(config: Config) -> AnyModel:
    """A network with random weights."""
    return _MODELS[type(config)](config)


def save(
    folder: Path,
    model: AnyModel,
    tokenizer: AnyTokenizer,
    card: dict[str, Any],
    weight_type: torch.dtype = torch.float16,
) -> None:
    """Write a checkpoint folder; weights are rounded to weight_type, tensors with a number too large for it are not.

    If a weight is not finite, a ValueError says so, and nothing is written.
    """
    weights = {}
    for name, value in model.named_parameters():
        rounded = value.detach().to(weight_type)
        weights[name] = rounded if rounded.isfinite().all() else value
    _check_numbers(folder / WEIGHTS, {name: bool(value.isfinite().all()) for name, value in weights.items()})
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)  # an interruption leaves none rather than a wrong one
    write_json(folder / CONFIG, model.config.to_dict())
    write_text(folder / TOKENIZER, tokenizer.to_json())
    write_json(folder / CARD, card)
    write_tensors(folder / WEIGHTS, weights)
    seal(folder)


def seal(folder: Path) -> dict[str, str]:
    """Write the manifest of a folder's files (a ValueError if one is missing), and return their SHA-256."""
    _check_links(folder)
    hashes = {name: sha256_of(folder / name) for name in LISTED}
    write_json(folder / MANIFEST, {"sha256": hashes})
    return hashes


def _check_links(folder: Path) -> None:
    """Refuse links that lead out: a checkpoint that is handed on must not point at its reader's files."""
    for name in (*LISTED, MANIFEST):
        if (folder / name).resolve().parent != folder.resolve():
            raise ValueError(f"{folder / name} is a link that leads out of its folder: put the file itself there")


def verify(folder: Path) -> None:
    """Compare a folder with its manifest, if it has one; a ValueError if they differ."""
    path = folder / MANIFEST
    if not path.exists():
        return
    listed = read_json(path, MAX_SMALL).get("sha256")
    if not isinstance(listed, dict) or sorted(listed) != sorted(LISTED):
        raise ValueError(f'{path} must have, under "sha256", one entry for each of {", ".join(LISTED)}, and no other')
    for name, expected in listed.items():
        actual = sha256_of(folder / name)
        if actual != expected:
            raise ValueError(
                f"{folder / name} is not the file that {MANIFEST} lists: its SHA-256 is {actual[:12]}…, "
                f"not {str(expected)[:12]}…. Fetch the checkpoint again, or, if you changed it yourself, run "
                f"python -m model seal {folder}"
            )


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal; errors as in `check_file`."""
    with check_file(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep_scores(folder: Path, card: dict[str, Any], name: str, scores: dict[str, Any]) -> None:
    """Write the scores of a test set on a checkpoint's card, which is changed."""
    card.setdefault("scores", {})[name] = scores
    write_json(folder / CARD, card)
    if (folder / MANIFEST).exists():
        seal(folder)


def load(folder: Path) -> Checkpoint:
    """Read a checkpoint folder; a ValueError says what is missing, malformed or does not fit together."""
    _check_links(folder)
    config = _named(folder / CONFIG, read_model, read_json(folder / CONFIG, MAX_SMALL))
    card = read_json(folder / CARD, MAX_SMALL)
    tokenizer = _named(folder / TOKENIZER, read_tokenizer, read_text(folder / TOKENIZER))
    for side, size in zip((tokenizer.source, tokenizer.target), config.vocab_sizes):
        if len(side) != size:
            raise ValueError(f"{folder}: the tokenizer has {len(side)} tokens, the configuration {size}")
    _named(folder / CONFIG, type(config).check_loadable, config)
    with NoRandomNumbers():
        model = build(config)
    tensors = read_tensors(folder / WEIGHTS, {name: tuple(value.shape) for name, value in model.named_parameters()})
    verify(folder)
    load_parameters(model, tensors)
    model.requires_grad_(False)
    return Checkpoint(folder, model.eval(), tokenizer, card)


class NoRandomNumbers(TorchFunctionMode):
    """In this block modules leave their parameters unset, for those that are set afterwards.

    Drawing them took half the time of loading; the meta device draws nothing, but makes torch import its compiler.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (Tensor.normal_, Tensor.uniform_):
            return args[0]
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))


def load_parameters(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Copy tensors into the parameters of the same names, in the model's own type."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensors[name])


def read_tensors(path: Path, expected: dict[str, tuple[int, ...]] | None = None) -> dict[str, Tensor]:
    """Read a safetensors file by name, checking its header before its data.

    Where shapes are expected, exactly those tensors must be in it, with finite numbers; else a ValueError.
    """
    with check_file(path).open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
    if length > min(MAX_HEADER, path.stat().st_size - 8):  # more than the file has, or than any model needs
        raise ValueError(f"{path} is not a whole safetensors file: its header would have {length:,} bytes")
    try:
        with safe_open(path, framework="pt") as file:
            if expected is not None:
                slices = {name: file.get_slice(name) for name in file.keys()}
                _check_shapes(path, {name: tuple(part.get_shape()) for name, part in slices.items()}, expected)
                _check_numbers(path, {name: part.get_dtype() in WEIGHT_TYPES for name, part in slices.items()})
            tensors = {name: file.get_tensor(name) for name in file.keys()}
    except SafetensorError as error:
        raise ValueError(f"{path} is not a whole safetensors file: {error}") from None
    if expected is not None:
        _check_numbers(path, {name: bool(torch.isfinite(tensor).all()) for name, tensor in tensors.items()})
    return tensors


def _check_numbers(path: Path, good: dict[str, bool]) -> None:
    for name, is_good in good.items():
        if not is_good:
            raise ValueError(f"{path}: the tensor {name} must hold finite floating-point numbers only")


def _check_shapes(path: Path, shapes: dict[str, tuple[int, ...]], expected: dict[str, tuple[int, ...]]) -> None:
    for name, shape in expected.items():
        if shapes.get(name) != shape:
            wrong = f"has shape {shapes[name]}, the configuration says {shape}" if name in shapes else "is missing"
            raise ValueError(f"{path}: the tensor {name} {wrong}")
    if extra := sorted(set(shapes) - set(expected)):
        raise ValueError(f"{path}: the tensor {extra[0]} does not belong to this model")


def write_tensors(path: Path, tensors: dict[str, Tensor]) -> None:
    """Write a safetensors file; an interruption, or a full disk (OSError), leaves the old one whole."""
    with replacing(path) as part:
        try:
            save_file({name: value.detach().contiguous().cpu() for name, value in tensors.items()}, part)
        except SafetensorError as error:
            raise OSError(f"{path} cannot be written: {error}") from None


def check_file(path: Path, limit: int | None = None) -> Path:
    """The path; a ValueError if it is not a plain file or has more bytes than `limit`."""
    if not path.is_file():
        why = "it is not a file" if path.exists() else "it does not exist"
        raise ValueError(f"the file {path} cannot be read: {why}")
    if limit is not None and path.stat().st_size > limit:
        raise ValueError(f"{path} has {path.stat().st_size:,} bytes; at most {limit:,} are read")
    return path


def read_text(path: Path, limit: int = MAX_TEXT) -> str:
    """Read a UTF-8 file; a ValueError names one that is not."""
    try:
        return check_file(path, limit).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"the file {path} cannot be read: {error}") from None


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file, whole or not at all."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to; it takes its place when the block ends, with the mode of any new file."""
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
    """Read a JSON object; a ValueError names a file that is none."""
    text = read_text(path, limit)
    try:
        values = json.loads(text, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold a JSON object, got {type(values).__name__}")
    return values


def _whole(digits: str) -> int:
    """A whole number that also fits a float: so whoever computes with it gets a number or infinity."""
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number has {len(digits)} digits; at most {MAX_DIGITS} are read")
    return int(digits)


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    write_text(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")


def _named(path: Path, build, values):
    try:
        return build(values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def checkpoints_folder() -> Path:
    """Where checkpoints are looked for by name: $HEADLIGHT_CHECKPOINTS, or the project's checkpoints/."""
    return Path(os.environ.get("HEADLIGHT_CHECKPOINTS") or installation.root() / "checkpoints")


def available(architecture: str | None = None) -> list[str]:
    """The names of the checkpoints in that folder: all, or those of an architecture and those that name none."""
    folders = sorted(path.parent for path in checkpoints_folder().glob(f"*/{CONFIG}"))
    return [path.name for path in folders if architecture is None or _architecture(path) in (architecture, None)]


def _architecture(folder: Path) -> str | None:
    try:
        return read_json(folder / CONFIG).get("architecture")
    except ValueError:
        return None


def by_direction() -> tuple[dict[Direction, list[str]], list[str]]:
    """The names of translators by source and target language, and a sentence for each card that cannot be read."""
    names: dict[Direction, list[str]] = {}
    problems = []
    for name in available():
        folder = checkpoints_folder() / name
        try:
            if read_json(folder / CONFIG).get("architecture") == "language_model":
                continue
            card = read_json(folder / CARD)
            source, target = card.get("source"), card.get("target")
            if not (isinstance(source, str) and source and isinstance(target, str) and target):
                raise ValueError(f'{folder / CARD} must name two languages, "source" and "target"')
        except ValueError as error:
            problems.append(str(error))
        else:
            names.setdefault((source, target), []).append(name)
    return dict(sorted(names.items())), problems


def system_of(config: object) -> str:
    """Which of SYSTEMS a translator is."""
    if not isinstance(config, GruConfig):
        return TRANSFORMER
    return GRU_ATTENTION if config.attention else GRU
