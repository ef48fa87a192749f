"""The induction circuit of SmolLM2-135M as it was recorded: maps, and why two of its heads look where they look."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from model.experiments import recorded_circuit, recorded_model
from model.experiments.recorded_circuit import KIND, TEXT, RecordedRow
from model.results.recording import Recording
from viz.pages.lessons.card import Link, State, stage_of
from viz.stage import assets
from viz.stage.payload import message as stage_message
from viz.stage.payload import why
from viz.stage.payload.message import Version
from viz.stage.payload.payloads import NoWhyPayload, WhyPayload
from viz.text.language import message, say

PARTS = "lessons/why"  # where browsers fetch the parts of a cell, with its place as a query
NO_PARTS = message("The recording has the parts of two rows only: of head 18.6 at “cat” and of head 16.0 at “seven”.")
LOW = 138  # pixels of the picture below the bars of the view Why
Cell = tuple[int, int]  # a row and a column


def weights() -> np.ndarray:
    """The maps of all heads, float32 (L, H, T, T)."""
    return recorded_model.shipped().weights[TEXT]


def recording() -> Recording:
    """The text of repeated words, and all its maps."""
    tokens = recorded_model.shipped().tokens[TEXT]
    mask = np.tri(len(tokens), dtype=bool)
    return Recording([], tokens, {KIND: weights()}, {KIND: mask}, model={"name": recorded_model.NAME})


def row_of(place: tuple[int, int]) -> RecordedRow:
    """The recorded row of a head, given its layer and head."""
    return next(row for row in recorded_circuit.shipped() if (row.layer, row.head) == place)


def payload(cell: why.Cell) -> WhyPayload | NoWhyPayload:
    """What the stage is told of a cell; a sentence where the recording does not have its parts."""
    for row in recorded_circuit.shipped():
        has_key = cell.key is None or 0 <= cell.key < row.parts.mask.shape[1]
        if (KIND, row.layer, row.head, row.query) == cell[:4] and has_key:
            row_weights = weights()[row.layer, row.head, row.query]
            parts = why.payload(cell._replace(row=0), row.parts, row_weights[None])
            return {**parts, "place": {**parts["place"], "row": cell.row}}
    return why.no_payload(cell, say(NO_PARTS))


def cells() -> Iterator[why.Cell]:
    """The cells that the recording has the parts of; of each row also the one of its largest weight."""
    for row in recorded_circuit.shipped():
        for key in (None, *range(row.parts.mask.shape[1])):
            yield why.Cell(KIND, row.layer, row.head, row.query, key)


@dataclass(frozen=True)
class OnRecording:
    """The stage with the recording, as a card sets it: place and then as in an address, `ring` the cell to frame."""

    place: Mapping[str, object]
    then: Mapping[str, object] = field(default_factory=dict)  # what changes with the answer
    ring: Cell | None = None  # with the answer

    def state(self, answered: bool, asked: Mapping[str, str] = {}) -> State:
        """What a browser shows; `answered`: with the answer in it."""
        place = {"kind": KIND, **self.place, **(self.then if answered else {})}
        query = {name: str(value) for name, value in place.items()}
        version = Version(recording(), splits=True, predicts=False, parts=PARTS)
        rings = [self.ring] if answered and self.ring else []
        setting = query | {"rings": rings, "walks": True}
        return {"stages": [stage_of(stage_message.message(version, assets.keep, setting=setting, least=LOW))]}

    def link(self) -> Link:
        """Where a model of the visitor's own can be asked."""
        return "language_model", {}
