"""What an address chooses on the page Masks: viz/web/sheets/makers/masks/address.js reads the same."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from model.experiments import text_masks
from viz.text.words_masks import LEFT_OUT, MASKS, PAIRS, TEXT_MASKS, VIEWS, kind_of
from viz.views import codes
from viz.views.view import MOST_CHARACTERS

COUNTS = (2, 3, 4)  # of sentences
USUAL_COUNT = 3
EXAMPLES = 3  # sentences of the worked example
MOST_PADS, PADS = 16, 4
WINDOWS = (2, 3, 4, 6, 8)  # keys that a query sees
TYPED = [f"{side}{number}" for number in range(1, max(COUNTS) + 1) for side in ("source", "target")]
_CELL = re.compile(r"(\d{1,3})-(\d{1,3})")


@dataclass(frozen=True)
class Choice:
    """What a visitor chose."""

    pairs: tuple[tuple[str, str], ...] = PAIRS[:USUAL_COUNT]  # of sentences; without any, the worked example
    sentence: int = 0
    mask: str = "decoder_self"
    left_out: str = "look-ahead"
    cells: tuple[tuple[int, int], ...] = ()  # query and key of those that are flipped
    view: str = "both"
    pads: int = PADS  # that are appended, for the view "numbers"
    window: int = text_masks.WINDOW
    head: tuple[int, int] | None = None  # layer and head; None: the most telling one

    @property
    def kind(self) -> str:
        """The kind of attention that has the mask."""
        return kind_of(self.mask)

    def head_of(self, counts: tuple[int, int], usual: tuple[int, int]) -> tuple[int, int]:
        """The layer and the head, of so many; 0 for one that is not there, and `usual` where none is chosen."""
        if self.head is None:
            return usual
        layer, head = (chosen if chosen < count else 0 for chosen, count in zip(self.head, counts))
        return layer, head


def _read_cells(text: str) -> tuple[tuple[int, int], ...]:
    """Cells as "query-key", joined by points, in their order."""
    matches = [_CELL.fullmatch(part) for part in text.split(".")] if text else []
    if not all(matches):
        raise ValueError
    return tuple(sorted({(int(match[1]), int(match[2])) for match in matches if match}))


_READERS: dict[str, codes.Reader] = {
    "mask": codes.one_of([*MASKS, *TEXT_MASKS]),
    "without": codes.one_of(LEFT_OUT),
    "cells": _read_cells,
    "show": codes.one_of(VIEWS),
    "pads": codes.number(1, MOST_PADS),
    "window": codes.one_of(WINDOWS),
}
_OF_BATCH: dict[str, codes.Reader] = {
    "batch": codes.one_of(("sentences", "example")),
    "sentences": codes.one_of(COUNTS),
    "sentence": codes.number(1, max(COUNTS)),
}
_NAMES = {"without": "left_out", "show": "view"}  # of a Choice, where the address has others


def choice_of(asked: Mapping[str, str]) -> Choice:
    """What the parameters of an address choose, else the defaults."""
    values, _ = codes.read(asked, _READERS)
    batch, _ = codes.read(asked, _OF_BATCH)
    pairs = () if batch.get("batch") == "example" else _pairs(asked, batch.get("sentences", USUAL_COUNT))
    sentence = min(batch.get("sentence", 1), len(pairs) or EXAMPLES) - 1
    chosen = {_NAMES.get(name, name): value for name, value in values.items()}
    return Choice(pairs=pairs, sentence=sentence, head=_head(asked), **chosen)


def _head(asked: Mapping[str, str]) -> tuple[int, int] | None:
    """The layer and the head that an address names, 0 for a code that means nothing; None where it names neither."""
    if not codes.PLACE.keys() & asked.keys():
        return None
    values, _ = codes.read(asked, codes.PLACE)
    return values.get("layer", 0), values.get("head", 0)


def _pairs(asked: Mapping[str, str], count: int) -> tuple[tuple[str, str], ...]:
    """The sentences of a visitor; examples where they typed nothing."""
    return tuple(
        (
            asked.get(f"source{number}", source)[:MOST_CHARACTERS],
            asked.get(f"target{number}", target)[:MOST_CHARACTERS],
        )
        for number, (source, target) in enumerate(PAIRS[:count], 1)
    )
