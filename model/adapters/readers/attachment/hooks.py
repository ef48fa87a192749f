"""The hooks of an attached model: known by their class, so that they can be put in and taken out as a whole."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from torch import nn
from torch.utils.hooks import RemovableHandle


@dataclass(frozen=True)
class Place:
    """Where a hook belongs: it is called before a module, with (module, arguments, keywords), or after it."""

    module: nn.Module
    function: Callable[..., Any]
    before: bool = False


class Hook:
    """A hook of ours. A copy of a model has hooks that do nothing, as it is not attached."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        """Do what the hook is for; see `torch.nn.Module.register_forward_hook`."""
        return self._function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return Hook, (_nothing,)


def _nothing(*_: Any) -> None:
    pass


def put_in(places: Iterable[Place]) -> list[RemovableHandle]:
    """Register hooks, in order."""
    handles = []
    for place in places:
        hook = Hook(place.function)
        if place.before:
            handles.append(place.module.register_forward_pre_hook(hook, with_kwargs=True))
        else:
            handles.append(place.module.register_forward_hook(hook))
    return handles


def are_in(handles: list[RemovableHandle]) -> bool:
    """Whether the modules still have all of these hooks."""
    return bool(handles) and all(handle.id in (handle.hooks_dict_ref() or ()) for handle in handles)


def take_out(model: nn.Module) -> None:
    """Remove every hook of ours from a model, also those of others who attached parts of it, and those of copies."""
    for module in model.modules():
        before = module._forward_pre_hooks, module._forward_pre_hooks_with_kwargs
        after = module._forward_hooks, module._forward_hooks_with_kwargs
        for hooks, flags in (before, after):
            for key in [key for key, hook in hooks.items() if isinstance(hook, Hook)]:
                del hooks[key]
                flags.pop(key, None)
