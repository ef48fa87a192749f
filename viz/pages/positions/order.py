"""Word order: a sentence and its words in another order, with positions in the encoder and without."""

from dataclasses import replace
from typing import Any

import numpy as np

from viz.pages.positions.page import Choice
from viz.text.words import axes
from viz.views import cached, recipes
from viz.views.cached import Request, Result, compute
from viz.views.changes import Changes
from viz.views.results import position_results
from viz.views.results.head_sources import name_of
from viz.views.snippets import Plot

USUAL = ("encoder_self", 0, 0)  # the head that is shown first


def both_orders(choice: Choice) -> tuple[dict[Request, Result], tuple[float, float]]:
    """The translations by what was read, one where a sentence has no other order, and how order-blind the encoder is.

    The two numbers are those of `position_results.shuffled`. A ValueError says what is wrong with the sentence.
    """
    changes = Changes(scale=float(choice.trained), stacks="encoder")
    request = Request(choice.text, cached.default_checkpoint(), 1, changes=changes)
    results = {request: compute(request)}
    shuffled, differences = position_results.shuffled(request.model, request.text, choice.order)
    other = replace(request, text=shuffled)
    return results | {other: compute(other)}, differences


def data(choice: Choice) -> dict[str, Any]:
    """A sentence and its words in another order, as the engine of browsers answers (viz/web/engine/run/answer.js)."""
    results, differences = both_orders(choice)
    answers = list(results.values())
    words = {"text": answers[0].source, "shuffled": answers[-1].source, "differences": differences}
    return {"answers": [_answer(result) for result in answers], "order": words}


def _answer(result: Result) -> dict[str, Any]:
    """A translation as the engine has it, as far as the page draws it."""
    names = ("source", "text", "source_tokens", "target_tokens", "predicted_tokens")
    weights = {kind: result.attention(kind) for kind in result.kinds}
    masks = {kind: result.mask(kind) for kind in result.kinds}
    return {
        **{name: getattr(result, name) for name in names},
        "attention": {kind: {"data": array.ravel(), "shape": array.shape} for kind, array in weights.items()},
        "masks": {
            kind: {"data": array.ravel().astype(np.uint8), "shape": array.shape} for kind, array in masks.items()
        },
    }


def plots(choice: Choice) -> dict[str, Plot]:
    """One head over the sentence, "map-own", and over its words in another order, "map-shuffled", if they have one."""
    results, _ = both_orders(choice)
    first = next(iter(results.values()))
    shapes = {kind: first.attention(kind).shape[:2] for kind in first.kinds}
    kind, *place = choice.head_of(shapes, USUAL)
    place = place[0], place[1]
    return {
        f"map-{key}": recipes.head_plot(recipes.origin(request), name_of(kind, *place), result, kind, place, axes(kind))
        for key, (request, result) in zip(("own", "shuffled"), results.items())
    }
