"""One kind of attention under two masks: of a padded batch, or of texts in one row."""

from dataclasses import dataclass

import numpy as np

from model.results.translation import SIDES
from viz.figures.framed import shown_token
from viz.text.language import message, say
from viz.text.words import Axes
from viz.text.words_masks import NO_MASK, SENTENCES, TEXT_MASKS, axes, kind_of
from viz.views.results import mask_results
from viz.views.results.mask_results import Leak, Request, Result, TextRequest
from viz.views.snippets import Code, Origin


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
    queries: list[str]
    keys: list[str]
    steps: list[str] | None  # the tokens that the decoder read, where rows are its steps
    weights: tuple[np.ndarray, np.ndarray]
    masks: tuple[np.ndarray, np.ndarray]
    leaking: np.ndarray  # bool (T, S): what to ring
    titles: tuple[tuple[str, str], tuple[str, str]]
    origin: Origin
    codes: "Codes"

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
        cells = self.leaking if self.between_words is None else self.leaking & self.between_words
        return mask_results.leaking_head(cells if cells.any() else self.leaking, self.weights[1])

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """The tokens of rows and columns, as figures name them."""
        queries, keys = ([shown_token(token) for token in side] for side in (self.queries, self.keys))
        return queries, keys


@dataclass(frozen=True)
class Codes:
    """Python for the fields of Compared that have these names."""

    queries: Code
    keys: Code
    weights: tuple[Code, Code]
    masks: tuple[Code, Code]


def of_batch(request: Request, selection: Choices) -> tuple[Compared, Result]:
    """A head with the masks of the model, and with what is left out or flipped."""
    kind = kind_of(selection.mask)
    sentence = selection.sentence
    change = mask_results.change(selection.left_out, kind, selection.cells)
    result = mask_results.compute(request, change)
    original, changed = result.original, result.with_changes
    masks = original.masks[kind][sentence], changed.masks[kind][sentence]
    names = Code("result"), Code("changed" if change else "result")
    first_weights, other_weights = (Code(f"{name}.weights[{kind!r}][{sentence}]") for name in names)
    first_mask, other_mask = (Code(f"{name}.masks[{kind!r}][{sentence}]") for name in names)
    rows, columns = mask_results.axes_code(kind, sentence)
    codes = Codes(rows, columns, (first_weights, other_weights), (first_mask, other_mask))
    real = result.lengths[sentence][1 if SIDES[kind][0] == "target" else 0]
    leaking = ~masks[0] & masks[1]
    leaking[real:] = False  # what padding attends to matters to nobody
    left_out = selection.left_out != "nothing"
    without = say(SENTENCES["with_flips"])
    if left_out:
        without = say(SENTENCES["without"], mask=say(NO_MASK[selection.left_out]))
    first = say(SENTENCES["with_masks"]), ""
    queries, keys = result.axes(kind, sentence)
    compared = Compared(
        selection.mask,
        queries,
        keys,
        result.batch.target_tokens[sentence] if SIDES[kind][0] == "target" else None,
        (original.weights[kind][sentence], changed.weights[kind][sentence]),
        masks,
        leaking,
        (first, (without, say(SENTENCES["leaks"]) if leaking.any() else "") if change else first),
        mask_results.origin(request, change),
        codes,
    )
    return compared, result


def of_text(request: TextRequest, mask: str) -> Compared:
    """A head of a language model under the causal mask and under another one."""
    result = mask_results.compute_texts(request)
    causal, second_pass = (result.passes[name] for name in ("causal", mask))
    tokens = result.packed.tokens
    masked = (say(TEXT_MASKS[mask][0]), ""), second_pass, mask
    plain = (say("Causal mask only"), ""), causal, "causal"
    if mask == "prefix":
        first = plain
        second = masked
        leaking = second_pass.mask & ~causal.mask
    else:
        first = masked
        second = plain
        leaking = causal.mask & ~second_pass.mask
    mark = {"documents": say(SENTENCES["leaks"]), "window": say("sees further"), "prefix": say("reads ahead")}[mask]
    titles = first[0], (second[0][0], mark if leaking.any() else "")
    codes = Codes(
        Code("packed.tokens"),
        Code("packed.tokens"),
        (Code(f"{first[2]}.weights"), Code(f"{second[2]}.weights")),
        (Code(f"{first[2]}.mask"), Code(f"{second[2]}.mask")),
    )
    weights = first[1].weights, second[1].weights
    masks = first[1].mask, second[1].mask
    origin = mask_results.text_origin(request, mask)
    return Compared(mask, tokens, tokens, tokens, weights, masks, leaking, titles, origin, codes)


def head_of(compared: Compared, place: tuple[int, int]) -> tuple[np.ndarray, Leak | None]:
    """The weights (T, S) of the second map in a head, and what leaks there."""
    weights = compared.weights[1][place]
    return weights, mask_results.leak(compared.leaking, weights, compared.between_words)


def axes_of(mask: str) -> Axes:
    """The names of both axes of a batch; texts in one row keep query and key."""
    if mask in TEXT_MASKS:
        return {"query_axis": message("query"), "key_axis": message("key")}
    return axes(mask)
