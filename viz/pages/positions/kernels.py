"""What a head makes of positions: its scores if all words were alike, position by position or by distance."""

from collections.abc import Callable
from typing import Any

import numpy as np

from model.measures.heads.weights import above_row_means, by_distance
from viz.figures import curves, kernel_heatmap
from viz.pages.positions import reading
from viz.pages.positions.page import Choice
from viz.text.language import message, say
from viz.text.words_positions import IN_STREAM
from viz.views import cached
from viz.views.results import position_results
from viz.views.snippets import Plot, program, snippet

KERNEL = """
from model import load_translator
from model.measures.heads.weights import above_row_means, position_kernels
from viz.figures import kernel_heatmap

kernels = position_kernels(load_translator($checkpoint))[$kind]  # (layers, heads, queries, keys)
figure = kernel_heatmap(above_row_means(kernels[$layer, $head]))
figure.show()
"""
WAVES = """
import numpy as np
from viz.figures import curves

positions = np.arange(len(first))
lines = {f"{$dimension} {n}": np.stack([positions, first[:, n]]) for n in $dimensions}
figure = curves(lines, x_axis=$x_axis, y_axis=$y_axis)
figure.show()
"""
DISTANCES = """
from model import load_translator
from model.measures.heads.weights import by_distance, position_kernels
from viz.figures import curves

kernels = position_kernels(load_translator($checkpoint))[$kind]  # (layers, heads, queries, keys)
figure = curves({$name: by_distance(kernels[$layer, $head])}, x_axis=$x_axis, y_axis=$y_axis)
figure.show()
"""


def data(choice: Choice) -> dict[str, Any]:
    """The scores of every head above the means of their rows, (L, H, T, S) by kind, and which head differs most.

    Of positions that are not added to embeddings also the mean scores by distance, (L, H, 2, N). Of encodings with
    waves `width` says how wide the table is.
    """
    name = reading.model_of(choice)
    kernels = position_results.kernels(name)
    positional = reading.positional_of(name)
    recorded: dict[str, Any] = {
        "scores": {kind: _of_heads(above_row_means, of_kind) for kind, of_kind in kernels.items()},
        "first": reading.largest(_spread(kernels)),
    }
    if positional not in IN_STREAM:
        distances = {kind: _of_heads(by_distance, of_kind) for kind, of_kind in kernels.items()}
        return recorded | {"distances": distances}
    return recorded if positional == "learned" else recorded | {"width": _width(name)}


def plots(choice: Choice) -> dict[str, Plot]:
    """A head's scores by position and the waves of its encoding, or its scores by distance; none without a model."""
    name = reading.usable_model(choice.model)
    if name is None:
        return {}
    kernels = position_results.kernels(name)
    positional = reading.positional_of(name)
    shares = reading.shares_of(choice, name)[1] if positional in IN_STREAM else {}
    shapes = {kind: of_kind.shape[:2] for kind, of_kind in kernels.items()}
    kind, layer, head = choice.head_of(shapes, reading.largest(shares or _spread(kernels)))
    place = {"checkpoint": name, "kind": kind, "layer": layer, "head": head}
    if positional in IN_STREAM:
        return _of_positions(kernels[kind][layer, head], positional, place)
    return {"distances": _of_distances(kernels[kind][layer, head], place)}


def _width(name: str) -> int:
    config: Any = cached.translator(name).config  # of a Transformer, which alone has positions
    return config.d_model


def _of_heads(compute: Callable[[np.ndarray], np.ndarray], of_kind: np.ndarray) -> np.ndarray:
    """Something of the scores (T, S) of each head, float32 (L, H, ...)."""
    return np.array([[compute(head) for head in heads] for heads in of_kind], np.float32)


def _spread(kernels: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """How much the scores of each head differ by distance, (L, H) by kind."""
    return {
        kind: np.array([[by_distance(head)[1].std() for head in heads] for heads in of_kind])
        for kind, of_kind in kernels.items()
    }


def _of_positions(kernel: np.ndarray, own: str, place: dict) -> dict[str, Plot]:
    """The kernel, position by position, and beside it the waves of the encoding that it is made of."""
    figure = kernel_heatmap(above_row_means(kernel), say=say)
    name = say("Layer {layer}, head {head}", layer=place["layer"], head=place["head"])
    plots = {"kernel": Plot(name, say("scores by position"), figure, program(snippet(KERNEL, **place)))}
    if own == "learned":  # which has no waves
        return plots
    width = _width(place["checkpoint"])
    table = position_results.table(own, len(kernel), width)
    dimensions = sorted({0, 1, width // 4, width // 2})
    axes: dict[str, Any] = {"x_axis": message("position"), "y_axis": message("value")}
    values = {"dimensions": dimensions, "dimension": say("dimension")} | axes
    code = program(position_results.table_code("first", own, len(kernel), width), snippet(WAVES, **values))
    numbers = np.arange(len(table))
    lines = {f"{say('dimension')} {n}": np.stack([numbers, table[:, n]]) for n in dimensions}
    waves = curves(lines, **axes, say=say)
    return plots | {"waves": Plot(say("Its encoding"), say("dimensions by position"), waves, code)}


def _of_distances(kernel: np.ndarray, place: dict) -> Plot:
    """The mean score by distance."""
    axes: dict[str, Any] = {"x_axis": message("positions from key to query"), "y_axis": message("score above the mean")}
    name = say("Layer {layer}, head {head}", layer=place["layer"], head=place["head"])
    figure = curves({name: by_distance(kernel)}, **axes, say=say)
    return Plot(name, say("mean score by distance"), figure, program(snippet(DISTANCES, **place, **axes, name=name)))
