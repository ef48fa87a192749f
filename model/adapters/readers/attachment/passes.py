"""How a model runs for a reader: every module in evaluation mode and none compiled, and afterwards as before."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

from torch import nn


class SharedBlock(AbstractContextManager["SharedBlock"]):
    """A block that several threads may be in at once: it begins with the first of them and ends with the last."""

    def __init__(self, begin: Callable[[], AbstractContextManager[Any]]) -> None:
        self._begin = begin
        self._lock = threading.Lock()
        self._count = 0
        self._stack = ExitStack()

    def __enter__(self) -> "SharedBlock":
        with self._lock:
            if self._count == 0:
                self._stack.enter_context(self._begin())
            self._count += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                self._stack.close()


@contextmanager
def evaluation(model: nn.Module) -> Iterator[None]:
    """Put every module that is in training mode into evaluation mode, and back at the end."""
    training = [module for module in model.modules() if module.training]
    for module in training:
        module.training = False
    try:
        yield
    finally:
        for module in training:
            module.training = True


@contextmanager
def for_reading(model: nn.Module) -> Iterator[None]:
    """What a pass of a reader needs; compiled parts run as they were written, as compiled ones have no taps."""
    with ExitStack() as stack:
        stack.enter_context(evaluation(model))
        if any(map(_is_compiled, model.modules())):
            stack.enter_context(_UNCOMPILED)
        yield


def _is_compiled(module: nn.Module) -> bool:
    return module._compiled_call_impl is not None or "_orig_mod" in module._modules


def _uncompiled() -> AbstractContextManager[Any]:
    import torch

    return torch.compiler.set_stance("force_eager")  # of all threads: no narrower one has an effect on calls inside


_UNCOMPILED = SharedBlock(_uncompiled)
