"""Pictures of masks: the tiles of all of them, a head with and without, one mask large, that of each sentence."""

from collections.abc import Callable

import numpy as np

from model.translation import SIDES
from viz.figures import attention_heatmap, mask_heatmap
from viz.pages.masks.compared import Choices, Compared, axes_of
from viz.text.language import say
from viz.text.words_masks import MASKS, TEXT_MASKS, axes, kind_of
from viz.ui import frame
from viz.ui.frame import Tile
from viz.views.heads_results import name_of
from viz.views.made import made
from viz.views.mask_results import Leak, Result, TextResult

# Why a cell is blocked: of masks that are not of padding only, the parts that say it.
PARTS = {
    "look_ahead": {"look_ahead": "look_ahead"},
    "decoder_self": {"look_ahead": "look_ahead", "padding": "target_padding"},
}


def mask_tiles(result: Result, sentence: int, texts: TextResult | None) -> list[Tile]:
    """The masks of the batch, as the model used them, and of the texts in one row."""
    masks = result.own.masks
    tiles = []
    for mask, (name, _) in MASKS.items():
        side = SIDES[kind_of(mask)][1]
        real = np.arange(masks[mask].shape[-1]) < result.lengths[sentence][side == "target"]
        padding = None if mask == "look_ahead" else real[None]
        tiles.append(Tile(mask, say(name), pixels=frame.mask_pixels(masks[mask][sentence], padding)))
    for mask, (name, _) in TEXT_MASKS.items() if texts else ():
        tiles.append(Tile(mask, say(name), pixels=frame.mask_pixels(texts.passes[mask].mask)))
    return tiles


def draw_head(compared: Compared, place: tuple[int, int], leak: Leak | None, is_changed: bool) -> None:
    """A head under its mask and, where something is changed, without; what leaks is ringed."""
    plots, titles, rings = {}, {}, {}
    both = list(zip(("head-with", "head-without"), compared.weights, compared.masks, compared.titles))
    for number, (key, weights, mask, title) in enumerate(both[: 2 if is_changed else 1]):
        name = name_of(kind_of(compared.mask), *place)
        more = axes_of(compared.mask) | {"mask": mask}
        sides = compared.queries, compared.keys
        plots[key] = compared.recipe.plot(f"{title[0]}: {name}", attention_heatmap, weights[place], *sides, **more)
        titles[key] = title
        rings[key] = leak.cells if leak and number else []
    frame.pictures(plots, titles=titles, rings=rings, bar=not is_changed)


def draw_mask(compared: Compared, chosen: Choices, result: Result | None, flip: Callable[..., None]) -> None:
    """The large mask; of a batch a click flips a cell."""
    parts = {}
    sides = compared.queries, compared.keys
    if result is None:
        values = compared.masks[1 if compared.mask == "prefix" else 0]
        title, clicked = say(TEXT_MASKS[compared.mask][0]), None
    else:
        sentence, is_changed = chosen.sentence, chosen.cells or chosen.left_out != "nothing"
        own, other = made(result.own, "result"), made(result.other, "changed" if is_changed else "result")
        values, title = other.masks[compared.mask][sentence], say(MASKS[compared.mask][0])
        names = PARTS.get(compared.mask, {"padding": compared.mask})
        parts = {name: own.masks[part][sentence] for name, part in names.items()}
        clicked = flip if compared.mask == kind_of(compared.mask) else None
    drawn = axes_of(compared.mask) | parts
    plots = {"large-mask": compared.recipe.plot(title, mask_heatmap, values, *sides, **drawn, legend=False)}
    frame.pictures(plots, titles={"large-mask": (title, "")}, on_click=clicked)


def show_sentences(compared: Compared, chosen: Choices, result: Result) -> None:
    """The chosen mask of every sentence of the batch."""
    name = "changed" if chosen.cells or chosen.left_out != "nothing" else "result"
    plots, titles = {}, {}
    for sentence, (source, target) in enumerate(result.lengths):
        key, title = f"sentence-{sentence}", say("Sentence {number}", number=sentence + 1)
        sides = result.axes(compared.mask, sentence)
        values = made(result.other, name).masks[compared.mask][sentence]
        plots[key] = compared.recipe.plot(title, mask_heatmap, values, *sides, **axes(compared.mask), legend=False)
        line = say("{source} source and {target} target tokens", source=source, target=target)
        titles[key] = f"{title}: {line}", ""
    half = list(plots)[:2], list(plots)[2:]
    for keys in filter(None, half):
        frame.pictures({key: plots[key] for key in keys}, titles=titles, fills=False)
