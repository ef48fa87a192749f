"""How anything inside a model is observed or changed: `record()` reads, `intervene()` changes, both nest.

What is active lives in a ContextVar and never on the module: one model serves many threads, unseen by each other.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from typing import cast

import torch
from torch import Tensor, nn

Change = Callable[[Tensor], Tensor]


class Tap(nn.Module):
    """An identity in a forward pass unless somebody looks: `weights = self.tap_weights(softmax(scores))`.

    Its address is its path in the module tree without `tap_`: `decoder.layers.0.cross_attention.weights`. `shape` has
    the letters of `model`.
    """

    def __init__(self, shape: str) -> None:
        super().__init__()
        self.shape = shape
        self.address = ""

    def __call__(self, value: Tensor) -> Tensor:
        # __call__ and not forward: taps are passed many times a step and need none of nn.Module's own hooks.
        """Record the value, and return what takes its place."""
        for hook in _HOOKS.get():
            value = hook(self.address, value)
        return value

    def extra_repr(self) -> str:
        """What `print(model)` says of the tap."""
        return f"{self.address!r}, shape={self.shape!r}"


class Trace(Mapping[str, Tensor]):
    """The recording of a `record()` block: the last tensor that passed, by address; `all` has every one, in order."""

    def __init__(self) -> None:
        self._values: dict[str, list[Tensor]] = {}

    def __getitem__(self, address: str) -> Tensor:
        try:
            return self._values[address][-1]
        except KeyError:
            near = [candidate for candidate in self if candidate.rsplit(".", 1)[-1] == address.rsplit(".", 1)[-1]]
            hint = f"; recorded are for example {', '.join((near or list(self))[:3])}" if self else ""
            raise KeyError(f"nothing was recorded at {address!r}{hint}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def all(self, address: str) -> list[Tensor]:
        """Every tensor that passed at an address, the first first; none is an empty list."""
        return list(self._values.get(address, ()))

    def add(self, address: str, value: Tensor) -> None:
        """Append a tensor that passed at an address."""
        self._values.setdefault(address, []).append(value)


_HOOKS: ContextVar[tuple[Callable[[str, Tensor], Tensor], ...]] = ContextVar("tap_hooks", default=())


def observed() -> bool:
    """Whether anything records or intervenes, so that the written-out equations must run; never in compiled code."""
    return not torch.compiler.is_compiling() and bool(_HOOKS.get())


@contextmanager
def record(*patterns: str) -> Generator[Trace]:
    """Record copies of what passes the taps at addresses (shell wildcards such as "*.weights"; all if none is given).

    Changes by an `intervene()` outside this block are seen, by one inside it are not.
    """
    trace = Trace()

    def keep(address: str, value: Tensor) -> Tensor:
        if not patterns or any(fnmatchcase(address, pattern) for pattern in patterns):
            trace.add(address, (value.detach() if value.requires_grad else value).clone())
        return value

    with hooked(keep):
        yield trace


@contextmanager
def intervene(changes: Mapping[str, Change]) -> Generator[None]:
    """Change what passes the taps by functions of a copy of the tensor.

    Raises:
        ValueError: during the pass, if a function returns something else than a tensor of the same shape and dtype.
        LookupError: at the end of the block, if an address never fired: it is misspelt, or no pass was made.
    """
    fired: set[str] = set()

    def visit(address: str, value: Tensor) -> Tensor:
        change = changes.get(address)
        if change is None:
            return value
        fired.add(address)
        return _as_like(value, change(value.clone()), address)

    with hooked(visit):
        yield
    if silent := sorted(set(changes) - fired):
        raise LookupError(f"no pass went through {silent[0]!r}: check the address (model.taps.addresses lists them)")


def _as_like(value: Tensor, changed: object, address: str) -> Tensor:
    """What a change returned, if it is a tensor of the shape and dtype of the value."""
    if isinstance(changed, Tensor) and changed.shape == value.shape and changed.dtype == value.dtype:
        return changed
    got = f"{tuple(changed.shape)} {changed.dtype}" if isinstance(changed, Tensor) else type(changed).__name__
    raise ValueError(
        f"the intervention at {address!r} returned {got}; it must return {tuple(value.shape)} {value.dtype}"
    )


@contextmanager
def hooked(hook: Callable[[str, Tensor], Tensor]) -> Generator[None]:
    """Send everything that passes the taps through `hook(address, value)`.

    What it returns goes on instead; unlike a change of `intervene`, its shape and dtype are not checked.
    """
    # New hooks go last: a recording opened inside an intervention sees the changed values.
    token = _HOOKS.set((*_HOOKS.get(), hook))
    try:
        yield
    finally:
        _HOOKS.reset(token)


def name_taps(model: nn.Module) -> None:
    """Give every tap its address, at the end of a model's constructor."""
    for path, module in cast(Iterator[tuple[str, nn.Module]], model.named_modules()):
        if isinstance(module, Tap):
            module.address = path.replace("tap_", "")


def addresses(model: nn.Module) -> dict[str, Tap]:
    """All taps by address, in the order of the module tree."""
    return {module.address: module for module in model.modules() if isinstance(module, Tap)}
