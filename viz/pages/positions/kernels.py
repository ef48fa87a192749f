"""What a head makes of positions: its scores if all words were alike, position by position or by distance."""

from typing import Any

import numpy as np

from model.measures.heads.weights import above_row_means, by_distance
from viz.figures import curves, kernel_heatmap
from viz.pages.positions.page import Page
from viz.pages.positions.reading import loaded_model, read_shares
from viz.text import words
from viz.text.language import message, say
from viz.text.words_positions import IN_STREAM, OF_HEADS
from viz.ui import frame, thumbnails
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


def show_kernels(page: Page) -> None:
    """The scores of a head between positions; at first of the head that reads positions most."""
    name = loaded_model()
    if name is None:
        with page.places.right:
            frame.answer(say("No model here has heads whose positions can be seen."))
        return
    kernels = position_results.kernels(name)
    own: str = getattr(cached.translator(name).config, "positional", "none")
    text, shares = read_shares(page, name)
    strength = shares if shares and own in IN_STREAM else {kind: spread(of_kind) for kind, of_kind in kernels.items()}
    default = strongest(strength)
    with page.places.left_controls:
        frame.note(say(OF_HEADS["kernels"], model=name))
    with page.places.left:
        pixels = {kind: [[_pixels(head) for head in heads] for heads in layers] for kind, layers in kernels.items()}
        headings = {kind: say(words.SHORT_KINDS[kind]) for kind in kernels}
        kind, layer, head = frame.choose_head_by_pixels(pixels, default, headings, fills=True)
    with page.places.answer:
        note = say(OF_HEADS["mean"])
        if shares and own in IN_STREAM:
            line = say(OF_HEADS["share"], text=text, share=shares[kind][layer, head])
            note = f"{line} {note}"
        frame.answer(_answer(kernels[kind][layer, head], f"{headings[kind]} {layer}.{head}"), note)
    place = {"checkpoint": name, "kind": kind, "layer": layer, "head": head}
    with page.places.right:
        if own in IN_STREAM:
            frame.pictures(_of_positions(kernels[kind][layer, head], own, place), is_map=False)
        else:
            frame.pictures({"distances": _of_distances(kernels[kind][layer, head], place)}, is_map=False)


def _pixels(kernel: np.ndarray) -> np.ndarray:
    scores = above_row_means(kernel)
    return thumbnails.signed_pixels(np.where(np.isfinite(scores), scores, 0))


def _of_positions(kernel: np.ndarray, own: str, place: dict) -> dict[str, Plot]:
    """The kernel, position by position, and beside it the waves of the encoding that it is made of."""
    figure = kernel_heatmap(above_row_means(kernel), say=say)
    name = say("Head {layer}.{head}", layer=place["layer"], head=place["head"])
    plots = {"kernel": Plot(name, say("scores by position"), figure, program(snippet(KERNEL, **place)))}
    if own == "learned":  # which has no waves
        return plots
    config: Any = cached.translator(place["checkpoint"]).config  # of a Transformer, which alone has positions
    width = config.d_model
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
    name = say("Head {layer}.{head}", layer=place["layer"], head=place["head"])
    figure = curves({name: by_distance(kernel)}, **axes, say=say)
    return Plot(name, say("mean score by distance"), figure, program(snippet(DISTANCES, **place, **axes, name=name)))


def _answer(kernel: np.ndarray, name: str) -> str:
    """Where a head would look if all words were alike, as in most rows."""
    offset, count = usual_offset(kernel)
    line = "before" if offset < 0 else "after" if offset > 0 else "own"
    return say(OF_HEADS[line], name=name, back=abs(offset), n=count, total=len(kernel))


def usual_offset(kernel: np.ndarray) -> tuple[int, int]:
    """How far from a query the key with the largest score (T, S) stands in most rows, below 0 before it; how many."""
    offsets = kernel.argmax(axis=1) - np.arange(len(kernel))
    values, counts = np.unique(offsets, return_counts=True)
    return int(values[counts.argmax()]), int(counts.max())


def spread(kernels: np.ndarray) -> np.ndarray:
    """How much the scores of each head differ by distance, (L, H)."""
    return np.array([[by_distance(head)[1].std() for head in heads] for heads in kernels])


def strongest(strength: dict[str, np.ndarray]) -> tuple[str, int, int]:
    """Kind, layer and head of the largest of some numbers of heads, (L, H) by kind."""
    kind = max(strength, key=lambda code: strength[code].max())
    layer, head = np.unravel_index(strength[kind].argmax(), strength[kind].shape)
    return kind, int(layer), int(head)
