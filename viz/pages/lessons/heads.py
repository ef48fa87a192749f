"""Break it: how many heads of the cross-attention a translation can do without."""

import math
from collections.abc import Callable, Iterable

import numpy as np

from model.interventions.edits import Edits, Head
from model.running.translator import Translator
from viz.pages.lessons.card import Story, Tiles, card, request_translation
from viz.ui.stage import steering
from viz.views.cached import Request, cache_results, compute, loaded_as
from viz.views.results.heads_results import importance
from viz.views.turns import in_turn

SENTENCE = request_translation("A man is riding a bicycle down the street.", beam=1)
WORD = "Fahrrad"
BOARD = tuple(np.ndindex(3, 8))  # layers and heads


def without(heads: Iterable[tuple[int, int]]) -> Request:
    """The sentence with these heads, (layer, head) of the cross-attention, off."""
    return request_translation(
        SENTENCE.text, SENTENCE.beam, edits=Edits(off=tuple(Head("cross", *head) for head in sorted(heads)))
    )


@cache_results()
def alone() -> int:
    """How many heads can be off, one at a time, with the word still in the translation."""
    return sum(WORD in without([head]).translated().text for head in BOARD)


@cache_results()
def greedy_order() -> list[tuple[int, int]]:
    """All heads in the order in which they go: each time the one that costs the old translation least."""
    translator = loaded_as(Translator, SENTENCE.model)
    plain = SENTENCE.translated()
    off = []

    def chance_without(head: tuple[int, int]) -> float:
        edits = without([*off, head]).changes.edits
        return in_turn(translator.force)(SENTENCE.text, plain, edits).log_probabilities.sum(dtype=float)

    while len(off) < len(BOARD):
        off.append(max((head for head in BOARD if head not in off), key=chance_without))
    return off


@cache_results()
def greedy() -> list[tuple[int, int]]:
    """The heads that can be off in that order with the word still in the translation."""
    order = greedy_order()
    return order[: next(n for n in range(len(order)) if WORD not in compute(without(order[: n + 1])).text)]


def tiles_without(heads: Callable[[], Iterable[tuple[int, int]]]) -> Tiles:
    """The tiles of a card, with these heads off once it is answered."""
    return Tiles(SENTENCE, lambda: without(heads()))


STORY = Story(
    "Break it",
    "Switch off heads, and see how long the translation holds.",
    "Voita et al. 2019 · Michel et al. 2019",
)


@card(
    "All 24 heads of the cross-attention, layers in rows. Click one to switch it off, or on again.",
    "How many of them can you switch off, each alone, without losing “Fahrrad”?",
    "8 16 24".split(),
    "{n}: each alone can go and “Fahrrad” stays.",
    "The costliest is head {head} of layer {layer}: without it the old translation is {factor:.1f} times less "
    "probable.",
    Tiles(SENTENCE),
    right=2,
)
def each() -> dict:
    changes = importance(SENTENCE)["cross"]
    layer, head = BOARD[changes.argmin()]
    return {"n": alone(), "layer": layer, "head": head, "factor": math.exp(-changes.min())}


@card(
    "Now two whole layers at once: all sixteen heads of layers 0 and 1.",
    "What happens to the bicycle?",
    ("“Fahrrad” stays", "It becomes another word", "The sentence ends early"),
    "“{text}” The last layer still reads the source.",
    "But the old translation is {factor:.1f} times less probable.",
    tiles_without(lambda: BOARD[:16]),
    right=0,
)
def layers() -> dict:
    request = without(BOARD[:16])
    return {"text": compute(request).text, "factor": math.exp(-steering.cost_of_changes(request))}


@card(
    "Your turn: switch off as many heads as you can while “Fahrrad” stays.",
    "How many of the 24 can be off at the same time?",
    ("About 5", "About 12", "About 20"),
    "Always taking the head that costs least, {greedy} can go, as now drawn: “{text}” Can you switch off one more?",
    "Heads that matter little alone may matter together.",
    tiles_without(greedy),
    right=2,
)
def played() -> dict:
    return {"greedy": len(greedy()), "text": compute(without(greedy())).text}


@card(
    "The finale: all 24 heads off. Nothing of the source reaches the decoder.",
    "What will it write?",
    ("Nothing", "The same sentence", "A sentence about something else"),
    "“{text}” Without the source the decoder is a language model: it writes what German often says.",
    "The old translation has lost {drop:.0f} nats.",
    tiles_without(lambda: BOARD),
    right=2,
)
def finale() -> dict:
    request = without(BOARD)
    return {"text": compute(request).text, "drop": -steering.cost_of_changes(request)}
