"""What a model's files say before they are read: whether it would run code, how large it is, whether memory allows it.

Imports little, because the program that downloads starts with it.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.text.errors import Problem

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
VOCABULARIES = (
    *("vocab.json", "merges.txt", "vocab.txt"),  # of BPE and WordPiece
    *("spiece.model", "tokenizer.model", "sentencepiece.bpe.model", "source.spm", "target.spm", "target_vocab.json"),
)
# Files that hold weights as Python objects, which can run code when they are read, or as another library's.
OTHER_WEIGHTS = (".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".pkl", ".gguf", ".onnx")
WORKING_SPACE = 1.2  # memory in use while a model reads a text, beside what its parameters take
FLOAT32 = 4  # bytes
GIGA = 1e9


@dataclass(frozen=True)
class Size:
    """How many parameters all files of a model hold, and how many bytes they take there."""

    parameters: int
    stored: int

    def fits(self) -> bool:
        """Whether the parameters, in float32, fit into the memory that is available now."""
        available = available_memory()
        return available is None or WORKING_SPACE * max(self.stored, FLOAT32 * self.parameters) <= available

    def check(self, name: str) -> None:
        """Refuse, in a ValueError, a model that does not fit even with its numbers as they are stored."""
        available = available_memory()
        needed = WORKING_SPACE * self.stored
        if available is not None and needed > available:
            raise Problem(
                "{name} has {parameters:,} parameters, which take about {needed:,.1f} GB of memory, and "
                "{available:,.1f} GB are available: choose a smaller model",
                name=name,
                parameters=self.parameters,
                needed=needed / GIGA,
                available=available / GIGA,
            )


def size_of(headers: Iterable[Any]) -> Size:
    """The size of a model, of the header of each of its files as `huggingface_hub` reads it."""
    tensors = [tensor for header in headers for tensor in header.tensors.values()]
    spans = [tensor.data_offsets for tensor in tensors]
    return Size(sum(tensor.parameter_count for tensor in tensors), sum(end - start for start, end in spans))


def local_size(folder: Path) -> Size:
    """The size of the model in a folder; a ValueError names a file that is missing or not whole."""
    from huggingface_hub import errors, parse_local_safetensors_file_metadata

    headers = []
    for path in weight_files(folder):
        try:
            header = parse_local_safetensors_file_metadata(path)
            begin = 8 + int.from_bytes(path.open("rb").read(8), "little")
            end = begin + max((tensor.data_offsets[1] for tensor in header.tensors.values()), default=0)
        except (errors.SafetensorsParsingError, OSError, TypeError, ValueError, AttributeError):
            raise ValueError(f"{path} cannot be read: it is not a whole safetensors file") from None
        if path.stat().st_size < end:
            raise ValueError(f"{path} cannot be read: it has {path.stat().st_size:,} bytes of {end:,}")
        headers.append(header)
    return size_of(headers)


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of the model in a folder; a ValueError says why there are none."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if not (folder / INDEX).is_file():
        other_files = sorted(path.name for path in folder.iterdir() if path.suffix in OTHER_WEIGHTS)
        raise no_weights(str(folder), other_files)
    paths = [folder / name for name in shards(folder / INDEX)]
    for path in paths:
        if not path.is_file():
            raise Problem("{folder} is not a whole model: {file} is missing", folder=folder, file=path.name)
    return paths


def shards(index: Path) -> list[str]:
    """The names of the files that an index lists."""
    try:
        names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        names = []
    if not names or not all(isinstance(name, str) and Path(name).name == name for name in names):
        raise ValueError(f"{index} cannot be read: it must list the files that hold each tensor")
    return names


def no_weights(name: str, other_files: list[str]) -> Problem:
    """Says that a model has no safetensors; `other_files` are those with weights of other kinds."""
    if not other_files:
        return Problem("{name} has no {file}: a model saved with save_pretrained has one", name=name, file=WEIGHTS)
    return Problem(
        "{name} has no {file}, and other files with weights ({other}) are not read, because they can run code: many "
        "models have theirs in a revision of the hub, named like NAME@refs/pr/1",
        name=name,
        file=WEIGHTS,
        other=other_files[0],
    )


def refuse_code(name: str, values: dict[str, Any]) -> None:
    """Refuse a model whose Python is in its repository: nobody's code is run here."""
    if "auto_map" not in values:
        return
    from transformers import CONFIG_MAPPING  # takes seconds

    if values.get("model_type") not in CONFIG_MAPPING:
        kind = values.get("model_type")
        raise Problem(
            "{name} needs Python code of its own repository, which is never run here: transformers itself knows no "
            "model of type {kind!r}",
            name=name,
            kind=kind,
        )


def available_memory() -> int | None:
    """How many bytes a program can still take without swapping; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        try:
            available = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (AttributeError, OSError, ValueError):  # Windows has no sysconf
            return None
    try:  # of a container
        return min(available, int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii")))
    except (OSError, ValueError):
        return available
