"""Models of transformers that pages offer beside checkpoints: what the operator lists and what visitors have opened.

All of them stay on the list; as many as there is room for stay in memory (`viz.views.memory`).
"""

import json
import os
import shlex
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from model.adapters.files.hub import CONFIG, Progress, fetch
from model.adapters.files.inspection import available_memory
from model.adapters.loading import load_model
from model.adapters.readers.layout import DECODER, ENCODER, ENCODER_DECODER
from model.adapters.readers.reader import Reader
from model.storage.checkpoint import available
from viz.views.memory import Memory
from viz.views.turns import queued

VARIABLE = "HEADLIGHT_MODELS"  # folders and names of the hub that an operator lists, with spaces between
SHARE = 0.5  # of the memory that is available when the app starts, which models may take together
MOST = 4  # models in memory
MASK = "[MASK]"  # of encoders whose own one is not known
WRITERS, TRANSLATORS = (DECODER, ENCODER), (ENCODER_DECODER,)  # tasks of those that read a text, and that answer one


class Shelf:
    """Models by the names that pages and addresses have for them; safe to share between threads."""

    def __init__(self, listed: Sequence[str] = (), budget: int | None = None, most: int = MOST) -> None:
        self.memory: Memory[Reader] = Memory(budget, most)  # by place
        self._lock = threading.RLock()
        self._places: dict[str, str] = {}
        self._folders: dict[str, Path] = {}
        self._tasks: dict[str, str] = {}
        self._masks: dict[str, str] = {}
        self._bare: set[str] = set()  # names of models without a layer that predicts words
        self._chats: set[str] = set()  # names of decoders with a chat template
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
        """The bytes of each model in memory, the one that leaves first at the beginning."""
        names = self._names()
        return {names[place]: size for place, size in self.memory.sizes().items() if place in names}

    def leaving(self, name: str) -> list[str]:
        """The models that leave memory when this one is chosen now; none where it is there, or is of unknown size."""
        folder = self._folders.get(name) or Path(self._places[name])
        names = self._names()
        return [names[place] for place in self.memory.leaving(self._places[name], folder) if place in names]

    def open(self, place: str, progress: Progress | None = None) -> str:
        """Fetch and load a model; returns the name that it has from now on. Errors as in `load_model`."""
        folder = fetch(place, progress=progress)
        reader = self.memory.load(_whole_place(place), folder, _load)
        with self._lock:
            name = self._add(place)
            self._note(name, folder, reader)
        return name

    def reader(self, name: str) -> Reader:
        """A model of the shelf, loaded where it is not in memory; errors as in `load_model`."""
        place = self._places[name]

        def load(folder: Path) -> Reader:
            reader = _load(folder)
            with self._lock:
                self._note(name, folder, reader)
            return reader

        return self.memory.get(place, lambda: self._folders.get(name) or fetch(place), load)

    def _names(self) -> dict[str, str]:
        """The names of models by their places."""
        with self._lock:
            return {place: name for name, place in self._places.items()}

    def _add(self, place: str) -> str:
        name = _whole_place(place)
        is_folder = Path(name).is_dir()
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

    def _note(self, name: str, folder: Path, reader: Reader) -> None:
        """What is known of a model from when it was loaded first."""
        self._folders[name] = folder
        self._tasks[name] = reader.config.task
        self._masks[name] = getattr(reader.tokenizer, "mask_token", None) or MASK
        if reader.has_chat and reader.config.task == DECODER:
            self._chats.add(name)
        self._bare.discard(name)
        if not reader.has_words:
            self._bare.add(name)


def _load(folder: Path) -> Reader:
    return queued(load_model(folder))


def _whole_place(place: str) -> str:
    """A place as the shelf has it: the whole path of a folder, or a name on the hub."""
    place = place.strip()
    return str(Path(place).resolve()) if Path(place).is_dir() else place


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
