"""The interface that decoders need of a model, and the limits that they share."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol

from torch import Tensor

from model.text.errors import Problem

BETWEEN_STEPS: ContextVar[Callable[[], None] | None] = ContextVar("between_steps", default=None)


def between_steps() -> None:
    """Call the hook in BETWEEN_STEPS, if there is one, which lets other threads compute or raises to stop.

    Everything that takes long calls this between two of its steps.
    """
    if (hook := BETWEEN_STEPS.get()) is not None:
        hook()


def check_logits(logits: Tensor) -> Tensor:
    """The logits (..., V); a ValueError if a row has no most probable token."""
    if not logits.amax(-1).isfinite().all():
        raise Problem(
            "the model computed logits that are not numbers: its weights or one of your changes are too large"
        )
    return logits


class Decodable(Protocol):
    """A model that predicts the next token of each row."""

    def start(self, src: Tensor) -> Any:
        """A state over source ids (B, S), padded."""
        ...

    def step(self, state: Any, tokens: Tensor) -> Tensor:
        """Read one token per row (B,), extend the state in place, return the logits (B, V) of the next."""
        ...

    def reorder(self, state: Any, rows: Tensor) -> Any:
        """The state with the rows of an index tensor (B',), int64."""
        ...


def target_limit(source_length: int, max_length: int) -> int:
    """The longest translation in tokens: twice the source and ten more, within the model's positions."""
    return min(2 * source_length + 10, max_length)
