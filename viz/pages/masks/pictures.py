"""Pictures of masks: the tiles of all of them, a head with and without, one mask large, that of each sentence."""

from collections.abc import Callable
from typing import Any

import numpy as np

from model.results.recording import Recording, row_naming
from model.results.translation import SIDES
from viz.figures import attention_heatmap, mask_heatmap
from viz.pages.masks.compared import Choices, Compared, axes_of
from viz.text.language import say
from viz.text.words_masks import MASKS, SENTENCES, TEXT_MASKS, axes, kind_of
from viz.ui import frame, thumbnails
from viz.ui.frame import Tile
from viz.ui.stage import stage_page
from viz.views.results.heads_results import name_of
from viz.views.results.mask_results import Leak, Result, TextResult, axes_code
from viz.views.snippets import Code, Plot, program, snippet

HEAD = """
from viz.figures import attention_heatmap

figure = attention_heatmap(
    $weights[$layer, $head],
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    mask=$mask,
)
figure.show()
"""
MASK = """
from viz.figures import mask_heatmap

figure = mask_heatmap(
    $mask,
    $queries,
    $keys,
    query_axis=$query_axis,
    key_axis=$key_axis,
    padding=$padding,
    look_ahead=$look_ahead,
    legend=False,
)
figure.show()
"""
# Why a cell is blocked: of masks that are not of padding only, the parts that say it.
PARTS = {
    "look_ahead": {"look_ahead": "look_ahead"},
    "decoder_self": {"look_ahead": "look_ahead", "padding": "target_padding"},
}


def mask_tiles(result: Result, sentence: int, texts: TextResult | None) -> list[Tile]:
    """The masks of the batch, as the model used them, and of the texts in one row."""
    masks = result.original.masks
    tiles = []
    for mask, (name, _) in MASKS.items():
        side = SIDES[kind_of(mask)][1]
        real = np.arange(masks[mask].shape[-1]) < result.lengths[sentence][side == "target"]
        padding = None if mask == "look_ahead" else real[None]
        tiles.append(Tile(mask, say(name), pixels=thumbnails.mask_pixels(masks[mask][sentence], padding)))
    if texts is not None:
        for mask, (name, _) in TEXT_MASKS.items():
            tiles.append(Tile(mask, say(name), pixels=thumbnails.mask_pixels(texts.passes[mask].mask)))
    return tiles


def draw_head(compared: Compared, place: tuple[int, int], leak: Leak | None, is_changed: bool) -> None:
    """A head under its mask and, where something is changed, without; what leaks is ringed."""
    maps = {}
    kind = kind_of(compared.mask)
    name = name_of(kind, *place)
    axes = axes_of(compared.mask)
    codes = compared.codes
    for number, key in enumerate(("head-with", "head-without") if is_changed else ("head-with",)):
        weights, mask = compared.weights[number][place], compared.masks[number]
        figure = attention_heatmap(weights, compared.queries, compared.keys, **axes, mask=mask, say=say)
        code = snippet(
            HEAD,
            weights=codes.weights[number],
            layer=place[0],
            head=place[1],
            queries=codes.queries,
            keys=codes.keys,
            mask=codes.masks[number],
            **axes,
        )
        title = compared.titles[number]
        origin = compared.origin
        plot = Plot(f"{title[0]}: {name}", origin.note, figure, program(origin.code, code))
        recording = Recording(
            compared.keys if SIDES[kind][1] == "source" else [],
            compared.steps or [],
            {kind: compared.weights[number]},
            {kind: mask},
            compared.queries if row_naming(kind) == "predicted" else [],
        )
        rings = leak.cells if leak and number else []
        maps[key] = stage_page.HeadMap(plot, title, recording, kind, *place, rings)
    stage_page.show_maps(maps)


def draw_mask(compared: Compared, selection: Choices, result: Result | None, flip: Callable[..., None]) -> None:
    """The large mask; of a batch a click flips a cell."""
    parts: dict[str, Any] = {"padding": None, "look_ahead": None}
    parts_code: dict[str, Code | None] = {"padding": None, "look_ahead": None}
    codes, name = compared.codes, compared.mask
    if result is None:
        number = 1 if name == "prefix" else 0
        mask, mask_code = compared.masks[number], codes.masks[number]
        title = say(TEXT_MASKS[name][0])
        clicked = None
    else:
        sentence = selection.sentence
        title = say(MASKS[name][0])
        mask = result.with_changes.masks[name][sentence]
        mask_code = code_of_mask(selection, name, sentence)
        for part, mask_of_part in PARTS.get(name, {"padding": name}).items():
            parts[part] = result.original.masks[mask_of_part][sentence]
            parts_code[part] = Code(f"result.masks[{mask_of_part!r}][{sentence}]")
        clicked = flip if name == kind_of(name) else None
    axes = axes_of(name)
    origin = compared.origin
    figure = mask_heatmap(mask, compared.queries, compared.keys, **axes, **parts, legend=False, say=say)
    code = snippet(MASK, mask=mask_code, queries=codes.queries, keys=codes.keys, **axes, **parts_code)
    plots = {"large-mask": Plot(title, origin.note, figure, program(origin.code, code))}
    frame.pictures(plots, titles={"large-mask": (title, "")}, on_click=clicked)


def code_of_mask(selection: Choices, name: str, sentence: int) -> Code:
    """Python for a mask of a sentence, as it is changed."""
    variable = "changed" if selection.cells or selection.left_out != "nothing" else "result"
    return Code(f"{variable}.masks[{name!r}][{sentence}]")


def show_sentences(compared: Compared, selection: Choices, result: Result) -> None:
    """The chosen mask of every sentence of the batch."""
    name, origin = compared.mask, compared.origin
    names_of_axes = axes(name)
    plots, titles = {}, {}
    for sentence, (source, target) in enumerate(result.lengths):
        key = f"sentence-{sentence}"
        title = say(SENTENCES["numbered"], number=sentence + 1)
        mask = result.with_changes.masks[name][sentence]
        queries, keys = result.axes(name, sentence)
        figure = mask_heatmap(mask, queries, keys, **names_of_axes, legend=False, say=say)
        rows, columns = axes_code(name, sentence)
        parts = {"padding": None, "look_ahead": None}
        mask_code = code_of_mask(selection, name, sentence)
        code = snippet(MASK, mask=mask_code, queries=rows, keys=columns, **names_of_axes, **parts)
        plots[key] = Plot(title, origin.note, figure, program(origin.code, code))
        line = say(SENTENCES["tokens"], source=source, target=target)
        titles[key] = f"{title}: {line}", ""
    half = list(plots)[:2], list(plots)[2:]
    for keys in filter(None, half):
        frame.pictures({key: plots[key] for key in keys}, titles=titles, fills=False)
