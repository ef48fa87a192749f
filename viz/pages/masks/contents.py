"""The page Masks as data: what a browser is told that computes and draws it, in the app and without a server.

A batch, and texts in one row, are computed by the app; on the page without a server the first batch is recorded, and
the engine computes others.
"""

from collections.abc import Callable, Mapping
from typing import Any

from model.config import DEFAULT_CHECKPOINT
from model.experiments import text_masks
from model.results.translation import SIDES
from model.running.translator import Translator
from viz.pages.masks import data, pictures
from viz.pages.masks.compared import language_model
from viz.pages.masks.page import USUAL_COUNT, WINDOWS, Choice, choice_of
from viz.stage.payload.packing import pack
from viz.text import words
from viz.text.language import messages, say
from viz.text.words_masks import (
    CONVENTIONS,
    FLEX,
    LEFT_OUT,
    MASKS,
    NO_KEY_COLUMNS,
    NO_KEY_LEFT,
    NO_MASK,
    PAIRS,
    SENTENCES,
    TEXT_MASKS,
    TEXT_SENTENCES,
    VIEWS,
    axes,
    code,
    flex_code,
    kind_of,
)
from viz.ui import controls, shared
from viz.views import cached
from viz.views.results import mask_results
from viz.views.results.mask_results import Request
from viz.views.snippets import Plot

NAME = "masks"  # of its address
WITHOUT_SERVER = ("both", "head", "sentences", "code", "numbers")  # of VIEWS: the others need PyTorch
WORDS = messages(
    sentence="Sentence",
    sentences="Sentences",
    batch="Batch",
    mine="My sentences",
    example="Worked example",
    about_example="4, 2 and 6 tokens in a batch 7 wide, the same on both sides: each token is 2, padding 1 (here: 0).",
    masks="Masks",
    leave_out="Leave out",
    show="Show",
    head="Layer {layer}, head {head}",
    cell="“{row}” → “{column}”: {value}",
    masked="“{row}” → “{column}”: masked",
    is_blocked="“{row}” may not attend to “{column}”",
    is_open="“{row}” may attend to “{column}”",
    because="{cell}: {reasons}",
    click="Click a cell: a blocked one opens, an open one is blocked, in all layers and heads.",
    unflip="Undo flipped cells",
    in_app="Sliding window, documents and prefix need a language model, which runs in the app: make run.",
)
IN_APP = messages(
    showing_example="Showing the example.",
    showing_last="Showing the last one that worked.",
    no_translator="No translation model found.",
)
DATA: dict[str, Callable[[Choice], dict[str, Any]]] = {  # by file
    "batch": data.batch,
    "numbers": data.numbers,
    "no_key_left": data.no_key_left,
    "texts": data.texts,
}


def told(in_app: bool = False) -> dict[str, Any]:
    """What the page says and what it is made of, in the language of here.

    Args:
        in_app: there the model is the one that pages begin with, and a language model may read the texts in one row.
    """
    if in_app:
        return _told_in_app()
    translator = cached.loaded_as(Translator, DEFAULT_CHECKPOINT)
    return _of_batches(translator, DEFAULT_CHECKPOINT) | {"views": {name: say(VIEWS[name]) for name in WITHOUT_SERVER}}


def _told_in_app() -> dict[str, Any]:
    """The same for the app, which has more masks and views; without a translation model why there is none."""
    translator, problem = controls.default_translator()
    if translator is None:
        return {"words": {name: say(text) for name, text in IN_APP.items()}, "model": None, "no_translator": problem}
    name = cached.default_checkpoint()
    payload = _of_batches(translator, name)
    sentences = IN_APP | TEXT_SENTENCES | NO_KEY_LEFT
    return payload | {
        "words": payload["words"] | {name: say(text) for name, text in sentences.items()},
        "views": {name: say(text) for name, text in VIEWS.items()},
        "no_key_columns": {name: say(text) for name, text in NO_KEY_COLUMNS.items()},
        "card": shared.describe(name),
        "texts": _texts(),
    }


def _of_batches(translator: Translator, checkpoint: str) -> dict[str, Any]:
    """What is told of batches of a model."""
    card = translator.card
    return {
        "words": {name: say(text) for name, text in (SENTENCES | WORDS).items()},
        "model": checkpoint,
        "languages": [
            words.language(card.get("source"), say("Source")),
            words.language(card.get("target"), say("Target")),
        ],
        "pairs": PAIRS,
        "first": USUAL_COUNT,
        "left_out": {name: say(text) for name, text in LEFT_OUT.items()},
        "no_mask": {name: say(text) for name, text in NO_MASK.items()},
        "masks": {mask: _mask(mask) for mask in MASKS},
    }


def _mask(mask: str) -> dict[str, Any]:
    """A mask: its name and purpose, its kind of attention, what its rows and columns are, and how libraries take it."""
    purpose = MASKS[mask][1]
    kind = kind_of(mask)
    rows, columns = mask_results.token_names(mask)
    about = {"purpose": say(purpose), "kind": kind, "sides": SIDES[kind], "tokens": [rows, columns]}
    return _shown(mask, MASKS[mask][0]) | about


def _texts() -> dict[str, Any] | None:
    """The masks of texts in one row, and the language model that reads them; None where there is none."""
    model = language_model()
    if model is None:
        return None
    masks = {
        mask: _shown(mask, name) | {"purpose": say(purpose)}  # with a place for a number
        for mask, (name, purpose) in TEXT_MASKS.items()
    }
    return {"model": model, "masks": masks, "windows": WINDOWS, "window": text_masks.WINDOW}


def _shown(mask: str, name: str) -> dict[str, Any]:
    """How a mask is called, what its axes are, and how libraries take it."""
    titles = axes(mask)
    programs = [["F.scaled_dot_product_attention", say(CONVENTIONS["keep"][0]), code(mask, "keep")]]
    programs.append(["FlexAttention", say(FLEX), flex_code(mask)])
    for convention in ("additive", "blocked", "integers"):
        title, users, _ = CONVENTIONS[convention]
        programs.append([say(title), say(users), code(mask, convention)])
    return {
        "name": say(name),
        "axes": [say(titles["query_axis"]), say(titles["key_axis"])],
        "programs": programs,
    }


def first_request() -> Request:
    """The batch of a visitor who has changed nothing."""
    return Request(DEFAULT_CHECKPOINT, *zip(*PAIRS[:USUAL_COUNT]))


def recorded(left_out: str) -> bytes:
    """The first sentences without some of their masks, by a code of LEFT_OUT: what `compute.js` reads."""
    result = mask_results.compute(first_request(), mask_results.change(left_out, "decoder_self", []))
    return pack(data.payload(result, result.with_changes.weights))


def files() -> dict[str, bytes]:
    """What is fetched when it is needed, by name, on the page without a server."""
    return {left_out: recorded(left_out) for left_out in LEFT_OUT}


def file(name: str, asked: Mapping[str, str]) -> bytes:
    """What the app computes at the parameters of an address, packed.

    Raises:
        KeyError: There is none of this name.
        ValueError: It cannot be computed: says what is wrong with the sentences.
    """
    return pack(DATA[name](choice_of(asked)))


def plots(asked: Mapping[str, str]) -> dict[str, Plot]:
    """The pictures at the parameters of an address, by name; errors as for `file`."""
    return pictures.plots(choice_of(asked))
