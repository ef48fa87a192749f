"""Why a query of a head looks where it looks: its scores split into parts, which the browser folds, sums and draws."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from model.analysis.score_parts import ScoreParts, ScoreShares, by_group, less_row_means
from model.results.translation import KINDS
from viz.stage.payload.payloads import CellPlace, KindCode, NoWhyPayload, SharesPayload, WhyPayload
from viz.views import codes


class Cell(NamedTuple):
    """A query and a key of a head, counted from 0; without a key the one with the largest weight is meant."""

    kind: KindCode
    layer: int
    head: int
    row: int
    key: int | None = None


_READERS = {"view": codes.one_of(["why"]), "kind": codes.one_of(KINDS), **dict.fromkeys(Cell._fields[1:], int)}


def cell_of(query: Mapping[str, str]) -> Cell | None:
    """The cell that an address asks for, if any."""
    values, _ = codes.read(query, _READERS)
    if not values.keys() >= _READERS.keys() - {"key"}:
        return None
    return Cell(**{name: values[name] for name in Cell._fields if name in values})


def payload(cell: Cell, parts: ScoreParts, weights: np.ndarray) -> WhyPayload:
    """What travels of a cell and its row, given the parts of its head's scores and the head's weights (T, S)."""
    row = cell.row
    key = int(weights[row].argmax()) if cell.key is None else cell.key
    mask = parts.mask[row]
    pairs = np.zeros((len(parts.query_names), len(parts.key_names)))
    if mask[key]:
        pairs = parts.at(row, key, above_mean=True)
    groups, shares = _shares_of(parts)
    return {
        "place": CellPlace(kind=cell.kind, layer=cell.layer, head=cell.head, row=row, key=key),
        "query_names": parts.query_names,
        "key_names": parts.key_names,
        "of_queries": less_row_means(parts.queries_of_row(row), mask),
        "of_keys": less_row_means(parts.keys_of_row(row), mask),
        "pairs": pairs,
        "scores": less_row_means(parts.scores[row], mask),
        "weights": weights[row],
        "mask": mask.astype(np.uint8),
        "cap": parts.cap,
        "rest": parts.rest,
        "groups": groups,
        "shares": shares,
    }


def no_payload(cell: Cell, reason: str) -> NoWhyPayload:
    """What travels where the scores of a head cannot be split."""
    return {
        "place": CellPlace(kind=cell.kind, layer=cell.layer, head=cell.head, row=cell.row, key=cell.key or 0),
        "reason": reason,
    }


def shares_payload(shares: ScoreShares) -> SharesPayload:
    """What travels of all heads."""
    return {"groups": shares.names, "shares": shares.shares}


def _shares_of(parts: ScoreParts) -> tuple[list[str], np.ndarray]:
    """The groups of all parts, and the shares of each group at the query (rows) with each at the key."""
    folded = parts.folded(by_group)
    groups = list(dict.fromkeys([*folded.query_names, *folded.key_names]))
    shares = np.zeros((len(groups), len(groups)))
    rows = [groups.index(name) for name in folded.query_names]
    shares[np.ix_(rows, [groups.index(name) for name in folded.key_names])] = folded.shares
    return groups, shares
