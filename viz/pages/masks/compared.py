"""One kind of attention under two masks: of a padded batch, or of texts in one row."""

from dataclasses import dataclass

import numpy as np

from model.translation import SIDES
from viz.figures.framed import shown_token
from viz.text.language import message, say
from viz.text.words_masks import TEXT_MASKS, axes, kind_of
from viz.views import mask_results
from viz.views.made import Made, Recipe, made, value_of
from viz.views.mask_results import Leak, Request, Result, TextRequest

NO_MASK = {
    "look-ahead": message("the look-ahead mask"),
    "padding": message("the padding mask"),
    "both": message("both masks"),
}


@dataclass(frozen=True)
class Choices:
    """What is chosen of a batch: which sentence (from 0), which mask, what is left out, which cells are flipped."""

    sentence: int
    mask: str
    left_out: str
    cells: list[tuple[int, int, int]]


@dataclass(frozen=True)
class Compared:
    """One kind of attention under two masks: weights (L, H, T, S), masks (T, S), what stands beside the maps."""

    mask: str
    queries: Made
    keys: Made
    weights: tuple[Made, Made]
    masks: tuple[Made, Made]
    opened: np.ndarray  # bool (T, S): what to ring
    titles: tuple[tuple[str, str], tuple[str, str]]
    recipe: Recipe

    @property
    def between_words(self) -> np.ndarray | None:
        """The cells bool (T, S) of which neither token is a mark like <eos>; None of a batch, which has few of them."""
        if self.mask not in TEXT_MASKS:
            return None
        queries, keys = (np.array([not name.startswith("<") for name in side]) for side in self.names)
        return queries[:, None] & keys

    @property
    def most_telling_head(self) -> tuple[int, int]:
        """Layer and head in which what the second mask opens gets most."""
        cells = self.opened if self.between_words is None else self.opened & self.between_words
        return mask_results.leaking_head(cells if cells.any() else self.opened, value_of(self.weights[1]))

    @property
    def names(self) -> tuple[list[str], list[str]]:
        return tuple([shown_token(token) for token in value_of(side)] for side in (self.queries, self.keys))


def of_batch(request: Request, chosen: Choices) -> tuple[Compared, Result]:
    """A head with the masks of the model, and with what is left out or flipped."""
    kind, sentence = kind_of(chosen.mask), chosen.sentence
    changed = mask_results.change(chosen.left_out, kind, chosen.cells)
    result = mask_results.compute(request, changed)
    own, other = made(result.own, "result"), made(result.other, "changed" if changed else "result")
    masks = tuple(one.masks[kind][sentence] for one in (own, other))
    real = result.lengths[sentence][1 if SIDES[kind][0] == "target" else 0]
    opened = ~value_of(masks[0]) & value_of(masks[1])
    opened[real:] = False  # what padding attends to matters to nobody
    left_out = chosen.left_out != "nothing"
    without = say("Without {mask}", mask=say(NO_MASK[chosen.left_out])) if left_out else say("With flipped cells")
    first = say("With its masks"), ""
    compared = Compared(
        chosen.mask,
        *result.axes(kind, sentence),
        tuple(one.weights[kind][sentence] for one in (own, other)),
        masks,
        opened,
        (first, (without, say("leaks") if opened.any() else "") if changed else first),
        mask_results.recipe(request, changed),
    )
    return compared, result


def of_text(request: TextRequest, mask: str) -> Compared:
    """A head of a language model under the causal mask and under another one."""
    result = mask_results.compute_texts(request)
    causal, other = (result.passes[name] for name in ("causal", mask))
    tokens = made(result.packed, "packed").tokens
    name = say(TEXT_MASKS[mask][0])
    masked = (name, ""), made(other, mask)
    plain = (say("Causal mask only"), ""), made(causal, "causal")
    if mask == "prefix":
        first, second, opened = plain, masked, other.mask & ~causal.mask
    else:
        first, second, opened = masked, plain, causal.mask & ~other.mask
    marked = {"documents": say("leaks"), "window": say("sees further"), "prefix": say("reads ahead")}[mask]
    titles = first[0], (second[0][0], marked if opened.any() else "")
    weights, masks = ((getattr(first[1], name), getattr(second[1], name)) for name in ("weights", "mask"))
    recipe = mask_results.text_recipe(request, mask)
    return Compared(mask, tokens, tokens, weights, masks, opened, titles, recipe)


def head_of(compared: Compared, place: tuple[int, int]) -> tuple[np.ndarray, Leak | None]:
    """The weights (T, S) of the second map in a head, and what leaks there."""
    weights = value_of(compared.weights[1])[place]
    return weights, mask_results.leak(compared.opened, weights, compared.between_words)


def axes_of(mask: str) -> dict[str, str]:
    """The names of both axes of a batch; texts in one row keep query and key."""
    return {} if mask in TEXT_MASKS else axes(mask)
