"""The kinds of model there are, by the name that a checkpoint's config.json and a CONFIG.json give them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn

from model.config import GruConfig, LanguageModelConfig, TransformerConfig
from model.gru import GruModel
from model.language_model import LanguageModel
from model.transformer import Transformer

Config = TransformerConfig | GruConfig | LanguageModelConfig
ARCHITECTURES: dict[str, tuple[type[Config], Callable[[Any], nn.Module]]] = {
    "transformer": (TransformerConfig, Transformer),
    "gru": (GruConfig, GruModel),
    "language_model": (LanguageModelConfig, LanguageModel),
}


def name_of(config: Config) -> str:
    return next(name for name, (kind, _) in ARCHITECTURES.items() if type(config) is kind)


def build(config: Config) -> nn.Module:
    """A network with random weights."""
    return ARCHITECTURES[name_of(config)][1](config)


def to_dict(config: Config) -> dict[str, Any]:
    """The configuration as a JSON object that names its architecture."""
    return {"architecture": name_of(config), **config.to_dict()}


def from_dict(values: dict[str, Any], default: str | None = None) -> Config:
    """Read what `to_dict` made.

    Args:
        values: a JSON object.
        default: the architecture where the object names none.

    Raises:
        ValueError: if the architecture is unknown, or a key or a value is not allowed.
    """
    if not isinstance(values, dict):
        return ARCHITECTURES[default or "transformer"][0].from_dict(values)  # which refuses it in words
    values = dict(values)
    name = values.pop("architecture", default)
    if not isinstance(name, str) or name not in ARCHITECTURES:
        raise ValueError(f"architecture must be one of {', '.join(map(repr, ARCHITECTURES))}, got {name!r}")
    return ARCHITECTURES[name][0].from_dict(values)
