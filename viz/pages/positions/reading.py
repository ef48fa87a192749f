"""Who reads an encoding: the heads of a model whose scores come from positions, each with a link to its map."""

from contextlib import suppress
from typing import Any

import numpy as np

from model.running.translator import Translator, Writer
from model.storage.checkpoint import available
from model.text.errors import Problem
from viz.pages.positions.page import EXAMPLE, Choice
from viz.text.words_positions import ROTARY
from viz.views import cached
from viz.views.cached import Request
from viz.views.results import position_results
from viz.views.view import View, place_of_head

MOST = 3  # heads that are named
LEAST = 0.01  # of what decides where a head looks: with less it does not read positions
Head = tuple[str, int, int]  # kind, layer and head


def usable_model(name: str) -> str | None:
    """A model of this name, if it is one of ours that has positions, else the default one; None without any."""
    ours = {*available("transformer"), *available("language_model")}
    for candidate in dict.fromkeys((name, cached.default_checkpoint())):
        with suppress(ValueError):
            if candidate not in ours:
                continue
            loaded = cached.translator(candidate)
            if isinstance(loaded, Translator | Writer) and hasattr(loaded.config, "positional"):  # not a recurrent one
                return candidate
    return None


def model_of(choice: Choice) -> str:
    """The model whose heads are looked at; a Problem without any."""
    name = usable_model(choice.model)
    if name is None:
        raise Problem("No model here has heads whose positions can be seen.")
    return name


def positional_of(name: str) -> str:
    """The positions of a model by the name of this page."""
    config: Any = cached.translator(name).config
    return ROTARY if config.positional.startswith(ROTARY) else config.positional


def shares_of(choice: Choice, name: str) -> tuple[str, dict[str, np.ndarray]]:
    """The sentence of the page, or where that cannot be read the example, and how much each head reads positions there.

    By kind (L, H), as in `position_results.read_by`; nothing where neither can be read.
    """
    for text in dict.fromkeys((choice.text, EXAMPLE)):
        with suppress(ValueError):
            return text, position_results.read_by(Request(text, name, 1))
    return choice.text, {}


def data(choice: Choice) -> dict[str, Any]:
    """The sentence that was read, by kind how much each head (L, H) reads positions, and the heads that do most.

    Each of these with the address that opens it with the view Why: of the page Translate, or Language model.
    """
    name = model_of(choice)
    text, shares = shares_of(choice, name)
    recorded: dict[str, Any] = {"text": text, "shares": shares, "heads": []}
    if not shares:
        return recorded
    is_writer = isinstance(cached.translator(name), Writer)
    shown = View(text=text, model=name) if is_writer else View(text=text, model=name, beam=1)
    query = shown.address() | {"view": "why"}
    return recorded | {
        "first": largest(shares),
        "page": "language_model" if is_writer else "translate",
        "heads": [
            {
                "kind": kind,
                "layer": layer,
                "head": head,
                "share": float(shares[kind][layer, head]),
                "query": query | place_of_head(kind, layer, head),
            }
            for kind, layer, head in strongest(shares)
        ],
    }


def strongest(shares: dict[str, np.ndarray]) -> list[Head]:
    """The few heads that read positions most; none that hardly reads them."""
    places = [(kind, layer, head) for kind, of_kind in shares.items() for layer, head in np.ndindex(of_kind.shape)]
    values = np.concatenate([of_kind.ravel() for of_kind in shares.values()])
    return [places[place] for place in np.argsort(-values, kind="stable")[:MOST] if values[place] >= LEAST]


def largest(numbers: dict[str, np.ndarray]) -> Head:
    """The head with the largest of some numbers of heads, (L, H) by kind."""
    kind = max(numbers, key=lambda code: numbers[code].max())
    layer, head = np.unravel_index(numbers[kind].argmax(), numbers[kind].shape)
    return kind, int(layer), int(head)
