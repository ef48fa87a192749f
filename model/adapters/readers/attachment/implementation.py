"""Which attention function the parts of a model call: ours while it is attached, which falls back to their own."""

from collections.abc import Sequence
from typing import Any

from model.adapters.readers.attachment.attention_function import PREFIX, register

SPARSE = "block_sparse"  # an attention of BigBird
EAGER = "eager"  # the implementation of transformers that computes maps


class Implementation:
    """The attention functions of a model; each of its configurations has one, the owner's choice, which ours names.

    Only the configurations are changed, each for itself: text and images may have different functions.

    Args:
        model: a model of transformers.
        attentions: its attention modules; None of a model that does not call the function that it is given, of which
            maps are read only.
    """

    def __init__(self, model: Any, attentions: Sequence[Any] | None = None) -> None:
        self._model = model
        self._read_only = attentions is None
        self._configs = _configs(model, attentions)
        self._former: dict[int, str] = {}  # by number of the configuration, of a model that is read only
        self._was_sparse = False

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
        if self._read_only and getattr(self._model.config, "attention_type", None) == SPARSE:
            # The maps of BigBird's sparse attention are incomplete. It leaves that by itself, and for good, at the
            # first text below some 700 tokens.
            self._model.base_model.set_attention_type("original_full")
            self._was_sparse = True

    def put_back(self) -> None:
        """Have every part call what its owner chose last."""
        for number, config in enumerate(self._configs):
            current = config._attn_implementation
            if self._read_only and number in self._former and current == EAGER:
                _set(config, self._former.pop(number))
            elif current and current.startswith(PREFIX):
                _set(config, current.removeprefix(PREFIX))
        if self._was_sparse:
            self._was_sparse = False
            self._model.base_model.set_attention_type(SPARSE)


def _configs(model: Any, attentions: Sequence[Any] | None) -> list[Any]:
    """The configurations of the model, of the models in it, and of its attention, each once."""
    from transformers import PreTrainedModel

    models = [module for module in model.modules() if isinstance(module, PreTrainedModel)]
    configs = [model.config]
    configs += [part.config for part in models if attentions is None or part._can_set_attn_implementation()]
    configs += [getattr(attention, "config", None) for attention in attentions or ()]
    return list({id(config): config for config in configs if hasattr(config, "_attn_implementation")}.values())


def _set(config: Any, name: str) -> None:
    config._attn_implementation = {"": name}  # of this one, without those in it
