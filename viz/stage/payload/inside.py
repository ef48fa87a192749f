"""One row of a head, of which the browser shows how it is computed: q·k, scaling, mask, softmax, values.

The browser computes what a switch changes (viz/web/recording/pictures/row.js): it follows the finger.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from model.analysis.rotation import Rotation, of_row
from model.experiments.inside import group_of, leaves, scoring
from model.results.translation import KINDS
from viz.stage.payload.payloads import InsidePayload, KindCode, RotationPayload, RowPlace
from viz.views import codes

MOST_SAMPLES = 20  # draws of dropout that can be told apart


class Place(NamedTuple):
    """A row of a head, counted from 0."""

    kind: KindCode
    layer: int
    head: int
    row: int


_READERS = {"view": codes.one_of(["inside"]), "kind": codes.one_of(KINDS), **dict.fromkeys(Place._fields[1:], int)}


def place_of(query: Mapping[str, str]) -> Place | None:
    """The row that an address asks for, if any."""
    values, _ = codes.read(query, _READERS)
    return Place(*(values[name] for name in Place._fields)) if values.keys() == _READERS.keys() else None


def payload(
    place: Place,
    arrays: Mapping[str, np.ndarray],
    dropout: float,
    cap: float = 0.0,
    rotation: Rotation | None = None,
) -> InsidePayload:
    """What travels of a row.

    Given the arrays of its layer, as in `model.experiments.inside.recorded`, dropout in training, the cap of scores,
    and what rotary positions do in this layer.
    """
    kind, layer, head, row = place
    values = arrays["v"][group_of(arrays, head)].astype(np.float64)  # (S, K)
    draws = [leaves(len(values), dropout, draw) for draw in range(1, MOST_SAMPLES + 1)]
    scores = scoring(arrays, head, row, cap)
    return {
        "place": RowPlace(kind=kind, layer=layer, head=head, row=row),
        "depth": arrays["q"].shape[-1],
        "divisor": scores.divisor,
        "cap": scores.cap,
        "bias": scores.bias,
        "sink": scores.sink,
        "rotation": rotation and RotationPayload(**of_row(rotation, head, row)._asdict()),
        "raw_scores": arrays["raw_scores"][head, row],
        "mask": arrays["mask"][0, row].astype(np.uint8),
        "weights": arrays["weights"][head, row],
        "sizes": np.linalg.norm(values, axis=1),
        "dropout": dropout,
        "draws": np.stack(draws).astype(np.uint8) if dropout else None,
    }
