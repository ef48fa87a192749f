"""Models of transformers that pages offer beside checkpoints: what the operator lists and what visitors have opened.

All of them stay on the list; as many as there is room for stay in memory. The one that was used the longest ago goes
first, and is loaded again when somebody asks for it.
"""

import gc
import json
import os
import shlex
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from model.adapters.hub import CONFIG, Progress, fetch
from model.adapters.inspection import FLOAT32, available_memory, local_size
from model.adapters.loading import load_model
from model.adapters.readers.layout import DECODER, ENCODER, ENCODER_DECODER
from model.adapters.readers.reader import Reader
from model.storage.checkpoint import available
from viz.views.turns import queued

VARIABLE = "HEADLIGHT_MODELS"  # folders and names of the hub that an operator lists, with spaces between
SHARE = 0.5  # of the memory that is available when the app starts, which models may take together
MOST = 4  # models in memory
MASK = "[MASK]"  # of encoders whose own one is not known
WRITERS, TRANSLATORS = (DECODER, ENCODER), (ENCODER_DECODER,)  # tasks of those that read a text, and that answer one


class InMemory(NamedTuple):
    """A model that is loaded, and its size in bytes."""

    reader: Reader
    size: int


class Shelf:
    """Models by the names that pages and addresses have for them; safe to share between threads."""

    def __init__(self, listed: Sequence[str] = (), budget: int | None = None, most: int = MOST) -> None:
        self.budget, self.most = budget, most
        self._lock = threading.RLock()
        self._loading: dict[str, threading.Lock] = {}
        self._places: dict[str, str] = {}
        self._folders: dict[str, Path] = {}
        self._tasks: dict[str, str] = {}
        self._masks: dict[str, str] = {}
        self._bare: set[str] = set()  # names of models without a layer that predicts words
        self._chats: set[str] = set()  # names of decoders with a chat template
        self._loaded: OrderedDict[str, InMemory] = OrderedDict()  # the one that was used last stands last
        self._coming: dict[object, int] = {}  # bytes of models that are being loaded
        for place in listed:
            self._add(place)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def names(self, tasks: Sequence[str] = (*WRITERS, *TRANSLATORS)) -> list[str]:
        """The models of some tasks, and those of which the task is known only when they are loaded."""
        return [name for name in self._places if (self._tasks.get(name) or tasks[0]) in tasks]

    def task(self, name: str) -> str | None:
        """What a model does, as in `ReaderConfig.task`; None before it was loaded, where its folder does not say."""
        return self._tasks.get(name)

    def predicts_words(self, name: str) -> bool:
        """Whether a model has a layer that predicts words; as long as that is not known, it has."""
        return name not in self._bare

    def mask(self, name: str) -> str:
        """What stands for a masked word in the texts of an encoder that predicts those; "" of every other model."""
        if self.task(name) != ENCODER or not self.predicts_words(name):
            return ""
        return self._masks.get(name, MASK)

    def has_chat(self, name: str) -> bool:
        """Whether a decoder can read a text as a turn of a chat; False as long as the model was never loaded."""
        return name in self._chats

    def place(self, name: str) -> str:
        """The folder or the name on the hub, as `load_model` takes it."""
        return self._places[name]

    def in_memory(self) -> dict[str, int]:
        """The bytes of each model in memory, the one that goes first at the beginning."""
        with self._lock:
            return {name: model.size for name, model in self._loaded.items()}

    def open(self, place: str, progress: Progress | None = None) -> str:
        """Fetch and load a model; returns the name that it has from now on. Errors as in `load_model`."""
        folder = fetch(place, progress=progress)
        reader = self._load(folder)
        with self._lock:
            name = self._add(place)
            self._keep(name, folder, reader)
        return name

    def reader(self, name: str) -> Reader:
        """A model of the shelf, loaded where it is not in memory; errors as in `load_model`."""
        with self._lock:
            if name in self._loaded:
                self._loaded.move_to_end(name)
                return self._loaded[name].reader
            loading = self._loading.setdefault(name, threading.Lock())
        with loading:  # others that ask for the same model wait for it
            with self._lock:
                if name in self._loaded:
                    return self._loaded[name].reader
            folder = self._folders.get(name) or fetch(self._places[name])
            reader = self._load(folder)
            with self._lock:
                self._keep(name, folder, reader)
            return reader

    def _add(self, place: str) -> str:
        name = place.strip()
        is_folder = Path(name).is_dir()
        if is_folder:
            name = str(Path(name).resolve())
        same = next(
            (name_of_place for name_of_place, place_of_added in self._places.items() if place_of_added == name), None
        )
        if same is not None:
            return same
        short = Path(name).name if is_folder else name
        is_taken = short in self._places or short in available()
        short = name if is_taken else short
        self._places[short] = name
        if is_folder and (task := _task_of(Path(name))):
            self._tasks[short] = task
            if task == ENCODER and not _predicts_masked(Path(name)):
                self._bare.add(short)
        return short

    def leaving(self, name: str) -> list[str]:
        """The models that leave memory when this one is chosen now; none where it is there, or is of unknown size."""
        with self._lock:
            if name in self._loaded:
                return []
            folder = self._folders.get(name) or Path(self._places[name])
            try:
                return self._to_leave(_needed(folder))
            except (ValueError, OSError):  # it is not on this machine yet, or broken, which is said when it is chosen
                return []

    def _load(self, folder: Path) -> Reader:
        """Load a model after others have made room for it."""
        needed = _needed(folder)
        token = object()
        with self._lock:
            leaving = self._to_leave(needed)
            for name in leaving:
                del self._loaded[name]
            self._coming[token] = needed
        if leaving:
            gc.collect()  # a model and what is attached to it hold each other
        try:
            return queued(load_model(folder))
        finally:
            with self._lock:
                del self._coming[token]

    def _to_leave(self, needed: int) -> list[str]:
        """Which models make room for `needed` bytes, the one that was used the longest ago first."""
        names = list(self._loaded)
        n_bytes = sum(model.size for model in self._loaded.values()) + sum(self._coming.values())
        count = len(names) + len(self._coming)
        leaving = []
        while names and (count >= self.most or (self.budget is not None and n_bytes + needed > self.budget)):
            leaving.append(names.pop(0))
            n_bytes, count = n_bytes - self._loaded[leaving[-1]].size, count - 1
        return leaving

    def _keep(self, name: str, folder: Path, reader: Reader) -> None:
        parameters = reader.model.parameters()
        size = sum(values.numel() * values.element_size() for values in parameters)
        self._folders[name] = folder
        self._tasks[name] = reader.config.task
        self._masks[name] = getattr(reader.tokenizer, "mask_token", None) or MASK
        if reader.has_chat and reader.config.task == DECODER:
            self._chats.add(name)
        self._bare.discard(name)
        if not reader.has_words:
            self._bare.add(name)
        self._loaded[name] = InMemory(reader, size)
        self._loaded.move_to_end(name)


def _needed(folder: Path) -> int:
    """The bytes of the model in a folder in memory, where its numbers become float32; errors as in `local_size`."""
    size = local_size(folder)
    return max(size.stored, FLOAT32 * size.parameters)


def _task_of(folder: Path) -> str | None:
    """What a model in a folder does, by its configuration."""
    values = _configuration(folder)
    if values is None:
        return None
    if values.get("is_encoder_decoder"):
        return ENCODER_DECODER
    architectures = _architectures(values)
    return DECODER if "ForCausalLM" in architectures or "LMHead" in architectures else ENCODER


def _predicts_masked(folder: Path) -> bool:
    """Whether an encoder in a folder predicts masked words, by its configuration."""
    architectures = _architectures(_configuration(folder) or {})
    return "ForMaskedLM" in architectures or "ForPreTraining" in architectures


def _architectures(values: dict[str, Any]) -> str:
    """The classes of transformers that a configuration names."""
    architectures = values.get("architectures")
    return " ".join(map(str, architectures)) if isinstance(architectures, list) else ""


def _configuration(folder: Path) -> dict[str, Any] | None:
    try:
        values = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) else None


def listed() -> list[str]:
    """What the operator lists; where a quote has no end, each word of it, as a name that there is not is said later."""
    value = os.environ.get(VARIABLE, "")
    try:
        return shlex.split(value)
    except ValueError:
        return value.split()


def _budget() -> int | None:
    memory = available_memory()
    return None if memory is None else int(SHARE * memory)


SHELF = Shelf(listed(), _budget())
