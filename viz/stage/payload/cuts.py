"""What becomes of a head whose path is cut: the weights of one row before, as the split predicts them, and after."""

import re
from collections.abc import Mapping
from typing import NamedTuple, cast

import numpy as np

from model.interventions.cuts import Cut
from viz.stage.payload.payloads import CellPlace, CutPayload, KindCode, SideCode
from viz.stage.sentences.why import WHY
from viz.stage.words import unique_labels
from viz.text.language import say
from viz.views import codes

_PART = re.compile(r"(.+?)(?: ([\d.]+))?")  # a module or a head, and its place


class CutWeights(NamedTuple):
    """The weights of a head, each (T, S): before, as the split predicts them with norms held, and with the cut."""

    before: np.ndarray
    predicted: np.ndarray
    actual: np.ndarray


def payload(
    cut: Cut, weights: CutWeights, queries: list[str], keys: list[str], address: Mapping[str, str]
) -> CutPayload:
    """What travels of a cut, given the tokens of rows and columns.

    Its cell is the one of its kind of attention that the address asks about, else the one whose weight changes most.
    """
    row, key = _cell_of(cut, weights, address)
    return {
        "place": CellPlace(kind=cast(KindCode, cut.kind), layer=cut.layer, head=cut.head, row=row, key=key),
        "side": cast(SideCode, cut.side),
        "part": cut.part,
        "query": unique_labels(queries)[row],
        "keys": unique_labels(keys),
        "before": weights.before[row],
        "predicted": weights.predicted[row],
        "actual": weights.actual[row],
    }


def part_name(part: str) -> str:
    """A part of a stream in the visitor's language; one that has no name there as the model names it."""
    match = _PART.fullmatch(part)
    module, place = match.groups() if match else (part, None)
    name = re.sub("[ -]", "_", module)
    if module in ("head", "cross head"):
        return say(WHY[f"why_{name}"], head=place)
    sentence = WHY.get(f"why_part_{name}")
    return say(sentence, layer=place) if sentence else part


def _cell_of(cut: Cut, weights: CutWeights, address: Mapping[str, str]) -> tuple[int, int]:
    asked, _ = codes.read(address, {"row": int, "key": int})
    rows, columns = weights.before.shape
    row, key = asked.get("row", -1), asked.get("key", -1)
    if address.get("kind") == cut.kind and 0 <= row < rows:
        return row, key if 0 <= key < columns else int(weights.before[row].argmax())
    most = int(np.abs(weights.actual - weights.before).argmax())
    return most // columns, most % columns
