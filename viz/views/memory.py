"""Which models stay in memory: those that were used last, within a limit. The rule is the same for every kind of model.

Where another model needs room, the one that was used the longest ago leaves. It is loaded again when somebody asks for
it. Whoever computes with a model that leaves keeps it until they are done, and who asks for it meanwhile gets the same
one. Results are remembered elsewhere, by the names of models, and stay.
"""

import ctypes
import gc
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

import streamlit as st
from torch import nn

from model.adapters.files.inspection import FLOAT32, local_size

# What results depend on; a card, for one, is written again when a model is scored.
FILES = ("*.safetensors", "config.json", "tokenizer*", "vocab*", "*.model", "*.spm")


class HasModel(Protocol):
    """A translator, a writer or a reader."""

    @property
    def model(self) -> nn.Module:
        """The network."""
        ...


Loaded = TypeVar("Loaded", bound=HasModel)
Network = weakref.ref[nn.Module]
Stamp = tuple[object, ...]  # of the files that a model was read from


class InMemory(NamedTuple, Generic[Loaded]):
    """A model that is loaded, and the bytes of its weights."""

    loaded: Loaded
    size: int


class Memory(Generic[Loaded]):
    """Loaded models by a key; safe to share between threads.

    Args:
        n_bytes: what all weights may take together; None for any number.
        count: how many models there may be; None for any number. A single model may always be there.
    """

    def __init__(self, n_bytes: int | None = None, count: int | None = None) -> None:
        self.n_bytes, self.count = n_bytes, count
        self._lock = threading.RLock()
        self._loading: dict[str, threading.Lock] = {}
        self._models: OrderedDict[str, InMemory[Loaded]] = OrderedDict()  # the one that was used last stands last
        # Those that have left and that somebody still computes with.
        self._in_use: weakref.WeakValueDictionary[str, Loaded] = weakref.WeakValueDictionary()
        self._coming: dict[object, int] = {}  # bytes of models that are being loaded
        self._stamps: dict[str, Stamp] = {}

    def __contains__(self, key: str) -> bool:
        with self._lock:
            return key in self._models

    def sizes(self) -> dict[str, int]:
        """The bytes of each model, the one that leaves first at the beginning."""
        with self._lock:
            return {key: model.size for key, model in self._models.items()}

    def get(self, key: str, folder: Callable[[], Path], load: Callable[[Path], Loaded]) -> Loaded:
        """A model, loaded from its folder where it is not in memory; errors as in `folder` and `load`."""
        with self._lock:
            if (loaded := self._use(key)) is not None:
                return loaded
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:  # others that ask for the same model wait for it
            with self._lock:
                if (loaded := self._use(key)) is not None:
                    return loaded
            return self._load(key, folder(), load)

    def load(self, key: str, folder: Path, load: Callable[[Path], Loaded]) -> Loaded:
        """A model, loaded from its folder also where it is in memory; errors as in `load`."""
        with self._lock:
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            return self._load(key, folder, load)

    def leaving(self, key: str, folder: Path) -> list[str]:
        """The models that leave when this one is asked for now; none where it is there, or is of unknown size."""
        with self._lock:
            if key in self._models or not (needed := _needed(folder)):
                return []
            return self._to_leave(needed)

    def _use(self, key: str) -> Loaded | None:
        """A model that is in memory, which becomes the one that was used last."""
        if key in self._models:
            self._models.move_to_end(key)
            return self._models[key].loaded
        if (loaded := self._in_use.pop(key, None)) is not None:
            self._keep(key, loaded)
        return loaded

    def _keep(self, key: str, loaded: Loaded) -> list[Network]:
        """Have a model be the one that was used last; returns what left for it, as others have come meanwhile."""
        self._models.pop(key, None)
        size = size_of(loaded)
        networks = self._take_out(self._to_leave(size))
        self._models[key] = InMemory(loaded, size)
        return networks

    def _load(self, key: str, folder: Path, load: Callable[[Path], Loaded]) -> Loaded:
        """Load a model after others have made room for it."""
        needed = _needed(folder)
        stamp = _stamp(folder)
        token = object()
        with self._lock:
            networks = self._take_out(self._to_leave(needed))
            self._coming[token] = needed
        release(networks)
        try:
            loaded = load(folder)
        finally:
            with self._lock:
                del self._coming[token]
            return_free_memory()  # loading takes twice what the model does
        with self._lock:
            has_changed = self._stamps.get(key, stamp) != stamp
            self._stamps[key] = stamp
            networks = self._keep(key, loaded)
        release(networks)
        if has_changed:  # what was computed with it is not what it computes now
            forget_results()
        return loaded

    def _to_leave(self, needed: int) -> list[str]:
        """Which models make room for `needed` bytes, the one that was used the longest ago first."""
        keys = list(self._models)
        n_bytes = sum(model.size for model in self._models.values()) + sum(self._coming.values())
        count = len(keys) + len(self._coming)
        leaving = []
        while keys and self._is_full(n_bytes + needed, count + 1):
            leaving.append(keys.pop(0))
            n_bytes, count = n_bytes - self._models[leaving[-1]].size, count - 1
        return leaving

    def _is_full(self, n_bytes: int, count: int) -> bool:
        """Whether models of so many bytes are too many."""
        has_no_bytes = self.n_bytes is not None and n_bytes > self.n_bytes
        has_no_place = self.count is not None and count > self.count
        return has_no_bytes or has_no_place

    def _take_out(self, leaving: list[str]) -> list[Network]:
        """Let go of models; returns their networks, which are gone when nobody else holds them."""
        networks = []
        for key in leaving:
            loaded = self._in_use[key] = self._models.pop(key).loaded
            networks.append(weakref.ref(loaded.model))
        return networks


def release(networks: list[Network]) -> None:
    """Free networks that have left where nobody uses them."""
    if any(network() is not None for network in networks):
        gc.collect()  # a model of transformers and what is attached to it hold each other
    if networks:
        return_free_memory()


def size_of(loaded: HasModel) -> int:
    """The bytes of the weights of a model in memory."""
    return sum(values.numel() * values.element_size() for values in loaded.model.parameters())


def _needed(folder: Path) -> int:
    """The bytes of the model in a folder in memory, where its numbers become float32.

    It is 0 where that is not known: the folder is not here yet, or is broken, which is said when the model is loaded.
    """
    try:
        size = local_size(folder)
    except (ValueError, OSError):
        return 0
    return max(size.stored, FLOAT32 * size.parameters)


def _stamp(folder: Path) -> Stamp:
    """What changes when the files of a model do."""
    paths = sorted(path for pattern in FILES for path in folder.glob(pattern))
    files = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    return folder, *files


def forget_results() -> None:
    """Forget all that pages have computed, for all visitors."""
    st.cache_data.clear()
    st.cache_resource.clear()


def return_free_memory() -> None:
    """Give the memory that is free back to the system: glibc keeps it, elsewhere this does nothing.

    Measured: without it a process that let go of seven models was smaller by 150 MB, with it by 500 MB.
    """
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(ctypes.c_size_t(0))
