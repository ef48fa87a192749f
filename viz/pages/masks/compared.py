"""One kind of attention under two masks: of a padded batch, or of texts in one row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from model.results.translation import SIDES
from model.storage.checkpoint import available
from viz.figures.framed import shown_token
from viz.pages.masks.page import Choice
from viz.text.language import say
from viz.text.words_masks import NO_MASK, SENTENCES, TEXT_MASKS, TEXT_SENTENCES
from viz.views import cached
from viz.views.results import mask_results
from viz.views.results.mask_results import Request, Result, TextRequest
from viz.views.snippets import Code, Origin

MODERN = "wikitext2-modern"  # the language model that reads texts in one row, where it is there


@dataclass(frozen=True)
class Compared:
    """One kind of attention under two masks: weights (L, H, T, S), masks (T, S), and their titles."""

    mask: str
    queries: list[str]
    keys: list[str]
    weights: tuple[np.ndarray, np.ndarray]
    masks: tuple[np.ndarray, np.ndarray]
    leaking: np.ndarray  # bool (T, S): what the second mask opens
    titles: tuple[str, str]
    is_changed: bool  # whether the second mask is another one
    origin: Origin
    codes: "Codes"

    @property
    def most_telling_head(self) -> tuple[int, int]:
        """Layer and head in which what the second mask opens gets most; in texts, between two words if it opens any."""
        cells = self.leaking
        if self.mask in TEXT_MASKS:
            sides = self.queries, self.keys
            queries, keys = (np.array([not shown_token(name).startswith("<") for name in side]) for side in sides)
            between_words = cells & queries[:, None] & keys
            cells = between_words if between_words.any() else cells
        return mask_results.leaking_head(cells, self.weights[1])


@dataclass(frozen=True)
class Codes:
    """Python for the fields of Compared that have these names."""

    queries: Code
    keys: Code
    weights: tuple[Code, Code]
    masks: tuple[Code, Code]


def request_of(choice: Choice) -> Request:
    """The batch that is chosen, for the model that pages begin with."""
    return Request(cached.default_checkpoint(), *zip(*choice.pairs))


def language_model() -> str | None:
    """The model under the masks of texts: that of today where it is there."""
    names = available("language_model")
    return MODERN if MODERN in names else next(iter(names), None)


def text_request(choice: Choice) -> TextRequest | None:
    """The source texts as one row of the language model; None without a model or texts."""
    name = language_model()
    return TextRequest(name, request_of(choice).sources, choice.window) if name and choice.pairs else None


def change_of(choice: Choice, plain: Result) -> dict[str, Any]:
    """What is left out of the masks, and which cells are flipped: none of a part of a mask, nor outside of it."""
    n_queries, n_keys = plain.original.masks[choice.kind].shape[1:]
    is_own = choice.mask == choice.kind
    is_inside = all(query < n_queries and key < n_keys for query, key in choice.cells)
    cells = [(choice.sentence, *cell) for cell in choice.cells] if is_own and is_inside else []
    return mask_results.change(choice.left_out, choice.kind, cells)


def result_of(choice: Choice) -> tuple[Result, dict[str, Any]]:
    """The batch with its masks and with what is changed, and this change; errors as `Request.batch`."""
    request = request_of(choice)
    plain = mask_results.compute(request)
    change = change_of(choice, plain)
    return (mask_results.compute(request, change) if change else plain), change


def of_batch(choice: Choice) -> tuple[Compared, Result]:
    """All heads with the masks of the model, and with what is left out or flipped."""
    kind, sentence = choice.kind, choice.sentence
    result, change = result_of(choice)
    original, changed = result.original, result.with_changes
    masks = original.masks[kind][sentence], changed.masks[kind][sentence]
    leaking = ~masks[0] & masks[1]
    real = result.lengths[sentence][1 if SIDES[kind][0] == "target" else 0]
    leaking[real:] = False  # what padding attends to matters to nobody
    without = say(SENTENCES["with_flips"])
    if choice.left_out != "nothing":
        without = say(SENTENCES["without"], mask=say(NO_MASK[choice.left_out]))
    queries, keys = result.axes(kind, sentence)
    compared = Compared(
        mask=choice.mask,
        queries=queries,
        keys=keys,
        weights=(original.weights[kind][sentence], changed.weights[kind][sentence]),
        masks=masks,
        leaking=leaking,
        titles=(say(SENTENCES["with_masks"]), without),
        is_changed=bool(change),
        origin=mask_results.origin(request_of(choice), change),
        codes=_codes_of_batch(kind, sentence, bool(change)),
    )
    return compared, result


def _codes_of_batch(kind: str, sentence: int, is_changed: bool) -> Codes:
    rows, columns = mask_results.axes_code(kind, sentence)
    names = "result", "changed" if is_changed else "result"
    weights = tuple(Code(f"{name}.weights[{kind!r}][{sentence}]") for name in names)
    masks = tuple(Code(f"{name}.masks[{kind!r}][{sentence}]") for name in names)
    return Codes(rows, columns, (weights[0], weights[1]), (masks[0], masks[1]))


def of_text(request: TextRequest, mask: str) -> Compared:
    """All heads of a language model under the causal mask and under another one; errors as `pack_texts`."""
    result = mask_results.compute_texts(request)
    tokens = result.packed.tokens
    titles = {mask: say(TEXT_MASKS[mask][0]), "causal": say(TEXT_SENTENCES["causal_only"])}
    first, second = ("causal", mask) if mask == "prefix" else (mask, "causal")
    passes = result.passes[first], result.passes[second]
    return Compared(
        mask=mask,
        queries=tokens,
        keys=tokens,
        weights=(passes[0].weights, passes[1].weights),
        masks=(passes[0].mask, passes[1].mask),
        leaking=passes[1].mask & ~passes[0].mask,
        titles=(titles[first], titles[second]),
        is_changed=True,
        origin=mask_results.text_origin(request, mask),
        codes=Codes(
            Code("packed.tokens"),
            Code("packed.tokens"),
            (Code(f"{first}.weights"), Code(f"{second}.weights")),
            (Code(f"{first}.mask"), Code(f"{second}.mask")),
        ),
    )
