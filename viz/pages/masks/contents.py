"""The page Masks as data: what a browser fetches that computes and draws it without a server."""

from typing import Any

from model.config import DEFAULT_CHECKPOINT
from model.results.translation import SIDES
from model.running.translator import Translator
from viz.stage.payload.packing import pack
from viz.text import words
from viz.text.language import messages, say
from viz.text.words_masks import (
    CONVENTIONS,
    FLEX,
    LEFT_OUT,
    MASKS,
    NO_MASK,
    PAIRS,
    SENTENCES,
    VIEWS,
    axes,
    code,
    flex_code,
    kind_of,
)
from viz.views import cached
from viz.views.results import mask_results
from viz.views.results.mask_results import Request

NAME = "masks"  # of its address
FIRST = 3  # sentences of a visitor who has changed nothing
SHOWN = ("both", "head", "sentences", "code", "numbers")  # of VIEWS: the fused attention of the others needs PyTorch
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


def first_request() -> Request:
    """The batch of a visitor who has changed nothing."""
    return Request(DEFAULT_CHECKPOINT, *zip(*PAIRS[:FIRST]))


def recorded(left_out: str) -> bytes:
    """The first sentences without some of their masks, by a code of LEFT_OUT: what `result.js` reads."""
    result = mask_results.compute(first_request(), mask_results.change(left_out, "decoder_self", []))
    batch = result.batch
    payload = {
        "tokens": {"source": batch.source_tokens, "target": batch.target_tokens, "predicted": batch.predicted_tokens},
        "lengths": result.lengths,
        "masks": result.with_changes.masks,  # by name (B, T, S)
        "weights": result.with_changes.weights,  # by kind (B, L, H, T, S)
        "difference": result.difference,
        "likeliest": result.likeliest,
        "reference": result.reference,
    }
    return pack(payload)


def told() -> dict[str, Any]:
    """What the page says and what it is made of, in the language of here."""
    card = cached.loaded_as(Translator, DEFAULT_CHECKPOINT).card
    return {
        "words": {name: say(text) for name, text in (SENTENCES | WORDS).items()},
        "model": DEFAULT_CHECKPOINT,
        "languages": [
            words.language(card.get("source"), say("Source")),
            words.language(card.get("target"), say("Target")),
        ],
        "pairs": PAIRS,
        "first": FIRST,
        "left_out": {name: say(text) for name, text in LEFT_OUT.items()},
        "no_mask": {name: say(text) for name, text in NO_MASK.items()},
        "views": {name: say(VIEWS[name]) for name in SHOWN},
        "masks": {mask: _mask(mask) for mask in MASKS},
    }


def files() -> dict[str, bytes]:
    """What is fetched when it is needed, by name."""
    return {left_out: recorded(left_out) for left_out in LEFT_OUT}


def _mask(mask: str) -> dict[str, Any]:
    """A mask: its name and purpose, its kind of attention, what its rows and columns are, and how libraries take it."""
    name, purpose = MASKS[mask]
    kind = kind_of(mask)
    rows, columns = mask_results.token_names(mask)
    titles = axes(mask)
    programs = [["F.scaled_dot_product_attention", say(CONVENTIONS["keep"][0]), code(mask, "keep")]]
    programs.append(["FlexAttention", say(FLEX), flex_code(mask)])
    for convention in ("additive", "blocked", "integers"):
        title, users, _ = CONVENTIONS[convention]
        programs.append([say(title), say(users), code(mask, convention)])
    return {
        "name": say(name),
        "purpose": say(purpose),
        "kind": kind,
        "sides": SIDES[kind],
        "tokens": [rows, columns],
        "axes": [say(titles["query_axis"]), say(titles["key_axis"])],
        "programs": programs,
    }
