"""Which attention function the parts of a model call: ours while it is attached, which falls back to their own."""

from typing import Any

from model.adapters.readers.attention_function import PREFIX, register
from model.adapters.readers.layout import Layout

EAGER = "eager"  # the implementation of transformers that computes maps


class Implementation:
    """The attention functions of a model; each of its configurations has one, the owner's choice, which ours names.

    Only the configurations are changed, each for itself: text and images may have different functions.
    """

    def __init__(self, layout: Layout, read_only: bool) -> None:
        self._read_only = read_only
        self._configs = _configs(layout, read_only)
        self._former: dict[int, str] = {}  # by number of the configuration, of a model that is read only

    def choose(self) -> None:
        """Have every part call our function, or, where that cannot be, the one that hands out its maps."""
        for number, config in enumerate(self._configs):
            current = config._attn_implementation or EAGER
            wanted = EAGER if self._read_only else register(current)
            if current == wanted:
                continue
            if self._read_only:
                self._former[number] = current
            _set(config, wanted)

    def put_back(self) -> None:
        """Have every part call what its owner chose last."""
        for number, config in enumerate(self._configs):
            current = config._attn_implementation
            if self._read_only and number in self._former and current == EAGER:
                _set(config, self._former.pop(number))
            elif current and current.startswith(PREFIX):
                _set(config, current.removeprefix(PREFIX))


def _configs(layout: Layout, read_only: bool) -> list[Any]:
    """The configurations of the model, of the models in it, and of its attention, each once."""
    from transformers import PreTrainedModel

    models = [module for module in layout.model.modules() if isinstance(module, PreTrainedModel)]
    configs = [layout.model.config]
    configs += [model.config for model in models if read_only or model._can_set_attn_implementation()]
    configs += [getattr(attention.module, "config", None) for attention in layout.attentions] if not read_only else []
    return list({id(config): config for config in configs if hasattr(config, "_attn_implementation")}.values())


def _set(config: Any, name: str) -> None:
    config._attn_implementation = {"": name}  # of this one, without those in it
