"""The induction circuit of SmolLM2-135M as it was recorded: maps, and why two of its heads look where they look."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from model.experiments import recorded_circuit, recorded_model
from model.experiments.recorded_circuit import KIND, TEXT, RecordedRow
from model.results.recording import Recording
from viz.pages.lessons.card import REQUESTED, Link
from viz.stage.payload import why
from viz.stage.payload.message import Version
from viz.stage.payload.payloads import NoWhyPayload, WhyPayload
from viz.text.language import message, say
from viz.ui.stage import stage_page
from viz.views.view import PLACE

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
    line = message("The recording has the parts of two rows only: of head 18.6 at “cat” and of head 16.0 at “seven”.")
    return why.no_payload(cell, say(line))


@dataclass(frozen=True)
class OnRecording:
    """The stage with the recording, as a card sets it: place and then as in an address, `ring` the cell to frame."""

    place: Mapping[str, object]
    then: Mapping[str, object] = field(default_factory=dict)  # what changes with the answer
    ring: Cell | None = None  # with the answer

    def draw(self, answered: bool) -> None:
        """Show the picture; `answered`: with the answer in it."""
        place = {"kind": KIND, **self.place, **(self.then if answered else {})}
        query = {name: str(value) for name, value in place.items()}
        query = st.session_state.get(REQUESTED) or query  # the visitor has walked on
        st.session_state[stage_page.QUERY] = query
        cell = why.cell_of(query)
        version = Version(recording(), why=payload(cell) if cell else None, splits=True, predicts=False)
        rings = [self.ring] if answered and self.ring else []
        setting = query | {"rings": rings, "walks": True}
        stage_page.show_stage(version, on_request=self._keep_request, setting=setting, least=LOW)

    def link(self) -> Link:
        """Where a model of the visitor's own can be asked."""
        return "language_model", {}

    @staticmethod
    def _keep_request(query: dict[str, str]) -> None:
        st.session_state[REQUESTED] = {name: value for name, value in query.items() if name in PLACE}
